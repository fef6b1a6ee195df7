"""Drawings of the position map: a map of layers by sources beside stacked bars, and kernels against distance."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import of_term
from analysis.core.wavelengths import BANDS
from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing, printable
from analysis.figures.heatmap import heatmap, token_axis
from analysis.figures.positions.cell import CellContent
from analysis.figures.positions.data import KernelsContent, MapContent, UnturnedContent

ORDER = ("content alone", "position or distance alone", "both together")
PARTS = ("word", "position", "word_to_position")
"""What each part depends on, as terms that colours are named by."""


@drawing("position_map", columns=2)
def position_map(figure: Figure[MapContent], look: Look) -> list[Chart]:
    """For each run a map of what depends on position, and bars of everything; one scale for all maps."""
    frame, columns, layers = figure.content.frame, figure.content.sources, figure.content.layers
    by_position = frame[frame.part != "content"].groupby(["of", "layer", "source"]).share.sum()
    reach = max(float(np.nanmax(np.abs(by_position))), 0.01)
    height = max(180, 24 * layers)
    turned = any(source in BANDS for source in columns)
    enters = "wavelength (tokens), or where position enters" if turned else "where position enters"
    panels: list[Chart] = []
    for name in figure.content.runs:
        values = np.array([[by_position[name, layer, source] for source in columns] for layer in range(layers)])
        negative = bool(np.nanmin(values) < -0.005)
        panels.append(
            heatmap(
                values,
                [str(layer) for layer in range(layers)],
                columns,
                domain=(-reach, reach) if negative else (0, reach),
                row_title="layer",
                column_title=enters,
                value_title="share of variation that depends on position",
                title=name,
                diverging=negative,
                level=len(columns) <= 4,
                side=360,
                height=height,
                look=look,
            )
        )
        panels.append(_bars(frame[frame.of == name], name, height, look))
    return panels


def _bars(frame: pd.DataFrame, name: str, height: int, look: Look) -> Chart:
    names = dict(zip(("content", "position", "both"), ORDER, strict=True))
    totals = frame.groupby(["layer", "part"], as_index=False).share.sum()
    totals = totals.assign(depends=totals.part.map(names), order=totals.part.map(list(names).index))
    return (
        alt.Chart(totals)
        .mark_bar()
        .encode(
            x=alt.X(
                "share:Q",
                scale=alt.Scale(domain=[0, 1]) if (totals.share >= 0).all() else alt.Undefined,
                axis=alt.Axis(title="share of the scores' variation", format=".0%"),
            ),
            y=alt.Y("layer:O", axis=alt.Axis(title="layer")),
            color=alt.Color(
                "depends:N",
                scale=alt.Scale(domain=list(ORDER), range=[look.colour(of_term(part)) for part in PARTS]),
                legend=alt.Legend(title=None, orient="bottom", columns=2),
            ),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("layer:O"),
                alt.Tooltip("depends:N", title="depends on"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
        .properties(width=360, height=height, title=alt.TitleParams(f"{name}, everything", fontSize=13, anchor="start"))
    )


@drawing("position_kernels")
def kernels(figure: Figure[KernelsContent], look: Look) -> list[Chart]:
    """A line a band."""
    bands = figure.content.bands
    base = alt.Chart(figure.content.frame).encode(
        x=alt.X("distance:Q", axis=alt.Axis(title="distance, key minus query (tokens)", tickMinStep=1, format="d")),
        y=alt.Y("score:Q", axis=alt.Axis(title="mean score minus its mean over distances")),
        color=alt.Color(
            "band:N",
            sort=bands,
            scale=alt.Scale(domain=bands, scheme="viridis")
            if len(bands) > 1
            else alt.Scale(domain=bands, range=[look.series]),
            legend=alt.Legend(title="wavelength (tokens)", orient="right"),
        ),
        tooltip=[
            alt.Tooltip("band:N", title="wavelength (tokens)"),
            alt.Tooltip("distance:Q"),
            alt.Tooltip("score:Q", format=".4f"),
        ],
    )
    zero = alt.Chart().mark_rule(color=look.faint).encode(y=alt.YDatum(0))
    return [(zero + base.mark_line(strokeWidth=2)).properties(width=680, height=280)]


@drawing("position_unturned")
def unturned(figure: Figure[UnturnedContent], look: Look) -> list[Chart]:
    """Layers down, bands across; empty where a layer has none."""
    frame, bands = figure.content.frame, figure.content.bands
    layers = int(frame.layer.max()) + 1
    table = frame.pivot(index="layer", columns="band", values="outcome").reindex(index=range(layers), columns=bands)
    return [
        heatmap(
            table.to_numpy(float),
            [str(layer) for layer in range(layers)],
            bands,
            domain=(0, max(float(frame.outcome.max()), 1e-6)),
            row_title="layer",
            column_title="wavelength that is not turned (tokens)",
            value_title=figure.content.label,
            diverging=False,
            level=True,
            side=680,
            height=max(160, 24 * layers),
            look=look,
        )
    ]


@drawing("position_cell", columns=3)
def cell(figure: Figure[CellContent], look: Look) -> list[Chart]:
    """Heads as stacked bars, the band's kernel in every head, and the pairs of tokens that it joins."""
    heads, kernel, pairs = (figure.content.heads, figure.content.kernel, figure.content.pairs)
    panels = [_heads(heads, look)]
    if len(kernel):
        panels.append(_lines(kernel, look))
    if len(pairs):
        panels.append(_joined(pairs, look))
    return panels


