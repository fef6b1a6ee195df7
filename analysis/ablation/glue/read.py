"""A task's files as GLUE distributes them, with a header row and the label first, or from the Hugging Face hub.

Files are tab-separated and unquoted: a quotation mark is a character of the text.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.ablation.glue import hub
from analysis.ablation.glue.examples import Split, TaskData, data_label
from analysis.ablation.glue.tasks import TASKS, GlueTask, Unsplit
from analysis.core.errors import AddendError


class DataError(AddendError):
    """A task's data is missing, or not what the task says it is."""


Row = tuple[int, list[str]]
"""The number of a line, from 1, and its fields."""


def read_task(task: GlueTask, folder: str | Path | None = None) -> TaskData:
    """The train set and the dev sets of a task.

    folder: the task's own folder or the one that holds it (as `GlueTask.folder`); None for the Hugging Face hub.
    A dev set that shares the training of this task is read too where it is there (mnli: mnli_mismatched).
    Raises DataError, naming file and line, when something is missing or malformed.
    """
    if task.trained_on:
        raise DataError(f"{task.name} is scored by the model that {task.trained_on} trains; read {task.trained_on}.")
    if not task.glue:
        raise DataError(
            f"There are no files of {task.name}; make its data with analysis.ablation.glue.swapped_neighbours."
        )
    dev_tasks = [task, *(candidate for _, candidate in TASKS.items() if candidate.trained_on == task.name)]
    if folder is None:
        train, dev = hub.read(task, dev_tasks)
        skipped = 0
    else:
        train, dev, skipped = _from_files(task, dev_tasks, _folder(task, Path(folder)))
    data = data_label(task, len(train), {name: len(split) for name, split in dev.items()})
    return TaskData(task=task.name, train=train, dev=dev, data=data, skipped=skipped)


def _folder(task: GlueTask, folder: Path) -> Path:
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder; expected the one that holds {task.folder}/ with the task's files.")
    return folder / task.folder if (folder / task.folder).is_dir() else folder


def _from_files(task: GlueTask, dev_tasks: Sequence[GlueTask], folder: Path) -> tuple[Split, dict[str, Split], int]:
    if task.unsplit and (folder / task.unsplit.file).is_file() and _find(folder, "train.tsv") is None:
        train, dev = _split_by_ids(task, task.unsplit, folder)
        return train, {task.name: dev}, 0
    path = _find(folder, "train.tsv")
    if path is None:
        raise DataError(
            f"{folder} holds no train set of {task.name}; expected {task.folder}/train.tsv, or train-NAME.tsv for a "
            "part of it. GLUE's files are at https://gluebenchmark.com/tasks."
        )
    train, skipped = _split(task, path, torn=task.torn_rows)
    dev = {}
    for dev_task in dev_tasks:
        dev_path = _find(folder, dev_task.dev_file) or (_find(folder, "dev.tsv") if dev_task is task else None)
        if dev_path is not None:
            dev[dev_task.name] = _split(dev_task, dev_path)[0]
        elif dev_task is task:
            raise DataError(
                f"{folder} holds no dev set of {task.name}; expected {task.folder}/{task.dev_file} next to {path.name}."
            )
    return train, dev, skipped


def _find(folder: Path, name: str) -> Path | None:
    """The file of that name, or else the only one that adds to it after a hyphen."""
    if (folder / name).is_file():
        return folder / name
    stem, _, ending = name.rpartition(".")
    candidates = sorted(folder.glob(f"{stem}-*.{ending}"))
    if len(candidates) > 1:
        raise DataError(
            f"{folder} holds {candidates[0].name} and {candidates[1].name}; expected one of them. "
            f"Move the other, or name one {name}."
        )
    return candidates[0] if candidates else None


# Rows of a file --------------------------------------------------------------------------------------


