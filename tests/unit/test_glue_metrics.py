"""Proves that scores are scikit-learn's and SciPy's, that replicates are too, and that they pair between runs."""

import dataclasses
import time
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

from analysis.ablation.glue import TASKS, metrics
from analysis.core.errors import AddendError


def spearman(labels: Any, predictions: Any) -> float:
    return stats.spearmanr(labels, predictions).statistic


def pearson(labels: Any, predictions: Any) -> float:
    return stats.pearsonr(labels, predictions).statistic


THEIRS = {
    "accuracy": accuracy_score,
    "f1": f1_score,
    "matthews_correlation": matthews_corrcoef,
    "pearson": pearson,
    "spearmanr": spearman,
}


def made(name: str, size: int = 120, seed: int = 0, skill: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Labels and predictions of a task: right in a share of cases, or a noisy value; values repeat."""
    task, random = TASKS[name], np.random.default_rng(seed)
    if task.regression:
        labels = random.integers(0, 21, size) / 4
        return labels, np.round(labels + random.normal(0, 2, size), 1)
    labels = random.integers(0, task.num_labels, size)
    guesses = random.integers(0, task.num_labels, size)
    return labels, np.where(random.random(size) < skill, labels, guesses)


@pytest.mark.parametrize("name", TASKS)
def test_scores_are_theirs(name: str) -> None:
    labels, predictions = made(name)
    scores = metrics.score(TASKS[name], labels, predictions)
    assert list(scores) == list(TASKS[name].metrics)
    for metric, value in scores.items():
        assert type(value) is float
        assert value == pytest.approx(THEIRS[metric](labels, predictions), abs=1e-12)


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("accuracy", "sst2"),
        ("accuracy", "mnli"),
        ("f1", "mrpc"),
        ("matthews_correlation", "cola"),
        ("matthews_correlation", "mnli"),
        ("pearson", "stsb"),
        ("spearmanr", "stsb"),
    ],
)
def test_a_metric_on_resamples_is_theirs_on_each(metric: str, name: str) -> None:
    labels, predictions = made(name, size=60)
    drawn = np.random.default_rng(1).integers(0, 60, size=(40, 60))
    expected = [THEIRS[metric](labels[rows], predictions[rows]) for rows in drawn]
    np.testing.assert_allclose(metrics.resampled_scores(metric, labels, predictions, drawn), expected, atol=1e-12)


@pytest.mark.parametrize("metric", ["f1", "matthews_correlation", "pearson", "spearmanr"])
def test_what_is_undefined_is_nought(metric: str) -> None:
    """A resample that drew one example only, beside one that did not."""
    labels, predictions = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])
    drawn = np.array([[0, 0, 0, 0], [0, 1, 2, 3]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone, all_four = metrics.resampled_scores(metric, labels, predictions, drawn)
    assert alone == 0
    assert all_four == pytest.approx(THEIRS[metric](labels, predictions))
    noise = np.array([0.1, 0.1, 0.1, 0.1])  # whose mean is not 0.1
    if metric in ("pearson", "spearmanr"):
        assert metrics.resampled_scores(metric, labels, noise, drawn).tolist() == [0, 0]


@pytest.mark.parametrize("name", TASKS)
def test_replicates_are_the_main_metric(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task = TASKS[name]
    labels, predictions = made(name, size=400)
    values = metrics.replicates(task, labels, predictions)
    assert values.shape == (200,)
    assert values.dtype == np.float64
    point = metrics.score(task, labels, predictions)[task.metrics[0]]
    assert values.mean() == pytest.approx(point, abs=0.02)
    assert 0.005 < values.std() < 0.1
    assert metrics.replicates(task, labels, predictions, n=0).shape == (0,)
    monkeypatch.setattr(metrics, "MAX_RESAMPLED", 1000)
    assert np.array_equal(metrics.replicates(task, labels, predictions), values), "however many are held at a time"


def test_replicates_of_two_runs_pair() -> None:
    labels = made("sst2", size=500)[0]
    flip = np.arange(500) < 25
    run, other = np.where(flip, 1 - labels, labels), np.where(np.roll(flip, 1), 1 - labels, labels)
    first, second = (metrics.replicates(TASKS["sst2"], labels, run) for _ in range(2))
    assert np.array_equal(first, second)
    difference = first - metrics.replicates(TASKS["sst2"], labels, other)
    assert difference.std() < first.std() / 2, "runs that err on the same examples differ less than each varies"
    assert not np.array_equal(first, metrics.replicates(TASKS["sst2"], labels, run, seed=1))
    renamed = dataclasses.replace(TASKS["sst2"], name="another")
    assert not np.array_equal(first, metrics.replicates(renamed, labels, run)), "tasks are drawn apart"
    assert first[:3].tolist() == [0.952, 0.946, 0.944], "a stream that never changes: old runs pair with new ones"


def test_replicates_are_quick() -> None:
    started = time.process_time()
    for name in ("cola", "mrpc", "mnli", "stsb"):
        metrics.replicates(TASKS[name], *made(name, size=10_000))
    drawn = np.random.default_rng(0).integers(0, 10_000, size=(200, 10_000))
    metrics.resampled_scores("spearmanr", *made("stsb", size=10_000), drawn)
    assert time.process_time() - started < 5


def test_the_majority_is_trains() -> None:
    train, dev = np.array([1, 1, 0, 1]), np.array([0, 0, 0, 1])
    assert metrics.majority(TASKS["mrpc"], train, dev) == {"accuracy": 0.25, "f1": pytest.approx(0.4)}
    assert metrics.majority(TASKS["cola"], train, dev) == {"matthews_correlation": 0}
    assert metrics.majority(TASKS["qqp"], 1 - train, dev) == {"accuracy": 0.75, "f1": 0}
    assert metrics.majority(TASKS["mnli"], np.array([2, 1, 1, 2]), np.array([1, 2])) == {"accuracy": 0.5}
    assert metrics.majority(TASKS["stsb"], np.array([1.5, 3]), np.array([0.5, 5])) == {"pearson": 0, "spearmanr": 0}


@pytest.mark.parametrize(
    ("name", "predictions", "said"),
    [
        ("cola", [0, 1], r"The predictions of cola have the shape \(2,\) and its labels \(3,\); expected one"),
        ("cola", [0, 1, 2], r"^Prediction 2 of cola is 2, not a class number from 0 to 1; if training diverged, lower"),
        ("cola", [0, 0.5, 1], r"^Prediction 1 of cola is 0\.5, not a class number"),
        ("cola", [-1, 0, 1], r"^Prediction 0 of cola is -1, not a class number"),
        ("stsb", [0.5, float("nan"), 1], r"^Prediction 1 of stsb is nan, not a finite number"),
    ],
)
def test_bad_predictions_are_said(name: str, predictions: list[float], said: str) -> None:
    for judge in (metrics.score, metrics.replicates):
        with pytest.raises(AddendError, match=said):
            judge(TASKS[name], np.array([0, 1, 1]), np.array(predictions))


def test_no_examples_have_no_score() -> None:
    with pytest.raises(AddendError, match="and at least one"):
        metrics.score(TASKS["cola"], np.array([]), np.array([]))
