"""The cost of a change to pieces of words, compared with its cost to whole words, also to those that are as frequent.

Pure; shapes: W window, T token, B bin of frequency, V vocabulary, R resample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int64
from numpy import ndarray

from analysis.core.errors import TextError
from analysis.measurements.terms.result import PIECE_MARK
from analysis.statistics.resampling import INTERVAL, bootstrap

PIECES, WORDS, AS_FREQUENT = "pieces", "whole words", "whole words, as frequent"


@dataclass(frozen=True, kw_only=True)
class TokenClasses:
    """The tokens that are compared. Neither: the first piece of a word, and tokens that hold more than letters."""

    pieces: Bool[ndarray, "W T"]
    words: Bool[ndarray, "W T"]


def token_classes(ids: Int64[ndarray, "W T"], counted: Bool[ndarray, " T"], names: Sequence[str]) -> TokenClasses:
    """The pieces and the whole words of windows. names: the token of every id. counted: the slots that hold text.

    Raises TextError where the vocabulary marks no pieces, or the windows hold none.
    """
    goes_on = np.asarray([name.startswith(PIECE_MARK) for name in names])
    letters = np.asarray([name.removeprefix(PIECE_MARK).isalpha() for name in names])
    if not goes_on.any():
        raise TextError(
            f"No token of this vocabulary begins with {PIECE_MARK}, so its pieces of words cannot be told apart."
        )
    continued = np.zeros(ids.shape, dtype=bool)
    continued[:, :-1] = goes_on[ids[:, 1:]] & counted[1:]
    # The token after the last one that is read is not known, so the last may be the first piece of a word.
    last = np.zeros(ids.shape, dtype=bool)
    last[:, np.flatnonzero(counted)[-1]] = True
    usable = counted & letters[ids]
    pieces, words = usable & goes_on[ids], usable & ~goes_on[ids] & ~continued & ~last
    if not pieces.any() or not words.any():
        raise TextError("The windows hold no pieces of words, or no whole words; give a longer text.")
    return TokenClasses(pieces=pieces, words=words)


def compared(
    costs: Float[ndarray, "W T"], classes: TokenClasses, ids: Int64[ndarray, "W T"], seed: int
) -> list[Mapping[str, object]]:
    """The mean cost of pieces, of whole words and of whole words that are as frequent, and the pieces' above each.

    costs: what each token loses; NaN for one that was not measured. Intervals of 95 % are of a bootstrap over windows.
    Frequency: the power of two of a token's count in the windows. A bin in which either kind is missing is left out of
    the comparison with whole words that are as frequent, on both sides.
    """
    known = ~np.isnan(costs)
    counts = np.bincount(ids.ravel())
    bins = np.floor(np.log2(np.maximum(counts, 1))).astype(int)[ids]
    sums, numbers = {}, {}
    for kind, chosen in ((PIECES, classes.pieces & known), (WORDS, classes.words & known)):
        onehot = (bins[..., None] == np.arange(bins.max() + 1)) & chosen[..., None]
        numbers[kind] = onehot.sum(1).astype(float)
        sums[kind] = (np.where(known, costs, 0.0)[..., None] * onehot).sum(1)
    weights = np.concatenate([np.ones((1, len(ids))), bootstrap(len(ids), seed)])
    total = {kind: weights @ sums[kind] for kind in sums}
    number = {kind: weights @ numbers[kind] for kind in numbers}
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = {kind: total[kind].sum(1) / number[kind].sum(1) for kind in total}
        both = (number[PIECES] > 0) & (number[WORDS] > 0)
        share = np.where(both, number[PIECES], 0.0)
        share /= share.sum(1, keepdims=True)
        of_bin = {kind: np.where(both, total[kind] / number[kind], 0.0) for kind in total}
    mean[AS_FREQUENT] = (share * of_bin[WORDS]).sum(1)
    above = {
        PIECES: None,
        WORDS: mean[PIECES] - mean[WORDS],
        AS_FREQUENT: (share * (of_bin[PIECES] - of_bin[WORDS])).sum(1),
    }
    tokens = {PIECES: PIECES, WORDS: WORDS, AS_FREQUENT: WORDS}
    return [
        {"tokens": name, **_interval("", mean[name]), **_interval("difference", above[name])}
        | {"count": int(numbers[tokens[name]].sum())}
        for name in (PIECES, WORDS, AS_FREQUENT)
    ]


def _interval(name: str, values: Float[ndarray, " R"] | None) -> dict[str, float | None]:
    """The first value, which is of all windows, with the interval of the others; None where there are none."""
    keys = ("value", "low", "high") if not name else (name, f"{name}_low", f"{name}_high")
    if values is None:
        return dict.fromkeys(keys)
    return dict(zip(keys, (float(values[0]), *map(float, np.nanpercentile(values[1:], INTERVAL))), strict=True))
