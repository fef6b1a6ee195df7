"""Proves the choice of learning rates, the averages over tasks and the mark 'not learnt', by hand and by simulation."""

import math
import statistics

import numpy as np
import pytest

from analysis.statistics import Rate, averages, choose, learnt, mean_interval, summary

VALUES = {  # rate -> pre-training seed -> fine-tunings
    2e-5: {0: [0.60, 0.61, 0.95], 1: [0.58, 0.62, 0.97]},
    5e-5: {0: [0.64, 0.65, 0.10], 1: [0.63, 0.66, 0.66]},
}


def rates(variant: str = "sum", task: str = "RTE", values=VALUES) -> list[Rate]:
    """What the store's query gives, by the standard library."""
    results = []
    for rate, by_seed in values.items():
        runs = [value for every in by_seed.values() for value in every]
        finite = [value for value in runs if math.isfinite(value)]
        median = statistics.median(finite) if finite else math.nan
        results.append(Rate(variant, task, "accuracy", rate, median, len(finite), len(runs) - len(finite)))
    return results


# Learning rates ------------------------------------------------------------------------------------------


def test_the_best_median_over_all_runs_chooses():
    found = choose(rates())["sum", "RTE"]
    pooled = {rate: statistics.median([v for every in by.values() for v in every]) for rate, by in VALUES.items()}
    assert found.medians == pytest.approx(pooled)
    assert found.learning_rate == 5e-5  # by the mean it would be the other
    means = {rate: statistics.mean([v for every in by.values() for v in every]) for rate, by in VALUES.items()}
    assert max(means, key=lambda rate: means[rate]) == 2e-5
    assert "optimistic" in found.note
    assert found.runs == {2e-5: 6, 5e-5: 6}


def test_rates_are_chosen_apart_for_every_variant_and_task():
    swapped = {2e-5: VALUES[5e-5], 5e-5: VALUES[2e-5]}
    found = choose([*rates(), *rates("none", values=swapped), *rates(task="CoLA", values=swapped)])
    assert {key: choice.learning_rate for key, choice in found.items()} == {
        ("sum", "RTE"): 5e-5,
        ("none", "RTE"): 2e-5,
        ("sum", "CoLA"): 2e-5,
    }


def test_ties_failures_and_uneven_numbers():
    assert choose(rates(values={5e-5: {0: [0.6]}, 2e-5: {0: [0.6]}}))["sum", "RTE"].learning_rate == 2e-5
    failed = choose(rates(values={2e-5: {0: [math.nan, math.inf]}, 5e-5: {0: [-0.1, math.nan]}}))["sum", "RTE"]
    assert failed.learning_rate == 5e-5
    assert failed.missing == {2e-5: 2, 5e-5: 1}
    assert failed.runs == {2e-5: 0, 5e-5: 1}
    assert "unequal numbers of runs" in failed.note
    assert choose(rates(values={2e-5: {0: [0.6]}}))["sum", "RTE"].note == ""
    assert choose([]) == {}


def test_choosing_on_dev_is_optimistic_as_the_note_says():
    """Four rates that are all alike: the chosen median lies above the truth; one fixed rate's does not."""
    rng = np.random.default_rng(0)
    best, fixed = [], []
    for _ in range(200):
        tried = rates(values={rate: {0: rng.normal(size=5).tolist()} for rate in (1.0, 2.0, 3.0, 4.0)})
        choice = choose(tried)["sum", "RTE"]
        best.append(choice.medians[choice.learning_rate])
        fixed.append(choice.medians[2.0])
    assert np.mean(best) > 0.4
    assert abs(np.mean(fixed)) < 0.15


# Summaries and what was learnt ---------------------------------------------------------------------------


def test_the_summary_has_the_median_of_all_runs_and_the_mean_of_seeds():
    runs = {0: [0.6, 0.7, math.nan], 1: [0.9]}
    found = summary(runs)
    assert (found.median, found.runs) == (0.7, 3)
    assert found.interval.mean == pytest.approx((0.65 + 0.9) / 2)
    assert found.interval.missing == 1
    assert math.isnan(summary({}).median)


@pytest.mark.parametrize(
    ("runs", "level", "status"),
    [
        ({0: 0.70, 1: 0.71, 2: 0.72}, 0.53, "learnt"),
        ({0: 0.52, 1: 0.55, 2: 0.56}, 0.53, "not learnt"),  # the interval includes it
        ({0: 0.70, 1: 0.90, 2: 0.55}, 0.53, "not learnt"),  # so wide that it includes it
        ({0: 0.40, 1: 0.41, 2: 0.42}, 0.53, "not learnt"),  # below it
        ({0: 0.53, 1: 0.53, 2: 0.53}, 0.53, "not learnt"),  # the same answer for everything
        ({0: 0.0, 1: 0.0}, 0.0, "not learnt"),
        ({0: 0.60, 1: 0.60, 2: 0.60}, 0.53, "not known"),
        ({0: 0.70}, 0.53, "not known"),
        ({0: 0.50}, 0.53, "not known"),  # one seed says nothing, either way
        ({}, 0.53, "not known"),
        ({0: 0.70, 1: 0.71, 2: 0.72}, None, "not known"),
    ],
)
def test_the_rule_of_learnt(runs, level, status):
    found = learnt(runs, level)
    assert found.status == status
    if level is not None and not found.note:
        assert (found.low > 0) == (status == "learnt")
        assert found.low == pytest.approx(mean_interval(runs).low - level)


# Averages ------------------------------------------------------------------------------------------------

SCORES = {
    "sum": {
        "RTE": {0: [0.6, 0.7], 1: [0.68], 2: [0.66]},
        "CoLA": {0: 0.30, 1: 0.32, 2: 0.31},
        "WNLI": {0: 0.56, 1: 0.56, 2: 0.56},
    },
    "none": {
        "RTE": {0: 0.60, 1: 0.61, 2: 0.62, 3: 0.63},
        "CoLA": {0: 0.00, 1: 0.01, 2: -0.01},
        "WNLI": {0: 0.56, 1: 0.55, 2: 0.54},
    },
}


def test_the_average_is_taken_within_each_seed():
    found = averages(SCORES)["sum"]
    expected = {
        0: (0.65 + 0.30 + 0.56) / 3,
        1: (0.68 + 0.32 + 0.56) / 3,
        2: (0.66 + 0.31 + 0.56) / 3,
    }
    assert found.per_seed == pytest.approx(expected)
    assert found.interval.mean == pytest.approx(statistics.mean(expected.values()))
    assert found.interval.sd == pytest.approx(statistics.stdev(expected.values()))


def test_seeds_that_lack_a_task_are_dropped():
    found = averages(SCORES)["none"]
    assert set(found.per_seed) == {0, 1, 2}


def test_averages_over_different_tasks_are_refused():
    with pytest.raises(ValueError, match="missing are none: WNLI"):
        averages({**SCORES, "none": {"RTE": {0: 1.0}, "CoLA": {0: 1.0}}})
