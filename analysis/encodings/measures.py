"""Measures encodings: movement, similarity against distance, shifts, frequencies.

Every measure is a pure function of a table (length, dim), a similarity (query, key) or a registered encoding. A measure
of something that is not there - the shape of a constant - is NaN, never 0 or 1. The similarity may hold NaN where a key
may not be attended to; those pairs are left out.

The three properties - translation invariance, monotonicity, symmetry - are those of Wang et al. 2021, "On Position
Embeddings in BERT", ICLR, which defines when they hold. The numbers that say how nearly they hold are ours, and leave
out the diagonal: that a code resembles itself says nothing of distance.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, Int64

from analysis.core.errors import AddendError
from analysis.encodings.encoding import ENCODINGS, Encoding, Scores, Table, relative_positions

ROUNDING = 1e-12  # relative to the largest value: smaller differences are taken for rounding
FOLDS = 5
PENALTIES = 10.0 ** np.arange(-8, 3)  # of the ridge, relative to the mean squared singular value
QUERIES = 128  # monotonicity looks at no more queries than this, evenly spaced

Columns = Float64[np.ndarray, " dim"]


class Movement(NamedTuple):
    """The movement of each column of a table over its rows, in the table's own units."""

    range: Columns  # largest less smallest value
    sd: Columns  # population standard deviation

    def moving(self, threshold: float = 0.5) -> int:
        """The number of columns that range over more than `threshold`."""
        return int((self.range > threshold).sum())

    def top_share(self, columns: int) -> float:
        """Share of the variance that the most variable `columns` hold; NaN where nothing varies."""
        variance = np.sort(self.sd**2)[::-1]
        return float(variance[:columns].sum() / variance.sum()) if variance.sum() > 0 else np.nan

    def columns_with(self, share: float) -> int:
        """The fewest columns that together hold this share of the variance; 0 where nothing varies."""
        variance = np.sort(self.sd**2)[::-1]
        return int(np.searchsorted(variance.cumsum(), share * variance.sum()) + 1) if variance.sum() > 0 else 0

    def first_share(self, columns: int) -> float:
        """Share of the variance that the first `columns` hold; NaN where nothing varies."""
        variance = self.sd**2
        return float(variance[:columns].sum() / variance.sum()) if variance.sum() > 0 else np.nan


def movement(table: Table) -> Movement:
    """Range and standard deviation of every column over the rows (claim C02)."""
    return Movement(np.ptp(table, axis=0), _centred(table).std(axis=0))


class ByDistance(NamedTuple):
    """Similarity against distance: one entry per distance that occurs, in ascending order."""

    distance: Int64[np.ndarray, " distances"]  # key minus query, or its size where folded; in tokens
    mean: Float64[np.ndarray, " distances"]
    sd: Float64[np.ndarray, " distances"]  # over pairs, population
    pairs: Int64[np.ndarray, " distances"]


def by_distance(similarity: Scores, *, folded: bool = False) -> ByDistance:
    """Mean and standard deviation over the pairs at each distance; NaN pairs are left out.

    `folded` counts keys before and after the query as one. The farthest distances have few pairs.
    """
    distance = relative_positions(len(similarity))
    seen = ~np.isnan(similarity)
    items, index = np.unique((np.abs(distance) if folded else distance)[seen], return_inverse=True)
    values = similarity[seen]
    pairs = np.bincount(index, minlength=len(items))
    mean = np.bincount(index, values, minlength=len(items)) / pairs
    spread = np.bincount(index, (values - mean[index]) ** 2, minlength=len(items)) / pairs
    return ByDistance(items, mean, np.sqrt(spread), pairs)


def cosine(table: Table) -> Scores:
    """Cosine similarity of every two rows, from -1 to 1; NaN for a row of zeros."""
    norm = np.linalg.norm(table, axis=1, keepdims=True)
    unit = np.divide(table, norm, out=np.full_like(table, np.nan), where=norm > 0)
    return unit @ unit.T


def translation_invariance(similarity: Scores) -> float:
    """Share of the similarity's variance that the signed distance accounts for, in [0, 1].

    1 if phi(x, x + m) depends on m alone. The correlation ratio eta squared over all pairs off the
    diagonal: 1 - (variance within distances) / (variance). By chance about 2 / length. NaN if constant.
    """
    off = _off_diagonal(similarity)
    total = _spread(off)
    if np.isnan(total):
        return np.nan
    profile = by_distance(off)
    return float(1 - (profile.sd**2 * profile.pairs).sum() / total)


