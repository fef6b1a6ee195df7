"""Drawings of position encodings: the table itself, and what the drawings of encodings share."""

import altair as alt
import pandas as pd

from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.encodings.data import HeatContent, Sized
from analysis.figures.heatmap import heatmap
from analysis.figures.marks import heading

WIDE = 380


def colours(look: Look) -> list[str]:
    """Of the chosen encoding and of the one beside it."""
    return look.many(2)


def name(one: Sized, *below: str, look: Look) -> alt.TitleParams:
    """The title of an encoding's panel; its size below it, where that is not the one asked for."""
    return heading(one.title, *one.lines, *below, look=look)


def empty(one: Sized, *lines: str, look: Look, height: int = 240, number: str = "") -> Chart:
    """An encoding's panel that says in words why there is nothing to draw, under a number if there is one."""
    frame = pd.DataFrame({"x": [0.5], "number": [number], "words": ["\n".join(lines)]})
    base = alt.Chart(frame).encode(x=alt.X("x:Q", scale=alt.Scale(domain=[0, 1]), axis=None), y=alt.value(height / 2))
    words = base.mark_text(color=look.ink, fontSize=13, lineBreak="\n", dy=14, baseline="top").encode(text="words:N")
    large = base.mark_text(color=look.ink, fontSize=38, dy=-8, baseline="bottom").encode(text="number:N")
    return alt.layer(large, words).properties(width=WIDE, height=height, title=name(one, look=look))


@drawing("encoding_heat", columns=2)
def heat(figure: Figure[HeatContent], look: Look) -> list[Chart]:
    """One heat map an encoding, on its own symmetric scale."""
    return [
        heatmap(
            one.table(),
            [str(row) for row in range(one.length)],
            [str(column) for column in range(one.dim)],
            domain=(-reach, reach),
            row_title=one.row,
            column_title=one.column,
            value_title=one.unit,
            side=WIDE,
            height=300,
            look=look,
        ).properties(title=name(one, look=look))
        for one, reach in zip(figure.content.shown, figure.content.reach, strict=True)
    ]
