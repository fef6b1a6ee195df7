"""Proves steps to a loss, their ratio over seeds and the end of the plateau, against plain Python and scipy."""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.statistics import Curve, steps_ratio, steps_to, steps_to_leave_plateau

STEPS = [100, 200, 300, 400, 500]


def brute(steps: list[float], values: list[float], target: float) -> float:
    """The first step at or below, looking at ten thousand points of every piece in turn."""
    for (s, v), (t, w) in zip(zip(steps, values), list(zip(steps, values))[1:]):  # noqa: B905
        for f in np.linspace(0, 1, 10_001):
            if v + f * (w - v) <= target + 1e-12:
                return s + f * (t - s)
    return math.nan


def test_the_first_step_is_where_the_drawn_line_first_meets_the_target():
    rng = np.random.default_rng(0)
    reached = 0
    for _ in range(40):
        values = (np.linspace(3, 1, 5) + rng.normal(0, 0.5, 5)).tolist()
        target = float(rng.uniform(0.8, 2.5))
        expected, found = brute(STEPS, values, target), steps_to(Curve(STEPS, values), target)
        assert found.step == pytest.approx(expected, abs=0.02, nan_ok=True)
        assert found.reached == (not math.isnan(expected))
        reached += found.reached
    assert 5 < reached < 40


def test_a_curve_that_never_gets_there_is_more_than_its_steps():
    found = steps_to(Curve([100, 20_000], [5, 4]), 3)
    assert math.isnan(found.step)
    assert (found.reached, found.within, str(found)) == (False, 20_000, "> 20,000")


def test_ends_and_single_points():
    assert steps_to(Curve(STEPS, [5, 4, 3, 2, 1]), 1).step == 500
    assert str(steps_to(Curve(STEPS, [5, 4, 3, 2, 1]), 3.5)) == "250"
    start = steps_to(Curve(STEPS, [1, 4, 3, 2, 1]), 2)
    assert (start.step, start.at_start, str(start)) == (100, True, "<= 100")
    assert steps_to(Curve([7], [2.0]), 2).step == 7
    assert not steps_to(Curve([7], [2.0]), 2, hold=2).reached


def test_a_curve_that_rises_again_was_there_the_first_time_unless_it_must_hold():
    curve = Curve(STEPS, [5, 3, 5, 3, 1])
    assert steps_to(curve, 4).step == 150
    assert steps_to(curve, 4, hold=2).step == 350
    assert not steps_to(curve, 4, hold=3).reached
    with pytest.raises(ValueError, match="hold"):
        steps_to(curve, 4, hold=0)


def test_a_loss_that_is_no_number_is_not_there():
    assert steps_to(Curve(STEPS, [5, math.nan, 3, 2, 1]), 3).step == 300  # nothing to interpolate from
    assert steps_to(Curve(STEPS, [5, 4, math.inf, 2, 1]), 3).step == 400
    assert not steps_to(Curve(STEPS, [5, 4, math.nan, math.nan, math.nan]), 3).reached


@pytest.mark.parametrize(
    ("steps", "values"),
    [([], []), ([1, 2], [1]), ([1, 1], [2, 1]), ([2, 1], [2, 1]), ([1, math.nan], [2, 1]), ([[1]], [[1]])],
)
def test_what_is_no_curve_is_refused(steps, values):
    with pytest.raises(ValueError, match=r"[Ss]teps"):
        Curve(steps, values)


def test_targets_fit_the_curve():
    with pytest.raises(ValueError, match="Targets"):
        steps_to(Curve(STEPS, STEPS), [1.0, 2.0])


# The ratio -----------------------------------------------------------------------------------------------


def line(final: float, steps: int = 1000) -> Curve:
    """From 10 at step 0 straight to the final loss."""
    return Curve(np.linspace(0, steps, 11), np.linspace(10, final, 11))


