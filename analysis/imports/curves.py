"""Curves as tools log them: their points in order, one a step, up to the first that is no finite number."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.imports.reader import ExtractedRows, UncheckedRow, as_float, ends_a_curve


@dataclass(frozen=True)
class Point:
    """One logged value. seconds: since the run began, None if unknown."""

    step: object
    value: object
    seconds: object = None


def in_order(points: Sequence[Point]) -> list[Point]:
    """Points by step, then by time, then as they were logged; as they are where a step is no number."""
    keys = [(as_float(point.step), -math.inf if point.seconds is None else as_float(point.seconds)) for point in points]
    if any(math.isnan(part) for key in keys for part in key):
        return list(points)
    return [points[index] for index in sorted(range(len(points)), key=lambda index: keys[index])]


def without_steps(points: Sequence[Point]) -> bool:
    """True of several points that are all at step 0, as where a tool was given no step."""
    return len(points) > 1 and all(as_float(point.step) == 0 for point in points)


def one_per_step(points: Sequence[Point], *, earliest: bool) -> tuple[list[Point], list[Point]]:
    """The earliest or latest point of every step, and the others that say another value."""
    chosen: dict[object, Point] = {}
    others: list[Point] = []
    for point in points if earliest else reversed(points):
        step = number if not math.isnan(number := as_float(point.step)) else repr(point.step)
        first = chosen.setdefault(step, point)
        if first is not point and repr(first.value) != repr(point.value):
            others.append(point)
    kept = list(chosen.values())
    return (kept, others) if earliest else (kept[::-1], others[::-1])


def end_at_first_not_finite(reading: ExtractedRows) -> None:
    """Ends each curve of a reading at its first value that is NaN or infinite, and says where."""
    curves: dict[tuple[object, ...], list[UncheckedRow]] = {}
    for row in reading.rows:
        if row.values.get("step") not in (None, "") and row.values.get("task") in (None, ""):
            named = (str(row.values.get(name)) for name in ("preset", "variant", "metric", "seed"))
            curves.setdefault((row.file, *named), []).append(row)
    dropped: set[int] = set()
    for rows in curves.values():
        ends = [row for row in rows if ends_a_curve(row.values.get("value"))]
        if not ends:
            continue
        end = min(ends, key=lambda row: as_float(row.values["step"]))
        step = as_float(end.values["step"])
        after = [row for row in rows if not as_float(row.values["step"]) < step]
        dropped |= {id(row) for row in after}
        value, metric = str(end.values["value"]).strip(), end.values.get("metric")
        label = end.label or f"{metric} at step {end.values['step']}"
        left = f"this point and {len(after) - 1} after it" if len(after) > 1 else "this point"
        reading.left.append(f"{end.unlabelled}: {label}: the value is {value}, where the curve ends; {left}")
    if dropped:
        reading.rows = [row for row in reading.rows if id(row) not in dropped]
