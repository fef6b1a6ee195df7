"""Made-up results of our own, written as real ones are, for tests of what is made of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analysis.store import files
from tests import trainings

METRICS = {"cola": "matthews_correlation", "rte": "accuracy", "sst2": "accuracy", "wnli": "accuracy"}
Score = tuple[str, str, int, float]
"""variant, task, pre-training seed, value in points."""


Ids = Mapping[tuple[str, int], str]
"""(variant, pre-training seed) -> run id of that pre-training."""


def _metric(task: str) -> str:
    return METRICS.get(task, "accuracy")


def write_scores(
    scores: Iterable[Score],
    *,
    preset: str = "cpu",
    rate: float = 1e-4,
    finetune_seed: int = 0,
    data: Mapping[str, str] | None = None,
    majority: Mapping[str, float] | None = None,
    created: str = "2026-01-01T00:00:00Z",
    ids: Ids | None = None,
) -> None:
    """A file of scores; with majority levels (points) as the rows of the variant 'majority'."""
    rows: list[dict[str, Any]] = [
        {
            "pretraining": (ids or {}).get((variant, seed), f"{preset}-{variant}-{seed}"),
            "variant": variant,
            "preset": preset,
            "task": task,
            "metric": _metric(task),
            "seed": seed,
            "finetune_seed": finetune_seed,
            "learning_rate": rate,
            "data": (data or {}).get(task, "official"),
            "train_examples": 100,
            "dev_examples": 50,
            "seconds": 1.0,
            "value": value / 100,
        }
        for variant, task, seed, value in scores
    ]
    rows += [
        {"variant": "majority", "preset": preset, "task": task, "metric": _metric(task), "value": level / 100}
        for task, level in (majority or {}).items()
    ]
    _write("scores", rows, preset, created)


def write_predictions(
    replicates: Mapping[tuple[str, str, int], Sequence[float]], ids: Ids, preset: str = "cpu"
) -> None:
    """Replicates (points) of a variant, task and seed, at the rate 1e-4."""
    rows = [
        {
            "pretraining": ids[variant, seed],
            "variant": variant,
            "preset": preset,
            "task": task,
            "metric": _metric(task),
            "seed": seed,
            "finetune_seed": 0,
            "learning_rate": 1e-4,
            "prediction": [0.0],
            "replicates": [value / 100 for value in values],
        }
        for (variant, task, seed), values in replicates.items()
    ]
    _write("predictions", rows, preset)


def write_losses(losses: Mapping[str, Sequence[float]], **changes: Any) -> dict[tuple[str, int], str]:
    """Pre-trainings that end at these losses, one a seed from 0 on, and their run ids."""
    return {
        (variant, seed): trainings.write(variant, seed, _curve(end), **changes)
        for variant, ends in losses.items()
        for seed, end in enumerate(ends)
    }


def _curve(end: float) -> trainings.Rows:
    """A fall in the first half of the steps, as of a run that decides something."""
    return trainings.line([0, 40, 100], [7.0, end, end], final=end)


def _write(kind: str, rows: list[dict[str, Any]], preset: str, created: str = "2026-01-01T00:00:00Z") -> None:
    names = files.KINDS[kind].schema.names
    run = files.Run(kind=kind, command="made up", preset=preset, created=created)
    files.write(kind, {name: [row.get(name) for row in rows] for name in names}, run)


# A small world: BERT-A at 60 and 80; TUPE-A 2 above it at every seed, but for rounding; no position below it; rotary
# the same but for a hundredth; alibi with as much noise as a reader can fear. WNLI at the majority class for all.
BASE = {"cola": (60.0, 60.4, 59.6), "rte": (80.0, 80.6, 79.7)}
SHIFTS = {
    "bert_a": (0.0, 0.0, 0.0),
    "tupe_a": (2.0, 2.1, 1.9),
    "no_position": (-3.0, -3.2, -2.8),
    "rotary": (0.01, -0.01, 0.02),
    "alibi": (4.0, -5.0, 2.0),
}
MAJORITY = {"cola": 0.0, "rte": 52.7, "wnli": 56.3, "swapped_neighbours": 50.0}
LOSSES = {**dict.fromkeys(SHIFTS, (4.9, 4.8, 5.0)), "bert_a": (5.20, 5.22, 5.18), "no_position": (6.20, 6.21, 6.22)}


def world(*, losses: Mapping[str, Sequence[float]] = LOSSES) -> None:
    """Writes it all: scores, majority levels, replicates and losses."""
    scores = [
        (variant, task, seed, values[seed] + shift[seed])
        for variant, shift in SHIFTS.items()
        for task, values in BASE.items()
        for seed in range(3)
    ]
    scores += [(variant, "wnli", seed, 56.3 - seed % 2) for variant in SHIFTS for seed in range(3)]
    scores += [
        (variant, "swapped_neighbours", seed, (50.0 if variant == "no_position" else 90.0) + seed / 10 * (k + 1))
        for k, variant in enumerate(SHIFTS)
        for seed in range(3)
    ]
    ids = write_losses(losses)
    write_scores(scores, majority=MAJORITY, data={"rte": "100 of 2490 train examples"}, ids=ids)
    write_predictions(
        {(v, t, s): [value + k / 100 for k in range(50)] for v, t, s, value in scores if t != "swapped_neighbours"},
        ids,
    )
