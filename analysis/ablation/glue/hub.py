"""GLUE from the Hugging Face hub, through the library `datasets` where it is installed.

The library is not among the requirements: everything else is read from files without it.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from analysis.ablation.glue.examples import Split
from analysis.ablation.glue.tasks import GlueTask
from analysis.core.errors import AddendError

REPOSITORY = "nyu-mll/glue"


class Rows(Protocol):
    """The part of a split of the library `datasets` that is used here."""

    column_names: Sequence[str]

    def __getitem__(self, column: str) -> Sequence[Any]:
        """A column: numbers or texts."""
        ...


class HubError(AddendError):
    """The hub's copy of a task cannot be had, or is not what it was."""


def read(task: GlueTask, dev_tasks: Sequence[GlueTask]) -> tuple[Split, dict[str, Split]]:
    """The train split and the dev splits by task name. HubError without the library, the network, or the columns."""
    try:
        import datasets  # type: ignore[import-not-found]  # optional: see above
    except ImportError:
        raise HubError(
            f"No folder was given for {task.name}, and the library datasets, which reads it from the hub, is not "
            "installed; give the folder of GLUE's files, or run: pip install datasets."
        ) from None

    def load_split(task_of_split: GlueTask, name: str) -> Split:
        try:
            rows: Rows = datasets.load_dataset(REPOSITORY, task.hub, split=name)
        except (OSError, ValueError, RuntimeError) as error:
            raise HubError(
                f"{REPOSITORY}, {task.hub}, {name} could not be read from the hub ({error}); check the network, "
                "or give the folder of GLUE's files."
            ) from None
        return _split(task_of_split, name, rows)

    return load_split(task, "train"), {dev_task.name: load_split(dev_task, dev_task.hub_dev) for dev_task in dev_tasks}


def _split(task: GlueTask, name: str, rows: Rows) -> Split:
    if missing := sorted({"label", *task.hub_texts} - set(rows.column_names)):
        raise HubError(
            f"{REPOSITORY}, {task.hub}, {name} has no column {missing[0]!r}; expected label, "
            f"{', '.join(task.hub_texts)}. Give the folder of GLUE's files."
        )
    labels = np.array(rows["label"], dtype=np.float64 if task.regression else np.int64)
    low, high = task.bounds or (0, len(task.labels) - 1)
    invalid = np.flatnonzero(~((labels >= low) & (labels <= high)))
    if len(invalid):
        raise HubError(
            f"{REPOSITORY}, {task.hub}, {name}, row {invalid[0]}: the label {labels[invalid[0]]:g} is not from {low:g} "
            f"to {high:g}. Give the folder of GLUE's files."
        )
    texts = [list(rows[column]) for column in task.hub_texts]
    return Split(texts=texts[0], pairs=texts[1] if len(texts) > 1 else None, labels=labels)
