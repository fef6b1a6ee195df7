"""A variant against the baseline, paired by pre-training seed; and the mean of one variant.

Intervals are Student's t over pre-training seeds, and not a bootstrap over them: of three values a percentile
bootstrap can end no further out than the smallest and the largest, and two of eight times the truth lies beyond (all
three seeds on one side of it). So its "95 %" is 75 % for three seeds, and 80 % for four and 83 % for five of a normal
distribution, where t covers 95 % of the time (simulated in the tests). The price of t is that the mean of the seeds
must be about normal, and the honest width of few seeds: 2.5 sd either side at n=3.

Pairing helps where the two runs of a seed rise and fall together (they share the order of the data); where they do
not, it costs degrees of freedom and gains nothing. The differences are what is tested, whatever the pairs have in
common.
"""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from scipy import special

from analysis.statistics.seeds import Runs, Within, no_spread, per_seed

NAN = float("nan")


@dataclass(frozen=True)
class MeanInterval:
    """The mean of one variant over its pre-training seeds; in the unit of its values."""

    n: int
    """Pre-training seeds."""
    mean: float
    sd: float
    """Over pre-training seeds, n - 1 below; fine-tuning noise that averaging left is in it."""
    low: float
    high: float
    """NaN where there is no interval; the note says why."""
    finetuning_sd: float
    """The standard deviation of the fine-tunings of one checkpoint, pooled; NaN if none has two."""
    missing: int
    """Values that were not finite and were left out."""
    note: str


@dataclass(frozen=True)
class Difference:
    """Variant less baseline; in the unit of their values."""

    n: int
    """Pairs of pre-training seeds; for Welch the smaller side."""
    mean: float
    sd: float
    """The standard deviation of the paired differences; NaN for Welch, which has none."""
    standard_error: float
    df: float
    low: float
    high: float
    """NaN where there is no interval; the note says why."""
    p: float
    """Two-sided, of no difference; NaN where there is no interval."""
    method: str
    """'paired t' or 'Welch t'."""
    only_variant: tuple[Hashable, ...]
    only_baseline: tuple[Hashable, ...]
    """Pre-training seeds that only one side has: dropped when paired, used by Welch."""
    missing: int
    note: str

    @property
    def dropped(self) -> int:
        """Seeds that were left out for want of a partner."""
        return len(self.only_variant) + len(self.only_baseline) if self.method == "paired t" else 0


def mean_interval(runs: Runs, *, within: Within = "mean", confidence: float = 0.95) -> MeanInterval:
    """The mean over pre-training seeds with its t interval; NaN ends for one seed, or seeds without spread."""
    result = per_seed(runs, within)
    x = np.asarray(list(result.values.values()), dtype=float)
    n = len(x)
    note = why_no_interval(x)
    half_width = NAN if note else _t_quantile(confidence, n - 1) * x.std(ddof=1) / np.sqrt(n)
    mean = float(x.mean()) if n else NAN
    sd = float(x.std(ddof=1)) if n > 1 else NAN
    return MeanInterval(n, mean, sd, mean - half_width, mean + half_width, result.finetuning_sd, result.missing, note)


def difference(
    variant: Runs, baseline: Runs, *, within: Within = "mean", paired: bool = True, confidence: float = 0.95
) -> Difference:
    """Variant less baseline over pre-training seeds: t on n - 1 degrees of freedom, or Welch's if not paired.

    within: how the fine-tunings of a pre-training seed become one value, before anything else.
    paired: seeds that only one side has are dropped and named. Else every seed of both sides is used
    (Welch 1947; degrees of freedom after Satterthwaite 1946).
    """
    a, b = per_seed(variant, within), per_seed(baseline, within)
    shared = [seed for seed in a.values if seed in b.values]
    only_a = tuple(seed for seed in a.values if seed not in b.values)
    only_b = tuple(seed for seed in b.values if seed not in a.values)
    if paired:
        x, y = (np.asarray([side.values[seed] for seed in shared], dtype=float) for side in (a, b))
        mean, sd, standard_error, df, note = _paired(x, y)
    else:
        x, y = (np.asarray(list(side.values.values()), dtype=float) for side in (a, b))
        mean, sd, standard_error, df, note = _welch(x, y)
    half_width = NAN if note else _t_quantile(confidence, df) * standard_error
    return Difference(
        n=min(len(x), len(y)),
        mean=mean,
        sd=sd,
        standard_error=standard_error,
        df=df,
        low=mean - half_width,
        high=mean + half_width,
        p=NAN if note else float(2 * special.stdtr(df, -abs(mean) / standard_error)),
        method="paired t" if paired else "Welch t",
        only_variant=only_a,
        only_baseline=only_b,
        missing=a.missing + b.missing,
        note=note,
    )


def why_no_interval(x: ndarray, scale: float | None = None, unit: str = "seed") -> str:
    """The reason why the values (n,) have no t interval, or ''. scale: what counts as rounding, see no_spread."""
    if len(x) < 2:
        return f"no {unit}" if not len(x) else f"one {unit}: no interval"
    return f"{len(x)} {unit}s without spread: no interval" if no_spread(x, scale) else ""


def _paired(x: ndarray, y: ndarray) -> tuple[float, float, float, float, str]:
    """mean, sd, standard error, df, note of x - y."""
    n = len(x)
    if not n:
        return NAN, NAN, NAN, NAN, "no seed that both sides have"
    differences = x - y
    note = why_no_interval(differences, float(np.abs([x, y]).max()), "pair")
    sd = float(differences.std(ddof=1)) if n > 1 else NAN
    return float(differences.mean()), sd, sd / np.sqrt(n), n - 1 if n > 1 else NAN, note


def _welch(x: ndarray, y: ndarray) -> tuple[float, float, float, float, str]:
    if not len(x) or not len(y):
        return NAN, NAN, NAN, NAN, "no seed on one side"
    mean = float(x.mean() - y.mean())
    if len(x) < 2 or len(y) < 2:
        return mean, NAN, NAN, NAN, "one seed on one side: no interval"
    if no_spread(x) and no_spread(y):
        return mean, NAN, 0.0, NAN, "seeds without spread on both sides: no interval"
    a, b = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
    df = (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1))
    return mean, NAN, float(np.sqrt(a + b)), float(df), ""


def _t_quantile(confidence: float, df: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; expected a fraction between 0 and 1, as 0.95.")
    return float(special.stdtrit(df, (1 + confidence) / 2))
