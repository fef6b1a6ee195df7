"""One task of a model under every operation, written as one results file.

Shapes: P examples of the task (pairs of sentences, or windows of text), R resamples.
"""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float, Int64
from numpy import ndarray

from analysis.core.errors import TextError
from analysis.measurements.surgery.operations import Operation, operations
from analysis.models.load import Loaded
from analysis.store import files

RESAMPLES = 1_000
SEED = 0
FEWEST = 10


class MeasuredTask(Protocol):
    """A task that a model is measured on."""

    @property
    def name(self) -> str:
        """The name of the task in the results."""
        ...

    @property
    def measure(self) -> str:
        """The name of the measure, with its unit."""
        ...

    @property
    def unit(self) -> str:
        """The name of an example, in the plural."""
        ...

    @property
    def option(self) -> str:
        """The options of the command that name the task's data."""
        ...

    @property
    def count(self) -> int:
        """The number of examples."""
        ...

    def positions_read(self, loaded: Loaded) -> int:
        """The number of rows of the position table that the task's texts read, from the first row on."""
        ...

    def values(self, loaded: Loaded, operation: Operation) -> Float[ndarray, " P"]:
        """One number an example, under an operation."""
        ...

    def summary(self, values: Float[ndarray, " P"]) -> float:
        """The number that stands for all examples."""
        ...

    def resampled(self, values: Float[ndarray, " P"], draws: Int64[ndarray, "R P"]) -> Float[ndarray, " R"]:
        """The number of `summary` on each resample; draws: the numbers of the examples in it."""
        ...


def measure_surgery(
    loaded: Loaded,
    task: MeasuredTask,
    *,
    chosen: Sequence[Operation] | None = None,
    called: str | None = None,
    name: str | None = None,
    each: Iterable[Operation] | None = None,
) -> Path:
    """Every operation on the task, written as one results file; returns its path.

    Intervals: percentile bootstrap of 95 % over examples, the same resamples for every operation, so that differences
    from the intact model are paired. called: the model's name in the
    results. each: the operations again, where somebody watches them go by.
    Raises TextError where the task has too few examples.
    """
    started = time.perf_counter()
    requested = list(operations() if chosen is None else chosen)
    if not requested or requested[0].name != "intact":
        raise ValueError("The intact model must come first: every difference is measured from it.")
    count = task.count
    if count < FEWEST:
        raise TextError(f"{count} {task.unit} were given; expected at least {FEWEST}, to draw resamples from.")
    draws = np.random.default_rng(SEED).integers(0, count, (RESAMPLES, count))
    rows: list[dict[str, Any]] = []
    intact: tuple[float, ndarray] | None = None
    paces = {}
    for operation in requested if each is None else each:
        begun = time.process_time()
        values = task.values(loaded, operation)
        paces[f"{operation.name}:{operation.rank}:{operation.draw}"] = round(time.process_time() - begun, 2)
        result, spread = task.summary(values), task.resampled(values, draws)
        intact = intact or (result, spread)
        low, high = np.percentile(spread, [2.5, 97.5])
        less, more = np.percentile(spread - intact[1], [2.5, 97.5])
        rows.append(
            {
                "task": task.name,
                "operation": operation.name,
                "said": operation.description,
                "rank": operation.rank,
                "draw": operation.draw,
                "value": result,
                "low": float(low),
                "high": float(high),
                "difference": result - intact[0],
                "difference_low": float(less),
                "difference_high": float(more),
                "pairs": count,
            }
        )
    run = files.Run(
        kind="surgery",
        command=f"{loaded.command('measure surgery', called)} {task.option}",
        **loaded.facts(called),
        seed=SEED,
        config={
            "resamples": RESAMPLES,
            "positions_read": task.positions_read(loaded),
            "measure": task.measure,
            "examples": task.unit,
            "seconds_of_each": paces,
        },
        seconds=time.perf_counter() - started,
    )
    return files.write_rows(rows, run, name=name)
