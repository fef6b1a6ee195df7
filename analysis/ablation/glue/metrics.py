"""Scores predictions: a task's metrics, the score that needs no model at all, and bootstrap replicates.

Predictions are class numbers, in the order of `GlueTask.labels`, or values for a regression.
"""

from zlib import crc32

import numpy as np
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef, roc_auc_score

from analysis.ablation.glue.tasks import GlueTask
from analysis.core.errors import AddendError

MAX_RESAMPLED = 2**21
"""The number of resampled examples that are in memory at a time: some tens of MiB."""


def score(task: GlueTask, labels: np.ndarray, predictions: np.ndarray) -> dict[str, float]:
    """Every metric of the task, as fractions. AddendError for arrays of unequal length, empty, or not finite."""
    labels, predictions = _checked(task, labels, predictions)
    return {name: _score(name, labels, predictions) for name in task.metrics}


def _score(name: str, labels: np.ndarray, predictions: np.ndarray) -> float:
    match name:
        case "accuracy":
            return float(accuracy_score(labels, predictions))
        case "f1":
            # The second class is the positive one. Without a positive, true or predicted, F1 is 0/0: 0, as usual.
            return float(f1_score(labels, predictions, zero_division=0))  # type: ignore[arg-type]
        case "matthews_correlation":
            return float(matthews_corrcoef(labels, predictions))
        case "pearson" | "spearmanr":
            # A correlation with a constant is undefined. Whoever predicts a constant has said nothing of the
            # order: 0, which is what Matthews' correlation is defined to be in that case.
            if np.ptp(labels) == 0 or np.ptp(predictions) == 0:
                return 0.0
            correlate = stats.pearsonr if name == "pearson" else stats.spearmanr
            return float(correlate(labels, predictions).statistic)  # type: ignore[attr-defined]
    raise ValueError(f"no metric is named {name!r}")


def area_under_curve(labels: np.ndarray, outputs: np.ndarray) -> float:
    """The area under the ROC curve: how often an example of class 1 gets the higher output of two of different classes.

    labels: 0 or 1, (example,). outputs: of class 1 less class 0, (example,). 0.5 where all labels are equal.
    """
    return float(roc_auc_score(labels, outputs)) if np.ptp(labels) else 0.5


def majority(task: GlueTask, train_labels: np.ndarray, dev_labels: np.ndarray) -> dict[str, float]:
    """The metrics of always predicting train's most frequent class (the first of equals), or its mean.

    A constant correlates with nothing: Matthews', Pearson's and Spearman's correlations are 0.
    """
    if task.regression:
        constant = float(np.mean(train_labels))
    else:
        constant = int(np.bincount(train_labels, minlength=task.num_labels).argmax())
    return score(task, dev_labels, np.full(len(dev_labels), constant))


def replicates(task: GlueTask, labels: np.ndarray, predictions: np.ndarray, n: int = 200, seed: int = 0) -> np.ndarray:
    """The main metric on n bootstrap resamples of the examples: float64 (n,).

    Which examples are drawn depends on the task's name, how many examples there are, and `seed` alone: replicate i
    of two runs comes from the same examples, so that the runs can be compared in pairs without their labels.
    """
    labels, predictions = _checked(task, labels, predictions)
    size, name = len(labels), task.metrics[0]
    # RandomState, not default_rng: NumPy promises that its stream never changes, and old runs are to pair with new.
    random = np.random.RandomState([crc32(task.name.encode()), size, seed])
    values = []
    for start in range(0, n, rows := max(1, MAX_RESAMPLED // size)):
        indices = random.randint(0, size, size=(min(rows, n - start), size))
        values.append(resampled_scores(name, labels, predictions, indices))
    return np.concatenate(values) if values else np.empty(0)


def resampled_scores(name: str, labels: np.ndarray, predictions: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """A metric on resamples; `indices` gives the examples of each: (resample, example) -> (resample,)."""
    if name == "pearson":
        return _pearson(labels[indices], predictions[indices])
    if name == "spearmanr":
        return _pearson(_ranks(labels, indices), _ranks(predictions, indices))
    if name == "accuracy":
        return (labels == predictions)[indices].mean(axis=1)
    # How often each class was taken for each: (resample, label, prediction).
    classes = int(max(labels.max(), predictions.max(), 1)) + 1
    counts = _count((labels * classes + predictions)[indices], classes**2).reshape(-1, classes, classes).astype(float)
    true, predicted = counts.sum(axis=2), counts.sum(axis=1)
    if name == "f1":
        return _ratio(2 * counts[:, 1, 1], true[:, 1] + predicted[:, 1])
    if name == "matthews_correlation":
        # For any number of classes (Gorodkin 2004), as scikit-learn has it.
        examples = indices.shape[1]
        covariance = np.trace(counts, axis1=1, axis2=2) * examples - (true * predicted).sum(axis=1)
        variances = (examples**2 - (predicted**2).sum(axis=1)) * (examples**2 - (true**2).sum(axis=1))
        return _ratio(covariance, np.sqrt(variances))
    raise ValueError(f"no metric is named {name!r}")


def _pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    constant = (np.ptp(x, axis=1) == 0) | (np.ptp(y, axis=1) == 0)
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    spread = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return _ratio((x * y).sum(axis=1), np.where(constant, 0, spread))


def _ranks(values: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Ranks within each resample, equals sharing their mean. By counting: all values are sorted once, not each time."""
    distinct, positions = np.unique(values, return_inverse=True)
    positions = positions[indices]
    counts = _count(positions, len(distinct))
    return np.take_along_axis(counts.cumsum(axis=1) - (counts - 1) / 2, positions, axis=1)


def _count(numbers: np.ndarray, classes: int) -> np.ndarray:
    """Counts of each number below `classes` in each row, (row, class)."""
    rows = len(numbers)
    flat = numbers + np.arange(rows)[:, None] * classes
    return np.bincount(flat.ravel(), minlength=rows * classes).reshape(rows, classes)


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """above / below, and 0 where below is 0: the metric is undefined there, see `_score`."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0)


def _checked(task: GlueTask, labels: np.ndarray, predictions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    labels, predictions = np.asarray(labels), np.asarray(predictions)
    if labels.ndim != 1 or labels.shape != predictions.shape or not len(labels):
        raise AddendError(
            f"The predictions of {task.name} have the shape {predictions.shape} and its labels {labels.shape}; "
            "expected one prediction per label, and at least one. Score them against the dev set that they were made "
            "for."
        )
    valid = np.isfinite(predictions)
    if task.regression:
        expected, kind = "a finite number", np.float64
    else:
        valid &= np.isin(predictions, np.arange(task.num_labels))
        expected, kind = f"a class number from 0 to {task.num_labels - 1}", np.int64
    if not valid.all():
        index = int(valid.argmin())
        raise AddendError(
            f"Prediction {index} of {task.name} is {predictions[index]}, not {expected}; if training diverged, lower "
            "the learning rate."
        )
    return labels.astype(kind), predictions.astype(kind)
