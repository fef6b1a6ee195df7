"""Speed of training: the steps a variant needs for the baseline's final loss, over the baseline's own."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from analysis.statistics.curves import Crossing, Curve, steps_to
from analysis.statistics.paired import mean_interval


@dataclass(frozen=True)
class StepsRatio:
    """Steps of the variant over steps of the baseline to the same loss; below 1 is faster."""

    ratio: float
    """Geometric mean over seeds; at least this where `censored` names any."""
    low: float
    high: float
    """NaN where there is no interval; the note says why."""
    n: int
    """Pairs of seeds in the ratio, the censored included."""
    by_seed: dict[Hashable, float]
    """The ratio of each seed; for a censored seed, the least that it can be."""
    variant: dict[Hashable, Crossing]
    baseline: dict[Hashable, Crossing]
    censored: tuple[Hashable, ...]
    """Seeds at which the variant never reached the target."""
    undefined: tuple[Hashable, ...]
    """Seeds in both, yet with no ratio: the baseline's final loss is not finite, or gets there at no step above 0."""
    dropped: tuple[Hashable, ...]
    """Seeds that only one side has."""
    note: str

    @property
    def is_lower_bound(self) -> bool:
        """True if the ratio is a lower bound, because the variant never reached the target at some seed."""
        return bool(self.censored)


def steps_ratio(
    variant: Mapping[Hashable, Curve],
    baseline: Mapping[Hashable, Curve],
    *,
    reached: Callable[[Curve], Crossing] | None = None,
    confidence: float = 0.95,
) -> StepsRatio:
    """Compares steps by pre-training seed: each variant's target is the final validation loss of its own baseline.

    reached: another rule that gives the crossing of a curve.

    The baseline's steps are counted by the same rule (the first time at or below its final loss, see steps_to),
    so that two equal curves have the ratio 1 also if they are not monotone.
    Interval: t over the logarithms of the ratios. A seed at which the variant never reached the target stays in, with
    the least that its ratio can be; that makes the mean a lower bound, and leaves no interval: a bound in
    place of a value would narrow the spread that the interval is made from.
    """
    shared = [seed for seed in variant if seed in baseline]
    dropped = tuple(s for a, b in ((variant, baseline), (baseline, variant)) for s in a if s not in b)
    ratios: dict[Hashable, float] = {}
    crossings: tuple[dict[Hashable, Crossing], dict[Hashable, Crossing]] = ({}, {})
    censored, undefined = [], []
    for seed in shared:
        target = float(np.asarray(baseline[seed].values)[-1])
        if reached is None and not np.isfinite(target):
            undefined.append(seed)
            continue
        crossing, baseline_crossing = (
            steps_to(curve, target) if reached is None else reached(curve) for curve in (variant[seed], baseline[seed])
        )
        crossings[0][seed], crossings[1][seed] = crossing, baseline_crossing
        steps = crossing.step if crossing.reached else crossing.within
        if not (baseline_crossing.reached and baseline_crossing.step > 0 and steps > 0):
            undefined.append(seed)
            continue
        ratios[seed] = steps / baseline_crossing.step
        if not crossing.reached:
            censored.append(seed)
    mean = mean_interval({seed: float(np.log(ratio)) for seed, ratio in ratios.items()}, confidence=confidence)
    low, high, note = float(np.exp(mean.low)), float(np.exp(mean.high)), mean.note
    if censored:
        low = high = float("nan")
        note = f"not reached at {len(censored)} of {len(ratios)} seeds: the ratio is at least this, no interval"
    if undefined:
        note += f"{'; ' if note else ''}no ratio at {len(undefined)} more seeds"
    return StepsRatio(
        ratio=float(np.exp(mean.mean)),
        low=low,
        high=high,
        n=len(ratios),
        by_seed=ratios,
        variant=crossings[0],
        baseline=crossings[1],
        censored=tuple(censored),
        undefined=tuple(undefined),
        dropped=dropped,
        note=note,
    )
