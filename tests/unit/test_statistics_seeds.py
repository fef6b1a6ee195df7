"""Proves the differences, means and intervals over seeds and over dev examples, against scipy and simulation."""

import math
import statistics

import numpy as np
import pytest
from scipy import stats

from analysis.statistics import difference, examples_interval, mean_interval, per_seed

A = {0: 0.812, 1: 0.835, 2: 0.828, 3: 0.841}
B = {0: 0.806, 1: 0.822, 2: 0.829, 3: 0.827}
NESTED_A = {0: [0.81, 0.83, 0.85], 1: [0.80, 0.84, 0.83], 2: [0.79, 0.95, 0.80]}
NESTED_B = {0: [0.80, 0.82, 0.84], 1: [0.80, 0.81, 0.85], 2: [0.78, 0.79, 0.83]}


# Seeds ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("within", ["mean", "median"])
def test_finetunings_become_one_value_a_seed(within):
    found = per_seed(NESTED_A, within)
    expected = {seed: getattr(statistics, within)(values) for seed, values in NESTED_A.items()}
    assert found.values == pytest.approx(expected)
    pooled = math.sqrt(statistics.mean(statistics.variance(values) for values in NESTED_A.values()))
    assert found.finetuning_sd == pytest.approx(pooled)
    assert (found.runs, found.missing) == (9, 0)
    assert per_seed(NESTED_A, "mean").values[2] != per_seed(NESTED_A, "median").values[2]


def test_failed_runs_are_left_out_and_counted():
    found = per_seed({0: [0.5, math.nan, 0.7], 1: [math.nan, math.inf], 2: 0.4, 3: []})
    assert found.values == pytest.approx({0: 0.6, 2: 0.4})
    assert (found.runs, found.missing) == (3, 3)
    assert math.isnan(per_seed(A).finetuning_sd)
    with pytest.raises(ValueError, match="'mean' or 'median'"):
        per_seed(A, "mode")  # type: ignore[arg-type]


# One variant ---------------------------------------------------------------------------------------------


def test_the_mean_has_the_interval_of_scipy():
    x = list(A.values())
    found = mean_interval(A, confidence=0.9)
    low, high = stats.ttest_1samp(x, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-12)
    assert (found.n, found.mean, found.sd) == pytest.approx((4, statistics.mean(x), statistics.stdev(x)))
    assert found.note == ""


@pytest.mark.parametrize(
    ("runs", "n", "mean", "note"),
    [
        ({}, 0, math.nan, "no seed"),
        ({0: 0.7}, 1, 0.7, "one seed: no interval"),
        ({0: [0.6, 0.8]}, 1, 0.7, "one seed: no interval"),
        ({0: 0.1 + 0.2, 1: 0.3, 2: 0.3}, 3, 0.3, "3 seeds without spread: no interval"),
        ({0: 0.7, 1: math.nan}, 1, 0.7, "one seed: no interval"),
    ],
)
def test_without_spread_there_is_no_interval_and_that_is_said(runs, n, mean, note):
    found = mean_interval(runs)
    assert found.n == n
    assert found.mean == pytest.approx(mean, nan_ok=True)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.note == note
    assert math.isnan(found.sd) == (n < 2)


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_a_confidence_is_a_fraction(confidence):
    with pytest.raises(ValueError, match="fraction"):
        mean_interval(A, confidence=confidence)


# Two variants --------------------------------------------------------------------------------------------


def test_paired_is_the_paired_test_of_scipy():
    expected = stats.ttest_rel(list(A.values()), list(B.values()))
    shuffled = {seed: B[seed] for seed in (2, 0, 3, 1)}
    found = difference(A, shuffled)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-12)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(0.95)), rel=1e-12)
    assert (found.method, found.n, found.df, found.dropped) == ("paired t", 4, 3, 0)
    turned = difference(B, A)
    assert (turned.mean, turned.low, turned.p) == pytest.approx((-found.mean, -found.high, found.p))


