"""Labelled texts in memory, what they may be called, and the part of them that a run takes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from analysis.ablation.glue.tasks import TASKS, GlueTask
from analysis.core.errors import AddendError


@dataclass(frozen=True, kw_only=True)
class Split:
    """Texts with their labels: int64 class numbers in the order of `GlueTask.labels`, or float64 for a regression."""

    texts: list[str]
    pairs: list[str] | None
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: np.ndarray) -> "Split":
        """The rows of those numbers, in that order."""
        pairs = None if self.pairs is None else [self.pairs[row] for row in rows]
        return Split(texts=[self.texts[row] for row in rows], pairs=pairs, labels=self.labels[rows])

    def items(self) -> list[tuple[str, str | None]]:
        """(text, second text or None) of each row."""
        return list(zip(self.texts, self.pairs or [None] * len(self.texts), strict=True))


@dataclass(frozen=True, kw_only=True)
class TaskData:
    """The train set of a task and its dev sets, by the name of the task that each is scored as."""

    task: str
    train: Split
    dev: Mapping[str, Split]
    data: str
    """A label of the data: "official", or the difference from it, such as "partial train, held-out dev"."""
    skipped: int = 0
    """Rows of the official train file that are known to be torn, and were left out."""

    def shared(self) -> dict[str, int]:
        """The number of items of each dev set that are also in train: the same text or pair, whatever its label."""
        train_items = set(self.train.items())
        return {name: sum(item in train_items for item in split.items()) for name, split in self.dev.items()}


def data_label(task: GlueTask, train_rows: int, dev_rows: Mapping[str, int]) -> str:
    """A label for data of these sizes. Only sizes are compared: as many other rows would get the same label."""
    parts = []
    if train_rows not in task.train_rows:
        parts.append("partial train" if train_rows < max(task.train_rows) else "enlarged train")
    held_out = [name for name, rows in dev_rows.items() if rows != TASKS[name].dev_rows]
    if held_out:
        suffix = f" ({', '.join(held_out)})" if len(held_out) < len(dev_rows) else ""
        parts.append(f"held-out dev{suffix}")
    return ", ".join(parts) or "official"


def subsample(data: TaskData, *, max_train: int | None = None, max_dev: int | None = None) -> TaskData:
    """Takes at most so many rows of train and of each dev set, in their order; the new `data.data` states the numbers.

    The choice of rows depends on the task and the sizes alone: every variant and every seed gets the same ones. Raises
    AddendError for a size below 1.
    """
    for option, limit in (("max_train", max_train), ("max_dev", max_dev)):
        if limit is not None and limit < 1:
            raise AddendError(
                f"The {option} {limit!r} is not a whole number from 1 up; leave it out to take every row."
            )
    train, note = _take_random(data.train, max_train, f"{data.task} train", "train")
    notes = [note]
    dev = {}
    for name, split in data.dev.items():
        dev[name], note = _take_random(split, max_dev, f"{name} dev", "dev" if len(data.dev) == 1 else f"{name} dev")
        notes.append(note)
    if not any(notes):
        return data
    labels = [] if data.data == "official" else [data.data]
    return replace(data, train=train, dev=dev, data=", ".join([*labels, *filter(None, notes)]))


def _take_random(split: Split, limit: int | None, key: str, name: str) -> tuple[Split, str]:
    if limit is None or len(split) <= limit:
        return split, ""
    # RandomState, not default_rng: NumPy promises that its stream never changes.
    rows = np.random.RandomState(crc32(key.encode())).permutation(len(split))[:limit]
    return split.take(np.sort(rows)), f"{limit:,} of {len(split):,} {name}"
