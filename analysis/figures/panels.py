"""Panels of values beside what chance gives: curves over a band of random draws, and dots over grey bars.

Rows hold `value` with its interval `low` to `high`, the `baseline` of random draws with `baseline_low` to
`baseline_high`, and `series`, which names the curve or the dot; curves also hold `along`.
"""

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd
from altair.utils.schemapi import UndefinedType

from analysis.figures import marks
from analysis.figures.drawing import GREY, Chart, Theme

HEIGHT = 210
MAX_DOTS = 100
"""The most values of a curve that are drawn with dots."""
RANDOM: tuple[marks.Tip, ...] = (
    ("value", "", ".4~g"),
    ("baseline", "random vectors", ".4~g"),
    ("baseline_low", "random vectors, from", ".4~g"),
    ("baseline_high", "to", ".4~g"),
)
NUMBERS = ["along", "value", "low", "high", "baseline", "baseline_low", "baseline_high"]


def chart_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of stored rows that a chart needs; a column without any known value still has a numeric type."""
    return rows.reindex(columns=[*NUMBERS, "series", "layer", "head"]).astype(dict.fromkeys(NUMBERS, float))


def series_colour(
    rows: pd.DataFrame, theme: Theme, colours: Mapping[str, str] | None = None, *, legend: bool = True
) -> alt.Color:
    """Ink, and a legend where there are several series, which dashes tell apart.

    colours: those of series that have their own. legend: whether there is one, which panels side by side may share.
    """
    names = list(dict.fromkeys(rows.series))
    key = marks.legend(lines=True) if legend and len(names) > 1 else None
    hues = colours or dict.fromkeys(names, theme.ink)
    return marks.hues("series", {name: hues[name] for name in names}, key)


def curves_over_chance(
    rows: pd.DataFrame,
    theme: Theme,
    width: int,
    *,
    value: str,
    along: str,
    title: str = "",
    domain: tuple[float, float] | None = None,
    names: Sequence[Mapping[str, object]] | None = None,
    below: Sequence[str] = (),
    form: str | UndefinedType = alt.Undefined,
    line: float | None = None,
) -> Chart:
    """Curves of a value; the range of random draws as a band and their mean dashed.

    value, along: the titles of the axes. domain: of the values' axis, which begins at zero where none is given. names:
    what stands at the curves, as `names_at` takes it, in place of a legend; nothing where a panel beside names the same
    curves. below: lines under the title. form: the values' number format. line: a value that is marked. Curves after
    the first have gaps, through which one that they lie on is seen.
    """
    rows = chart_rows(rows)
    curves = list(dict.fromkeys(rows.series))
    x = marks.number(alt.X, "along", along, nice=False, grid=False, ticks=6, padding=6)
    y = marks.number(alt.Y, "value", value, domain=domain or alt.Undefined, zero=domain is None, form=form)
    random = alt.Chart(rows).encode(x=x, detail=alt.Detail("series:N"))
    lines = marks.line_plot(
        rows, x=x, y=y, theme=theme, ends=("low", "high"), band=True,
        color=series_colour(rows, theme, legend=names is None),
        dash=marks.dashes("series", {name: [9, 9 * index] if index else [1, 0] for index, name in enumerate(curves)}),
        dots=marks.SEED if len(rows) <= MAX_DOTS else 0,
        tooltip=(("series", "of"), ("along:Q", along), *RANDOM),
    )  # fmt: skip
    return marks.panel(
        random.mark_area(opacity=0.3, color=GREY).encode(
            y=marks.same_axis(y, "baseline_low"), y2=alt.Y2("baseline_high:Q")
        ),
        random.mark_line(strokeDash=marks.DASH, strokeWidth=marks.LINE, color=GREY).encode(
            y=marks.same_axis(y, "baseline")
        ),
        *([marks.rule(theme, y=line)] if line is not None else []),
        *lines,
        *(names_at(pd.DataFrame(names), x, y, theme) if names else []),
        theme=theme,
        width=width,
        height=HEIGHT,
        title=title,
        below=below,
    )


def dots_over_chance(
    rows: pd.DataFrame,
    theme: Theme,
    width: int,
    *,
    value: str,
    title: str = "",
    domain: tuple[float, float] | None = None,
    colours: Mapping[str, str] | None = None,
) -> Chart:
    """One row a series, with its value and interval; the random draws as a grey tick with their range.

    colours: those of series that have their own.
    """
    rows = chart_rows(rows)
    names = list(dict.fromkeys(rows.series))
    x = marks.number(alt.X, "value", value, domain=domain or alt.Undefined, zero=domain is None, ticks=5)
    y = marks.rows_down("series", names)
    random = alt.Chart(rows).encode(y=y)
    color = marks.hues("series", dict(colours)) if colours else alt.Undefined
    dots = marks.row_plot(rows, x=x, y=y, theme=theme, color=color, tooltip=(("series", "of"), *RANDOM))
    return marks.panel(
        random.mark_rule(strokeWidth=7, opacity=0.4, color=GREY).encode(
            x=marks.same_axis(x, "baseline_low"), x2=alt.X2("baseline_high:Q")
        ),
        random.mark_tick(thickness=3, size=15, color=GREY).encode(x=marks.same_axis(x, "baseline")),
        *dots,
        theme=theme,
        width=width,
        height=marks.ROW * len(names),
        title=title,
    )


def names_at(frame: pd.DataFrame, x: alt.X, y: alt.Y, theme: Theme) -> list[Chart]:
    """Names that stand at their curves instead of in a legend, with a halo that keeps lines off their letters.

    frame: a row a name, with the fields of both axes, `name`, `hue` as a CSS colour, `align` (left: the name begins
    at the point), and `dx` and `dy`, its distance from the point in pixels.
    """
    base = alt.Chart(frame).encode(x=x, y=y, text=alt.Text("name:N"))
    place = {
        "align": alt.expr("datum.align"), "dx": alt.expr("datum.dx"), "dy": alt.expr("datum.dy"), "fontSize": 13,
        "baseline": "middle", "lineBreak": "\n",
    }  # fmt: skip
    return [
        base.mark_text(**place, stroke=theme.ground, strokeWidth=4, strokeJoin="round"),
        base.mark_text(**place).encode(color=alt.Color("hue:N", scale=None)),
    ]
