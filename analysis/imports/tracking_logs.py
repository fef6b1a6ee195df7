"""Converts runs as tracking tools log them (settings, last values, series) to rows of the tidy form."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from analysis.ablation.glue.tasks import TASKS
from analysis.imports.curves import Point, in_order, one_per_step, without_steps
from analysis.imports.naming import LOSSES, normalised, score_key, task_name
from analysis.imports.reader import BadRow, ExtractedRows, UncheckedRow, UserMetadata, as_float, names
from analysis.imports.rows import other_dev_set

TASK = ("task", "task_name", "finetuning_task")
VARIANT = ("variant", "model_name_or_path", "_name_or_path", "base_model", "model_name")
STEPS = ("train/global_step", "global_step")
"""The optimiser's step, where a tool's own step counts its calls."""
TRAIN_EXAMPLES = ("train_samples", "train_examples")
DEV_EXAMPLES = ("eval_samples", "dev_examples", "eval/samples")
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""As W&B and Trackio write in JSON what JSON has no number for."""
MNLI = ("mnli", "mnli_mismatched")
Target = tuple[str, str]
"""Task and metric."""


@dataclass(kw_only=True)
class LoggedRun:
    """One run of a tool.

    earliest: of several values at one step, the curve takes the first, else the last. places: the file of a key, where
    that is not the run's.
    """

    file: str
    line: int | None
    name: str
    settings: Mapping[str, object]
    scalars: Mapping[str, object] = field(default_factory=dict)
    series: Mapping[str, list[Point]] = field(default_factory=dict)
    earliest: bool = False
    places: Mapping[str, str] = field(default_factory=dict)


class Settings:
    """The settings of a run, which remember the keys that were used."""

    def __init__(self, *sources: Mapping[str, object]) -> None:
        self.sources = sources
        self.used: set[str] = set()

    def first(self, keys: Iterable[str]) -> object:
        """The first that is present and not empty, by keys and then by sources."""
        for key in keys:
            for source in self.sources:
                if source.get(key) not in (None, ""):
                    self.used.add(key)
                    return source[key]
        return None


def finite_or_not(value: object) -> object:
    """A value of a tool's JSON, with what it writes for NaN and infinity as numbers."""
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


def is_number(value: object) -> bool:
    """True of a value that is a number already, no text and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def add_run(run: LoggedRun, metadata: UserMetadata, reading: ExtractedRows) -> None:
    """Adds the rows of a run to a reading, and lists the numbers that are ignored."""
    settings = Settings(run.settings, run.scalars)
    series = {key: in_order(points) for key, points in run.series.items()}
    scalars = {key: points[-1].value for key, points in series.items() if points} | dict(run.scalars)
    task = metadata.task or settings.first(TASK)
    task = None if task is None else task_name(str(task)) or str(task)
    chosen, unused = _scores(run, scalars, task, settings, reading)
    chosen = _split_mnli(chosen, series, settings)
    seed = settings.first(("seed",))
    variant = metadata.variant or settings.first(VARIANT[:1]) or settings.first(VARIANT[1:]) or run.name
    preset = metadata.preset or settings.first(("preset",))
    rate = metadata.learning_rate
    score = {
        "variant": variant,
        "preset": preset,
        "learning_rate": settings.first(("learning_rate", "lr")) if rate is None else rate,
        # Fine-tunings of one checkpoint share its seed, which their tool does not know.
        "seed": (settings.first(("pretraining_seed",)) or 0) if metadata.seed is None else metadata.seed,
        "finetune_seed": seed,
        "pretraining": settings.first(("pretraining", *VARIANT[1:])),
        "train_examples": settings.first(TRAIN_EXAMPLES),
        "seconds": settings.first(("train_runtime",)),
    }
    for (of, metric), (key, value) in chosen.items():
        values = {**score, "task": of, "metric": metric, "value": value}
        values["dev_examples"] = _dev_examples(of, key, settings)
        reading.rows.append(UncheckedRow(run.file, run.line, values, label=key, place=run.places.get(key, "")))
    curve = {"variant": variant, "preset": preset, "seed": seed if metadata.seed is None else metadata.seed}
    curves = _curves(run, series, reading, unused)
    for name, key in curves.items():
        metric = f"finetuning_{name}" if task else name
        _add_curve(run, key, series[key], {**curve, "metric": metric}, task, reading)
    _list_earlier(run, series, chosen, unused)
    reading.settings[run.file if run.line is None else f"{run.file}:{run.line}"] = {"name": run.name, **run.settings}
    taken = {*settings.used, *curves.values(), *STEPS}
    if left := sorted({key for key in unused if key not in taken}):
        reading.left.append(f"{run.file}: {run.name}: {names(left)}")


def _scores(
    run: LoggedRun, scalars: Mapping[str, object], task: str | None, settings: Settings, reading: ExtractedRows
) -> tuple[dict[Target, tuple[str, object]], list[str]]:
    """The scores with the keys that they stand at, and the keys of other numbers. Says of two keys that both could be.

    A score given as a text or null is a bad row.
    """
    chosen: dict[Target, tuple[str, object]] = {}
    unused: list[str] = []
    for key, value in scalars.items():
        target = score_key(key)
        of = None if target is None else target[0] or task
        if target is None or of is None:
            unused += [key] if is_number(value) else []
            continue
        place, line = run.places.get(key, run.file), None if key in run.places else run.line
        if not is_number(value):
            shown = "null" if value is None else f"the text {value[:40]!r}" if isinstance(value, str) else "no number"
            reading.bad.append(BadRow(place, line, f"{key}: the score is {shown}; expected a number."))
            continue
        if target[0] is None:
            of = _dev_set(of, settings)
        first_key, first_value = chosen.setdefault((of, target[1]), (key, value))
        if first_key != key and first_value == value:
            continue
        if first_key != key:
            problem = (
                f"{first_key} ({first_value:g}) and {key} ({value:g}) could both be the {target[1]} of {of}; keep one "
                "of them in the file, or give the score in the tidy form."
            )
            reading.bad.append(BadRow(place, line, problem))
    return chosen, unused


def _dev_set(task: str, settings: Settings) -> str:
    """The task whose dev set has the size that stands beside the score: MNLI has two of different sizes."""
    known = task_name(task)
    other = None if known is None else other_dev_set(known, settings.first(DEV_EXAMPLES))
    return task if other is None or known != "mnli" else other


def _dev_examples(task: str, key: str, settings: Settings) -> object:
    """The number of examples that a score is over; a score of MNLI's second set has its own count."""
    if "_mm" in key:
        return settings.first([f"{name}_mm" for name in DEV_EXAMPLES])
    count = settings.first(DEV_EXAMPLES)
    # Of two evaluations, the count is of one.
    other = other_dev_set(task, count) if task_name(task) == task else None
    return None if task == "mnli" and other else count


