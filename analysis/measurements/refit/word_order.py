"""The probe for exchanged words: a decoder is told two pooled vectors, and says which is of the sentence as it was.

Of each sentence there is a copy with two of its words exchanged, neighbours or words that stand further apart. An
encoder without positions gives both the same vector, whatever it was trained on: the decoder then guesses.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from analysis.core.errors import TextError
from analysis.measurements.decoding.linear import logistic
from analysis.measurements.means.windows import articles

SHORTEST, LONGEST = 8, 32
"""Words of a sentence."""
FAR = 4
"""The least distance of two words that are no neighbours, in words."""
SEED = 0
EVEN = 1e-5
"""Two unit vectors that are nearer than this are taken for one: float32 does not tell them apart."""


@dataclass(frozen=True)
class Exchanges:
    """Sentences and their copies. far: whether the words exchanged are no neighbours."""

    originals: list[str]
    copies: list[str]
    far: ndarray

    def __len__(self) -> int:
        return len(self.originals)


def read_exchanges(path: Path, count: int) -> Exchanges:
    """The first sentences of a text, one an article's paragraph; every second one has words exchanged that are far.

    Raises TextError where the text holds fewer.
    """
    rng = np.random.default_rng(SEED)
    originals, copies = [], []
    for words in _sentences(path):
        if len(originals) == count:
            break
        far = len(originals) % 2 == 1
        inner = range(1, len(words) - 1)  # a full stop or a capital would betray the last word or the first
        pairs = [
            (a, b)
            for a in inner
            for b in inner
            if (b - a >= FAR if far else b - a == 1) and words[a].lower() != words[b].lower()
        ]
        if not pairs:
            continue
        first, second = pairs[rng.integers(len(pairs))]
        copy = list(words)
        copy[first], copy[second] = copy[second], copy[first]
        originals.append(" ".join(words))
        copies.append(" ".join(copy))
    if len(originals) < count:
        raise TextError(
            f"{path} holds {len(originals):,} sentences of {SHORTEST} to {LONGEST} words; expected at least {count:,}. "
            "Give a longer text."
        )
    return Exchanges(originals, copies, np.arange(count) % 2 == 1)


def _sentences(path: Path) -> Iterator[Sequence[str]]:
    """The words of the first sentence of each paragraph, where it has the right length."""
    for article in articles(path):
        for line in article.splitlines():
            words = line.split(". ")[0].rstrip(".").split()
            if SHORTEST <= len(words) <= LONGEST:
                yield words


def accuracy(
    originals: Float[ndarray, "sentence E"], copies: Float[ndarray, "sentence E"], far: ndarray
) -> dict[str, float]:
    """The share of held-out pairs that the decoder gets right: of all, of neighbours, and of words that are far.

    Sentences stand in the order of their articles: the first seven tenths fit the decoder and the rest try it. Vectors
    are of length 1. Two that are equal are half right.
    """
    difference = originals.astype(np.float64) - copies
    same = np.linalg.norm(difference, axis=1) < EVEN
    difference[same] = 0
    cut = len(difference) * 7 // 10
    sides = np.where(np.arange(len(difference)) % 4 < 2, 1, -1)  # which of the two is shown first: both kinds alike
    if same[:cut].all():
        right = np.full(len(difference) - cut, 0.5)
    else:
        x = difference * sides[:, None]
        score = logistic(x[:cut], sides[:cut]).decision_function(x[cut:])
        right = np.where(same[cut:], 0.5, np.sign(score) == sides[cut:]).astype(np.float64)
    late = far[cut:]
    return {"all": float(right.mean()), "near": float(right[~late].mean()), "far": float(right[late].mean())}
