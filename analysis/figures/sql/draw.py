"""The drawing of a reader's own query: lines, points or bars."""

import altair as alt
import pandas as pd

from analysis.figures import Figure
from analysis.figures.drawing import SERIES, Chart, Look, drawing
from analysis.figures.training.draw_curves import DASHES

HEIGHT = 380
LEGEND_ROW = 24
"""Pixels that one name takes, on screen, of the height that is given."""


@drawing("sql_chart")
def sql_chart(figure: Figure, look: Look) -> list[Chart]:
    """One panel. Bars begin at zero; lines and points where the values do."""
    held = figure.content
    rows, mark, kind = held["rows"], held["mark"], held["kind"]
    names = list(dict.fromkeys(rows.colour))
    places = range(len(names))
    hues = look.many(len(names) if held["colour"] else 1)
    dashes = [DASHES[place // len(SERIES) % len(DASHES)] for place in places]
    legend = alt.Legend(title=held["colour"], orient="bottom", columns=2, labelLimit=320) if held["colour"] else None
    x = alt.X(
        f"x:{kind[0].upper()}",
        title=held["x"],
        sort=None,
        scale=alt.Scale(zero=False) if kind == "quantitative" else alt.Undefined,
        axis=alt.Axis(labelAngle=-40, labelLimit=160) if kind == "nominal" else _axis(rows.x, kind),
    )
    y = alt.Y("y:Q", title=held["y"], scale=alt.Scale(zero=mark == "bar"))
    colour = alt.Color("colour:N", scale=alt.Scale(domain=names, range=hues), legend=legend)
    tips = [alt.Tooltip(f"x:{kind[0].upper()}", title=held["x"]), alt.Tooltip("y:Q", title=held["y"], format=".4~g")]
    if held["colour"]:
        tips.append(alt.Tooltip("colour:N", title=held["colour"]))
    base = alt.Chart(rows).encode(x=x, y=y, color=colour, tooltip=tips)
    if mark == "bar":
        drawn = base.mark_bar()
        if kind == "nominal":
            drawn = drawn.encode(xOffset=alt.XOffset("colour:N", sort=names))
    elif mark == "point":
        drawn = base.mark_point(filled=True, size=55, opacity=0.8)
    else:
        dash = alt.StrokeDash("colour:N", scale=alt.Scale(domain=names, range=dashes), legend=None)
        drawn = base.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=28)).encode(strokeDash=dash)
    more = LEGEND_ROW * ((len(names) + 1) // 2) if look.screen and held["colour"] else 0
    return [drawn.properties(width=760, height=HEIGHT + more)]


def _axis(values: pd.Series, kind: str) -> alt.Axis:
    """Whole numbers have whole ticks."""
    if kind != "quantitative" or (values.dropna() % 1 != 0).any():
        return alt.Axis()
    reach = values.max() - values.min()
    return alt.Axis(format=",d" if reach < 1e5 else "~s", tickCount=int(min(10, max(1, reach))))
