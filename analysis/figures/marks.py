"""The vocabulary of charts: one policy of axes, tooltips, legends, sizes and titles, and the plots made of them.

A drawing says what stands where; how dots, intervals, lines and reference lines look is decided here. Maps of cells are
in analysis/figures/heatmap.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import altair as alt
import pandas as pd
from altair.utils.schemapi import UndefinedType

from analysis.core.formatting import unbroken
from analysis.figures.drawing import Chart, Theme

ROW = 24
"""Pixels of a row of a row plot."""
PANEL_TITLE, TEXT = 13, 12
"""Sizes of letters, in pixels; none is smaller."""
DOT, SEED, LARGE_DOT = 60, 38, 95
"""Areas of dots, in square pixels: a value, one seed of several, a value that stands out."""
LINE, THIN_LINE = 2.0, 0.8
"""Widths of lines and interval bars, in pixels: a value, one seed of several."""
BAR = 10
"""Thickness of a bar, in pixels."""
SHAPES = ("circle", "diamond", "square", "triangle-up")
"""Symbols of names that have none of their own, in order."""
DASH = [4, 3]
"""The dash of reference values that are not measured: chance, a baseline, a threshold."""
STROKE = 600
"""Area of a stroke in a legend, in square pixels: long enough to show its dash."""
WIDE, HALF, THIRD = 820, 380, 250
"""Widths of panels that stand alone, two abreast and three abreast."""
PHONE = 420
"""The width in pixels of a figure below which it is drawn for a phone."""
ON_PHONE = f"containerSize()[0] < {PHONE}"
"""The condition of Vega that a figure is that narrow."""

LABEL_CHARACTERS, LABEL_LINE = 26, 13
"""The most letters in a line of a label that is broken into lines, and the height of a line in pixels."""
LABEL_LETTER = 5.6
"""Pixels of a letter of a label, on average."""
INVISIBLE, TITLE_ROW = "\u200b", "\u2060"
"""Letters that take no room: of labels that are not to be taken for one another, and of the rows of titles."""
INDENT = f"{INVISIBLE}\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}"
"""Room at the beginning of a label, which without the invisible letter would not be drawn."""
NARROW, LETTER, SLANT = 40, 6, 5.2
"""Pixels of a column in which numbers and names stand upright; of a letter of a level name; and of a slanting one."""
NAME_PADDING = 16
"""Pixels between a plot and the names of its columns."""
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""The distances between round ticks, in the unit of the axis."""
_WHOLE = "containerSize()[0] > 700"
"""True where a chart is so wide that labels need not be broken. A file has no container: its labels are broken."""
_HALF_LINE = "indexof(datum.label + '$', '\\n$') >= 0"
_SIDES: tuple[tuple[str, Literal["left", "right"], int], ...] = (("true", "right", -9), ("false", "left", 9))

ChannelT = TypeVar("ChannelT", alt.X, alt.Y)
EncodingT = TypeVar("EncodingT", alt.Color, alt.Shape)
Tip = str | tuple[str, str] | tuple[str, str, str]
"""A column of a tooltip: its name; its name and title; or name, title and number format."""


def tips(*columns: Tip) -> list[alt.Tooltip]:
    """The tooltip of a mark, one line per column.

    A column with a number format is a number. A name may carry Vega-Lite's type (`seed:Q`); else its values are shown
    as they are.
    """
    return [_tip(*((column,) if isinstance(column, str) else column)) for column in columns]


def _tip(name: str, title: str = "", form: str = "") -> alt.Tooltip:
    field = name if ":" in name else f"{name}:{'Q' if form else 'N'}"
    return alt.Tooltip(field, title=title or name.split(":")[0].replace("_", " "), format=form or alt.Undefined)


def interval_tips(form: str, low: str = "low", high: str = "high") -> tuple[Tip, Tip]:
    """The two ends of a 95 % interval, for `tips`."""
    return (low, "95 % interval from", form), (high, "to", form)