def _rows(path: Path) -> list[Row]:
    """Every line with its fields, but for empty lines at the end. Only a line feed ends a line."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} could not be read ({error.strerror or error}). Make it readable.") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as decode_error:
        line = raw.count(b"\n", 0, decode_error.start) + 1
        raise DataError(
            f"{path}, line {line}: byte {decode_error.start} is not UTF-8; save the file as UTF-8."
        ) from None
    lines = text.rstrip("\r\n").split("\n") if text.strip() else []
    return [(number, line.removesuffix("\r").split("\t")) for number, line in enumerate(lines, start=1)]


@dataclass(frozen=True)
class _Layout:
    """Numbers of the columns of a file that hold the label and the texts. `width`: the fewest columns of a row."""

    path: Path
    names: list[str]
    label: int
    texts: list[int]
    official: bool

    @property
    def width(self) -> int:
        return max(self.label, *self.texts) + 1


def _layout(task: GlueTask, path: Path, rows: list[Row]) -> tuple[_Layout, list[Row]]:
    """The layout of a file, and its rows without the header. Raises DataError for an empty file or unknown columns."""
    if not rows:
        raise DataError(f"{path} is empty; expected rows with {_expected(task)}. Copy the file again.")
    header = rows[0][1]
    layouts = (("label", task.texts, False), (task.official_label, task.official_texts, True))
    for label, texts, official in layouts:
        if {label, *texts} <= set(header):
            return _Layout(path, header, header.index(label), [header.index(name) for name in texts], official), rows[
                1:
            ]
    names = list(task.official_columns)
    if names and len(header) == len(names) and header[names.index(task.official_label)] in task.labels:
        columns = [names.index(name) for name in task.official_texts]
        return _Layout(path, names, names.index(task.official_label), columns, True), rows
    raise DataError(f"{path}, line 1: found the columns {', '.join(header)!r}; expected {_expected(task)}.")


def _expected(task: GlueTask) -> str:
    plain = ", ".join(("label", *task.texts))
    if task.official_columns:
        return f"a header row with {plain}, or no header row and {', '.join(task.official_columns)}"
    official = ", ".join((task.official_label, *task.official_texts))
    return f"a header row with {plain}" + (f", or with {official}" if official != plain else "")


def _split(task: GlueTask, path: Path, torn: int = 0) -> tuple[Split, int]:
    """The file as a split, and how many torn rows were left out: at most `torn`, and of the official layout only."""
    layout, rows = _layout(task, path, _rows(path))
    complete = [row for row in rows if len(row[1]) >= layout.width]
    allowed = torn if layout.official else 0
    incomplete = [row for row in rows if len(row[1]) < layout.width]
    if len(incomplete) > allowed:
        raise _too_few_columns(layout, incomplete[allowed], layout.width)
    return _labelled(task, layout, complete), len(incomplete)


def _too_few_columns(layout: _Layout, row: Row, width: int) -> DataError:
    line, fields = row
    return DataError(
        f"{layout.path}, line {line}: found {len(fields)} columns, expected at least {width} "
        f"({', '.join(layout.names[:width])}). Correct the line; quotation marks do not join lines."
    )


def _labelled(task: GlueTask, layout: _Layout, rows: list[Row]) -> Split:
    if not rows:
        raise DataError(f"{layout.path} holds no rows; expected {_expected(task)} and rows below. Copy the file again.")
    labels = list(_labels(task, layout, rows))
    texts = [[fields[column] for _, fields in rows] for column in layout.texts]
    return Split(
        texts=texts[0],
        pairs=texts[1] if len(texts) > 1 else None,
        labels=np.array(labels, dtype=np.float64 if task.regression else np.int64),
    )


def _labels(task: GlueTask, layout: _Layout, rows: list[Row]) -> Iterator[float]:
    numbers = {label: number for number, label in enumerate(task.labels)}
    for line, fields in rows:
        text = fields[layout.label]
        if task.bounds is None:
            if text not in numbers:
                raise _bad_label(layout, line, text, f"one of {', '.join(task.labels)}")
            yield numbers[text]
        else:
            low, high = task.bounds
            try:
                value = float(text)
            except ValueError:
                value = math.nan
            if not low <= value <= high:
                raise _bad_label(layout, line, text, f"a number from {low:g} to {high:g}")
            yield value


def _bad_label(layout: _Layout, line: int, label: str, expected: str) -> DataError:
    return DataError(
        f"{layout.path}, line {line}: the {layout.names[layout.label]} {label!r} is not {expected}. "
        "Correct the line, or check that no tab stands within a text."
    )


# One file and a list of the rows that are dev ---------------------------------------------------------


def _split_by_ids(task: GlueTask, unsplit: Unsplit, folder: Path) -> tuple[Split, Split]:
    path, ids = folder / unsplit.file, folder / unsplit.dev_ids
    if not ids.is_file():
        raise DataError(
            f"{folder} holds {path.name} but no {ids.name}, which says which of its rows are GLUE's dev set; "
            "add it (GLUE distributes it), or use GLUE's train.tsv and dev.tsv."
        )
    layout, rows = _layout(task, path, _rows(path))
    if missing := [name for name in unsplit.columns if name not in layout.names]:
        raise DataError(f"{path}, line 1: lacks the column {missing[0]!r}; expected {', '.join(unsplit.columns)}.")
    columns = [layout.names.index(name) for name in unsplit.columns]
    width = max(layout.width, *(column + 1 for column in columns))
    for row in rows:
        if len(row[1]) < width:
            raise _too_few_columns(layout, row, width)
    dev_keys = {tuple(fields) for _, fields in _rows(ids)}
    is_dev = [tuple(fields[column] for column in columns) in dev_keys for _, fields in rows]
    dev = [row for row, in_dev in zip(rows, is_dev, strict=True) if in_dev]
    if not dev:
        raise DataError(
            f"{ids} lists none of the rows of {path.name}; expected {' and '.join(unsplit.columns)} in each line."
        )
    train = [row for row, in_dev in zip(rows, is_dev, strict=True) if not in_dev]
    return _labelled(task, layout, train), _labelled(task, layout, dev)
