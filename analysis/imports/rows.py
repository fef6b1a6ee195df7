"""The tidy form, one row per number: required columns, and the checks of every value.

A row with a `task` is a score of a fine-tuning, a row with a `step` a point of a curve.
"""

import math
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from analysis.ablation.glue.tasks import METRICS, TASKS
from analysis.core.formatting import join_names
from analysis.imports.naming import CURVES, curve_name, metric_name, normalised, task_name, variant_name
from analysis.imports.reader import InvalidValue, as_float
from analysis.store.files import IMPORTED

MAX_NAME_LENGTH = 80
SIGNED = {"matthews_correlation", "pearson", "spearmanr"}


def _name(value: object) -> str:
    if isinstance(value, list | dict | bool):
        raise InvalidValue(f"{_shortened(value)}; expected a name of 1 to {MAX_NAME_LENGTH} visible characters")
    text = str(value).strip()
    visible = text.isprintable() or not any(unicodedata.category(character)[0] == "C" for character in text)
    if not visible or not 0 < len(text) <= MAX_NAME_LENGTH:
        raise InvalidValue(f"{text[:40]!r}; expected a name of 1 to {MAX_NAME_LENGTH} visible characters")
    return text


def _variant(value: object) -> str:
    return variant_name(_name(value))


def _known(find: Callable[[str], str | None], expected: str) -> Callable[[object], str]:
    """A function that finds the name of a known thing in a value, or raises with what was expected."""

    def name(value: object) -> str:
        if (found := find(text := _name(value))) is None:
            raise InvalidValue(f"{text!r}; expected {expected}")
        return found

    return name


_task = _known(task_name, f"one of {', '.join(TASKS)}")
_score_metric = _known(metric_name, f"one of {', '.join(sorted(METRICS))}")
_curve_metric = _known(curve_name, f"of a curve: {', '.join(CURVES)}")


def _integer(value: object) -> int:
    number = as_float(value)
    if not math.isfinite(number) or number != int(number) or not 0 <= number < 2**53:
        raise InvalidValue(f"{_shortened(value)}; expected a whole number from 0")
    return int(number)


def _int32(value: object) -> int:
    if (number := _integer(value)) >= 2**31:
        raise InvalidValue(f"{number}; expected a whole number below 2,147,483,648")
    return number


def _finite(value: object) -> float:
    number = as_float(value)
    if not math.isfinite(number):
        raise InvalidValue(f"{_shortened(value)}; expected a finite number")
    return number


def _non_negative(value: object) -> float:
    if (number := _finite(value)) < 0:
        raise InvalidValue(f"{number:g}; expected a number from 0")
    return number


def _shortened(value: object) -> str:
    text = (
        f"a number of {value.bit_length() * 0.30103:.0f} digits"
        if isinstance(value, int) and value.bit_length() > 1_000  # which Python refuses to format
        else repr(value)
    )
    return text if len(text) <= 40 else f"{text[:40]}..."


Check = Callable[[object], str | int | float]


def _shared(metric: Check) -> dict[str, Check]:
    return {"variant": _variant, "preset": _name, "metric": metric, "seed": _int32, "value": _finite}


SCORE: dict[str, Check] = _shared(_score_metric) | {
    "task": _task,
    "finetune_seed": _int32,
    "learning_rate": _non_negative,
    "pretraining": _name,
    "data": _name,
    "train_examples": _int32,
    "dev_examples": _int32,
    "seconds": _non_negative,
}
CURVE: dict[str, Check] = _shared(_curve_metric) | {"step": _integer, "tokens": _integer, "seconds": _non_negative}
CheckedTexts = dict[tuple[str, str, str] | None, str | int | float]
"""Kind, column and text of a cell -> its value as it is stored."""
MAX_CHECKED = 20_000
"""Texts that are kept, so that many different ones take no more memory."""
COLUMNS = list(dict.fromkeys([*SCORE, *CURVE]))
REQUIRED = {
    "scores": ("variant", "task", "metric", "seed", "learning_rate", "value"),
    "curves": ("variant", "metric", "seed", "step", "value"),
}
FOR_ALL_ROWS = {"variant", "task", "seed", "learning_rate"}
"""The required columns that a reader may give once for all rows."""
KEYS = {
    "scores": ("preset", "variant", "task", "metric", "seed", "finetune_seed", "learning_rate"),
    "curves": ("preset", "variant", "metric", "seed", "step"),
}
"""The columns that identify a row."""


