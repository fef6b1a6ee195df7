"""Proves verdicts, corrections, power and wins against statsmodels' figures, brute force and simulation."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from analysis.statistics import (
    difference,
    equivalence,
    holm,
    improvement,
    seeds_needed,
    smallest_detectable,
    t_test_power,
    tie,
)

A = {0: 0.812, 1: 0.835, 2: 0.828, 3: 0.841}
B = {0: 0.806, 1: 0.822, 2: 0.829, 3: 0.827}
C = {0: 0.79, 1: 0.81, 2: 0.835}


def shifted(mean: float, sd: float, n: int = 4) -> tuple[dict[int, float], dict[int, float]]:
    """Two sides whose paired differences have this mean and sd exactly."""
    x = np.linspace(-1, 1, n)
    x = mean + sd * x / x.std(ddof=1)
    return dict(enumerate(x)), dict.fromkeys(range(n), 0.0)


# Equivalence ---------------------------------------------------------------------------------------------


def test_tost_gives_the_figures_of_statsmodels():
    """statsmodels 0.15.0: ttost_paired(a, b, -m, m) and ttost_ind(a, c, -m, m, usevar="unequal")."""
    found = difference(A, B)
    assert equivalence(found, 0.02).p_equivalent == pytest.approx(0.020613581808736535, rel=1e-10)
    assert equivalence(found, 0.01).p_equivalent == pytest.approx(0.3032736444723667, rel=1e-10)
    unpaired = difference(A, C, paired=False)
    assert equivalence(unpaired, 0.05).p_equivalent == pytest.approx(0.055478105947404995, rel=1e-10)


@pytest.mark.parametrize(
    ("mean", "sd", "margin", "verdict", "within"),
    [
        (1.0, 0.2, 0.5, "different", False),
        (0.01, 0.1, 0.5, "equivalent within 0.5", True),
        (0.3, 1.0, 0.5, "open", False),
        (0.3, 0.05, 0.5, "different", True),
        (-1.0, 0.2, 0.5, "different", False),
        (-0.01, 0.1, 0.5, "equivalent within 0.5", True),
    ],
)
def test_the_three_verdicts(mean, sd, margin, verdict, within):
    found = equivalence(difference(*shifted(mean, sd)), margin)
    assert (found.verdict, found.within_margin) == (verdict, within)
    assert within == (-margin < found.low and found.high < margin)
    assert (found.p_equivalent < 0.05) == within


def test_a_failed_test_is_never_sameness():
    """However large the p-value: without a tight enough interval nothing is said to be the same."""
    found = difference(*shifted(0, 1))
    assert found.p > 0.99
    assert equivalence(found, 0.5).verdict == "open"
    for runs in [{0: 0.5}, {0: 0.5, 1: 0.5, 2: 0.5}, {}]:
        nothing = equivalence(difference(runs, runs), 0.5)
        assert nothing.verdict == "open"
        assert math.isnan(nothing.p_equivalent)
        assert not nothing.within_margin


def test_a_corrected_p_is_what_decides():
    found = difference(*shifted(0.3, 0.15))
    assert found.p < 0.05
    assert equivalence(found, 0.01).verdict == "different"
    corrected = equivalence(found, 0.01, p=0.2)
    assert corrected.verdict == "open"
    assert equivalence(found, 0.6, p=0.2).verdict == "equivalent within 0.6"


@pytest.mark.parametrize("margin", [0, -1, math.nan, math.inf])
def test_a_margin_must_be_given_and_positive(margin):
    with pytest.raises(ValueError, match="margin"):
        equivalence(difference(A, B), margin)


def test_equivalence_is_wrongly_found_no_more_often_than_alpha():
    """At a true difference of exactly the margin; 4,000 tries, standard error 0.0034."""
    rng = np.random.default_rng(0)
    found = 0
    for x in rng.normal(0.0, 0.3, size=(4_000, 5)) + 1.0:
        found += equivalence(difference(dict(enumerate(x)), dict.fromkeys(range(5), 0.0)), 1.0).within_margin
    assert found / 4_000 == pytest.approx(0.05, abs=0.012)


def test_a_tie_is_about_what_can_be_resolved():
    assert tie(-0.2, 0.3).tied
    assert not tie(0.3, 0.3).tied
    assert not tie(-0.4, 0.3).tied
    assert "a tie: 0.2 is less than 0.3" in tie(-0.2, 0.3).sentence
    assert tie(0.4, 0.3).sentence.startswith("no tie")
    for unknown in (tie(math.nan, 0.3), tie(0.1, math.nan), tie(0.1, math.inf)):
        assert not unknown.tied
        assert unknown.sentence.startswith("not known")


# Holm ----------------------------------------------------------------------------------------------------


def closed(p: list[float]) -> list[float]:
    """Holm by its other definition: the closed test that rejects a set of hypotheses by Bonferroni.

    The adjusted p-value of one is the largest, over all sets that hold it, of the set's size times its least p.
    """
    sets = [s for size in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), size)]
    return [max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in range(len(p))]


def test_holm_is_the_closed_test():
    rng = np.random.default_rng(0)
    for m in range(1, 8):
        for _ in range(20):
            p = (rng.random(m) ** 3).round(2).tolist()
            assert holm(p).adjusted == pytest.approx(closed(p))


def test_holm_gives_the_figures_of_statsmodels():
    """statsmodels 0.15.0: multipletests(p, method="holm"); its first answer rejects 0.005 alone."""
    found = holm([0.01, 0.04, 0.03, 0.005, 0.04, 0.6, 0.02])
    assert found.adjusted == pytest.approx((0.06, 0.12, 0.12, 0.035, 0.12, 0.6, 0.1))
    assert found.rejected == (False, False, False, True, False, False, False)
    assert holm([0.9, 0.8, 0.7]).adjusted == (1, 1, 1)


def test_tests_that_could_not_be_made_count_for_nothing():
    found = holm([math.nan, 0.01, 0.04, math.nan])
    assert found.adjusted[1:3] == pytest.approx((0.02, 0.04))
    assert math.isnan(found.adjusted[0])
    assert (found.rejected, found.tests) == ((False, True, True, False), 2)
    assert holm([]).adjusted == ()
    assert holm([math.nan]).rejected == (False,)


@pytest.mark.parametrize("p", [[-0.1], [1.1], [[0.1]]])
def test_what_is_no_p_value_is_refused(p):
    with pytest.raises(ValueError, match="p-values"):
        holm(p)


# Power ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "alpha", "power", "effect"),
    [
        (2, 0.05, 0.8, 11.549889754978167),
        (3, 0.05, 0.8, 3.264043552819638),
        (4, 0.05, 0.8, 2.1279493431921157),
        (5, 0.05, 0.8, 1.6819970833232674),
        (5, 0.01, 0.9, 3.027074084532795),
        (10, 0.05, 0.5, 0.6942468324807451),
        (30, 0.05, 0.8, 0.5292357045238948),
    ],
)
def test_the_smallest_detectable_is_that_of_statsmodels(n, alpha, power, effect):
    """statsmodels 0.15.0: TTestPower().solve_power(None, nobs=n, alpha=alpha, power=power); it solves to 1e-6."""
    assert smallest_detectable(1, n, alpha, power) == pytest.approx(effect, rel=2e-6)
    assert smallest_detectable(0.4, n, alpha, power) == pytest.approx(0.4 * effect, rel=2e-6)
    assert t_test_power(smallest_detectable(1, n, alpha, power), 1, n, alpha) == pytest.approx(power, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "effect"), [*itertools.product((2, 3, 5, 12), (1e-9, 0.5, 1.0, 2.0)), (400, 0.1), (999, 0.1)]
)
def test_power_is_the_tail_of_the_noncentral_t(n, effect):
    c, shift = stats.t.isf(0.025, n - 1), effect * math.sqrt(n)
    expected = stats.nct.sf(c, n - 1, shift) + stats.nct.cdf(-c, n - 1, shift)
    assert t_test_power(effect, 1, n) == pytest.approx(expected, abs=1e-8)
    assert t_test_power(-effect, 1, n) == t_test_power(effect, 1, n)


@pytest.mark.parametrize(("n", "effect"), [(3, 3.264043552819638), (5, 1.6819970833232674), (30, 0.5292357045238948)])
def test_the_seeds_needed_are_those_of_statsmodels(n, effect):
    """The effects that statsmodels finds with a chance of 80 % in exactly so many seeds, from the table above."""
    assert seeds_needed(1.0001 * effect, 1) == n
    assert seeds_needed(0.9999 * effect, 1) == n + 1


def test_seeds_that_no_number_of_runs_would_give_are_none():
    assert seeds_needed(1, 0) is None
    assert seeds_needed(0.001, 1) is None


def test_power_is_how_often_our_own_test_finds_it():
    """4,000 tries: standard error 0.0063."""
    rng = np.random.default_rng(0)
    for n in (3, 5):
        effect = smallest_detectable(0.7, n)
        base = dict.fromkeys(range(n), 0.0)
        found = [difference(dict(enumerate(x)), base).p < 0.05 for x in rng.normal(effect, 0.7, size=(4_000, n))]
        assert np.mean(found) == pytest.approx(0.8, abs=0.02)


def test_power_has_sane_ends():
    assert t_test_power(0, 1, 3) == pytest.approx(0.05)
    assert t_test_power(100, 1, 3) == pytest.approx(1)
    for sd, n in [(1, 1), (1, 0), (0, 5), (math.nan, 5), (math.inf, 5)]:
        assert math.isnan(smallest_detectable(sd, n))
        assert math.isnan(t_test_power(1, sd, n))
    with pytest.raises(ValueError, match="alpha"):
        smallest_detectable(1, 5, alpha=0.9, power=0.8)


# Probability of improvement ------------------------------------------------------------------------------


def test_improvement_gives_the_figure_of_rliable():
    """rliable 1.2.0: metrics.probability_of_improvement(x, y) of these (run, task) arrays."""
    x, y = [[0.5, 0.7], [0.6, 0.7], [0.9, 0.2]], [[0.6, 0.1], [0.55, 0.7], [0.6, 0.65]]
    sides = [{task: {run: row[task] for run, row in enumerate(side)} for task in (0, 1)} for side in (x, y)]
    found = improvement(*sides)
    assert found.probability == pytest.approx(0.6111111111111112)
    for task in (0, 1):
        u = stats.mannwhitneyu([row[task] for row in x], [row[task] for row in y]).statistic
        assert found.by_task[task] == pytest.approx(u / 9)
    assert found.low < found.probability < found.high
    assert improvement(*sides) == found
    assert improvement(sides[1], sides[0]).probability == pytest.approx(1 - found.probability)


def test_the_interval_takes_a_seed_with_all_its_tasks():
    """Against every possible draw of two seeds a side, written out; eight equal tasks are no more than one."""
    x, y = [0.4, 0.8], [0.5, 0.6]
    each = [
        np.mean([(a > b) + 0.5 * (a == b) for a in drawn_x for b in drawn_y])
        for drawn_x in itertools.product(x, repeat=2)
        for drawn_y in itertools.product(y, repeat=2)
    ]
    expected = np.quantile(each, [0.2, 0.8], method="inverted_cdf")
    for tasks in (1, 8):
        sides = [{task: dict(enumerate(side)) for task in range(tasks)} for side in (x, y)]
        found = improvement(*sides, confidence=0.6)
        assert (found.low, found.high) == pytest.approx(tuple(expected))


def test_tasks_and_seeds_may_be_missing():
    a = {"RTE": {0: 0.5, 1: 0.7}, "CoLA": {0: 0.5, 1: 0.1}, "MRPC": {0: math.nan}}
    b = {"RTE": {0: 0.6, 1: 0.65, 2: 0.6}, "CoLA": {5: 0.3, 6: 0.3}, "MRPC": {0: 0.3}, "SST-2": {0: 1.0}}
    found = improvement(a, b)
    assert found.by_task == {"RTE": 0.5, "CoLA": 0.5}
    assert found.dropped == ("MRPC", "SST-2")
    assert 0 < found.resamples < 2_000  # where neither of 5 and 6 was drawn, there is no CoLA
    assert "covers less" in found.note


@pytest.mark.parametrize(
    ("a", "b", "probability", "note"),
    [
        ({}, {}, math.nan, "no task that both sides have"),
        ({"t": {0: 1.0}}, {"t": {0: 0.5, 1: 0.6}}, 1.0, "one seed on one side: no interval"),
        (
            {"t": {0: 1.0, 1: 1.0}},
            {"t": {0: 1.0, 1: 1.0}},
            0.5,
            "on no task do two pairs of runs disagree: no interval",
        ),
        (
            {"t": {0: 1.0, 1: 2.0}},
            {"t": {0: 3.0, 1: 4.0}},
            0.0,
            "on no task do two pairs of runs disagree: no interval",
        ),
    ],
)
def test_no_interval_where_there_is_nothing_to_resample(a, b, probability, note):
    found = improvement(a, b)
    assert found.probability == pytest.approx(probability, nan_ok=True)
    assert math.isnan(found.low)
    assert found.note == note


def test_the_interval_covers_as_little_as_said():
    """Three seeds a side, one task, no true difference: 87 to 89 % of the intervals there are; 400 tries."""
    rng = np.random.default_rng(0)
    hits = []
    for x, y in rng.normal(size=(400, 2, 3)):
        found = improvement({"t": dict(enumerate(x))}, {"t": dict(enumerate(y))}, resamples=400)
        if not math.isnan(found.low):
            hits.append(found.low <= 0.5 <= found.high)
    assert np.mean(hits) == pytest.approx(0.88, abs=0.05)
    assert len(hits) / 400 == pytest.approx(0.9, abs=0.05)
