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


def write(position_map: PositionMap, corpus: str, text_id: str, *, opened: str, name: str | None = None) -> Path:
    """Writes a map as a results file; returns its path. opened: how the model was named when it was opened."""
    provenance, (layers, heads) = position_map.provenance, position_map.power.shape
    rows = [
        _row(position_map, layer, source, head)
        for layer, source, head in np.ndindex(layers, len(position_map.sources), heads)
    ]
    called = provenance.model if provenance.model != opened else None
    run = files.Run(
        kind="positions",
        command=(
            f"python -m analysis measure positions {model_options(opened, provenance.revision, called)} "
            f"--corpus {corpus} --text-id {text_id}"
        ),
        model=provenance.model,
        revision=provenance.revision,
        device=provenance.device,
        dtype=provenance.dtype,
        config={
            "corpus": corpus,
            "text_id": text_id,
            "text": provenance.text,
            "text_pair": provenance.text_pair,
            "labels": position_map.labels,
            "sources": position_map.sources,
            "errors": [float(item) for item in position_map.errors],
            "rotations": [_without_nan(asdict(item)) for item in position_map.rotations],
            **{key: getattr(position_map, key) for key in ("kind", "looks_ahead", "sinks", "capped")},
        },
        seconds=provenance.seconds,
        created=provenance.created,
    )
    return files.write_rows(rows, run, name=name)


def _row(position_map: PositionMap, layer: int, source: int, head: int) -> dict[str, object]:
    numerators = position_map.numerators[layer, source, :, head].tolist()
    kernels = (
        position_map.kernels if position_map.kernels is not None and source < position_map.kernels.shape[1] else None
    )
    present = ~np.isnan(position_map.joined_scores[layer, source, head])
    places = position_map.joined[layer, source, head][present]
    return {
        "layer": layer,
        "source": position_map.sources[source],
        "head": head,
        **dict(zip(PARTS, numerators, strict=True)),
        "power": float(position_map.power[layer, head]),
        "kernel": [] if kernels is None else kernels[layer, source, head].tolist(),
        "joined_query": places[:, 0].tolist(),
        "joined_key": places[:, 1].tolist(),
        "joined_score": position_map.joined_scores[layer, source, head][present].tolist(),
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
    rank_count = max(map(len, rows.joined_score))
    places = np.stack([np.stack([_long(rows[f"joined_{side}"], rank_count, 0) for side in ("query", "key")], -1)])
    kernels = [kernel for kernel in rows.kernel if len(kernel)]
    bands = sum(bool(len(kernel)) for kernel in rows.kernel[(rows.layer == 0) & (rows["head"] == 0)])
    return PositionMap(
        sources=sources,
        numerators=rows[list(PARTS)].to_numpy(float).reshape(*shape, len(PARTS)).swapaxes(2, 3),
        power=rows.power.to_numpy(float).reshape(shape)[:, 0],
        kernels=np.stack(kernels).reshape(shape[0], bands, shape[2], -1) if bands else None,
        rotations=tuple(_rotation(rotation) for rotation in config["rotations"]),
        errors=np.asarray(config["errors"]),
        kind=config["kind"],
        looks_ahead=config["looks_ahead"],
        labels=labels,
        joined=places.reshape(*shape, rank_count, 2).astype(int),
        joined_scores=_long(rows.joined_score, rank_count, math.nan).reshape(*shape, rank_count),
        provenance=Provenance.of_run(dict(first) | {"seconds": float(first.seconds)}, text),
        sinks=config["sinks"],
        capped=config["capped"],
        command=first.command,
    )


def _long(lists: Iterable[Sequence[float]], length: int, fill: float) -> np.ndarray:
    """Lists of a column as an array, filled up where they are shorter."""
    return np.stack(
        [np.pad(np.asarray(values, float), (0, length - len(values)), constant_values=fill) for values in lists]
    )


def _without_nan(values: dict[str, float]) -> dict[str, float | None]:
    return {name: None if value != value else value for name, value in values.items()}


def _rotation(values: Mapping[str, float | None]) -> LayerRotation:
    """The rotation of a layer, with the NaN back that `_without_nan` took out."""
    numbers = {name: math.nan if value is None else value for name, value in values.items()}
    turned, width = int(numbers.pop("turned")), int(numbers.pop("width"))
    return LayerRotation(turned, width, **numbers)
