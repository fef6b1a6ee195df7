"""A decomposition: the sources' queries and keys, and everything that follows from them.

Numpy only, so that a saved decomposition can be shown where torch is not installed. The sources'
queries and keys are kept rather than the sixteen maps: any map is one matrix product away, and they
are smaller by the ratio of tokens to head dimension.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Self

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from scipy.special import softmax

from analysis.core.term_names import ADDED_TERMS, FOUR, MEAN_SOURCES, SOURCES, TERMS, term_pair, terms_among
from analysis.measurements.terms.masks import ALL, attended_keys

__all__ = [
    "ADDED_TERMS",
    "FOUR",
    "MEAN_SOURCES",
    "SOURCES",
    "TERMS",
    "Decomposition",
    "Provenance",
    "TokenInfo",
    "term_pair",
]


MAX_CANCELLATION = 30.0
"""The limit of `cancellation`, above which a head's shares are withheld. Where its terms are together so many times as
large as the scores that they add up to, a share only says that large numbers cancel."""
PRECISE_FROM = 100.0
"""The cancellation from which terms are computed again in float64: where the terms of a head are together so many times
as large as the scores that they add up to, float32 would round their sum at a hundredth of their size."""
UNKNOWN = ("[UNK]", "<unk>", "<UNK>", "[unk]")
"""The texts by which tokenizers stand for something that they do not know."""
PIECE_MARK = "##"
"""Begins the text of a piece that goes on with a word."""
SPACE, LINE = BLANKS = ("␣", "⏎")
"""The text of a piece that is spaces alone, or line ends."""


@dataclass(frozen=True)
class TokenInfo:
    """One token of the input: its text, its word (None for special tokens) and its segment.

    text: what a reader reads; a piece that goes on with a word begins with `PIECE_MARK`, and is that alone where
    it only completes a character. word: (which of the texts, which word of it), both from 0.
    """

    text: str
    word: tuple[int, int] | None
    segment: int

    @property
    def special(self) -> bool:
        """True if the tokenizer added the token."""
        return self.word is None


@dataclass(frozen=True)
class Provenance:
    """The provenance of a decomposition: enough to make it again."""

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

    @classmethod
    def of_run(
        cls, run: Mapping[str, Any], text: str, text_pair: str | None = None, truncated_from: int | None = None
    ) -> Self:
        """The provenance of a stored result on a text. run: the columns of its run, in its file or in the store."""
        names = ("model", "revision", "device", "dtype", "seconds", "created", "git_sha", "versions")
        about = {name: run[name] for name in names}
        return cls(**about, text=text, text_pair=text_pair, truncated_from=truncated_from)


class _TermMaps(Mapping[str, ndarray]):
    """Term name -> scores (head, query, key), computed when asked for."""

    def __init__(self, decomposition: "Decomposition") -> None:
        self._made = decomposition

    def __getitem__(self, term: str) -> Float[ndarray, "head query key"]:
        if term not in self._made.names:
            raise KeyError(f"there is no term {term!r}; the terms are {', '.join(self._made.names)}")
        return self._made.terms_of(term)

    def __iter__(self) -> Iterator[str]:
        return iter(self._made.names)

    def __len__(self) -> int:
        return len(self._made.names)


@dataclass(frozen=True)
class Decomposition:
    """The scores of one layer on one text, as a sum of sixteen terms, and of what the model adds to them.

    query, key: (source, head, token, head_dim), in the order of `sources`.
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
    position_kind: str = "added"
    """The way in which positions enter the model: see `analysis.models.families.Family.positions`."""
    layers: int = 0
    """The number of the model's layers; 0 where a saved probe does not say."""
    probe_id: str | None = None
    attends: str = ALL
    """The keys that each query attends to, in the words that `attended_keys` takes."""
    added: Mapping[str, Float[ndarray, "head query key"]] = field(default_factory=dict)
    """The scores that the model adds to those of queries and keys, by the names of the terms (of `ADDED_TERMS`)."""
    freeze: str = ""
    """The part of gated units that is held fixed below this layer; empty for a model without gated units."""
    sources: tuple[str, ...] = SOURCES
    """The sources whose pairs are the terms: `SOURCES`, or `MEAN_SOURCES` under method `mean`."""
    reference: str = ""
    """The windows over which the means of method `mean` were taken."""
    frozen_gap: float = float("nan")
    """The distance, under method `mean` at layer 0, of its positions from those of `frozen` over those windows, as a
    share of the size of the latter."""
    unknown_because: str = ""
    """The reason why tokens are unknown, and what to do, where the tokenizer's files show it; not in saved probes."""
    _measured: dict[str, ndarray] = field(default_factory=dict)

    @property
    def tokens(self) -> list[str]:
        """The tokens, special ones included."""
        return [token.text for token in self.token_info]

    @property
    def unknown(self) -> int:
        """The number of tokens of the text itself that stand for something that the tokenizer does not know."""
        return sum(token.text in UNKNOWN for token in self.token_info if not token.special)

    @property
    def heads(self) -> int:
        """Number of attention heads."""
        return self.query.shape[1]

    @property
    def method(self) -> str:
        """exact at layer 0; deeper, frozen: patterns, statistics and gates are held at their true values. Or mean."""
        if self.sources == MEAN_SOURCES:
            return "mean"
        return "exact" if self.layer == 0 else "frozen"

    @property
    def names(self) -> tuple[str, ...]:
        """Every term, also those that are zero because a source is absent."""
        return (*terms_among(self.sources), *self.added)

    @property
    def present(self) -> tuple[str, ...]:
        """The terms of the sources that this model has here."""
        there = [bool(self.query[a].any() or self.key[a].any()) for a in range(len(self.sources))]
        return tuple(
            term
            for term in self.names
            if term in self.added or all(there[index] for index in term_pair(term, self.sources))
        )

    @property
    def terms(self) -> Mapping[str, ndarray]:
        """Term name ("word_to_position": query first) -> scores (head, query, key)."""
        return _TermMaps(self)

    def terms_of(self, term: str, head: int | slice = slice(None)) -> Float[ndarray, "... query key"]:
        """One term of one head, or of all."""
        if term in self.added:
            return self.added[term][head]
        a, b = term_pair(term, self.sources)
        return (self.query[a, head] @ self.key[b, head].swapaxes(-1, -2)) * self.scale

    def pattern_of(self, head: int) -> Float[ndarray, "query key"]:
        """One head's attention probabilities."""
        return softmax(self._seen(self.scores[head]), axis=-1)

    def total(self) -> Float[ndarray, "head query key"]:
        """The sum of the terms, added one by one."""
        total = np.zeros_like(self.scores)
        for scores in self.terms.values():
            total += scores
        return total

    @property
    def pattern(self) -> Float[ndarray, "head query key"]:
        """Attention probabilities: each row of keys sums to 1."""
        return softmax(self._seen(self.scores), axis=-1)

    @property
    def attended(self) -> Bool[ndarray, "query key"] | None:
        """The keys that each query attends to; None where that is every one."""
        return attended_keys(self.attends, len(self.token_info))

    def _seen(self, scores: ndarray) -> ndarray:
        return scores if self.attended is None else np.where(self.attended, scores, -np.inf)

    @property
    def relative_error(self) -> float:
        """`max_error` as a fraction of the range of the scores; of their size, where they are one number."""
        reach = np.ptp(self.scores) or np.abs(self.scores).max() or np.finfo(np.float32).tiny
        return self.max_error / float(reach)

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows: each head's share of every term, with the model, layer and text."""
        about = self.provenance
        text = about.text + (f" | {about.text_pair}" if about.text_pair else "")
        shares = self.shares()
        head = "".join(f"<th>{escape(term.replace('_to_', ' → '))}</th>" for term in shares)
        rows = "".join(
            f"<tr><th>{number}</th>{''.join(f'<td>{values[number]:.2f}</td>' for values in shares.values())}</tr>"
            for number in range(self.heads)
        )
        return (
            f"<p><b>{escape(about.model)}</b>, layer {self.layer}: {escape(text)}</p>"
            f"<table><thead><tr><th>head</th>{head}</tr></thead><tbody>{rows}</tbody></table>"
            "<p>Share of the variance of the key-centred scores; a row sums to 1. The terms add up to the model's own "
            f"scores within {self.max_error:.1e}.</p>"
        )

    def shares(self) -> dict[str, Float[ndarray, " head"]]:
        """Each term's share of the key-centred total, per head; may be negative, sums to 1.

        Not a number in heads whose total is constant, and in those whose terms cancel too far: see `cancellation`.
        """
        return self._by_term("share")

    def effects(self) -> dict[str, Float[ndarray, " head"]]:
        """Mean KL divergence, in nats, that removing each term causes in the pattern, per head."""
        return self._by_term("effect")

    def top1_agreement(self) -> dict[str, Float[ndarray, " head"]]:
        """Fraction of queries whose most attended key survives removing each term, per head."""
        return self._by_term("top1")

    @property
    def cancellation(self) -> Float[ndarray, " head"]:
        """The size of each head's terms together over that of its scores; see `measures.cancellation`."""
        if "cancellation" not in self._measured:
            self._measured.update(_measure(self, "cancellation"))
        return self._measured["cancellation"]

    def raw_rms(self) -> dict[str, Float[ndarray, " head"]]:
        """Root mean square of each term before centring, in score units, per head."""
        return self._by_term("rms")

    def _by_term(self, measure: str) -> dict[str, ndarray]:
        if measure not in self._measured:
            self._measured.update(_measure(self, measure))
        return dict(zip(self.names, self._measured[measure], strict=True))