def number(
    channel: type[ChannelT],
    field: str,
    title: str | list[str] | None,
    *,
    domain: Sequence[float] | UndefinedType = alt.Undefined,
    log: float | UndefinedType = alt.Undefined,
    zero: bool = False,
    nice: bool | UndefinedType = alt.Undefined,
    padding: float | UndefinedType = alt.Undefined,
    ticks: int | UndefinedType = alt.Undefined,
    values: Sequence[float] | UndefinedType = alt.Undefined,
    form: str | UndefinedType = alt.Undefined,
    grid: bool | UndefinedType = alt.Undefined,
    place: Literal["top", "bottom"] | UndefinedType = alt.Undefined,
) -> ChannelT:
    """A numeric axis. log: the base of a logarithmic scale. zero: whether a free linear scale reaches to zero.

    nice: whether the scale ends at round numbers; by default where no domain is given. form: Vega's number format.
    place: at the top where a plot is so tall that numbers below it are seen only after scrolling.
    """
    free = domain is alt.Undefined
    linear = log is alt.Undefined
    scale = alt.Scale(
        domain=domain if isinstance(domain, UndefinedType) else list(domain),
        type=alt.Undefined if linear else "log",
        base=log,
        # Said where a domain is given, too: a reference line on the same axis would stretch it to zero.
        zero=zero if linear else alt.Undefined,
        nice=free if nice is alt.Undefined else nice,
        padding=padding,
    )
    tick_values = values if isinstance(values, UndefinedType) else list(values)
    axis = alt.Axis(tickCount=ticks, values=tick_values, format=form, grid=grid, orient=place)
    return channel(f"{field}:Q", title=title, scale=scale, axis=axis)


