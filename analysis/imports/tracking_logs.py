"""Converts runs as tracking tools log them (settings, last values, series) to rows of the tidy form."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import SupportsFloat

from analysis.ablation.glue.tasks import TASKS
from analysis.imports.base import Reading, Row, UserMetadata, names
from analysis.imports.rows import METRICS

TASK = ("task", "task_name")
VARIANT = ("variant", "model_name_or_path", "_name_or_path", "base_model", "model_name")
PREFIX = re.compile(r"^(eval|evaluation|dev|val|valid|validation|test|final|best|summary|metrics)[/_.]")
LOSSES = {
    "training_loss": {"loss", "train/loss", "train_loss", "training_loss", "train.loss"},
    "validation_loss": {"eval_loss", "eval/loss", "val_loss", "val/loss", "valid_loss", "valid/loss",
                        "validation_loss", "validation/loss", "eval.loss"},
}  # fmt: skip
ALIASES = {"acc": "accuracy", "mcc": "matthews_correlation", "matthews": "matthews_correlation",
           "spearman": "spearmanr", "pearsonr": "pearson"}  # fmt: skip


Point = tuple[object, object, object]
"""Step, value, and seconds since the run began (None if unknown)."""


@dataclass(kw_only=True)
class LoggedRun:
    """One run of a tool."""

    file: str
    line: int | None
    name: str
    settings: Mapping[str, object]
    scalars: Mapping[str, object] = field(default_factory=dict)
    series: Mapping[str, list[Point]] = field(default_factory=dict)


def number(cell: object) -> object:
    """A cell as a number if it is one, else unchanged."""
    try:
        return float(cell) if isinstance(cell, str | SupportsFloat) else cell
    except ValueError:
        return cell


def normalised(name: str) -> str:
    """A task's or metric's name in lower case, letters and digits only."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


TASK_NAMES = {normalised(name): name for name in TASKS} | {
    "mnlimm": "mnli_mismatched",
    "swappedneighbors": "swapped_neighbours",
}


def known_task(text: object) -> str | None:
    """Our name for a task; the text itself where we have none, None where there is no text."""
    return TASK_NAMES.get(normalised(str(text)), str(text)) if text not in (None, "") else None


def score_key(key: str) -> tuple[str | None, str] | None:
    """The task (None: not in the key) and the metric that a key names; None where it names no metric of ours."""
    key = PREFIX.sub("", key)
    mismatched = key.endswith("_mm")
    key = key.removesuffix("_mm")
    for metric in sorted([*METRICS, *ALIASES], key=len, reverse=True):
        if key == metric or re.search(rf"[/_.]{metric}$", key):
            prefix = PREFIX.sub("", key[: -len(metric)].rstrip("/_."))
            prefix = re.sub(r"[/_.]?(eval|dev|val|valid|validation)$", "", prefix)
            task = TASK_NAMES.get(normalised(prefix)) if prefix else None
            if prefix and task is None:
                return None
            return ("mnli_mismatched" if mismatched else task), ALIASES.get(metric, metric)
    return None


def first(settings: Mapping[str, object], keys: Iterable[str]) -> object:
    """The first of the settings that is present and not empty."""
    return next((settings[key] for key in keys if settings.get(key) not in (None, "")), None)


def add_run(run: LoggedRun, metadata: UserMetadata, reading: Reading) -> None:
    """Adds the rows of a run to a reading, and lists the numbers that are ignored."""
    task = metadata.task or known_task(first(run.settings, TASK))
    variant = metadata.variant or first(run.settings, VARIANT[:1]) or first(run.settings, VARIANT[1:]) or run.name
    seed = first(run.settings, ("seed",))
    shared = {
        "variant": variant,
        "preset": metadata.preset or first(run.settings, ("preset",)),
        "seed": metadata.seed if metadata.seed is not None else seed,
    }
    learning_rate = (
        metadata.learning_rate if metadata.learning_rate is not None else first(run.settings, ("learning_rate", "lr"))
    )
    pretraining_seed = first(run.settings, ("pretraining_seed",)) or 0
    unused = []
    seen: set[tuple[str | None, str]] = set()
    for key, value in run.scalars.items():
        target = score_key(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        if target is None or (target[0] or task) is None or target in seen:
            unused.append(key)
            continue
        seen.add(target)
        reading.rows.append(
            Row(
                run.file,
                run.line,
                {
                    **shared,
                    "task": target[0] or task,
                    "metric": target[1],
                    "value": value,
                    "learning_rate": learning_rate,
                    # Fine-tunings of one checkpoint share its seed, which their tool does not know.
                    "seed": pretraining_seed if metadata.seed is None else metadata.seed,
                    "finetune_seed": seed,
                    "pretraining": first(run.settings, ("pretraining", *VARIANT[1:])),
                    "train_examples": first(run.settings, ("train_samples", "train_examples")),
                    "dev_examples": first(run.settings, ("eval_samples", "dev_examples")),
                    "seconds": first(run.settings, ("train_runtime",)),
                },
            )
        )
    for key, points in run.series.items():
        metric = next((name for name, keys in LOSSES.items() if key in keys), None)
        if metric is None:
            unused += [key] if score_key(key) is None else []
            continue
        for step, value, seconds in points:
            values = {**shared, "metric": f"finetuning_{metric}" if task else metric, "step": step, "value": value}
            reading.rows.append(Row(run.file, run.line, {**values, "seconds": seconds}))
    reading.settings[run.file if run.line is None else f"{run.file}:{run.line}"] = {"name": run.name, **run.settings}
    if unused:
        reading.left.append(f"{run.file}: {run.name}: {names(sorted(set(unused)))}")
