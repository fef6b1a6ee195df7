"""Drawings of the guided reading's arithmetic."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import TERMS
from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.heatmap import heatmap
from analysis.figures.reading.arithmetic import ConcatenationContent, PlaneContent

HEIGHT = 300


@drawing("reading_plane")
def plane(figure: Figure[PlaneContent], theme: Theme) -> list[Chart]:
    """One dot a sum, larger and of another colour where several pairs meet."""
    limit = figure.content.limit
    kinds = ["one pair: its parts are known", "several pairs: the parts cannot be recovered"]
    frame = figure.content.frame.assign(kind=lambda f: np.where(f.pairs > 1, kinds[1], kinds[0]))
    # A dot at which several pairs meet names them all.
    frame = (
        frame.assign(both=[f"{w} + {p}" for w, p in zip(frame.word, frame.position, strict=True)])
        .groupby(["x", "y", "pairs", "kind"], as_index=False)
        .agg(both=("both", ", ".join))
    )
    dots = alt.Chart(frame).mark_circle(opacity=0.85)
    dots = dots.encode(
        x=marks.number(alt.X, "x", "along the words' axis (steps)", domain=(0, limit + 0.5)),
        y=marks.number(alt.Y, "y", "across it (steps)", domain=(-0.6, limit / 2 + 0.5)),
        size=alt.Size("pairs:Q", scale=alt.Scale(domain=[1, 8], range=[marks.DOT, 7 * marks.DOT]), legend=None),
        color=marks.hues("kind", dict(zip(kinds, theme.many(2), strict=True)), marks.legend(place="top")),
        tooltip=marks.tips(("both", "word + position"), ("pairs", "pairs with this sum")),
    )
    return [marks.panel(dots, theme=theme, width=620, height=310)]


@drawing("reading_concatenation", columns=2)
def concatenation(figure: Figure[ConcatenationContent], theme: Theme) -> list[Chart]:
    """The vector and the matrix as cells; and bars of the parts with dots of the whole."""
    return [_cells(figure.content, theme), _bars(figure.content.frame, theme)]


def _cells(content: ConcatenationContent, theme: Theme) -> Chart:
    table = np.column_stack([content.example.both, content.example.matrix])
    limit = float(np.abs(table).max())
    cells = heatmap(
        table,
        content.rows,
        ["vector", *(str(k + 1) for k in range(content.example.matrix.shape[1]))],
        domain=(-limit, limit),
        row_title="dimension",
        column_title="the vector | the matrix, a column an output",
        value_title="value",
        level=True,
        side=marks.HALF,
        height=HEIGHT,
        theme=theme,
    )
    cut = alt.Chart(pd.DataFrame({"row": [len(content.rows) - content.split]}))
    line = cut.mark_rule(color=theme.ink, strokeDash=marks.DASH, strokeWidth=marks.LINE).encode(
        y=alt.Y("row:O", bandPosition=0)
    )
    return marks.panel(
        cells, line, theme=theme, width=marks.HALF, height=HEIGHT, title="[word ; position] and the matrix"
    )


def _bars(frame: pd.DataFrame, theme: Theme) -> Chart:
    parts = {"word_part": "word × upper rows", "position_part": "position × lower rows"}
    concatenated = "[word ; position] × matrix"
    # Parts of unlike sign are drawn either side of zero, so that bars end where their sum does.
    long = frame.melt("output", list(parts), var_name="part", value_name="value")
    colours = {name: theme.colour(TERMS[column.removesuffix("_part")]) for column, name in parts.items()}
    x, y = marks.categories(alt.X, "output", "output"), marks.number(alt.Y, "value", "value", zero=True)
    bars = alt.Chart(long.assign(part=long.part.map(parts))).mark_bar()
    bars = bars.encode(
        x=x,
        y=y,
        xOffset=alt.XOffset("part:N", sort=list(parts.values())),
        color=marks.hues("part", colours, marks.legend(place="top")),
        tooltip=marks.tips("output", "part", ("value", "", ".3f")),
    )
    sums = alt.Chart(frame).mark_tick(thickness=3, color=theme.ink)
    sums = sums.encode(
        x=x, y=marks.same_axis(y, "sum"), tooltip=marks.tips("output", ("sum", "sum of the two parts", ".3f"))
    )
    y, tooltip = marks.same_axis(y, "concatenated"), ("output", ("concatenated", concatenated, ".3f"))
    dots = marks.row_plot(frame, x=x, y=y, theme=theme, ends=None, color=theme.ink, tooltip=tooltip)
    below = ["line: both bars added", f"dot: {concatenated}"]
    return marks.panel(
        bars, sums, *dots, theme=theme, width=marks.HALF, height=HEIGHT, title="What comes out", below=below
    )