def round_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from one end of an axis to the other, at most so many.

    >>> round_ticks(-0.34, 0.33, 5)
    [-0.2, 0.0, 0.2]
    """
    step = next((step for step in STEPS if (high - low) / step < most), STEPS[-1])
    return [round(index * step, 2) + 0.0 for index in range(math.ceil(low / step), math.floor(high / step) + 1)]


def whole_numbers(channel: type[ChannelT], field: str, title: str) -> ChannelT:
    """An axis of counts such as layers or distances in tokens, with ticks at whole numbers only."""
    axis = alt.Axis(tickMinStep=1, format="d", grid=True)
    return channel(f"{field}:Q", title=title, scale=alt.Scale(nice=False), axis=axis)


def categories(
    channel: type[ChannelT],
    field: str,
    title: str | list[str] | None,
    order: Sequence[str] | UndefinedType = alt.Undefined,
    *,
    place: Literal["top", "bottom", "left", "right"] | UndefinedType = alt.Undefined,
) -> ChannelT:
    """An axis of names, or of whole numbers that each have a band of their own, with labels that stand level.

    order: from the first to the last; else they are sorted.
    """
    names = order if isinstance(order, UndefinedType) else list(order)
    axis = alt.Axis(orient=place, labelAngle=0, ticks=False, domain=False)
    return channel(f"{field}:O", title=title, sort=names, axis=axis)


def same_axis(channel: ChannelT, field: str) -> ChannelT:
    """The same axis for another column."""
    other = channel.copy()
    other["shorthand"] = f"{field}:Q"
    return other


def rows_down(
    field: str,
    order: Sequence[str],
    *,
    limit: int = 260,
    title: str | None = None,
    grid: bool = True,
) -> alt.Y:
    """One row a name, in the order given. limit: the most pixels of a name. grid: whether a line leads to its marks."""
    axis = alt.Axis(labelLimit=limit, labelPadding=6, ticks=False, domain=False, grid=grid, labelOverlap=False)
    names = list(order)
    return alt.Y(f"{field}:N", sort=names, title=title, scale=alt.Scale(domain=names), axis=axis)


def columns_across(
    field: str, order: Sequence[str], *, title: str | list[str] | None = None, level: bool = False
) -> alt.X:
    """One column a name, in the order given, with the names slanting above.

    level: names lie level where they have room, in the lines that they are broken into, and stand upright where columns
    are too narrow for slanting ones, or the last would lean out of the picture.
    """
    axis = alt.Axis(
        orient="top", labelAngle=-55, labelLimit=260, labelFontSize=TEXT, ticks=False, domain=False,
        labelOverlap=False, titleAnchor="start", titlePadding=8,
    )  # fmt: skip
    names = list(order)
    if level:
        column = f"width / {len(names)}"
        lies = f"{column} > {LETTER * max(len(line) for name in names for line in name.splitlines())}"
        axis["labelExpr"] = f"{lies} ? split(datum.label, '\\n') : replace(datum.label, /\\n/g, ' ')"
        axis["labelLineHeight"] = LABEL_LINE
        # A plot is first laid out as wide as its place: what leans or stands later has its room from the beginning.
        axis["minExtent"] = alt.expr(f"{lies} ? 0 : {LABEL_LETTER * max(map(len, names)) + NAME_PADDING:.0f}")
        # The last name would lean out of the picture.
        lean = f"{column} / 2 + {NARROW / 2:g} < {math.cos(math.radians(55)) * LETTER * len(names[-1]):.0f}"
        axis["labelAngle"] = alt.expr(f"{lies} ? 0 : {column} < {NARROW} || {lean} ? -90 : -55")
        axis["labelAlign"] = alt.expr(f"{lies} ? 'center' : 'left'")
        axis["labelBaseline"] = alt.expr(f"{lies} ? 'bottom' : 'middle'")
    return alt.X(f"{field}:N", sort=names, title=title, scale=alt.Scale(domain=names), axis=axis)


def slant_height(names: Sequence[str]) -> int:
    """Pixels that slanting names of columns take above a plot."""
    return round(SLANT * max(map(len, names)))


def wrap_lines(text: str, width: int) -> list[str]:
    """A text broken into lines of at most `width` letters."""
    return textwrap.wrap(unbroken(text), width, break_on_hyphens=False) or [text]


def wrap_label(text: str, width: int = LABEL_CHARACTERS) -> str:
    """A label broken into lines, so that none is cut off."""
    return "\n".join(wrap_lines(text, width))


def level_labels(labels: Sequence[str]) -> dict[str, str]:
    """Labels with empty lines around the shorter ones: an axis moves all labels up by the same amount.

    A label that ends in an empty line is half a line too high; `labelled_rows` moves it down.
    """
    maximum = max((label.count("\n") for label in labels), default=0)
    missing = {label: maximum - label.count("\n") for label in labels}
    return {label: "\n" * (lines // 2) + label + "\n" * (lines % 2) for label, lines in missing.items()}


def wrapped_labels(names: Sequence[str], width: int = LABEL_CHARACTERS) -> dict[str, str]:
    """Names and their labels for `labelled_rows`, broken into lines. width: the letters of a line."""
    wrapped = {name: wrap_label(name, width) for name in names}
    level = level_labels(list(wrapped.values()))
    return {name: level[label] for name, label in wrapped.items()}


def row_height(labels: Sequence[str], minimum: int = 26) -> int:
    """Pixels a row needs for the label with most lines."""
    return max(minimum, LABEL_LINE * max(label.strip("\n").count("\n") + 1 for label in labels) + 8)


def labelled_rows(labels: Sequence[str], gap: float = 0.1, *, grid: bool = False, whole: bool = False) -> alt.Y:
    """Rows with levelled labels, in the order given.

    grid: whether a line leads from each label to its marks. whole: whether labels stand in one line on a wide screen.
    """
    line_breaks = max(label.strip("\n").count("\n") for label in labels)
    lines, up, half_line = "split(datum.label, '\\n')", -line_breaks * LABEL_LINE / 2, _HALF_LINE
    axis = alt.Axis(
        labelExpr=f"{_WHOLE} ? trim(join({lines}, ' ')) : {lines}" if whole else lines,
        labelLimit=320,
        labelFontSize=TEXT,
        labelLineHeight=LABEL_LINE,
        labelOffset=alt.expr(f"{_WHOLE} ? 0 : {up}") if whole else up,
        labelBaseline={
            "condition": {"test": f"!({_WHOLE}) && {half_line}" if whole else half_line, "value": "top"},
            "value": "middle",
        },
        ticks=False,
        domain=False,
        title=None,
        grid=grid,
        labelOverlap=False,
    )
    return alt.Y("label:N", sort=list(labels), axis=axis, scale=alt.Scale(type="band", padding=gap))


def grouped_rows(
    names: Sequence[str],
    groups: Sequence[str],
    theme: Theme,
    width: int = LABEL_CHARACTERS,
    minimum: int = 26,
    depths: Sequence[int] = (),
    *,
    letters: int = 0,
) -> tuple[list[str], alt.Y, Chart, int]:
    """Rows under the titles of their groups, on one axis: the label of each row, the axis, the titles, and its height.

    names, groups: of each row, in the order in which they stand. width: the letters of a line of a label, which on a
    wide screen is not broken. minimum: the least pixels of a row. depths: how far each label is indented; labels are
    then flush with the titles. letters: the least for which a wide screen has room at the left; with depths, any has.
    """
    wrapped = [wrap_label(name, width) for name in names]
    if depths:
        pairs = zip(wrapped, depths, strict=True)
        wrapped = ["\n".join(INDENT * depth + line for line in label.split("\n")) for label, depth in pairs]
    level = level_labels(wrapped)
    # Rows of two groups may have the same name: invisible letters at the beginning tell them apart.
    places = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    labels = [INVISIBLE * places[group] + level[name] for name, group in zip(wrapped, groups, strict=True)]
    titles = pd.DataFrame({"label": [TITLE_ROW * (place + 1) for place in places.values()], "group": list(places)})
    order: list[str] = []
    for title, group in zip(titles.label, titles.group, strict=True):
        order += [title, *(label for label, own in zip(labels, groups, strict=True) if own == group)]
    y = labelled_rows(order, gap=0, whole=True)
    whole = -LABEL_LETTER * max(letters, *map(len, names))
    broken = -LABEL_LETTER * max(letters if depths else 0, *map(len, "\n".join(wrapped).splitlines()))
    left = alt.expr(f"{_WHOLE} ? {whole} : {broken}")
    if depths:
        y["axis"]["labelAlign"] = "left"
        y["axis"]["labelPadding"] = alt.expr(f"{_WHOLE} ? {-whole} : {-broken}")
    lines = f"-{LABEL_LINE / 2:g} * (length(split(datum.group, '\\n')) - 1)"
    size = alt.expr(f"{ON_PHONE} ? {TEXT} : {PANEL_TITLE}")
    text = {"align": "left", "fontSize": size, "fontWeight": 600, "lineBreak": "\n", "dy": alt.expr(lines)}
    base = alt.Chart(titles).encode(x=alt.value(left), y=y, text=alt.Text("group:N"))
    written = alt.layer(
        base.mark_text(**text, stroke=theme.ground, strokeWidth=4, strokeJoin="round"),
        base.mark_text(**text, color=theme.ink),
    )
    return labels, y, written, row_height(wrapped, minimum) * len(order)


def texts_beside(
    frame: pd.DataFrame,
    y: alt.Y,
    theme: Theme,
    column: str = "written",
    *,
    on_phone: str = "",
    shown: str = "true",
) -> Chart:
    """The text of each row, of one line or two, in a column at the right of the plot.

    column: of the frame. on_phone: the column of a shorter text, which leaves the plot its room on a phone. shown: the
    condition of Vega on which the text takes room.
    """
    written = f"({ON_PHONE} ? datum.{on_phone} : datum.{column})" if on_phone else f"datum.{column}"
    text = alt.Chart(frame).mark_text(
        align="left", dx=8, dy=alt.expr(f"-{LABEL_LINE / 2:g} * (length(split({written}, '\\n')) - 1)"),
        lineBreak="\n", lineHeight=LABEL_LINE, fontSize=TEXT, color=theme.ink,
    )  # fmt: skip
    text["mark"]["text"] = alt.expr(f"{shown} ? {written} : ''")
    return text.encode(x=alt.value("width"), y=y)


def lines_above(frame: pd.DataFrame, y: alt.Y, **style: Any) -> Chart:
    """A level line along the upper edge of each row. frame: with the column `label`. style: of the line."""
    edge = alt.Y("label:N", sort=y["sort"], axis=y["axis"], scale=y["scale"], bandPosition=0)
    return alt.Chart(frame).mark_rule(**style).encode(y=edge)


def values_beside(base: alt.Chart, theme: Theme, flag: str, x: alt.X) -> list[Chart]:
    """The text `written` left of `x` where `flag` is true, else right of it, with a halo over lines."""
    layers: list[Chart] = []
    for condition, align, shift in _SIDES:
        if isinstance(base.data, pd.DataFrame) and (base.data[flag] == (condition == "true")).any():
            text = base.transform_filter(f"datum.{flag} === {condition}").encode(x=x, text=alt.Text("written:N"))
            style = {"align": align, "dx": shift, "fontSize": TEXT, "lineBreak": "\n", "lineHeight": LABEL_LINE}
            layers += [
                text.mark_text(**style, stroke=theme.ground, strokeWidth=4, strokeJoin="round"),
                text.mark_text(**style, color=theme.ink),
            ]
    return layers


def legend(
    title: str | None = None,
    place: Literal["top", "bottom", "right"] = "bottom",
    columns: int | alt.ExprRef = 1,
    *,
    lines: bool = False,
) -> alt.Legend:
    """A legend whose names are neither cut nor left out, with signs as strong as the marks.

    lines: its signs are strokes.
    """
    symbols = {"symbolType": "stroke", "symbolSize": STROKE, "symbolStrokeWidth": LINE} if lines else {}
    return alt.Legend(
        title=title, orient=place, columns=columns, labelLimit=320, symbolLimit=64, symbolOpacity=1, **symbols
    )


def colour_bar(title: str | list[str], *, length: int = 220, form: str = ".3~g") -> alt.Legend:
    """The legend of a scale of colours. length: in pixels; form: Vega's number format."""
    return alt.Legend(title=title, orient="bottom", gradientLength=length, format=form, titleLimit=400)


