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

from analysis.figures.drawing import Chart, Look, printable

LEGEND_PIXELS = 62
MOST_LABELS = 20
MOST_CELLS = 64 * 64
"""Above this a map is drawn as an image: 512 x 512 cells would be megabytes of JSON."""

MOST_NAMES = 64
"""Nor are more rows or columns than this drawn as cells, whose names and seams would run into each other."""

NO_VALUE = 255
SHARP = 512
"""Pixels an image has across at least, as nearly as whole cells allow."""


def heatmap(
    values: ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    domain: tuple[float, float],
    row_title: str,
    column_title: str,
    value_title: str,
    title: str | list[str] = "",
    diverging: bool = True,
    legend: bool = True,
    side: int = 300,
    height: int | None = None,
    first: int = 0,
    level: bool = False,
    look: Look | None = None,
) -> Chart:
    """A map of `values` (row, column), drawn on a scale from domain[0] to domain[1].

    Rows and columns may repeat labels: cells are placed by index and labelled by name. first: what the counting of
    rows and columns begins with, where they are too many to be named. level: whether the columns' names have room to
    stand level.
    """
    look = look or Look()
    stops = look.diverging if diverging else look.sequential
    scale = alt.Scale(domain=list(np.linspace(*domain, len(stops))), range=stops, clamp=True, interpolate="rgb")
    shown = (
        alt.Legend(title=value_title, orient="bottom", gradientLength=180 if side >= 300 else 100, format=".3~g")
        if legend
        else None
    )
    if is_image(values):
        chart = _image(values, first, scale, stops, domain, shown, row_title, column_title)
    else:
        chart = _cells(values, rows, columns, scale, shown, row_title, column_title, value_title, level)
    # On screen all panels get the same height for axes and legend; without a legend that would stretch the map.
    stretch = LEGEND_PIXELS if look.screen and not legend else 0
    chart = chart.properties(width=side, height=(height or side) - stretch)
    return chart.properties(title=alt.TitleParams(title, fontSize=13, anchor="start")) if title else chart


def is_image(values: ndarray) -> bool:
    """Whether a map is drawn as an image, whose cells have no tooltips."""
    return values.size > MOST_CELLS or max(values.shape) > MOST_NAMES


def token_axis(labels: Sequence[str], title: str, *, angle: float, room: int = 40, limit: int = 90) -> alt.Axis:
    """An axis of indices that are shown as labels, which may repeat; of many, every so manieth. limit: their pixels."""
    step = max(1, -(-len(labels) // room))
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
        labelOverlap=False if len(labels) <= MOST_LABELS else "greedy",
    )


def _cells(
    values: ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    scale: alt.Scale,
    legend: alt.Legend | None,
    row_title: str,
    column_title: str,
    value_title: str,
    level: bool,
) -> Chart:
    i, j = np.indices(values.shape)
    frame = pd.DataFrame(
        {
            "row": i.ravel(),
            "column": j.ravel(),
            "row_label": np.asarray(rows, dtype=object)[i.ravel()],
            "column_label": np.asarray(columns, dtype=object)[j.ravel()],
            "value": np.asarray(values, dtype=float).ravel(),
        }
    )
    return (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            # Numbers stand upright; words would run into each other.
            x=alt.X("column:O", axis=token_axis(columns, column_title, angle=0 if level or _short(columns) else -60)),
            y=alt.Y("row:O", axis=token_axis(rows, row_title, angle=0)),
            color=alt.Color("value:Q", scale=scale, legend=legend),
            tooltip=[
                alt.Tooltip("row_label:N", title=row_title),
                alt.Tooltip("column_label:N", title=column_title),
                alt.Tooltip("value:Q", title=value_title, format=".4~g"),
            ],
        )
    )


def _short(labels: Sequence[str]) -> bool:
    return len(labels) <= MOST_LABELS and max(map(len, labels), default=0) <= 2


def painted(values: ndarray, stops: Sequence[str], domain: tuple[float, float], sharp: int = SHARP) -> str:
    """The address of a picture of `values` (row, column), whole and transparent where there is no value."""
    low, high = domain
    # A palette makes the file small: 255 steps along the colours, and the last entry for no value, no colour.
    steps = np.linspace(0, len(stops) - 1, NO_VALUE)
    channels = np.array([[int(stop[k : k + 2], 16) for k in (1, 3, 5)] for stop in stops], dtype=float)
    colours = np.stack([np.interp(steps, np.arange(len(stops)), channels[:, c]) for c in range(3)], -1)
    place = np.clip((np.nan_to_num(values) - low) / ((high - low) or 1), 0, 1) * (NO_VALUE - 1)
    pixels = np.where(np.isnan(values), NO_VALUE, place.round()).astype(np.uint8)
    for axis, count in enumerate(values.shape):  # Large cells, lest the browser blur few ones into each other.
        pixels = pixels.repeat(max(1, sharp // count), axis)
    image = Image.fromarray(pixels, "P")
    image.putpalette([*colours.round().astype(np.uint8).ravel().tolist(), 0, 0, 0])
    buffer = io.BytesIO()
    image.save(buffer, "PNG", transparency=NO_VALUE)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _image(
    values: ndarray,
    first: int,
    scale: alt.Scale,
    stops: Sequence[str],
    domain: tuple[float, float],
    legend: alt.Legend | None,
    row_title: str,
    column_title: str,
) -> Chart:
    low, high = domain
    url = painted(values, stops, domain)
    height, width = values.shape
    # Half a cell off, so that a tick stands at the middle of the cell it counts.
    sides, ends = [first - 0.5, first + width - 0.5], [first - 0.5, first + height - 0.5]
    frame = pd.DataFrame({"url": [url], "x": sides[:1], "x2": sides[1:], "y": ends[:1], "y2": ends[1:]})
    across = alt.X("x:Q", scale=alt.Scale(domain=sides, nice=False, zero=False), axis=_count_axis(column_title))
    down = alt.Y("y:Q", scale=alt.Scale(domain=ends, reverse=True, nice=False, zero=False), axis=_count_axis(row_title))
    picture = (
        alt.Chart(frame)
        .mark_image(aspect=False)
        .encode(x=across, x2=alt.X2("x2"), y=down, y2=alt.Y2("y2"), url=alt.Url("url:N"))
    )
    # An image has no colour scale of its own: two unseen points carry the legend.
    unseen = pd.DataFrame({"value": [low, high], "x": first, "y": first})
    key = (
        alt.Chart(unseen)
        .mark_point(opacity=0)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), color=alt.Color("value:Q", scale=scale, legend=legend))
    )
    return picture + key


def _count_axis(title: str) -> alt.Axis:
    return alt.Axis(title=title, grid=False, tickCount=6, tickMinStep=1, domain=False, format="d")