def kind(row: Mapping[str, object]) -> str:
    """The kind of a row, scores or curves. Raises InvalidValue for a row that has columns of neither or of both."""
    task, step = row.get("task") is not None, row.get("step") is not None
    if task == step:
        raise InvalidValue(
            f"the row says {'a task and a step' if task else 'neither task nor step'}; expected one of them"
        )
    return "scores" if task else "curves"


def check_row(row: Mapping[str, object], checked: CheckedTexts | None = None) -> tuple[str, dict[str, Any]]:
    """The kind, and the row as it is stored, with all columns. Raises InvalidValue that names every bad value.

    checked: the texts of earlier rows that were checked, which is added to; most cells say what others said.
    """
    checked = {} if checked is None else checked
    values = {name: value for name, value in row.items() if value is not None and value != ""}
    row_kind = kind(values)
    checks = SCORE if row_kind == "scores" else CURVE
    faults = []
    if unknown := sorted(set(values) - set(checks)):
        columns = f"column{'s' * (len(unknown) > 1)} {join_names(map(repr, unknown))}"
        verb = "are" if len(unknown) > 1 else "is"
        faults.append(f"the {columns} {verb} not known of {row_kind}; expected: {', '.join(checks)}")
    if lacking := [name for name in REQUIRED[row_kind] if name not in values]:
        remedy = ", or one value for all rows" if set(lacking) <= FOR_ALL_ROWS else ""
        faults.append(f"says no {join_names(lacking)}; expected {', '.join(REQUIRED[row_kind])}{remedy}")
    result: dict[str, Any] = dict.fromkeys(checks)
    for name, check in checks.items():
        if name not in values:
            continue
        value = values[name]
        cell = (row_kind, name, value) if isinstance(value, str) else None
        if cell in checked:
            result[name] = checked[cell]
            continue
        try:
            result[name] = check(value)
        except InvalidValue as error:
            faults.append(f"{name} is {error}")
        else:
            if cell and len(checked) < MAX_CHECKED:
                checked[cell] = result[name]
    if faults:
        raise InvalidValue("; ".join(faults))
    preset = result["preset"]
    if preset is None or preset == IMPORTED:
        result["preset"] = IMPORTED
    elif not preset.startswith(f"{IMPORTED}-"):
        result["preset"] = f"{IMPORTED}-{preset}"
    if row_kind == "scores":
        _complete_score(result)
    return row_kind, result


def _complete_score(row: dict[str, Any]) -> None:
    value = row["value"]
    low = -1 if row["metric"] in SIGNED else 0
    if not low <= value <= 1:
        raise InvalidValue(f"value is {value:g}; expected a fraction from {low} to 1, so 0.843 rather than 84.3")
    _check_dev_set(row["task"], row["dev_examples"])
    if normalised(row["variant"]) == "majority":
        raise InvalidValue("variant is 'majority', which names the most frequent answer here; expected another name")
    row["finetune_seed"] = row["finetune_seed"] or 0
    row["data"] = row["data"] or "not said"
    row["pretraining"] = row["pretraining"] or f"{row['preset']}-{row['variant']}-{row['seed']}"


def other_dev_set(task: str, examples: object) -> str | None:
    """The task whose dev set has exactly so many examples and the same training as `task`, where that is another."""
    size = as_float(examples)
    if size == TASKS[task].dev_rows:
        return None
    kin = {task, TASKS[task].trained_on} | {name for name in TASKS if TASKS[name].trained_on == task}
    found = next((name for name in kin if name is not None and TASKS[name].dev_rows == size), task)
    return None if found == task else found


def _check_dev_set(task: str, examples: object) -> None:
    if other := other_dev_set(task, examples):
        raise InvalidValue(
            f"task is {task!r} with dev_examples {examples}, the size of {other}; expected {TASKS[task].dev_rows} for "
            f"{task}, or the task {other}"
        )