def hues(field: str, colours: Mapping[str, str], key: alt.Legend | None = None) -> alt.Color:
    """The colour of each name. key: the legend; none where the names stand at the marks or in a legend beside."""
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=key)


def series(field: str, names: Sequence[str], theme: Theme, key: alt.Legend | None = None) -> alt.Color:
    """The colours of names that have no meaning of their own, such as two models."""
    return hues(field, dict(zip(names, theme.many(len(names)), strict=True)), key)


def sequential_hues(field: str, names: Sequence[str], theme: Theme, key: alt.Legend | None = None) -> alt.Color:
    """Colours, from dark to light, of names in an order, such as wavelengths; a single name has the series colour."""
    domain = list(names)
    viridis, single = alt.Scale(domain=domain, scheme="viridis"), alt.Scale(domain=domain, range=[theme.series])
    return alt.Color(f"{field}:N", scale=viridis if len(domain) > 1 else single, legend=key)


def shapes(field: str, symbols: Mapping[str, str] | Sequence[str], key: alt.Legend | None = None) -> alt.Shape:
    """The symbol of each name: circle, diamond, square, cross, triangle-up; names alone get those of `SHAPES`."""
    if not isinstance(symbols, Mapping):
        symbols = dict(zip(symbols, SHAPES, strict=False))
    return alt.Shape(f"{field}:N", scale=alt.Scale(domain=list(symbols), range=list(symbols.values())), legend=key)