@dataclass(frozen=True)
class Patterns:
    """Attention probabilities of every layer of a model without terms, on one text."""

    patterns: Float[ndarray, "layer head query key"]
    token_info: tuple[TokenInfo, ...]
    provenance: Provenance


@dataclass(frozen=True)
class Layers:
    """One measure of every term at every layer and head, on one text.

    values: (layer, term, head), terms in the order of `terms`; not a number where a head is constant.
    carried: (layer, source), each source's part of the hidden states that leave the layer, sum over tokens of
    <source, whole> / <whole, whole>; sums to 1 over sources and may be negative.
    errors: (layer, 2), the largest |sum of terms - the model's own score|, in score units and as a fraction of
    the range of the scores.
    cancellation: how many times as large as the scores the terms of a head are together; see `measures.cancellation`.
    state_error: the largest |sum of sources - hidden state| at any layer, as a fraction of the range of the states.
    """

    measure: str
    terms: tuple[str, ...]
    values: Float[ndarray, "layer term head"]
    carried: Float[ndarray, "layer source"]
    errors: Float[ndarray, "layer 2"]
    cancellation: Float[ndarray, "layer head"]
    state_error: float
    tokens: int
    freeze: str
    provenance: Provenance


@dataclass(frozen=True)
class Curves:
    """The mean key-centred score of every head at each distance (key minus query, in tokens), on one text.

    terms: the terms of position alone that the model has. position, total: (layer, head, distance), of their sum and of
    the model's own scores; not a number where no query attends so far. pairs: the number of pairs at each distance.
    shares: (layer, head), the part of those terms in what varies in the scores. errors: as those of `Layers`.
    """

    terms: tuple[str, ...]
    distances: Int[ndarray, " distance"]
    pairs: Int[ndarray, " distance"]
    position: Float[ndarray, "layer head distance"]
    total: Float[ndarray, "layer head distance"]
    shares: Float[ndarray, "layer head"]
    errors: Float[ndarray, "layer 2"]
    tokens: int
    freeze: str
    provenance: Provenance


