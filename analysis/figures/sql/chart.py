"""A chart of a reader's own query, as lines, points or bars."""

from shlex import quote

import altair as alt
import pandas as pd
from pandas.api import types

from analysis.core.colours import VERDICTS, of_term
from analysis.core.errors import AddendError
from analysis.core.formatting import capitalised
from analysis.core.term_names import FOUR, SOURCES
from analysis.figures import marks
from analysis.figures.drawing import SERIES, Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.terms.measures import term_label
from analysis.figures.training.line_marks import DASHES, name_heights, names_at_ends, padded_range
from analysis.sql.run_query import ask
from analysis.store import read

MARKS = {"line": "Lines", "point": "Points", "bar": "Bars"}
MAX_ROWS = 5_000
"""Rows that a chart draws."""
MAX_COLOURS = 12
TERM_NAMES = {name: term_label(name) for name in FOUR}
"""The codes of terms in the store -> their names everywhere else."""
MEANINGS = {TERM_NAMES.get(name, name): of_term(name) for name in (*FOUR, *SOURCES)} | VERDICTS
"""The colours of values that have one on every page."""
MAX_NAMES, MAX_NAME_LENGTH = 100, 60
"""Names along x, and characters of one: the time that an export takes grows with the square, and nobody reads more."""
NONE = ""
MANY_NAMES, ROW = 12, 22
"""Names up to which they stand along x; more have a row each, of so many pixels, unless a legend says the colours."""
MAX_WRITTEN = 40
"""Names along x up to which all of them are written, and the most rows of a chart that nobody asked for."""
NO_LINE = " Names have no order that a line could follow, so points are drawn."
TOGETHER = 0.02
"""The share of the range of all numbers within which lines begin together, so that none is called the highest there."""
HEIGHT = 380
KEY_COLUMNS = 2
MOST_ENDS, END_LETTERS = 6, 20
"""Lines up to so many are named at their ends, in lines of so many letters; more have a legend."""


class ChartParameters(Parameters):
    """A reader's query, its mark, and the columns that are drawn; those that suit where none is named."""

    query: str
    mark: str
    x: str
    y: str
    colour: str


def numeric(frame: pd.DataFrame, column: str) -> bool:
    """True if a column holds numbers; truth values do not count as such."""
    return types.is_numeric_dtype(frame[column]) and not types.is_bool_dtype(frame[column])


def columns(frame: pd.DataFrame, params: ChartParameters) -> tuple[str, str, str]:
    """The columns of x, y and colour: those asked for or, where none is, the first that suit.

    Raises AddendError where the result has no such column, or no numbers to draw.
    """
    names = list(frame.columns)
    for name, column in params.values("x", "y", "colour").items():
        if column and column not in names:
            raise AddendError(f"The result has no column {column!r} for {name}; it has: {', '.join(names)}.")
    numbers = [name for name in names if numeric(frame, name)]
    if not numbers:
        raise AddendError("The result has no column of numbers, so there is nothing to draw; the table shows it.")
    x = params.x or names[0]
    y = params.y or next((name for name in reversed(numbers) if name != x), numbers[-1])
    if not numeric(frame, y):
        raise AddendError(f"The column {y!r} holds no numbers; y can be: {', '.join(numbers)}.")
    colour = params.colour
    if not colour:
        names = [name for name in names if name not in (x, y) and not numeric(frame, name)]
        colour = next((name for name in names if 1 < frame[name].astype(str).nunique() <= MAX_COLOURS), NONE)
    return x, y, "" if colour == x else colour


def _lines(frame: pd.DataFrame, x: str, y: str) -> "pd.Series[str] | str":
    """The name of each row's line, joined from the columns of text; empty if too few rows would share a line."""
    names = [name for name in frame.columns if name not in (x, y) and not numeric(frame, name)]
    lines = frame[names].astype(str).agg(", ".join, axis=1) if names else pd.Series("", index=frame.index)
    return lines if 2 * lines.nunique() <= len(lines) else ""