def dashes(field: str, patterns: Mapping[str, Sequence[int]]) -> alt.StrokeDash:
    """The dash of each name's line: lengths of stroke and gap in pixels; [1, 0] is a whole line."""
    scale = alt.Scale(domain=list(patterns), range=[list(pattern) for pattern in patterns.values()])
    return alt.StrokeDash(f"{field}:N", scale=scale, legend=None)


def rule(theme: Theme, *, x: float | None = None, y: float | None = None, dash: Sequence[int] = ()) -> Chart:
    """A reference line at a value of one axis: zero, a baseline, chance; dashed if that is given and not measured."""
    mark = alt.Chart(pd.DataFrame({"at": [x if x is not None else y]})).mark_rule(
        color=theme.ink, opacity=0.7, strokeDash=list(dash) or [1, 0]
    )
    return mark.encode(x=alt.X("at:Q")) if x is not None else mark.encode(y=alt.Y("at:Q"))


def heading(title: str | Sequence[str], *below: str, theme: Theme) -> alt.TitleParams:
    """A panel's title, and lines below it that explain its marks."""
    return alt.TitleParams(
        title if isinstance(title, str) else list(title),
        subtitle=list(below) or alt.Undefined,
        fontSize=PANEL_TITLE,
        subtitleFontSize=TEXT,
        subtitleColor=theme.ink,
        anchor="start",
    )


def panel(
    *layers: Chart, theme: Theme, width: int, height: float, title: str | Sequence[str] = "", below: Sequence[str] = ()
) -> Chart:
    """Layers as one panel of a size, under a title."""
    headed = heading(title, *below, theme=theme) if title else alt.Undefined
    return alt.layer(*layers, width=width, height=height, title=headed)


