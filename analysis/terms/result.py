"""A decomposition: the sources' queries and keys, and everything that follows from them.

Numpy only, so that a saved decomposition can be shown where torch is not installed. The sources'
queries and keys are kept rather than the sixteen maps: any map is one matrix product away, and they
are smaller by the ratio of tokens to head dimension.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy.special import softmax

SOURCES = ("word", "position", "segment", "bias")
TERMS = tuple(f"{a}_to_{b}" for a in SOURCES for b in SOURCES)
"""The sixteen terms, query first."""
FOUR = ("word_to_word", "word_to_position", "position_to_word", "position_to_position")
"""The terms that the question is about."""


def term_pair(term: str) -> tuple[int, int]:
    """Indices of a term's query and key source."""
    query, key = term.split("_to_")
    return SOURCES.index(query), SOURCES.index(key)


ALL, CAUSAL, WINDOW = "all", "causal", "window"
"""Which keys a query attends to: every one; none after it; or so many on each side, and the first token by all."""


def attended_keys(attends: str, length: int) -> Bool[ndarray, "query key"] | None:
    """The keys that each query attends to; None where that is every one.

    attends: "all", "causal", or "window 8" for eight on each side.
    """
    if attends == ALL:
        return None
    ahead = np.arange(length)[None] - np.arange(length)[:, None]
    if attends == CAUSAL:
        return ahead <= 0
    near = np.abs(ahead) <= int(attends.removeprefix(WINDOW))
    near[0, :] = near[:, 0] = True
    return near


@dataclass(frozen=True)
class TokenInfo:
    """One token of the input: its text, its word (None for special tokens) and its segment."""

    text: str
    word: tuple[int, int] | None
    segment: int

    @property
    def special(self) -> bool:
        """Whether the tokenizer added it."""
        return self.word is None


@dataclass(frozen=True)
class Provenance:
    """Where a decomposition comes from: enough to make it again."""

    model: str
    revision: str
    device: str
    dtype: str
    seconds: float
    text: str
    text_pair: str | None
    created: str
    git_sha: str
    versions: str
    truncated_from: int | None = None
    """Number of tokens before truncation, when the text was cut."""


class _TermMaps(Mapping[str, ndarray]):
    """Term name -> scores (head, query, key), computed when asked for."""

    def __init__(self, query: ndarray, key: ndarray, scale: float) -> None:
        self._query, self._key, self._scale = query, key, scale

    def __getitem__(self, term: str) -> Float[ndarray, "head query key"]:
        if term not in TERMS:
            raise KeyError(f"there is no term {term!r}; the terms are {', '.join(TERMS)}")
        a, b = term_pair(term)
        return (self._query[a] @ self._key[b].swapaxes(-1, -2)) * self._scale

    def __iter__(self) -> Iterator[str]:
        return iter(TERMS)

    def __len__(self) -> int:
        return len(TERMS)


@dataclass(frozen=True)
class Decomposition:
    """The scores of one layer on one text, as a sum of sixteen terms.

    query, key: (source, head, token, head_dim), sources in the order of `SOURCES`.
    scores: the model's own pre-softmax scores (head, query, key), captured from its real forward pass;
    in a saved probe they are rebuilt from the terms, and `max_error` is the one measured when it was made.
    """

    query: Float[ndarray, "source head token dim"]
    key: Float[ndarray, "source head token dim"]
    scale: float
    layer: int
    token_info: tuple[TokenInfo, ...]
    scores: Float[ndarray, "head query key"]
    max_error: float
    """Largest |sum of terms - the model's own score|, in score units."""
    pattern_error: float
    """Largest |softmax of the sum of terms - the model's own pattern|."""
    provenance: Provenance
    probe_id: str | None = None
    attends: str = ALL
    """Which keys a query attends to, as `attended_keys` takes it."""
    _measured: dict[str, ndarray] = field(default_factory=dict)

    @property
    def tokens(self) -> list[str]:
        """The tokens, special ones included."""
        return [token.text for token in self.token_info]

    @property
    def heads(self) -> int:
        """Number of attention heads."""
        return self.query.shape[1]

    @property
    def terms(self) -> Mapping[str, ndarray]:
        """Term name ("word_to_position": query first) -> scores (head, query, key)."""
        return _TermMaps(self.query, self.key, self.scale)

    def terms_of(self, term: str, head: int) -> Float[ndarray, "query key"]:
        """One term of one head."""
        a, b = term_pair(term)
        return (self.query[a, head] @ self.key[b, head].T) * self.scale

    def pattern_of(self, head: int) -> Float[ndarray, "query key"]:
        """One head's attention probabilities."""
        return softmax(self._seen(self.scores[head]), axis=-1)

    def total(self) -> Float[ndarray, "head query key"]:
        """The sum of the sixteen terms, added one by one."""
        total = np.zeros_like(self.scores)
        for scores in self.terms.values():
            total += scores
        return total

    @cached_property
    def pattern(self) -> Float[ndarray, "head query key"]:
        """Attention probabilities: each row of keys sums to 1."""
        return softmax(self._seen(self.scores), axis=-1)

    @cached_property
    def attended(self) -> Bool[ndarray, "query key"] | None:
        """The keys that each query attends to; None where that is every one."""
        return attended_keys(self.attends, len(self.token_info))

    def _seen(self, scores: ndarray) -> ndarray:
        return scores if self.attended is None else np.where(self.attended, scores, -np.inf)

    @property
    def relative_error(self) -> float:
        """`max_error` as a fraction of the range of the scores."""
        return self.max_error / max(float(np.ptp(self.scores)), float(np.finfo(np.float32).tiny))

    def shares(self) -> dict[str, Float[ndarray, " head"]]:
        """Each term's share of the key-centred total, per head; may be negative, sums to 1."""
        return self._by_term("share")

    def effects(self) -> dict[str, Float[ndarray, " head"]]:
        """Mean KL divergence, in nats, that removing each term causes in the pattern, per head."""
        return self._by_term("effect")

    def top1_agreement(self) -> dict[str, Float[ndarray, " head"]]:
        """Fraction of queries whose most attended key survives removing each term, per head."""
        return self._by_term("top1")

    def raw_rms(self) -> dict[str, Float[ndarray, " head"]]:
        """Root mean square of each term before centring, in score units, per head."""
        return self._by_term("rms")

    def _by_term(self, measure: str) -> dict[str, ndarray]:
        if measure not in self._measured:
            self._measured.update(_measure(self, measure))
        return {term: self._measured[measure][term_pair(term)] for term in TERMS}


def _measure(made: Decomposition, measure: str) -> dict[str, ndarray]:
    """Computes a measure with torch, on the device of the run. Saved probes carry theirs."""
    import torch

    from analysis.terms import measures

    device = made.provenance.device if made.provenance.device == "cpu" or torch.cuda.is_available() else "cpu"
    query, key = (torch.from_numpy(x).to(device) for x in (made.query, made.key))
    mask = None if made.attended is None else torch.from_numpy(made.attended).to(device)
    with torch.inference_mode():
        match measure:
            case "share":
                found = {"share": measures.shares(query, key, made.scale, mask)}
            case "rms":
                found = {"rms": measures.raw_rms(query, key, made.scale, mask)}
            case _:
                effect, agreement = measures.effects(query, key, made.scale, mask)
                found = {"effect": effect, "top1": agreement}
    return {name: value.cpu().numpy() for name, value in found.items()}