def test_finetunings_are_averaged_first_and_not_counted_as_seeds():
    found = difference(NESTED_A, NESTED_B)
    means = [[statistics.mean(values) for values in side.values()] for side in (NESTED_A, NESTED_B)]
    assert found.p == pytest.approx(stats.ttest_rel(*means).pvalue)
    assert found.n == 3
    medians = [[statistics.median(values) for values in side.values()] for side in (NESTED_A, NESTED_B)]
    assert difference(NESTED_A, NESTED_B, within="median").p == pytest.approx(stats.ttest_rel(*medians).pvalue)


def test_seeds_without_a_partner_are_dropped_and_named():
    found = difference({**A, 7: 0.1, 8: math.nan}, {**B, 9: 0.9, 8: 0.5})
    assert found.only_variant == (7,)
    assert found.only_baseline == (9, 8)
    assert (found.dropped, found.missing) == (3, 1)
    assert (found.mean, found.p) == (difference(A, B).mean, difference(A, B).p)


def test_welch_uses_every_seed():
    c = {0: 0.79, 11: 0.81, 12: 0.835}
    expected = stats.ttest_ind(list(A.values()), list(c.values()), equal_var=False)
    found = difference(A, c, paired=False)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-12)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(0.95)), rel=1e-12)
    assert (found.n, found.dropped) == (3, 0)
    # statsmodels 0.15.0: CompareMeans(DescrStatsW(a), DescrStatsW(c)), ttest_ind and tconfint_diff, usevar="unequal"
    assert (found.df, found.p) == pytest.approx((2.927183836161034, 0.3181559930840877))
    assert (found.low, found.high) == pytest.approx((-0.029285614319923894, 0.06395228098659052))


@pytest.mark.parametrize(
    ("variant", "baseline", "paired", "note"),
    [
        ({}, {}, True, "no seed that both sides have"),
        (A, {9: 0.5}, True, "no seed that both sides have"),
        ({0: 0.6}, B, True, "one pair: no interval"),
        ({0: 0.6, 1: 0.7, 2: 0.8}, {0: 0.5, 1: 0.6, 2: 0.7}, True, "3 pairs without spread: no interval"),
        (A, A, True, "4 pairs without spread: no interval"),
        ({}, B, False, "no seed on one side"),
        ({0: 0.6}, B, False, "one seed on one side: no interval"),
        ({0: 0.6, 1: 0.6}, {0: 0.5, 1: 0.5}, False, "seeds without spread on both sides: no interval"),
    ],
)
def test_where_nothing_can_be_tested_there_is_neither_interval_nor_p(variant, baseline, paired, note):
    found = difference(variant, baseline, paired=paired)
    assert all(math.isnan(value) for value in (found.low, found.high, found.p))
    assert found.note == note


def test_one_side_without_spread_is_enough_for_welch():
    found = difference({0: 0.6, 1: 0.6}, {0: 0.5, 1: 0.52}, paired=False)
    expected = stats.ttest_1samp([0.5, 0.52], 0.6)  # what Welch's is when one side has no variance
    assert (found.p, found.df) == pytest.approx((expected.pvalue, 1))


def test_t_covers_what_it_says_and_the_bootstrap_does_not():
    """20,000 samples of a normal distribution: the standard error of a coverage is 0.003 at most."""
    rng = np.random.default_rng(0)
    repeats, said = 20_000, {3: 0.75, 4: 0.80, 5: 0.83}
    for n, coverage in said.items():
        x = rng.normal(size=(repeats, n))
        draws = rng.multinomial(n, np.full(n, 1 / n), size=300) / n
        low, high = np.quantile(x @ draws.T, [0.025, 0.975], axis=1)
        assert np.mean((low < 0) & (high > 0)) == pytest.approx(coverage, abs=0.02)
        ours = [mean_interval(dict(enumerate(row))) for row in x[:4_000]]
        assert np.mean([one.low < 0 < one.high for one in ours]) == pytest.approx(0.95, abs=0.012)
    # For three it is three quarters exactly: the ends are the smallest and largest seed.
    three = rng.normal(size=(repeats, 3))
    assert np.mean((three.min(1) < 0) & (three.max(1) > 0)) == pytest.approx(0.75, abs=0.01)
    every = np.array([three[0, [i, j, k]].mean() for i in range(3) for j in range(3) for k in range(3)])
    low, high = np.quantile(every, [0.025, 0.975], method="inverted_cdf")
    assert (low, high) == pytest.approx((three[0].min(), three[0].max()))