def row_plot(
    frame: pd.DataFrame,
    *,
    x: alt.X,
    y: alt.Y,
    theme: Theme,
    tooltip: Sequence[Tip] = (),
    ends: tuple[str, str] | None = ("low", "high"),
    color: alt.Color | str | UndefinedType = alt.Undefined,
    shape: alt.Shape | str | UndefinedType = alt.Undefined,
    size: float = DOT,
    opacity: float = 1.0,
    filled: bool = True,
    below: float = 0,
    offset: alt.YOffset | UndefinedType = alt.Undefined,
    bars: bool = False,
) -> list[Chart]:
    """The layers of a row plot: a dot for each row of the frame and, where both ends are known, its interval.

    ends: the columns of the interval's ends, on the axis of `x`; None where there are none. color, shape: those of all
    rows, or the encoding that gives each row its own. filled: hollow dots are of values that are not certain. below:
    the pixels by which dots stand below the middle of their row, so that dots of one row do not hide one another;
    offset: the column by which they do. bars: whether a pale bar leads from zero to each dot.
    """
    base = alt.Chart(frame).encode(y=y, color=_colour_encoding(color), yOffset=offset)
    constant_colour = _constant_colour(color, theme)
    layers: list[Chart] = [base.mark_bar(opacity=0.45, height=BAR, color=constant_colour).encode(x=x)] if bars else []
    if ends is not None and frame[ends[0]].notna().any():
        intervals = base.transform_filter(f"isValid(datum.{ends[0]}) && isValid(datum.{ends[1]})")
        spans = intervals.mark_rule(strokeWidth=LINE, clip=True, color=constant_colour)
        layers.append(spans.encode(x=same_axis(x, ends[0]), x2=alt.X2(f"{ends[1]}:Q")))
    # With its outline a hollow dot is as large as a filled one.
    area = size if filled else (size**0.5 - LINE) ** 2
    marks = base.mark_point(
        filled=filled,
        fill=alt.Undefined if filled else theme.ground,
        strokeWidth=alt.Undefined if filled else LINE,
        # On a phone a large dot would hide its interval.
        size=area if ends is None else alt.expr(f"{ON_PHONE} ? {area / 2:g} : {area:g}"),
        opacity=opacity,
        color=constant_colour,
        shape=shape if isinstance(shape, str) else alt.Undefined,
        yOffset=below or alt.Undefined,
    )
    layers.append(marks.encode(x=x, shape=_colour_encoding(shape), tooltip=tips(*tooltip)))
    return layers


def line_plot(
    frame: pd.DataFrame,
    *,
    x: alt.X,
    y: alt.Y,
    theme: Theme,
    tooltip: Sequence[Tip] = (),
    ends: tuple[str, str] | None = None,
    band: bool = False,
    color: alt.Color | str | UndefinedType = alt.Undefined,
    dash: alt.StrokeDash | UndefinedType = alt.Undefined,
    shape: alt.Shape | str | UndefinedType = alt.Undefined,
    detail: str | UndefinedType = alt.Undefined,
    dots: float = DOT,
    width: float = LINE,
    interpolate: Literal["linear", "step"] = "linear",
    clip: bool = False,
) -> list[Chart]:
    """The layers of a line plot: intervals, lines, and a dot at each value that a pointer can find.

    ends: the columns of the interval's ends, on the axis of `y`, drawn as bars or as a band. dots: the area of a dot;
    0 for dots that are there for the pointer alone. width: of the line in pixels; 0 for dots that no line joins.
    interpolate: step for counts in bins, each of which is as wide as its step. clip: whether lines end at the edge of
    the plot, for a domain that some values lie beyond.
    """
    lines = alt.Detail(detail) if isinstance(detail, str) else detail
    base = alt.Chart(frame).encode(x=x, color=_colour_encoding(color), detail=lines)
    constant_colour = _constant_colour(color, theme)
    layers: list[Chart] = []
    if ends is not None and frame[ends[0]].notna().any():
        area, bars = (
            base.mark_area(opacity=0.2, color=constant_colour),
            base.mark_rule(strokeWidth=LINE, opacity=0.6, color=constant_colour),
        )
        layers.append((area if band else bars).encode(y=same_axis(y, ends[0]), y2=alt.Y2(f"{ends[1]}:Q")))
    if width:
        line = base.mark_line(strokeWidth=width, color=constant_colour, interpolate=interpolate, clip=clip)
        layers.append(line.encode(y=y, strokeDash=dash))
    if dots or tooltip:
        marks = base.mark_point(
            filled=True,
            clip=clip,
            size=dots or DOT,
            opacity=1.0 if dots else 0.0,
            color=constant_colour,
            shape=shape if isinstance(shape, str) else alt.Undefined,
        )
        layers.append(marks.encode(y=y, shape=_colour_encoding(shape), tooltip=tips(*tooltip)))
    return layers


def _constant_colour(color: alt.Color | str | UndefinedType, theme: Theme) -> str | UndefinedType:
    """The colour of marks that no column colours."""
    if isinstance(color, str):
        return color
    return theme.series if color is alt.Undefined else alt.Undefined


def _colour_encoding(style: EncodingT | str | UndefinedType) -> EncodingT | UndefinedType:
    """The encoding that gives each row its own colour or shape, where all do not share one."""
    return alt.Undefined if isinstance(style, str) else style
