"""What a task is, here: its metrics, its labels, and where its files keep them."""

from dataclasses import dataclass

from analysis.core.registry import Registry

METRICS = ("matthews_correlation", "pearson", "spearmanr", "accuracy", "f1")
"""What a task may be scored by, each stored as a fraction."""


@dataclass(frozen=True, kw_only=True)
class Unsplit:
    """A distribution that holds train and dev in one file, with a list of the rows that are dev."""

    file: str
    dev_ids: str
    """A file of dev rows, one a line: what `columns` hold, separated by a tab."""
    columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task. `labels` are as the files spell them, in the order of the model's outputs; the last is positive for F1.

    A task without labels is a regression within `bounds`. `files` may lie as GLUE distributes them (columns
    `official_label` and `official_texts`, or `official_columns` where the file has no header row), or with a
    header row that names `label` and `texts`. `hub` is the configuration of nyu-mll/glue; "" where there is none.
    """

    name: str
    title: str
    summary: str
    paper: str
    metrics: tuple[str, ...]
    """The first is the main one."""
    texts: tuple[str, ...]
    """The text columns: one, or two for a pair."""
    labels: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    glue: bool = True
    trained_on: str | None = None
    """The task whose training this one shares: it is only another dev set of it."""

    folder: str = ""
    dev_file: str = "dev.tsv"
    official_label: str = "label"
    official_texts: tuple[str, ...] = ()
    official_columns: tuple[str, ...] = ()
    unsplit: Unsplit | None = None
    torn_rows: int = 0
    """Rows of the official train file that lack columns, and are left out."""
    hub: str = ""
    hub_texts: tuple[str, ...] = ()
    hub_dev: str = "validation"
    train_rows: tuple[int, ...] = ()
    """How many rows the official train set has; two numbers where its distributions differ."""
    dev_rows: int = 0

    @property
    def regression(self) -> bool:
        """True of a task whose label is a number."""
        return not self.labels

    @property
    def num_labels(self) -> int:
        """How many outputs a model needs: one for a regression."""
        return len(self.labels) or 1


TASKS: Registry[Task] = Registry("task")


def register(task: Task) -> Task:
    """Adds a task under its own name."""
    return TASKS.add(task.name, task)
