"""One cell of the position map: a band of wavelengths, or another source, in one layer: its heads, kernel and pairs."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.errors import LinkError
from analysis.core.formatting import percent
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme, printable
from analysis.figures.figure import STRONGEST, Figure, Parameters, figure
from analysis.figures.heatmap import token_axis
from analysis.figures.positions.run import DISTANCE, MAP_RUN, named_source, stacked
from analysis.measurements.positions.result import PARTS, PositionMap

PAIRS = 8
"""Pairs of tokens that are named."""
HEIGHT = 240


class ColumnParameters(Parameters):
    """A layer of the map, and one of its columns; -1: the one by which most of the layer's position comes."""

    layer: int
    band: int = STRONGEST


def selected_cell(params: ColumnParameters, position_map: PositionMap) -> tuple[int, int]:
    """The layer and the source that a link asks for; STRONGEST: the source by which most of the layer's position comes.

    Raises LinkError for one that this map does not have.
    """
    layer, source = params.layer, params.band
    if not 0 <= layer < len(position_map.power):
        raise LinkError(f"The link says layer={layer}; this model has layers 0 to {len(position_map.power) - 1}.")
    if source == STRONGEST:
        return layer, int(np.nan_to_num(position_map.position_share()[layer]).argmax())
    if not 0 <= source < len(position_map.sources):
        raise LinkError(f"The link says band={source}; this map has columns 0 to {len(position_map.sources) - 1}.")
    return layer, source


@figure("position_cell", ColumnParameters, live=MAP_RUN)
def position_cell(params: ColumnParameters, run: tuple[PositionMap, PositionMap | None]) -> Figure:
    """One source in one layer: its share of each head's scores, its mean score by distance, and the tokens it joins."""
    position_map = run[0]
    layer, source = selected_cell(params, position_map)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(
            position_map.power[layer] > 0, position_map.numerators[layer, source] / position_map.power[layer], np.nan
        )  # (part, head)
    heads = frames.cells(shares, "value", part=PARTS, head=None)[["head", "part", "value"]]
    kernel, pairs = _kernel(position_map, layer, source), _pairs(position_map, layer, source)
    frame = pd.concat(
        [heads.assign(what="share"), kernel.assign(what="kernel"), pairs.assign(what="joined")], ignore_index=True
    )
    layer_share = position_map.position_share()[layer, source]
    by_head = shares[1:].sum(0)
    where = f"Layer {layer}, {named_source(position_map.sources[source])}"
    if np.isnan(by_head).all():
        finding = f"{where}: no attention, or none that tells keys apart"
    else:
        top = int(np.nanargmax(by_head))
        finding = (
            f"{where}: position, alone or with words, makes up {percent(layer_share)} of what varies in the scores of "
            f"all heads together, and {percent(by_head[top])} in head {top}"
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
            "Scores gives the share of one term alone, position → position. "
            f"{readable(position_map.provenance.model)}, one text of {position_map.tokens} tokens."
        ),
        alt=f"Bars by head, {'' if kernel.empty else 'lines against distance, '}and bars by pair of tokens. {finding}.",
        draw=lambda theme: _draw(heads, kernel, pairs, theme),
        columns=1 + bool(len(kernel)) + bool(len(pairs)),
    )


def _kernel(position_map: PositionMap, layer: int, source: int) -> pd.DataFrame:
    """Every head's mean score at every distance less its mean; no rows where the source is not a rotated band."""
    if (
        position_map.kernels is None
        or source >= position_map.kernels.shape[1]
        or not np.ptp(position_map.kernels[layer, source])
    ):
        return pd.DataFrame(columns=["head", "distance", "value"])
    distances = np.arange(-(position_map.tokens - 1), position_map.tokens)
    visible = np.ones_like(distances, bool) if position_map.looks_ahead else distances <= 0
    values = position_map.kernels[layer, source][:, visible]
    values = values - values.mean(-1, keepdims=True)
    return frames.cells(values, "value", head=None, distance=distances[visible])


def _pairs(position_map: PositionMap, layer: int, source: int) -> pd.DataFrame:
    """The pairs of tokens that the source joins most, over all heads; a pair that several heads join is named once."""
    tokens, scores = position_map.joined[layer, source], position_map.joined_scores[layer, source]
    head = np.broadcast_to(np.arange(len(scores))[:, None], scores.shape)
    labels = np.asarray(position_map.labels, dtype=object)
    frame = pd.DataFrame(
        {"head": head.ravel(), "query": tokens[..., 0].ravel(), "key": tokens[..., 1].ravel(), "value": scores.ravel()}
    )
    frame = frame.loc[frame.value > 0].sort_values(by="value", ascending=False, kind="stable")
    frame = frame.drop_duplicates(["query", "key"]).head(PAIRS).reset_index(drop=True)
    return frame.assign(query_token=labels[frame["query"]], key_token=labels[frame["key"]])


def _draw(heads: pd.DataFrame, kernel: pd.DataFrame, pairs: pd.DataFrame, theme: Theme) -> list[Chart]:
    """Heads as stacked bars, the band's kernel in every head, and the pairs of tokens with its highest scores."""
    shares = heads.dropna(subset="value").rename(columns={"value": "share"})
    x = marks.number(alt.X, "share", "share of the head's variation", zero=True, ticks=5, form=".0%")
    panels = [
        marks.panel(
            stacked(shares, x, "head", theme, columns=1), theme=theme, width=marks.THIRD, height=HEIGHT, title="Heads"
        )
    ]
    if len(kernel):
        key = marks.legend("head", columns=5)
        lines = marks.line_plot(
            kernel,
            x=marks.whole_numbers(alt.X, "distance", DISTANCE),
            y=marks.number(alt.Y, "value", "mean score minus its mean"),
            theme=theme,
            color=marks.sequential_hues("head", sorted(kernel["head"].unique()), theme, key),
            dots=0,
            tooltip=("head", "distance", ("value", "mean score", ".4f")),
        )
        panels.append(marks.panel(*lines, theme=theme, width=marks.THIRD, height=HEIGHT, title="Kernel over distance"))
    if len(pairs):
        panels.append(
            marks.panel(
                _joined(pairs, theme),
                theme=theme,
                width=marks.THIRD,
                height=HEIGHT,
                title="Pairs with the highest scores",
            )
        )
    return panels


def _joined(pairs: pd.DataFrame, theme: Theme) -> Chart:
    labels = [
        f"{query} {printable(query_token)} \u2192 {key} {printable(key_token)}"
        for query, query_token, key, key_token in pairs[["query", "query_token", "key", "key_token"]].itertuples(
            index=False
        )
    ]
    axis = token_axis(labels, "query \u2192 key, with their token numbers", angle=0, limit=140)
    bars = alt.Chart(pairs.assign(rank=range(len(pairs)))).mark_bar(color=theme.series)
    return bars.encode(
        x=marks.number(alt.X, "value", "key-centred score", zero=True, ticks=5),
        y=alt.Y("rank:O", axis=axis),
        tooltip=marks.tips(
            ("query_token", "query"),
            ("key_token", "key"),
            ("query", "query, token number"),
            ("key", "key, token number"),
            "head",
            ("value", "score", ".3f"),
        ),
    )