@figure("sql_chart", ChartParameters)
def sql_chart(params: ChartParameters) -> Figure:
    """The rows of a query, drawn.

    Raises AddendError for a query that is refused or has nothing to draw, and for a mark or column there is not.
    """
    mark = params.mark
    if mark not in MARKS:
        raise AddendError(f"There is no chart of the kind {mark!r}; there are: {', '.join(MARKS)}.")
    sql = params.query
    answer = ask(sql)
    frame = answer.frame
    x, y, colour = columns(frame, params)
    kind = "temporal" if types.is_datetime64_any_dtype(frame[x]) else "quantitative" if numeric(frame, x) else "nominal"
    unordered = kind == "nominal" and mark == "line"
    mark = "point" if unordered else mark
    rows = pd.DataFrame({"x": frame[x], "y": frame[y].astype(float)})
    rows["colour"] = [TERM_NAMES.get(name, name) for name in map(str, frame[colour])] if colour else ""
    rows["line"] = "" if colour else _lines(frame, x, y)
    if kind == "nominal":
        rows["x"] = rows.x.astype(str)
    drawn = rows[rows.y.notna()].head(MAX_ROWS)
    if drawn.empty:
        raise AddendError(f"The result has no row with a number in {y!r}, so there is nothing to draw.")
    if kind == "nominal" and (drawn.x.nunique() > MAX_NAMES or drawn.x.str.len().max() > MAX_NAME_LENGTH):
        raise AddendError(
            f"The column {x!r} has {drawn.x.nunique():,} names of up to {drawn.x.str.len().max():,} characters; at "
            f"most {MAX_NAMES} names of {MAX_NAME_LENGTH} characters fit along x. Aggregate, or take left(name, "
            f"{MAX_NAME_LENGTH})."
        )
    if drawn.colour.str.len().max() > MAX_NAME_LENGTH:
        raise AddendError(
            f"The column {colour!r} has names of {drawn.colour.str.len().max():,} characters; at most "
            f"{MAX_NAME_LENGTH} fit in a legend. Shorten them: left(name, {MAX_NAME_LENGTH})."
        )
    if drawn.colour.nunique() > MAX_COLOURS:
        raise AddendError(
            f"The column {colour!r} has {drawn.colour.nunique()} values; at most {MAX_COLOURS} colours can be told "
            "apart."
        )
    store = read.query("SELECT built, git_sha, versions FROM meta").iloc[0]
    cut = " The result was cut at the limit of a query." if answer.cut else ""
    part = f"the first {MAX_ROWS:,} of {len(rows):,} rows" if len(rows) > MAX_ROWS else f"{len(drawn):,} rows"
    by = f", by {colour}" if colour else ""
    return Figure(
        title=f"{y} by {x}",
        finding=_highest(drawn, x, y, kind, mark),
        frame=lambda: frame,
        caption=f"A reader's own query, not a figure of ours: {y} against {x}{by}, {part} as the query gives "
        f"them.{cut}{NO_LINE * unordered} Nothing is averaged, tested or left out except by the query. Store built "
        f"{store.built}.",
        alt=f"{MARKS[mark]} of {y} against {x}{by}: {part}, {y} from {drawn.y.min():.4g} to {drawn.y.max():.4g}.",
        command=f"python -m analysis query {quote(sql)} --csv",
        provenance={
            "query": " ".join(sql.split()),
            "store": f"built {store.built}, code {store.git_sha}",
            "versions": store.versions,
        },
        draw=lambda theme: [_chart(drawn, x, y, colour, kind=kind, mark=mark, theme=theme)],
    )


def _highest(rows: pd.DataFrame, x: str, y: str, kind: str, mark: str) -> str:
    """The highest of a few lines at both of their ends, as a finding; empty where the chart has no such lines."""
    if mark != "line" or kind != "quantitative" or _ends(rows, kind) is None:
        return ""
    first, last = (rows[rows.x == end] for end in (rows.x.min(), rows.x.max()))
    tops = [end.loc[end.y.idxmax()] for end in (first, last)]
    if first.y.max() - first.y.min() < TOGETHER * (rows.y.max() - rows.y.min()):
        return f"At {x} {tops[1].x:,g}, {tops[1].colour} is the highest ({tops[1].y:.2g})"
    if tops[0].colour == tops[1].colour:
        both = f"{tops[0].y:.2g} and {tops[1].y:.2g}"
        return f"{capitalised(str(tops[0].colour))} is the highest at both ends of {x}: {both}"
    return (
        f"At {x} {tops[0].x:,g}, {tops[0].colour} is the highest ({tops[0].y:.2g}); "
        f"at {x} {tops[1].x:,g}, {tops[1].colour} ({tops[1].y:.2g})"
    )


