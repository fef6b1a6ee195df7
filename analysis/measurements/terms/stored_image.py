"""Decompositions of drawn images that the store holds: a trained model is looked into where its weights are not.

Needs no torch.
"""

import base64
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from analysis.core import frames
from analysis.core.term_names import SOURCES
from analysis.measurements.terms.image_result import ImageDecomposition
from analysis.measurements.terms.result import Provenance, TokenInfo
from analysis.store import files, read


def write(decomposition: ImageDecomposition, command: str, *, called: str, name: str | None = None) -> Path:
    """Writes a decomposition of a drawn image as a results file; returns its path.

    Queries and keys are kept in half precision. The errors that are stored with them are those of what is kept.
    called: what the model is named in the results.
    """
    query, key = (factors.astype(np.float16).astype(np.float32) for factors in (decomposition.query, decomposition.key))
    rebuilt = decomposition.scale * (query.sum(0) @ key.sum(0).swapaxes(-1, -2))
    kept = replace(decomposition, query=query, key=key, scores=rebuilt, _measured={})
    about = decomposition.provenance
    run = files.Run(
        kind="image_scores",
        command=command,
        model=called,
        revision=about.revision,
        device=about.device,
        dtype=about.dtype,
        seconds=about.seconds,
        created=about.created,
        config={
            "layers": decomposition.layers,
            "scale": decomposition.scale,
            "max_error": float(np.abs(rebuilt - decomposition.scores).max()),
            "pattern_error": float(np.abs(kept.pattern - decomposition.pattern).max()),
            "shares": frames.nested(np.stack(list(kept.shares().values()))),
            "effects": frames.nested(np.stack(list(kept.effects().values()))),
            "cancellation": frames.nested(kept.cancellation),
            "position_kind": decomposition.position_kind,
            "freeze": decomposition.freeze,
            "tokens": [asdict(token) for token in decomposition.token_info],
            "grid": decomposition.grid,
            "trained": decomposition.trained,
            "specials": decomposition.specials,
            "pixels": _png(decomposition.pixels),
        },
    )
    rows = [
        {"source": source, "head": head, "query": query[index, head].ravel(), "key": key[index, head].ravel()}
        for index, source in enumerate(decomposition.sources)
        if query[index].any() or key[index].any()
        for head in range(decomposition.heads)
    ]
    shared = {"image": about.text, "layer": decomposition.layer}
    return files.write_rows(rows, run, name=name, shared=shared)


def stored_layers(model: str) -> Mapping[str, list[int]]:
    """The images on which the store holds scores of a model -> their layers."""
    rows = read.query(
        "SELECT image, list(DISTINCT layer ORDER BY layer) AS layers FROM newest_image_scores WHERE model = ? "
        "GROUP BY image ORDER BY image",
        [model],
    )
    return {image: [int(layer) for layer in layers] for image, layers in zip(rows.image, rows.layers, strict=True)}


def stored_image(model: str, image: str, layer: int) -> ImageDecomposition | None:
    """The scores of one layer of a model on a drawn image; None where the store holds none."""
    rows = read.query(
        "SELECT * FROM newest_image_scores WHERE model = ? AND image = ? AND layer = ? ORDER BY source, head",
        [model, image, layer],
    )
    if rows.empty:
        return None
    first = rows.iloc[0]
    config: dict[str, Any] = json.loads(first.config)
    tokens = tuple(
        TokenInfo(token["text"], tuple(token["word"]) if token["word"] else None, token["segment"])
        for token in config["tokens"]
    )
    query, key = (_factors(rows, column, len(tokens)) for column in ("query", "key"))
    patches = len(tokens) - config["specials"]
    return ImageDecomposition(
        query=query,
        key=key,
        scale=config["scale"],
        layer=layer,
        layers=config["layers"],
        token_info=tokens,
        scores=config["scale"] * (query.sum(0) @ key.sum(0).swapaxes(-1, -2)),
        max_error=config["max_error"],
        pattern_error=config["pattern_error"],
        position_kind=config["position_kind"],
        freeze=config["freeze"],
        provenance=Provenance.of_run(dict(first) | {"seconds": float(first.seconds)}, image),
        grid=(config["grid"][0], config["grid"][1]),
        kept=np.arange(patches),
        pixels=np.asarray(Image.open(io.BytesIO(base64.b64decode(config["pixels"]))).convert("RGB")),
        positions=None,
        trained=(config["trained"][0], config["trained"][1]),
        specials=config["specials"],
        _measured={
            "share": np.asarray(config["shares"], dtype=float),
            "effect": np.asarray(config["effects"], dtype=float),
            "cancellation": np.asarray(config["cancellation"], dtype=float),
        },
    )


def _factors(rows: Any, column: str, tokens: int) -> np.ndarray:
    """The part of each source in the queries or keys, (source, head, token, dim); zeros of a source with no rows."""
    heads = 1 + int(rows["head"].max())
    width = len(rows[column].iloc[0]) // tokens
    factors = np.zeros((len(SOURCES), heads, tokens, width), dtype=np.float32)
    for source, head, flat in zip(rows.source, rows["head"], rows[column], strict=True):
        factors[SOURCES.index(source), head] = np.asarray(flat).reshape(tokens, width)
    return factors


def _png(pixels: np.ndarray) -> str:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()