def _split_mnli(
    chosen: dict[Target, tuple[str, object]], series: Mapping[str, Sequence[Point]], settings: Settings
) -> dict[Target, tuple[str, object]]:
    """MNLI evaluated on both dev sets at the last step under one key: the first is matched, the last mismatched.

    run_glue.py evaluates so. A last value that was seen before is of the best model, evaluated again.
    """
    result = dict(chosen)
    for (task, metric), (key, value) in chosen.items():
        matched = as_float(settings.first(DEV_EXAMPLES)) == TASKS["mnli"].dev_rows
        if task not in MNLI or matched or ("mnli_mismatched" if task == "mnli" else "mnli", metric) in chosen:
            continue
        points = series.get(key, [])
        last = [point.value for point in points if as_float(point.step) == as_float(points[-1].step)]
        before = [point.value for point in points[: len(points) - 1]]
        if len(last) > 1 and not without_steps(points) and value in last and last[-1] not in before:
            result.pop((task, metric))
            result["mnli", metric] = (key, last[-2])
            result["mnli_mismatched", metric] = (key, last[-1])
    return result


def _curves(
    run: LoggedRun, series: Mapping[str, Sequence[Point]], reading: ExtractedRows, unused: list[str]
) -> dict[str, str]:
    """Curve -> the key of its series. A tool's single value of a whole training is left beside its curve."""
    candidates: dict[str, list[str]] = {}
    for key, points in series.items():
        if name := LOSSES.get(normalised(key)):
            candidates.setdefault(name, []).append(key)
        elif score_key(key) is None and any(is_number(point.value) for point in points):
            unused.append(key)
    curves: dict[str, str] = {}
    for name, keys in candidates.items():
        longest = [key for key in keys if len(series[key]) > 1] or keys
        unused += [key for key in keys if key not in longest]
        if len(longest) > 1:
            keep = f"keep one of them in {run.file}"
            problem = f"{' and '.join(longest)} could both be the {name.replace('_', ' ')}; {keep}."
            reading.bad.append(BadRow(run.file, run.line, problem))
        curves[name] = longest[0]
    return curves


def _add_curve(
    run: LoggedRun,
    key: str,
    points: list[Point],
    values: Mapping[str, object],
    task: str | None,
    reading: ExtractedRows,
) -> None:
    """Adds a curve's points, one a step, and says what was done to get there."""
    place = run.places.get(key, "")
    where = f"{place or run.file}: {run.name}: {key}"
    if without_steps(points):
        points = [Point(index, point.value, point.seconds) for index, point in enumerate(points)]
        reading.notes.append(f"{where}: the steps are all 0; its {len(points)} points are numbered in their order.")
    points, others = one_per_step(points, earliest=run.earliest or task in MNLI)
    for step in dict.fromkeys(_shown(point.step) for point in others):
        kept = "first" if run.earliest or task in MNLI else "last"
        reading.left.append(f"{where}: other values at step {step}, of which the {kept} is taken")
    for point in points:
        label = f"{key} at step {_shown(point.step)}"
        row = {**values, "step": point.step, "value": point.value, "seconds": point.seconds}
        if point.value is None or isinstance(point.value, str | bool):
            shown = "null" if point.value is None else f"{str(point.value)[:40]!r}, no number"
            reading.bad.append(
                UncheckedRow(run.file, run.line, {}, label, place).bad(f"value is {shown}; expected a number.")
            )
        elif point.step is None:
            reading.bad.append(
                UncheckedRow(run.file, run.line, {}, key, place).bad("a point has no step; expected one.")
            )
        else:
            reading.rows.append(UncheckedRow(run.file, run.line, row, label, place))


def _shown(step: object) -> str:
    return f"{step:g}" if isinstance(step, float) and abs(step) < 1e6 else str(step)


def _list_earlier(
    run: LoggedRun,
    series: Mapping[str, Sequence[Point]],
    chosen: Mapping[Target, tuple[str, object]],
    unused: list[str],
) -> None:
    """Lists the earlier points of the series whose last point is a score."""
    taken: dict[str, int] = {}
    for key, _ in chosen.values():
        taken[key] = taken.get(key, 0) + 1
    for key, points in series.items():
        if score_key(key) is None:
            continue
        if key not in taken:
            unused.append(key)
        elif len(points) > taken[key]:
            unused.append(f"{key} before its last value")
