"""Position maps that the store holds: written as results files, and read back as they were measured. Needs no torch."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from analysis.core.provenance import model_options
from analysis.measurements.positions.result import PARTS, LayerRotation, PositionMap
from analysis.measurements.terms.result import Provenance
from analysis.store import files, read

TEXT_ID = "s235"
"""The text of the probe set on which maps are stored."""


def write(made: PositionMap, corpus: str, text_id: str, *, opened: str, name: str | None = None) -> Path:
    """Writes a map as a results file; returns its path. opened: how the model was named when it was opened."""
    about = made.provenance
    rows = [
        _row(made, layer, source, head)
        for layer, source, head in np.ndindex(len(made.power), len(made.sources), made.power.shape[1])
    ]
    called = about.model if about.model != opened else None
    facts = {"kind": made.kind, "looks_ahead": made.looks_ahead, "sinks": made.sinks, "capped": made.capped}
    run = files.Run(
        kind="positions",
        command=(
            f"python -m analysis measure positions {model_options(opened, about.revision, called)} "
            f"--corpus {corpus} --text-id {text_id}"
        ),
        model=about.model,
        revision=about.revision,
        device=about.device,
        dtype=about.dtype,
        config={
            "corpus": corpus,
            "text_id": text_id,
            "text": about.text,
            "text_pair": about.text_pair,
            "labels": made.labels,
            "sources": made.sources,
            "errors": [float(one) for one in made.errors],
            "rotations": [_without_nan(asdict(one)) for one in made.rotations],
            **facts,
        },
        seconds=about.seconds,
        created=about.created,
    )
    return files.write_rows(rows, run, name=name)


def _row(made: PositionMap, layer: int, source: int, head: int) -> dict[str, object]:
    numerators = made.numerators[layer, source, :, head].tolist()
    kernels = made.kernels if made.kernels is not None and source < made.kernels.shape[1] else None
    there = ~np.isnan(made.joined_scores[layer, source, head])
    places = made.joined[layer, source, head][there]
    return {
        "layer": layer,
        "source": made.sources[source],
        "head": head,
        **dict(zip(PARTS, numerators, strict=True)),
        "power": float(made.power[layer, head]),
        "kernel": [] if kernels is None else kernels[layer, source, head].tolist(),
        "joined_query": places[:, 0].tolist(),
        "joined_key": places[:, 1].tolist(),
        "joined_score": made.joined_scores[layer, source, head][there].tolist(),
    }


def stored_models() -> dict[str, tuple[str, str]]:
    """Model -> revision and text of its newest stored map, those of people's models first."""
    rows = read.query(
        "SELECT model, arg_max(revision, created) AS revision, arg_max(config ->> 'text', created) AS text "
        "FROM newest_positions GROUP BY model ORDER BY model LIKE 'cpu%', model"
    )
    return {model: (revision, text) for model, revision, text in rows.to_numpy()}


def stored_map(model: str, text: str, revision: str | None = None) -> PositionMap | None:
    """The newest map of a model on a text, and of a revision where one is named; None where there is none."""
    rows = read.query(
        "SELECT * FROM newest_positions WHERE model = ? AND config ->> 'text' = ? "
        "AND config ->> 'text_pair' IS NULL AND (? IS NULL OR revision = ?) "
        "QUALIFY created = max(created) OVER () ORDER BY layer, head",
        [model, text, revision, revision],
    )
    if rows.empty:
        return None
    first = rows.iloc[0]
    config: dict[str, Any] = json.loads(first.config)
    sources, labels = tuple(config["sources"]), tuple(config["labels"])
    rows = rows.assign(source=rows.source.map(sources.index)).sort_values(["layer", "source", "head"])
    shape = tuple(1 + int(rows[axis].to_numpy().max()) for axis in ("layer", "source", "head"))
    most = max(map(len, rows.joined_score))
    places = np.stack([np.stack([_long(rows[f"joined_{side}"], most, 0) for side in ("query", "key")], -1)])
    kernels = [kernel for kernel in rows.kernel if len(kernel)]
    bands = sum(bool(len(kernel)) for kernel in rows.kernel[(rows.layer == 0) & (rows["head"] == 0)])
    return PositionMap(
        sources=sources,
        numerators=rows[list(PARTS)].to_numpy(float).reshape(*shape, len(PARTS)).swapaxes(2, 3),
        power=rows.power.to_numpy(float).reshape(shape)[:, 0],
        kernels=np.stack(kernels).reshape(shape[0], bands, shape[2], -1) if bands else None,
        rotations=tuple(_rotation(one) for one in config["rotations"]),
        errors=np.asarray(config["errors"]),
        kind=config["kind"],
        looks_ahead=config["looks_ahead"],
        labels=labels,
        joined=places.reshape(*shape, most, 2).astype(int),
        joined_scores=_long(rows.joined_score, most, math.nan).reshape(*shape, most),
        provenance=Provenance.of_run(dict(first) | {"seconds": float(first.seconds)}, text),
        sinks=config["sinks"],
        capped=config["capped"],
        command=first.command,
    )


def _long(lists: Iterable[Sequence[float]], most: int, fill: float) -> np.ndarray:
    """Lists of a column as an array, filled up where they are shorter."""
    return np.stack([np.pad(np.asarray(each, float), (0, most - len(each)), constant_values=fill) for each in lists])


def _without_nan(values: dict[str, float]) -> dict[str, float | None]:
    return {name: None if value != value else value for name, value in values.items()}


def _rotation(values: Mapping[str, float | None]) -> LayerRotation:
    """As it was before `_without_nan`."""
    numbers = {name: math.nan if value is None else value for name, value in values.items()}
    turned, width = int(numbers.pop("turned")), int(numbers.pop("width"))
    return LayerRotation(turned, width, **numbers)