def test_the_ratio_is_that_of_straight_lines_and_its_interval_t_on_logarithms():
    base = {seed: line(5) for seed in range(3)}
    variant = {0: line(0), 1: line(2.5), 2: line(3)}  # 5 of 10, of 7.5 and of 7 lost at the same speed
    found = steps_ratio(variant, base)
    assert found.by_seed == pytest.approx({0: 1 / 2, 1: 2 / 3, 2: 5 / 7})
    ends = stats.ttest_1samp(np.log([1 / 2, 2 / 3, 5 / 7]), 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx(tuple(np.exp(ends)))
    assert found.ratio == pytest.approx((1 / 2 * 2 / 3 * 5 / 7) ** (1 / 3))
    assert (found.n, found.censored, found.note) == (3, (), "")
    assert {seed: crossing.step for seed, crossing in found.variant.items()} == pytest.approx(
        {0: 500, 1: 2000 / 3, 2: 5000 / 7}
    )
    assert not found.is_lower_bound


def test_equal_curves_have_the_ratio_one_even_if_not_monotone():
    curve = Curve([0, 100, 200, 300], [5, 3, 4, 3.5])
    found = steps_ratio({0: curve}, {0: curve})
    assert found.by_seed == {0: 1}
    assert found.baseline[0].step == 75
    assert found.note == "one seed: no interval"
    assert math.isnan(found.low)


def test_each_seed_has_its_own_target():
    found = steps_ratio({0: line(0), 1: line(0)}, {0: line(5), 1: line(8)})
    assert found.by_seed == pytest.approx({0: 0.5, 1: 0.2})


def test_a_seed_that_never_gets_there_stays_in_as_a_bound():
    base = {seed: line(5) for seed in range(3)}
    found = steps_ratio({0: line(0), 1: line(2.5), 2: line(7, 1200)}, base)
    assert found.censored == (2,)
    assert found.by_seed[2] == pytest.approx(1.2)
    assert found.is_lower_bound
    assert found.ratio == pytest.approx((1 / 2 * 2 / 3 * 1.2) ** (1 / 3))
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.note == "not reached at 1 of 3 seeds: the ratio is at least this, no interval"
    assert str(found.variant[2]) == "> 1,200"


def test_what_is_timed_may_be_another_and_a_baseline_that_misses_it_has_no_ratio():
    """`line(end)` falls from 10 in 1,000 steps."""
    found = steps_ratio(
        {0: line(0), 1: line(0), 2: line(7)},
        {0: line(5), 1: line(8), 2: line(5)},
        reached=lambda curve: steps_to(curve, 6),
    )
    assert found.by_seed == pytest.approx({0: 0.5, 2: 1000 / 800})
    assert (found.censored, found.undefined) == ((2,), (1,))


def test_what_has_no_ratio_is_named():
    broken = Curve([0, 1], [5, math.nan])
    found = steps_ratio({0: line(0), 1: line(0), 5: line(0)}, {0: line(5), 1: broken, 6: line(5)})
    assert (found.undefined, found.dropped, found.n) == ((1,), (5, 6), 1)
    assert found.note == "one seed: no interval; no ratio at 1 more seeds"
    nothing = steps_ratio({}, {})
    assert math.isnan(nothing.ratio)
    assert nothing.note == "no seed"
    flat = Curve([0, 1], [5, 5])
    assert steps_ratio({0: flat}, {0: flat}).undefined == (0,)


# The plateau ---------------------------------------------------------------------------------------------


def plateau(leaves: float, noise: float = 0.0) -> Curve:
    """A fast fall to 7 nats, a plateau with noise, and a fall of 1 nat in 1,000 steps."""
    steps = np.arange(0, 10_001, 250)
    values = np.maximum(7, 10 - steps / 250) - np.maximum(0, np.minimum(steps - leaves, 3_000)) / 1_000
    return Curve(steps, values + noise * np.random.default_rng(0).normal(size=len(steps)))


def test_the_plateau_ends_where_the_loss_is_a_margin_below_it():
    found = steps_to_leave_plateau(plateau(4_000), 7.0, 0.25)
    assert found.step == pytest.approx(4_250)
    level = Curve(plateau(4_000).steps, np.maximum(7, 10 - np.arange(41.0)))
    assert steps_to_leave_plateau(plateau(4_000), level, 0.25).step == pytest.approx(4_250)
    assert not steps_to_leave_plateau(level, level, 0.25).reached
    assert not steps_to_leave_plateau(plateau(50_000), 7.0, 0.25).reached


def test_noise_and_a_fast_start_do_not_end_the_plateau():
    noisy = plateau(4_000, noise=0.05)
    assert steps_to_leave_plateau(noisy, 7.0, 0.25).step == pytest.approx(4_250, abs=200)
    steepest = np.argmin(np.gradient(np.asarray(noisy.values)))
    assert np.asarray(noisy.steps)[steepest] < 1_000  # the rule that was not taken
    values = np.array(noisy.values)
    values[5] = 5.0  # one evaluation gone wrong
    assert steps_to_leave_plateau(Curve(noisy.steps, values), 7.0, 0.25).step > 4_000
    assert steps_to_leave_plateau(Curve(noisy.steps, values), 7.0, 0.25, hold=1).step < 1_500


def test_a_plateau_needs_a_margin_and_the_same_steps():
    curve = plateau(4_000)
    with pytest.raises(ValueError, match="margin"):
        steps_to_leave_plateau(curve, 7.0, 0)
    with pytest.raises(ValueError, match="must have the steps"):
        steps_to_leave_plateau(curve, Curve([0, 1], [7, 7]), 0.25)
    with pytest.raises(ValueError, match="finite"):
        steps_to_leave_plateau(Curve([0, 1], [7, 7]), Curve([0, 1], [7, math.nan]), 0.25)
