"""Heat maps of any size: cells with tooltips while they are few, one image when they are many."""

import base64
import io
import json
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy import ndarray
from PIL import Image

from analysis.core.colours import LINK
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme, colour_scale, part_around_zero, printable

LEGEND_PIXELS = 84
"""Pixels that a scale of colours takes below a map."""
MAX_LABELS = 20
LABEL_LIMIT = 90
"""The most pixels of the name of a row or a column."""
MAX_CELLS = 64 * 64
"""The most cells of a map that is not drawn as an image: 512 x 512 cells would be megabytes of JSON."""

MAX_NAMES = 64
"""A map with more rows or columns is an image as well: names of cells would overlap."""

MISSING_INDEX = 255
MIN_IMAGE_PIXELS = 512
"""The least width and height of an image in pixels, up to whole cells."""


def heatmap(
    values: ndarray,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    domain: tuple[float, float],
    row_title: str,
    column_title: str,
    value_title: str,
    title: str | Sequence[str] = "",
    below: Sequence[str] = (),
    diverging: bool | None = None,
    legend: bool = True,
    legend_above: bool = False,
    axes: bool = True,
    side: int = 300,
    height: int | None = None,
    first: int = 0,
    level: bool = False,
    form: str = ".3~g",
    names: int = 0,
    theme: Theme | None = None,
) -> Chart:
    """A map of `values` (row, column), drawn on a scale from domain[0] to domain[1].

    rows, columns: their names, which may repeat, for cells are placed by index; their numbers where none are given.
    below: lines below the title. diverging: whether zero is the middle of the colours, of which the domain may be but
    a part; by default where it is the middle of the domain. first: the number that rows and columns are counted from if
    they are too many to be named. level: whether the columns' names have room to stand level. form: Vega's number
    format of the legend. axes: whether the axes have numbers and titles; where the numbers of another map serve this
    one too, their room is kept, so that both are equally large. names: the pixels of the longest name, which those of
    the columns take where maps with names of several lengths stand beside each other.
    """
    theme = theme or Theme()
    if diverging is None:
        diverging = -domain[0] == domain[1] > 0
    stops = theme.diverging if diverging else theme.sequential
    legend_title = marks.wrap_lines(value_title, NARROW_LETTERS) if side < NARROW else value_title
    legend_bar = marks.colour_bar(legend_title, length=180 if side >= 300 else 100, form=form) if legend else None
    if legend_bar is not None and legend_above:
        legend_bar["orient"] = "top"
    scale = part_around_zero(stops, *domain) if diverging else colour_scale(stops, domain)
    color = alt.Color("value:Q", scale=scale, legend=legend_bar)
    if is_image(values):
        x, y = index_axes(values.shape, row_title, column_title, first)
        limit = max(abs(domain[0]), abs(domain[1]))
        ends = (-limit, limit) if diverging else domain
        image = picture(painted(values, stops, ends), values.shape, x, y, first)
        chart = alt.layer(image, unseen_key(color, domain, first))
    else:
        row_names, column_names = _names(rows, values.shape[0]), _names(columns, values.shape[1])
        steep = side < NARROW and len(column_names) > FEW_NAMES
        titles = (row_title, column_title, value_title)
        chart = _cells(values, row_names, column_names, color, titles, level, steep, names)
        if not axes:
            for axis in (chart.encoding.x["axis"], chart.encoding.y["axis"]):
                axis["labelOpacity"] = axis["titleOpacity"] = 0
    # On screen all panels get the same height for axes and legend; without a legend that would stretch the map.
    stretch = LEGEND_PIXELS if theme.screen and not legend else 0
    chart = chart.properties(width=side, height=(height or side) - stretch)
    return chart.properties(title=marks.heading(title, *below, theme=theme)) if title else chart


def outlined(chart: Chart, row: int, column: int, theme: Theme) -> Chart:
    """A map with a frame around one of its cells; a map that is an image stays as it is."""
    if not isinstance(chart, alt.Chart):
        return chart
    cell = alt.Chart(pd.DataFrame({"row": [row], "column": [column]}))
    frame = cell.mark_rect(fill=None, stroke=theme.colour(LINK), strokeWidth=3)
    around = frame.encode(x=chart.encoding.x, y=chart.encoding.y)
    title, width, height = chart.title, chart.width, chart.height
    chart = chart.copy(deep=False)
    chart["title"] = chart["width"] = chart["height"] = alt.Undefined
    return alt.layer(chart, around, title=title, width=width, height=height)


NARROW, NARROW_LETTERS, FEW_NAMES = 300, 26, 10
"""Pixels below which a map is narrow; the letters in a line of its legend's title; and the most names of columns that
stand slanted there: more stand upright."""
TITLE_LETTERS = 36
"""The letters in a line of the title of columns that are counted."""


def _names(names: Sequence[str] | None, count: int) -> Sequence[str]:
    return [str(number) for number in range(count)] if names is None else names


def is_image(values: ndarray) -> bool:
    """True for a map so large that it is drawn as an image, whose cells have no tooltips."""
    return values.size > MAX_CELLS or max(values.shape) > MAX_NAMES


