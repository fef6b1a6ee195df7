"""Drawings of position encodings: the table itself, and what the drawings of encodings share."""

import altair as alt
import pandas as pd

from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.encodings.data import HeatContent, SizedEncoding, clip_note
from analysis.figures.heatmap import heatmap

HEIGHT = 240


def colours(theme: Theme) -> list[str]:
    """The colours of the chosen encoding and of the one beside it."""
    return theme.many(2)


def empty_panel(entry: SizedEncoding, *lines: str, theme: Theme, height: int = HEIGHT, number: str = "") -> Chart:
    """An encoding's panel that says in words why there is nothing to draw, under a number if there is one."""
    frame = pd.DataFrame({"x": [0.5], "number": [number], "words": ["\n".join(lines)]})
    base = alt.Chart(frame).encode(x=alt.X("x:Q", scale=alt.Scale(domain=[0, 1]), axis=None), y=alt.value(height / 2))
    words = base.mark_text(color=theme.ink, fontSize=marks.PANEL_TITLE, lineBreak="\n", dy=14, baseline="top")
    large = base.mark_text(color=theme.ink, fontSize=38, dy=-8, baseline="bottom")
    layers = large.encode(text=alt.Text("number:N")), words.encode(text=alt.Text("words:N"))
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=height, title=entry.title, below=entry.lines)


@drawing("encoding_heat", columns=2)
def heat(figure: Figure[HeatContent], theme: Theme) -> list[Chart]:
    """One heat map an encoding, on its own symmetric scale."""
    return [
        heatmap(
            item.table(), domain=(-limit, limit), row_title=item.row, column_title=item.column, value_title=item.unit,
            title=item.title, below=[*item.lines, *clip_note(item, limit)], side=marks.HALF, height=300, theme=theme,
        )
        for item, limit in zip(figure.content.shown, figure.content.limits, strict=True)
    ]  # fmt: skip