def test_counting_finetunings_as_seeds_would_cover_too_little():
    """Why they are averaged first: three seeds of three fine-tunings, half of the variance from pre-training."""
    rng = np.random.default_rng(1)
    ours = pooled = 0
    for _ in range(2_000):
        x = rng.normal(size=(3, 1)) + rng.normal(size=(3, 3))
        found = mean_interval(dict(enumerate(x.tolist())))
        ours += found.low < 0 < found.high
        wrong = mean_interval(dict(enumerate(x.ravel().tolist())))
        pooled += wrong.low < 0 < wrong.high
    assert ours / 2_000 == pytest.approx(0.95, abs=0.02)
    assert pooled / 2_000 < 0.88


# Dev examples --------------------------------------------------------------------------------------------


def replicates(shift: float, seed: int, resamples: int = 200) -> np.ndarray:
    """(fine-tuning, resample), with what all runs have in common in a resample."""
    common = np.random.default_rng(99).normal(size=resamples)
    return shift + common + 0.1 * np.random.default_rng(seed).normal(size=(2, resamples))


@pytest.mark.parametrize("within", ["mean", "median"])
def test_the_interval_over_examples_is_the_percentile_of_averages(within):
    a, b = ({seed: replicates(shift, seed + 10 * shift) for seed in range(3)} for shift in (2, 1))
    found = examples_interval(a, b, within=within, confidence=0.9)
    each = []
    for r in range(200):
        sides = [[getattr(statistics, within)(x[:, r].tolist()) for x in side.values()] for side in (a, b)]
        each.append(statistics.mean(sides[0]) - statistics.mean(sides[1]))
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(each, [5, 95])))
    assert found.difference == pytest.approx(statistics.mean(each))
    assert examples_interval(a, b, difference=0.7).difference == 0.7
    assert (found.resamples, found.undefined, found.seeds, found.dropped) == (200, 0, (0, 1, 2), ())
    assert "seeds is not in it" in found.note


def test_what_runs_have_in_common_cancels():
    found = examples_interval({0: replicates(1, 1)}, {0: replicates(1, 2)})
    assert found.high - found.low < 1 < np.ptp(np.quantile(replicates(1, 1)[0], [0.025, 0.975]))


def test_only_shared_seeds_and_defined_resamples_count():
    holes = replicates(2, 1)
    holes[1, :3] = np.nan
    found = examples_interval({0: holes, 5: holes + 100}, {0: replicates(1, 2), 6: holes})
    assert (found.resamples, found.undefined, found.seeds, found.dropped) == (197, 3, (0,), (5, 6))
    assert (found.low, found.high) == pytest.approx(
        tuple(np.percentile((holes - replicates(1, 2)).mean(0)[3:], [2.5, 97.5]))
    )


def test_too_few_resamples_have_no_tail():
    x = np.arange(40.0)
    enough, few = (examples_interval({0: x[:n]}, {0: np.zeros(n)}) for n in (40, 39))
    assert enough.low == pytest.approx(0.975)
    assert math.isnan(few.low)
    assert few.note == "39 resamples, fewer than the 40 that the tail needs: no interval"
    none = examples_interval({0: x}, {1: x})
    assert (none.note, none.resamples) == ("no seed that both sides have", 0)
    assert examples_interval({0: x}, {0: x}).low == 0
    with pytest.raises(ValueError, match="shape"):
        examples_interval({0: np.zeros((2, 2, 2))}, {0: x})
    with pytest.raises(ValueError, match="not empty"):
        examples_interval({0: []}, {0: []})


def test_the_ends_of_200_resamples_are_as_uncertain_as_said():
    rng = np.random.default_rng(0)
    zero = np.zeros(200)
    ends = [examples_interval({0: rng.normal(size=200)}, {0: zero}).low for _ in range(2_000)]
    assert np.std(ends) == pytest.approx(0.2, abs=0.04)
