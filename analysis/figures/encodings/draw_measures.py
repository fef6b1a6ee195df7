"""Drawing of all encodings by all scalar measures: dots, one panel a measure."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.encodings.draw import colours
from analysis.figures.encodings.measures import MEASURES, MeasuresContent, in_words
from analysis.figures.marks import heading

ROW = 20


@drawing("encoding_measures", columns=3)
def scalar_measures(figure: Figure[MeasuresContent], look: Look) -> list[Chart]:
    """One panel a measure, one row an encoding, one dot a size; the picked encodings' rows are shaded."""
    rows = figure.content.rows
    sizes = [f"about {about} rows" for about in sorted(rows.about.unique())]
    rows = rows.assign(size=[f"about {about} rows" for about in rows.about])
    panels = []
    for name in MEASURES:
        own = rows.loc[rows.measure == name]
        if len(own):
            panels.append(_panel(name, own, sizes, figure.content.order, figure.content.picked, look))
    return panels


def _panel(name: str, own: pd.DataFrame, sizes: list[str], order: list[str], picked: list[str], look: Look) -> Chart:
    measure = MEASURES[name]
    own = own.assign(said=[in_words(name, value) for value in own.value])
    drawn = own.loc[np.isfinite(own.value)]
    low = min(0.0, float(drawn.value.min())) if len(drawn) else 0.0
    high = measure.top or (float(drawn.value.max()) if len(drawn) else 1.0)
    x = alt.X(
        "value:Q",
        title=measure.unit,
        scale=alt.Scale(domain=[low, high * 1.03], nice=False),
        axis=alt.Axis(tickCount=5, format="d" if measure.top is None else "~f"),
    )
    present = [title for title in order if title in set(own.title)]
    y = alt.Y(
        "title:N",
        sort=present,
        title=None,
        scale=alt.Scale(domain=present),
        axis=alt.Axis(labelLimit=190, labelOverlap=False, labelPadding=8, ticks=False, domain=False, grid=True),
    )
    dots = (
        alt.Chart(drawn)
        .mark_point(filled=True, size=55, opacity=0.9)
        .encode(
            x=x,
            y=y,
            color=alt.Color("size:N", scale=alt.Scale(domain=sizes, range=colours(look)), legend=None),
            shape=alt.Shape("size:N", scale=alt.Scale(domain=sizes, range=["circle", "diamond"]), legend=None),
            tooltip=[
                alt.Tooltip("title:N", title="encoding"),
                alt.Tooltip("length:Q", title="rows"),
                alt.Tooltip("dim:Q", title="columns"),
                alt.Tooltip("value:Q", title=measure.title, format=".4~g"),
            ],
        )
    )
    layers = [dots]
    absent = own.loc[~np.isfinite(own.value)].drop_duplicates(["title", "said"])
    if len(absent):
        # One word a row, not one a size.
        words = absent.groupby("title", sort=False).said.agg(" / ".join).reset_index()
        layers.append(
            alt.Chart(words)
            .mark_text(
                align="left", baseline="middle", dx=4, fontSize=12, fontStyle="italic", color=look.ink, opacity=0.7
            )
            .encode(x=alt.datum(low), y=y, text="said:N")
        )
    marks = ", ".join(f"{sign} {size}" for sign, size in zip("●◆", sizes, strict=False))
    if shaded := [title for title in own[own.encoding.isin(picked)].title.unique()]:
        band = alt.Chart(pd.DataFrame({"title": shaded})).mark_bar(color=look.faint, opacity=0.35, height=ROW - 2)
        layers.insert(0, band.encode(x=alt.datum(low), x2=alt.datum(high * 1.03), y=y))
    return alt.layer(*layers).properties(
        width=200, height=ROW * len(present), title=heading(measure.title, measure.short, marks, look=look)
    )