def _heads(heads: pd.DataFrame, look: Look) -> Chart:
    names = dict(zip(("content", "position", "both"), ORDER, strict=True))
    frame = heads.dropna(subset="value").assign(depends=heads.part.map(names), order=heads.part.map(list(names).index))
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("value:Q", axis=alt.Axis(title="share of the head's variation", format=".0%", tickCount=5)),
            y=alt.Y("head:O", axis=alt.Axis(title="head")),
            color=alt.Color(
                "depends:N",
                scale=alt.Scale(domain=list(ORDER), range=[look.colour(of_term(part)) for part in PARTS]),
                legend=alt.Legend(title=None, orient="bottom", columns=1),
            ),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("head:O"),
                alt.Tooltip("depends:N", title="depends on"),
                alt.Tooltip("value:Q", title="share", format=".1%"),
            ],
        )
        .properties(width=250, height=240, title=alt.TitleParams("Heads", fontSize=13, anchor="start"))
    )


def _lines(kernel: pd.DataFrame, look: Look) -> Chart:
    heads = sorted(kernel["head"].unique())
    return (
        alt.Chart(kernel)
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X("distance:Q", axis=alt.Axis(title="distance, key minus query (tokens)", tickMinStep=1, format="d")),
            y=alt.Y("value:Q", axis=alt.Axis(title="mean score minus its mean")),
            color=alt.Color(
                "head:O",
                scale=alt.Scale(domain=heads, scheme="viridis") if len(heads) > 1 else alt.value(look.series),
                legend=alt.Legend(title="head", orient="bottom", columns=5, symbolLimit=64),
            ),
            tooltip=[
                alt.Tooltip("head:O"),
                alt.Tooltip("distance:Q"),
                alt.Tooltip("value:Q", title="mean score", format=".4f"),
            ],
        )
        .properties(width=250, height=240, title=alt.TitleParams("Kernel over distance", fontSize=13, anchor="start"))
    )


def _joined(pairs: pd.DataFrame, look: Look) -> Chart:
    labels = [
        f"{query} {printable(asks)} \u2192 {key} {printable(answers)}"
        for query, asks, key, answers in pairs[["query", "query_token", "key", "key_token"]].itertuples(index=False)
    ]
    frame = pairs.assign(rank=range(len(pairs)))
    axis = token_axis(labels, "query \u2192 key, each with its place", angle=0, limit=140)
    return (
        alt.Chart(frame)
        .mark_bar(color=look.series)
        .encode(
            x=alt.X("value:Q", axis=alt.Axis(title="key-centred score", tickCount=5)),
            y=alt.Y("rank:O", axis=axis),
            tooltip=[
                alt.Tooltip("query_token:N", title="query"),
                alt.Tooltip("key_token:N", title="key"),
                alt.Tooltip("query:Q", title="query's place"),
                alt.Tooltip("key:Q", title="key's place"),
                alt.Tooltip("head:O"),
                alt.Tooltip("value:Q", title="score", format=".3f"),
            ],
        )
        .properties(width=250, height=240, title=alt.TitleParams("Pairs it joins most", fontSize=13, anchor="start"))
    )
