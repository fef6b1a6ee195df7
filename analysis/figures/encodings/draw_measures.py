"""Drawing of all encodings by all scalar measures: dots, one panel a measure."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.encodings.measures import MEASURES, MeasuresContent, in_words


@drawing("encoding_measures", columns=3)
def scalar_measures(figure: Figure[MeasuresContent], theme: Theme) -> list[Chart]:
    """One panel a measure, one row an encoding, one dot a size; the picked encodings' rows are shaded."""
    rows = figure.content.rows
    sizes = [f"about {length} rows" for length in sorted(rows.about.unique())]
    rows = rows.assign(size=[f"about {length} rows" for length in rows.about])
    panels = []
    for name in MEASURES:
        measure_rows = rows.loc[rows.measure == name]
        if len(measure_rows):
            panels.append(_panel(name, measure_rows, sizes, figure.content.order, figure.content.selected, theme))
    return panels


def _panel(
    name: str, rows: pd.DataFrame, sizes: list[str], order: list[str], selected: list[str], theme: Theme
) -> Chart:
    measure = MEASURES[name]
    rows = rows.assign(meaning=[in_words(name, value) for value in rows.value])
    finite = rows.loc[np.isfinite(rows.value)]
    low = min(0.0, float(finite.value.min())) if len(finite) else 0.0
    high = measure.top or (float(finite.value.max()) if len(finite) else 1.0)
    x = marks.number(
        alt.X, "value", measure.unit, domain=(low, high * 1.03), ticks=5, form="d" if measure.top is None else "~f"
    )
    present = [title for title in order if title in set(rows.title)]
    y = marks.rows_down("title", present, limit=190)
    layers = marks.row_plot(
        finite, x=x, y=y, theme=theme, ends=None, opacity=0.9,
        color=marks.series("size", sizes, theme),
        shape=marks.shapes("size", sizes),
        tooltip=(
            ("title", "encoding"), ("length:Q", "rows"), ("dim:Q", "columns"), ("value", measure.title, ".4~g"),
        ),
    )  # fmt: skip
    undefined = rows.loc[~np.isfinite(rows.value)].drop_duplicates(["title", "meaning"])
    if len(undefined):
        # One word a row, not one a size.
        words = alt.Chart(undefined.groupby("title", sort=False).meaning.agg(" / ".join).reset_index()).mark_text(
            align="left", dx=4, fontSize=marks.TEXT, fontStyle="italic", color=theme.ink, opacity=0.7
        )
        layers.append(words.encode(x=alt.datum(low), y=y, text=alt.Text("meaning:N")))
    if shaded := [title for title in rows[rows.encoding.isin(selected)].title.unique()]:
        band = alt.Chart(pd.DataFrame({"title": shaded})).mark_bar(
            color=theme.faint, opacity=0.35, height=marks.ROW - 2
        )
        layers.insert(0, band.encode(x=alt.datum(low), x2=alt.datum(high * 1.03), y=y))
    key = ", ".join(f"{sign} {size}" for sign, size in zip("●◆", sizes, strict=False))
    return marks.panel(
        *layers, theme=theme, width=marks.THIRD, height=marks.ROW * len(present), title=measure.title,
        below=[measure.short, key],
    )  # fmt: skip