def _chart(rows: pd.DataFrame, x: str, y: str, colour: str, *, kind: str, mark: str, theme: Theme) -> Chart:
    """Columns x, y, colour and line of `rows`; bars begin at zero, lines and points where the values do.

    x, y, colour: the names that a reader knows them by; colour is empty if there is none. The column line names the
    lines, which can be more than there are colours. kind: of x: quantitative, temporal or nominal. mark: one of MARKS.
    """
    names = list(dict.fromkeys(rows.colour))
    if kind == "nominal" and not colour and rows.x.nunique() > MANY_NAMES:
        return _row_chart(rows, x, y, mark, theme)
    ends = _ends(rows, kind) if mark == "line" and colour else None
    across = _x_axis(rows, x, kind)
    domain = padded_range(rows.y)
    up = marks.number(alt.Y, "y", y, zero=mark == "bar", ticks=6, domain=alt.Undefined if ends is None else domain)
    legend = colour and ends is None
    key = marks.legend(colour, columns=KEY_COLUMNS, lines=mark == "line") if legend else None
    if set(names) <= set(MEANINGS):
        color = marks.hues("colour", {name: theme.colour(MEANINGS[name]) for name in names}, key)
    else:
        color = marks.series("colour", names, theme, key)
    tooltip: tuple[marks.Tip, ...] = ((f"x:{kind[0].upper()}", x), ("y", y, ".4~g"))
    if colour:
        tooltip = (*tooltip, ("colour", colour))
    elif (rows.line != "").any():
        tooltip = (*tooltip, "line")
    if mark == "bar":
        bars = alt.Chart(rows).mark_bar().encode(x=across, y=up, color=color, tooltip=marks.tips(*tooltip))
        layers: list[Chart] = [bars.encode(xOffset=alt.XOffset("colour:N", sort=names)) if kind == "nominal" else bars]
    else:
        lines = mark == "line"
        patterns = {name: DASHES[index // len(SERIES) % len(DASHES)] for index, name in enumerate(names)}
        dash = marks.dashes("colour", patterns)
        layers = marks.line_plot(
            rows, x=across, y=up, theme=theme, color=color, tooltip=tooltip, dash=dash,
            detail="line:N",
            dots=marks.SEED if lines else marks.DOT, width=marks.LINE if lines else 0,
        )  # fmt: skip
        if ends is not None:
            beside = names_at_ends(
                ends, "colour", color, dash, theme, domain=domain, height=HEIGHT, letters=END_LETTERS
            )
            panel = marks.panel(alt.layer(*layers), beside, theme=theme, width=marks.WIDE, height=HEIGHT)
            return panel.resolve_scale(y="independent")
    return marks.panel(*layers, theme=theme, width=marks.WIDE, height=HEIGHT)


def _row_chart(rows: pd.DataFrame, x: str, y: str, mark: str, theme: Theme) -> Chart:
    """Many names: one below the other, in the order of the query, with the numbers along the top."""
    names = list(dict.fromkeys(rows.x))
    down = marks.rows_down("x", names)
    across = marks.number(alt.X, "y", y, zero=mark == "bar", ticks=5, place="top")
    tooltip: tuple[marks.Tip, ...] = (("x:N", x), ("y", y, ".4~g"))
    if mark == "bar":
        bars = alt.Chart(rows).mark_bar(color=theme.ink)
        layers: list[Chart] = [bars.encode(x=across, y=down, tooltip=marks.tips(*tooltip))]
    else:
        layers = marks.row_plot(
            rows, x=across, y=down, theme=theme, ends=None, color=theme.ink, size=marks.LARGE_DOT, tooltip=tooltip
        )
    return marks.panel(*layers, theme=theme, width=marks.WIDE, height=ROW * len(names))


def many_names(frame: pd.DataFrame, params: ChartParameters) -> bool:
    """True where a chart would have more names than are seen at once. Raises AddendError as `columns` does."""
    x, _, _ = columns(frame, params)
    named = not numeric(frame, x) and not types.is_datetime64_any_dtype(frame[x])
    return named and frame[x].nunique() > MAX_WRITTEN


def _ends(rows: pd.DataFrame, kind: str) -> pd.DataFrame | None:
    """The end of each of a few lines, as `names_at_ends` takes it; None where lines do not end together at the right.

    kind: of x; a line has one value at each.
    """
    last = rows[rows.x == rows.x.max()]
    few = 1 < rows.colour.nunique() <= MOST_ENDS
    together = set(last.colour) == set(rows.colour) and not rows.duplicated(["x", "colour"]).any()
    if kind == "nominal" or not few or not together or name_heights([*last.colour], END_LETTERS).sum() > HEIGHT:
        return None
    return pd.DataFrame({"colour": last.colour, "name": last.colour, "value": last.y}).reset_index(drop=True)


def _x_axis(rows: pd.DataFrame, title: str, kind: str) -> alt.X:
    """The axis of x: whole numbers have whole ticks, names the order of the rows."""
    if kind == "nominal":
        overlap = rows.x.nunique() > MAX_WRITTEN
        return alt.X("x:N", title=title, sort=None, axis=alt.Axis(labelAngle=-40, labelLimit=160, labelOverlap=overlap))
    if kind == "temporal":
        return alt.X("x:T", title=title)
    values: pd.Series = rows.x.dropna()
    if (values % 1 != 0).any():
        return marks.number(alt.X, "x", title)
    extent = float(values.max() - values.min())
    form = ",d" if extent < 1e5 else "~s"
    return marks.number(alt.X, "x", title, ticks=int(min(10, max(1, extent))), form=form)