def monotonicity(similarity: Scores) -> float:
    """Probability that of two keys on the same side of a query the nearer is the more similar, in [0, 1].

    1 if phi(x, x + n) > phi(x, x + m) for all m > n > 0, on both sides; ties count half, so 0.5 by
    chance. All pairs of keys of at most 128 evenly spaced queries. NaN if constant.
    """
    if np.isnan(_spread(_off_diagonal(similarity))):
        return np.nan
    length = len(similarity)
    tolerance = ROUNDING * np.nanmax(np.abs(similarity))
    later = np.triu(np.ones((length, length), dtype=bool), 1)  # nearer key, farther key
    balance, comparisons = 0, 0
    for query in np.unique(np.linspace(0, length - 1, min(length, QUERIES)).round().astype(int)):
        for side in (similarity[query, :query][::-1], similarity[query, query + 1 :]):
            side = side[~np.isnan(side)]  # nearest first
            fall = np.where(later[: len(side), : len(side)], side[:, None] - side[None, :], 0.0)
            balance += np.count_nonzero(fall > tolerance) - np.count_nonzero(fall < -tolerance)
            comparisons += len(side) * (len(side) - 1) // 2
    return float(0.5 + 0.5 * balance / comparisons) if comparisons else np.nan


def first_rise(similarity: Scores) -> float:
    """The first distance, in tokens, at which the mean similarity is higher than at one token less.

    Over both sides and from distance 0. Infinite if it never rises within the length; NaN if constant.
    """
    profile = by_distance(similarity, folded=True)
    if len(profile.mean) < 2 or np.isnan(_spread(similarity)):
        return np.nan
    rises = np.flatnonzero(np.diff(profile.mean) > ROUNDING * np.abs(profile.mean).max())
    return float(profile.distance[rises[0] + 1]) if len(rises) else np.inf


def visible_rise(similarity: Scores, part: float) -> float:
    """The first distance, in tokens, from which the mean similarity climbs by a part of its height without falling.

    Over both sides and from distance 0; the height is the largest mean less the smallest. Infinite if it never climbs
    as much within the length; NaN if constant.
    """
    profile = by_distance(similarity, folded=True)
    if len(profile.mean) < 2 or np.isnan(_spread(similarity)):
        return np.nan
    least, climbed, began = part * np.ptp(profile.mean), 0.0, 0.0
    for distance, step in zip(profile.distance[1:], np.diff(profile.mean), strict=True):
        began = began if climbed else float(distance)
        climbed = climbed + step if step > 0 else 0.0
        if climbed > 0 and climbed >= least:
            return began
    return np.inf


def symmetry(similarity: Scores) -> float:
    """Share of the similarity's variance in its symmetric part, in [0, 1].

    1 if phi(x, y) = phi(y, x) for all x and y, 0 if exchanging them turns every deviation from the mean
    around, 0.5 by chance. Off the diagonal; every dot product of a table with itself is symmetric.
    NaN if constant, or if one side is never attended to.
    """
    both = _off_diagonal(similarity)
    both[np.isnan(both.T)] = np.nan
    total = _spread(both)
    if np.isnan(total):
        return np.nan
    centred = both - np.nanmean(both)
    return float(np.nansum(((centred + centred.T) / 2) ** 2) / total)


def shift_residual(encoding: Encoding, *, length: int, dim: int, k: int = 1, **options: Any) -> float:
    """Largest |M_k row(pos) - row(pos + k)| with the closed-form M_k (claim C03), in the table's units.

    NaN for an encoding without a closed form. AddendError where no position has one k further on.
    """
    if encoding.make_shift is None:
        return np.nan
    if not 1 <= k < length:
        raise AddendError(f"The shift k={k} is not from 1 to {length - 1}, the most for length {length}.")
    table = encoding.table(length, dim, **options)
    matrix = encoding.shift(k, dim, **options)
    return float(np.abs(table[:-k] @ matrix.T - table[k:]).max())


def shift_r2(table: Table, *, k: int = 1) -> float:
    """R squared, on positions held out, of the best single linear map from row(pos) to row(pos + k) (claim C03).

    Ridge regression without intercept, as M_k has none. Every fifth position is held out, in five turns:
    a map fitted on about as many positions as there are dimensions fits anything (method, section 7). The
    penalty is the one of `PENALTIES` with the least leave-one-out error on the positions fitted.
    1 - (squared error) / (squared deviation from the mean of the fitted targets), over all columns:
    1 if shifting is linear, at most about 1 / length if the map foretells nothing. A code that hardly
    changes from one position to the next does well at k = 1 whatever its form: look at larger k too.
    NaN if the table is constant. AddendError for a k without at least `2 * FOLDS` pairs of positions.
    """
    if not 1 <= k <= len(table) - 2 * FOLDS:
        raise AddendError(
            f"The shift k={k} at length {len(table)} leaves fewer than {2 * FOLDS} pairs to fit and hold out; "
            f"choose k from 1 and a length of at least {2 * FOLDS + max(k, 1)}."
        )
    if not _centred(table).any():
        return np.nan
    source, target = table[:-k], table[k:]
    fold = np.arange(len(source)) % FOLDS
    error = deviation = 0.0
    for turn in range(FOLDS):
        held_out = fold == turn
        foretold = source[held_out] @ _ridge_map(source[~held_out], target[~held_out])
        error += ((foretold - target[held_out]) ** 2).sum()
        deviation += ((target[held_out] - target[~held_out].mean(axis=0)) ** 2).sum()
    return float(1 - error / deviation)


