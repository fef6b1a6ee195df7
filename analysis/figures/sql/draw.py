"""The drawing of a reader's own query: lines, points or bars."""

import altair as alt
import pandas as pd

from analysis.figures import Figure, marks
from analysis.figures.drawing import SERIES, Chart, Theme, drawing
from analysis.figures.sql.data import ChartContent
from analysis.figures.training.line_marks import DASHES

HEIGHT = 380
KEY_COLUMNS = 2


@drawing("sql_chart")
def sql_chart(figure: Figure[ChartContent], theme: Theme) -> list[Chart]:
    """One panel. Bars begin at zero; lines and points where the values do."""
    content = figure.content
    rows, names = content.rows, list(dict.fromkeys(content.rows.colour))
    x = _x_axis(content)
    y = marks.number(alt.Y, "y", content.y, zero=content.mark == "bar")
    key = marks.legend(content.colour, columns=KEY_COLUMNS, lines=content.mark == "line") if content.colour else None
    color = marks.series("colour", names, theme, key)
    tooltip: tuple[marks.Tip, ...] = ((f"x:{content.kind[0].upper()}", content.x), ("y", content.y, ".4~g"))
    if content.colour:
        tooltip = (*tooltip, ("colour", content.colour))
    elif (rows.line != "").any():
        tooltip = (*tooltip, "line")
    if content.mark == "bar":
        bars = alt.Chart(rows).mark_bar().encode(x=x, y=y, color=color, tooltip=marks.tips(*tooltip))
        layers: list[Chart] = [
            bars.encode(xOffset=alt.XOffset("colour:N", sort=names)) if content.kind == "nominal" else bars
        ]
    else:
        line = content.mark == "line"
        patterns = {name: DASHES[index // len(SERIES) % len(DASHES)] for index, name in enumerate(names)}
        layers = marks.line_plot(
            rows, x=x, y=y, theme=theme, color=color, tooltip=tooltip, dash=marks.dashes("colour", patterns),
            detail="line:N",
            dots=marks.SEED if line else marks.DOT, width=marks.LINE if line else 0,
        )  # fmt: skip
    return [marks.panel(*layers, theme=theme, width=marks.WIDE, height=HEIGHT)]


def _x_axis(content: ChartContent) -> alt.X:
    """The axis of x: whole numbers have whole ticks, names the order of the rows."""
    if content.kind == "nominal":
        return alt.X("x:N", title=content.x, sort=None, axis=alt.Axis(labelAngle=-40, labelLimit=160))
    if content.kind == "temporal":
        return alt.X("x:T", title=content.x)
    values: pd.Series = content.rows.x.dropna()
    if (values % 1 != 0).any():
        return marks.number(alt.X, "x", content.x)
    extent = float(values.max() - values.min())
    form = ",d" if extent < 1e5 else "~s"
    return marks.number(alt.X, "x", content.x, ticks=int(min(10, max(1, extent))), form=form)
