"""One cell of the position map: a band of wavelengths, or another source, in one layer: its heads, kernel and pairs."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.claims.statements.rows import readable
from analysis.core import frames
from analysis.core.errors import LinkError
from analysis.core.formatting import percent
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.positions.data import MAP_RUN, named_source
from analysis.measurements.positions.result import PARTS, PositionMap

STRONGEST = -1
PAIRS = 8
"""Pairs of tokens that are named."""


class CellParameters(Parameters):
    """A layer of the map, and one of its columns; -1: the one by which most of the layer's position comes."""

    layer: int
    band: int = STRONGEST


@dataclass(frozen=True)
class CellContent:
    """heads: head, part, share. kernel: head, distance, score. pairs: the pairs of tokens that are joined most."""

    heads: pd.DataFrame
    kernel: pd.DataFrame
    pairs: pd.DataFrame


def cell_of(params: CellParameters, made: PositionMap) -> tuple[int, int]:
    """The layer and the source that a link asks for; STRONGEST: the source by which most of the layer's position comes.

    Raises LinkError for one that this map does not have.
    """
    layer, source = params.layer, params.band
    if not 0 <= layer < len(made.power):
        raise LinkError(f"The link says layer={layer}; this model has layers 0 to {len(made.power) - 1}.")
    if source == STRONGEST:
        return layer, int(np.nan_to_num(made.position_share()[layer]).argmax())
    if not 0 <= source < len(made.sources):
        raise LinkError(f"The link says band={source}; this map has columns 0 to {len(made.sources) - 1}.")
    return layer, source


@figure("position_cell", CellParameters, live=MAP_RUN)
def position_cell(params: CellParameters, run: tuple[PositionMap, PositionMap | None]) -> Figure[CellContent]:
    """Of one source in one layer: what each head owes to it, its mean score at every distance, and whom it joins."""
    made = run[0]
    layer, source = cell_of(params, made)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(
            made.power[layer] > 0, made.numerators[layer, source] / made.power[layer], np.nan
        )  # (part, head)
    heads = frames.cells(shares, "value", part=PARTS, head=None)[["head", "part", "value"]]
    kernel, pairs = _kernel(made, layer, source), _pairs(made, layer, source)
    frame = pd.concat(
        [heads.assign(what="share"), kernel.assign(what="kernel"), pairs.assign(what="joined")], ignore_index=True
    )
    whole = made.position_share()[layer, source]
    by_head = shares[1:].sum(0)
    where = f"Layer {layer}, {named_source(made.sources[source])}"
    if np.isnan(by_head).all():
        finding = f"{where}: no attention, or none that tells keys apart"
    else:
        top = int(np.nanargmax(by_head))
        finding = (
            f"{where}: position makes up {percent(whole)} of the layer's variation, most in head {top} "
            f"({percent(by_head[top])})"
        )
    joined = "" if pairs.empty else f" It joins “{pairs.query_token[0]}” to “{pairs.key_token[0]}” most."
    return Figure(
        title="One cell of the map",
        finding=finding,
        frame=lambda: frame,
        caption=(
            f"What each head owes to this part of its scores{'' if kernel.empty else ', its mean score by distance'} "
            f"and the pairs of tokens whose key-centred score it raises most.{joined} A share is of the head's "
            "own variation of key-centred scores; heads with a share below 0 have this part working against the rest. "
            f"{readable(made.provenance.model)}, one text of {made.tokens} tokens."
        ),
        alt=f"Bars by head, {'' if kernel.empty else 'lines against distance, '}and bars by pair of tokens. {finding}.",
        content=CellContent(heads=heads, kernel=kernel, pairs=pairs),
    )


def _kernel(made: PositionMap, layer: int, source: int) -> pd.DataFrame:
    """Every head's mean score at every distance less its mean; no rows where the source is none that turns."""
    if made.kernels is None or source >= made.kernels.shape[1] or not np.ptp(made.kernels[layer, source]):
        return pd.DataFrame(columns=["head", "distance", "value"])
    distances = np.arange(-(made.tokens - 1), made.tokens)
    kept = np.ones_like(distances, bool) if made.looks_ahead else distances <= 0
    values = made.kernels[layer, source][:, kept]
    values = values - values.mean(-1, keepdims=True)
    return frames.cells(values, "value", head=None, distance=distances[kept])


def _pairs(made: PositionMap, layer: int, source: int) -> pd.DataFrame:
    """The pairs of tokens that the source joins most, over all heads; a pair that several heads join is named once."""
    places, scores = made.joined[layer, source], made.joined_scores[layer, source]
    head = np.broadcast_to(np.arange(len(scores))[:, None], scores.shape)
    labels = np.asarray(made.labels, dtype=object)
    frame = pd.DataFrame(
        {"head": head.ravel(), "query": places[..., 0].ravel(), "key": places[..., 1].ravel(), "value": scores.ravel()}
    )
    frame = frame.loc[frame.value > 0].sort_values(by="value", ascending=False, kind="stable")
    frame = frame.drop_duplicates(["query", "key"]).head(PAIRS).reset_index(drop=True)
    return frame.assign(query_token=labels[frame["query"]], key_token=labels[frame["key"]])