def _ridge_map(x: Table, y: Table) -> Float64[np.ndarray, "dim dim"]:
    """B with x B close to y. The leave-one-out error of ridge regression is residual / (1 - leverage)."""
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    projected = u.T @ y

    def left_out_error(penalty: float) -> float:
        retained = s**2 / (s**2 + penalty)
        return float((((y - u * retained @ projected) / (1 - u**2 @ retained)[:, None]) ** 2).sum())

    penalty = min((s**2).mean() * PENALTIES, key=left_out_error)
    return (vt.T * (s / (s**2 + penalty))) @ projected


class Spectrum(NamedTuple):
    """The frequencies of each column: the share of its variance at each of them."""

    frequency: Float64[np.ndarray, " frequencies"]  # cycles per row, above 0 and up to 0.5
    power: Float64[np.ndarray, "frequencies dim"]  # each column sums to 1; NaN for a constant column

    def mean(self) -> Float64[np.ndarray, " frequencies"]:
        """The mean over the columns that vary, each counting the same; NaN if none does."""
        varying = self.power[:, ~np.isnan(self.power).any(axis=0)]
        return varying.mean(axis=1) if varying.size else np.full(len(self.frequency), np.nan)


def spectrum(table: Table) -> Spectrum:
    """One-sided power spectrum of each column over the rows, its mean removed, without a window.

    A wave slower than the length leaks into the lowest frequencies. AddendError for fewer than two rows.
    """
    if len(table) < 2:
        raise AddendError(f"The length {len(table)} has no frequencies; choose at least 2.")
    power = np.abs(np.fft.rfft(_centred(table), axis=0))[1:] ** 2
    # every frequency but the highest of an even length stands for its negative as well
    power[: (len(table) - 1) // 2] *= 2
    total = power.sum(axis=0)
    share = np.divide(power, total, out=np.full_like(power, np.nan), where=total > 0)
    return Spectrum(np.fft.rfftfreq(len(table))[1:], share)


def summary(name: str, *, length: int, dim: int, **options: Any) -> dict[str, float]:
    """The scalar measures of one encoding, by name; NaN where one is undefined or the length too short for it.

    Cosines (of neighbours, and of rows at least half the length apart) and shifts ask for rows that are
    positions: they are NaN where rows are distances. Raises as `encode` does.
    """
    encoding = ENCODINGS[name]
    table = encoding.table(length, dim, **options)
    similarity = encoding.similarity(length, dim, **options)
    moved = movement(table)
    numbers = {
        "range_mean": float(moved.range.mean()),
        "range_largest": float(moved.range.max()),
        "sd_mean": float(moved.sd.mean()),
        "moving_dims": float(moved.moving()),
        "top_half_share": moved.top_share((dim + 1) // 2),
        "first_half_share": moved.first_share((dim + 1) // 2),
        "translation_invariance": translation_invariance(similarity),
        "monotonicity": monotonicity(similarity),
        "first_rise": first_rise(similarity),
        "symmetry": symmetry(similarity),
        "frequency_mean": np.nan,
        "cosine_next": np.nan,
        "cosine_far": np.nan,
        "shift_residual": np.nan,
        "shift_r2_1": np.nan,
        "shift_r2_8": np.nan,
    }
    if length > 1:
        spectral = spectrum(table)
        numbers["frequency_mean"] = float(spectral.frequency @ spectral.mean())
    if encoding.rows == "position" and length > 1:
        cosines, distances = cosine(table), np.abs(relative_positions(length))
        numbers["cosine_next"] = float(cosines[distances == 1].mean())
        numbers["cosine_far"] = float(cosines[distances >= length / 2].mean())
        numbers["shift_residual"] = shift_residual(encoding, length=length, dim=dim, **options)
        for k in (1, 8):
            if length >= k + 2 * FOLDS:
                numbers[f"shift_r2_{k}"] = shift_r2(table, k=k)
    return numbers


def _centred(table: Table) -> Table:
    """Each column less its mean; exactly zero where a column varies by no more than rounding."""
    varies = np.ptp(table, axis=0) > ROUNDING * np.abs(table).max(axis=0)
    return np.where(varies, table - table.mean(axis=0), 0.0)


def _off_diagonal(similarity: Scores) -> Scores:
    """A copy with NaN on the diagonal."""
    off = similarity.copy()
    np.fill_diagonal(off, np.nan)
    return off


def _spread(similarity: Scores) -> float:
    """Sum of squared deviations from the mean over the pairs seen; NaN if there are none or all are equal."""
    values = similarity[~np.isnan(similarity)]
    if not values.size or np.ptp(values) <= ROUNDING * np.abs(values).max():
        return np.nan
    return float(((values - values.mean()) ** 2).sum())