def token_axis(labels: Sequence[str], title: str, *, angle: float, limit: int = LABEL_LIMIT) -> alt.Axis:
    """An axis of indices  that are shown as labels, which may repeat: forty at most. limit: their pixels."""
    step = max(1, -(-len(labels) // 40))
    # A list in JSON is one in Vega's expressions too, with every quote and line break of a token escaped.
    lookup = f"{json.dumps([printable(label) for label in labels])}[datum.value]"
    # Vega drops the first of the values that an axis names where rounding puts it a hair outside of the map.
    values = list(range(0, len(labels), step)) if step > 1 else alt.Undefined
    return alt.Axis(
        title=title,
        values=values,
        labelExpr=lookup,
        labelAngle=angle,
        labelFontSize=12,
        labelLimit=limit,
        ticks=False,
        domain=False,
        grid=False,
        labelOverlap=False if len(labels) <= MAX_LABELS else "greedy",
    )


def _cells(
    values: ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    color: alt.Color,
    titles: tuple[str, str, str],
    level: bool,
    steep: bool,
    extent: int,
) -> alt.Chart:
    """titles: of the rows, the columns and the values. level, steep: how the columns' names stand.

    extent: pixels that the names take, as `names` of `heatmap`.
    """
    i, j = (grid.ravel() for grid in np.indices(values.shape))
    frame = pd.DataFrame(
        {
            "row": i,
            "column": j,
            "row_label": np.asarray(rows, dtype=object)[i],
            "column_label": np.asarray(columns, dtype=object)[j],
            "value": np.asarray(values, dtype=float).ravel(),
        }
    )
    row, column, value = titles
    # Numbers stand upright; words would run into each other.
    angle = 0 if level or _short(columns) else -90 if steep else -60
    x, y = token_axis(columns, column, angle=angle), token_axis(rows, row, angle=0)
    if extent:
        x["minExtent"] = extent
        x["labelLimit"] = y["labelLimit"] = max(extent, LABEL_LIMIT)
    return (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=alt.X("column:O", axis=x),
            y=alt.Y("row:O", axis=y),
            color=color,
            tooltip=marks.tips(("row_label", row), ("column_label", column), ("value", value, ".4~g")),
        )
    )


def _short(labels: Sequence[str]) -> bool:
    return len(labels) <= MAX_LABELS and max(map(len, labels), default=0) <= 2


def painted(values: ndarray, stops: Sequence[str], domain: tuple[float, float]) -> str:
    """The address of a picture of `values` (row, column), whole and transparent where there is no value."""
    low, high = domain
    # A palette makes the file small: 255 steps along the colours, and the last entry for no value, no colour.
    steps = np.linspace(0, len(stops) - 1, MISSING_INDEX)
    channels = np.array([[int(stop[k : k + 2], 16) for k in (1, 3, 5)] for stop in stops], dtype=float)
    colours = np.stack([np.interp(steps, np.arange(len(stops)), channels[:, c]) for c in range(3)], -1)
    level = np.clip((np.nan_to_num(values) - low) / ((high - low) or 1), 0, 1) * (MISSING_INDEX - 1)
    pixels = np.where(np.isnan(values), MISSING_INDEX, level.round()).astype(np.uint8)
    for axis, count in enumerate(values.shape):  # Large cells, lest the browser blur few ones into each other.
        pixels = pixels.repeat(max(1, MIN_IMAGE_PIXELS // count), axis)
    image = Image.fromarray(pixels, "P")
    image.putpalette([*colours.round().astype(np.uint8).ravel().tolist(), 0, 0, 0])
    return png_address(image, transparency=MISSING_INDEX)


def png_address(image: Image.Image, **options: int) -> str:
    """The address of a picture that holds all of it. options: Pillow's for PNG files."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", **options)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def index_axes(shape: tuple[int, ...], row_title: str, column_title: str, first: int = 0) -> tuple[alt.X, alt.Y]:
    """Axes that count columns and rows, rows downwards, with a tick at the middle of the cell that it counts."""
    height, width = shape
    axis = {"grid": False, "tickCount": 6, "tickMinStep": 1, "domain": False, "format": "d"}
    x_scale = alt.Scale(domain=[first - 0.5, first + width - 0.5], nice=False, zero=False)
    y_scale = alt.Scale(domain=[first - 0.5, first + height - 0.5], reverse=True, nice=False, zero=False)
    return (
        alt.X("x:Q", scale=x_scale, axis=alt.Axis(title=marks.wrap_lines(column_title, TITLE_LETTERS), **axis)),
        alt.Y("y:Q", scale=y_scale, axis=alt.Axis(title=row_title, **axis)),
    )


def picture(url: str, shape: tuple[int, ...], x: alt.X, y: alt.Y, first: float = 0) -> alt.Chart:
    """A picture over all cells of axes that count them."""
    x1, y1, (height, width) = first - 0.5, first - 0.5, shape
    frame = pd.DataFrame({"url": [url], "x": [x1], "x2": [x1 + width], "y": [y1], "y2": [y1 + height]})
    return (
        alt.Chart(frame)
        .mark_image(aspect=False)
        .encode(x=x, x2=alt.X2("x2"), y=y, y2=alt.Y2("y2"), url=alt.Url("url:N"))
    )


def unseen_key(color: alt.Color, domain: tuple[float, float], first: int = 0) -> alt.Chart:
    """Two unseen points that carry the legend of `value`: a picture has no scale of colours of its own."""
    points = alt.Chart(pd.DataFrame({"value": domain, "x": first, "y": first})).mark_point(opacity=0)
    return points.encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), color=color)