def _measure(decomposition: Decomposition, measure: str) -> dict[str, ndarray]:
    """Computes a measure with torch, on the device of the run. Saved probes carry theirs."""
    import torch

    from analysis.measurements.terms import measures

    device = (
        decomposition.provenance.device
        if decomposition.provenance.device == "cpu" or torch.cuda.is_available()
        else "cpu"
    )
    query, key = (
        torch.tensor(x, device=device) for x in (decomposition.query, decomposition.key)
    )  # copies: ours may be read-only
    added = np.stack(list(decomposition.added.values())) if decomposition.added else None
    mask, bias = (None if x is None else torch.tensor(x, device=device) for x in (decomposition.attended, added))
    with torch.inference_mode():
        match measure:
            case "share":
                entries = {"share": measures.shares(query, key, decomposition.scale, mask, bias)}
            case "cancellation":
                squares = measures.centred_squares(query, key, decomposition.scale, mask, bias)
                _, power = measures.share_parts(query, key, decomposition.scale, mask, bias)
                entries = {"cancellation": measures.cancellation(squares, power)}
            case "rms":
                entries = {"rms": measures.raw_rms(query, key, decomposition.scale, mask, bias)}
            case _:
                effect, agreement = measures.effects(query, key, decomposition.scale, mask, bias)
                entries = {"effect": effect, "top1": agreement}
    return {name: value.cpu().numpy() for name, value in entries.items()}
