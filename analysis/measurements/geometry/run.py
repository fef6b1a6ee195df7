"""Every measure that a model has what it takes for, into results files; and the position probes of the encodings."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

import analysis.measurements.geometry.measures as _measures  # noqa: F401  registers them
from analysis.core.errors import ModelError
from analysis.encodings import ENCODINGS
from analysis.measurements.geometry.measure import MEASURES, NEEDS, Case, Measured, Options, Row
from analysis.measurements.geometry.measures.order import rows as order_rows
from analysis.measurements.geometry.model_vectors import ModelVectors
from analysis.models.load import Loaded
from analysis.store import files

LENGTH, DIM = 512, 384
"""The size of the encodings: that of the embedded model's table, so that the two can be compared."""


def measure_geometry(
    vectors: ModelVectors,
    options: Options,
    each: Callable[[str], None] = lambda _: None,
    chosen: Collection[str] = (),
) -> tuple[Measured, dict[str, str]]:
    """All rows and cases, and of each measure that could not be taken the sentence that says why.

    chosen: names of measures; none for all.
    """
    result, missing = Measured(), {}
    for name, entry in MEASURES.items():
        if chosen and name not in chosen:
            continue
        each(entry.title)
        if lacking := [need for need in entry.needs if not vectors.has(need)]:
            missing[name] = NEEDS[lacking[0]]
            continue
        got = entry.run(vectors, options)
        result.rows.extend(got.rows)
        result.cases.extend(got.cases)
    return result, missing


def write(
    loaded: Loaded,
    vectors: ModelVectors,
    options: Options,
    *,
    positions: int | None = None,
    chosen: Sequence[str] = (),
    called: str | None = None,
    name: str | None = None,
    each: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Measures a model and writes its results files: numbers and, where there are any, cases.

    chosen: the names of some measures, where not all are taken. Raises UnknownName for one that there is not, and
    ModelError where there is nothing to measure in the model.
    """
    for measure in chosen:
        MEASURES[measure]
    started = time.perf_counter()
    options = replace(options, device="cuda" if loaded.device == "cuda" else "cpu")
    result, missing = measure_geometry(vectors, options, each, chosen)
    if not any(row.measure != "abs_cosine_random" for row in result.rows):
        raise ModelError(
            f"{loaded.source.name} has nothing to measure here: {'; '.join(dict.fromkeys(missing.values()))}."
        )
    about = {
        "command": loaded.command("measure geometry", called)
        + (f" --positions {positions}" if positions else "")
        + (f" --measures {','.join(chosen)}" if chosen else "")
        + (f" --words {options.words}" if options.words != Options().words else ""),
        **loaded.facts(called),
        "device": options.device,
        "dtype": "float64",
        "seed": options.seed,
        "config": {
            **asdict(options),
            "missing": missing,
            "vocabulary": len(vectors.tokens),
            "positions": 0 if vectors.position is None else len(vectors.position),
            "spoken": vectors.word_position_range,
        },
        "seconds": time.perf_counter() - started,
    }
    paths = [_write("geometry", result.rows, about, name)]
    return [*paths, _write("neighbours", result.cases, about, name)] if result.cases else paths


def write_encodings(options: Options, *, name: str | None = None, each: Callable[[str], None] = lambda _: None) -> Path:
    """The position probes of every encoding with a row per position, at the embedded model's size or the nearest."""
    started, rows, sizes = time.perf_counter(), [], {}
    for encoding, entry in ENCODINGS.items():
        if entry.rows != "position":
            continue
        each(entry.title)
        length, dim = entry.nearest(LENGTH, DIM)
        table = entry.table(length, dim)
        if np.ptp(table, axis=0).any():
            sizes[encoding] = (length, dim)
            rows.extend(order_rows(encoding, table, options))
    about = {
        "command": "python -m analysis measure geometry --encodings",
        "seed": options.seed,
        "config": {**asdict(options), "sizes": sizes},
        "seconds": time.perf_counter() - started,
    }
    return _write("geometry", rows, about, name)


def _write(kind: str, rows: Sequence[Row] | Sequence[Case], about: Mapping, name: str | None) -> Path:
    return files.write_rows(map(vars, rows), files.Run(kind=kind, **about), name=name)
