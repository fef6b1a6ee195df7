"""Drawings of the position map: a map of layers by sources beside stacked bars, and kernels against distance."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import of_term
from analysis.core.wavelengths import BANDS
from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing, printable
from analysis.figures.heatmap import heatmap, token_axis
from analysis.figures.positions.cell import CellContent
from analysis.figures.positions.data import DEPENDS, KernelsContent, MapContent, UnrotatedContent

TERMS = {"content": "word", "position": "position", "both": "word_to_position"}
"""The part of a score -> the term whose colour it takes."""
DISTANCE = "distance, key minus query (tokens)"
HEIGHT = 240


@drawing("position_map", columns=2)
def position_map(figure: Figure[MapContent], theme: Theme) -> list[Chart]:
    """Two charts per run: a map of the parts that depend on position, and bars of all parts; maps share one scale."""
    frame, columns, layers = figure.content.frame, figure.content.sources, figure.content.layers
    by_position = frame[frame.part != "content"].groupby(["of", "layer", "source"]).share.sum()
    limit = max(float(np.nanmax(np.abs(by_position))), 0.01)
    height = max(180, 24 * layers)
    rotary = any(source in BANDS for source in columns)
    enters = "wavelength (tokens), or where position enters" if rotary else "where position enters"
    panels: list[Chart] = []
    for name in figure.content.runs:
        values = np.array([[by_position[name, layer, source] for source in columns] for layer in range(layers)])
        negative = bool(np.nanmin(values) < -0.005)
        panels.append(
            heatmap(
                values,
                [str(layer) for layer in range(layers)],
                columns,
                domain=(-limit, limit) if negative else (0, limit),
                row_title="layer",
                column_title=enters,
                value_title="share of variation that depends on position",
                title=name,
                diverging=negative,
                level=len(columns) <= 4,
                side=marks.HALF,
                height=height,
                theme=theme,
            )
        )
        totals = frame[frame.of == name].groupby(["layer", "part"], as_index=False).agg(share=("share", "sum"))
        x = marks.number(
            alt.X,
            "share",
            "share of the scores' variation",
            zero=True,
            form=".0%",
            domain=(0, 1) if (totals.share >= 0).all() else alt.Undefined,
        )
        bars = _stacked(totals, x, "layer", theme, columns=2)
        panels.append(marks.panel(bars, theme=theme, width=marks.HALF, height=height, title=f"{name}, everything"))
    return panels


def _stacked(frame: pd.DataFrame, x: alt.X, row: str, theme: Theme, *, columns: int) -> Chart:
    """A bar for each layer or head, made of the share of each part. columns: of the legend."""
    frame = frame.assign(depends=frame.part.map(DEPENDS), order=frame.part.map(list(DEPENDS).index))
    colours = {name: theme.colour(of_term(TERMS[part])) for part, name in DEPENDS.items()}
    bars = alt.Chart(frame).mark_bar()
    return bars.encode(
        x=x,
        y=marks.categories(alt.Y, row, row),
        color=marks.hues("depends", colours, marks.legend(columns=columns)),
        order=alt.Order("order:Q"),
        tooltip=marks.tips(row, ("depends", "depends on"), ("share", "", ".1%")),
    )


@drawing("position_kernels")
def kernels(figure: Figure[KernelsContent], theme: Theme) -> list[Chart]:
    """A line a band."""
    key = marks.legend("wavelength (tokens)", "right", lines=True)
    lines = marks.line_plot(
        figure.content.frame,
        x=marks.whole_numbers(alt.X, "distance", DISTANCE),
        y=marks.number(alt.Y, "score", "mean score minus its mean over distances"),
        theme=theme,
        color=marks.sequential_hues("band", figure.content.bands, theme, key),
        dots=0,
        tooltip=(("band", "wavelength (tokens)"), "distance", ("score", "", ".4f")),
    )
    return [marks.panel(marks.rule(theme, y=0), *lines, theme=theme, width=marks.WIDE, height=280)]


@drawing("position_unturned")
def unturned(figure: Figure[UnrotatedContent], theme: Theme) -> list[Chart]:
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
            column_title="wavelengths that are not rotated (tokens)",
            value_title=figure.content.label,
            diverging=False,
            level=True,
            side=marks.WIDE,
            height=max(160, 24 * layers),
            theme=theme,
        )
    ]


@drawing("position_cell", columns=3)
def cell(figure: Figure[CellContent], theme: Theme) -> list[Chart]:
    """Heads as stacked bars, the band's kernel in every head, and the pairs of tokens with its highest scores."""
    kernel, pairs = figure.content.kernel, figure.content.pairs
    shares = figure.content.heads.dropna(subset="value").rename(columns={"value": "share"})
    x = marks.number(alt.X, "share", "share of the head's variation", zero=True, ticks=5, form=".0%")
    panels = [
        marks.panel(
            _stacked(shares, x, "head", theme, columns=1), theme=theme, width=marks.THIRD, height=HEIGHT, title="Heads"
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
