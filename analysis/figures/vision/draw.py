"""Drawings of images, of what their patches ask of each other, and of how alike their positions are."""

import base64
import io

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image

from analysis.core.formatting import signed
from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.heatmap import LEGEND_PIXELS, heatmap, painted
from analysis.figures.terms.data import term_label
from analysis.figures.vision.data import LayersContent, PositionsContent, VisionMapsContent

SIDE = 290
"""Pixels of a panel that is laid out as the image is, the longer way."""
QUERY = "#d6007f"
"""The outline of the patch that asks: on no scale of ours."""
SMALL_MAPS = 1_600
"""Pixels across the picture of positions."""


@drawing("vision_layers", columns=2)
def layers(figure: Figure[LayersContent], look: Look) -> list[Chart]:
    """Layers by heads, a map a term, on one scale."""
    maps, measure = figure.content.maps, figure.content.measure
    reach = float(max(np.nanmax(np.abs(values)) for values in maps.values())) or 1.0
    share = measure == "share"
    reach = min(reach, 1.0) if share else reach
    return [
        heatmap(
            values,
            [str(layer) for layer in range(values.shape[0])],
            [str(head) for head in range(values.shape[1])],
            domain=(-reach if share else 0.0, reach),
            row_title="layer",
            column_title="head",
            value_title="share" if share else "effect (nats)",
            title=term_label(term),
            diverging=share,
            legend=number >= len(maps) - 2,
            side=380,
            height=22 * len(values),
            look=look,
        )
        for number, (term, values) in enumerate(maps.items())
    ]


def _url(pixels: np.ndarray) -> str:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _size(grid: tuple[int, int]) -> tuple[int, int]:
    """Width and height of a panel, for patches as square as they are."""
    rows, columns = grid
    return round(SIDE * min(1, columns / rows)), round(SIDE * min(1, rows / columns))


def _outline(query: tuple[int, int] | None) -> list[Chart]:
    """The patch that asks, on axes that count patches from their middles."""
    if query is None:
        return []
    row, column = query
    frame = pd.DataFrame({"x": [column - 0.5], "x2": [column + 0.5], "y": [row - 0.5], "y2": [row + 0.5]})
    mark = alt.Chart(frame).mark_rect(fill=None, stroke=QUERY, strokeWidth=2.5)
    return [mark.encode(x="x:Q", x2="x2", y="y:Q", y2="y2")]


def _axes(grid: tuple[int, int]) -> tuple[alt.X, alt.Y]:
    rows, columns = grid
    plain = {"grid": False, "domain": False, "tickCount": 6, "tickMinStep": 1, "format": "d"}
    x = alt.Scale(domain=[-0.5, columns - 0.5], nice=False, zero=False)
    y = alt.Scale(domain=[-0.5, rows - 0.5], nice=False, zero=False, reverse=True)
    return (
        alt.X("x:Q", scale=x, axis=alt.Axis(title="column", **plain)),
        alt.Y("y:Q", scale=y, axis=alt.Axis(title="row", **plain)),
    )


def _image(url: str, grid: tuple[int, int]) -> Chart:
    rows, columns = grid
    x, y = _axes(grid)
    frame = pd.DataFrame({"url": [url], "x": [-0.5], "x2": [columns - 0.5], "y": [-0.5], "y2": [rows - 0.5]})
    return alt.Chart(frame).mark_image(aspect=False).encode(x=x, x2="x2", y=y, y2="y2", url="url:N")


def _lines(grid: tuple[int, int]) -> list[Chart]:
    rows, columns = grid
    across = alt.Chart(pd.DataFrame({"y": np.arange(1, rows) - 0.5}))
    down = alt.Chart(pd.DataFrame({"x": np.arange(1, columns) - 0.5}))
    faint = {"color": "white", "opacity": 0.45, "strokeWidth": 0.7}
    return [across.mark_rule(**faint).encode(y="y:Q"), down.mark_rule(**faint).encode(x="x:Q")]


def _map(values: np.ndarray, scale: alt.Scale, legend: bool, title: list[str], query: tuple[int, int] | None) -> Chart:
    """One term's scores at the places of their keys: cells to read by pointing, with the asking patch outlined."""
    grid = (values.shape[0], values.shape[1])
    row, column = np.indices(grid).reshape(2, -1)
    frame = pd.DataFrame(
        {
            "x": column - 0.5,
            "x2": column + 0.5,
            "y": row - 0.5,
            "y2": row + 0.5,
            "row": row,
            "column": column,
            "score": values.ravel(),
        }
    ).dropna()
    x, y = _axes(grid)
    key = alt.Legend(title="score", orient="bottom", gradientLength=180, format=".3~g") if legend else None
    cells = (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=x,
            x2="x2",
            y=y,
            y2="y2",
            color=alt.Color("score:Q", scale=scale, legend=key),
            tooltip=["row:O", "column:O", alt.Tooltip("score:Q", format=".4~g")],
        )
    )
    return alt.layer(cells, *_outline(query)).properties(title=alt.TitleParams(title, fontSize=13, anchor="start"))


@drawing("vision_maps", columns=3)
def maps(figure: Figure[VisionMapsContent], look: Look) -> list[Chart]:
    """The image with its patches and the one that asks, the total, and the terms, on one scale."""
    content = figure.content
    grid, query, share, effect = content.grid, content.query, content.share, content.effect
    picture = alt.layer(_image(_url(content.pixels), grid), *_lines(grid), *_outline(query))
    first = picture.properties(title=alt.TitleParams(["the image", "outlined: the query"], fontSize=13, anchor="start"))
    named = {
        name: ["total", "all terms together"]
        if name == "total"
        else [term_label(name), f"share {signed(share[name])}, effect {effect[name]:.2f} nats"]
        for name in content.maps
    }
    # Read by rows of three: beside the image the queries of words, beside the total those of positions.
    order = ["total", *share]
    if len(order) == 5:
        order = [*order[1:3], order[0], *order[3:]]
    drawn: list[Chart] = [first]
    width, height = _size(grid)
    for number, name in enumerate(order, 1):
        legend = number >= (len(order) // 3) * 3
        drawn.append(_map(content.maps[name], look.around_zero(content.reach), legend, named[name], query))
    last = (len(order) // 3) * 3
    return [
        panel.properties(width=width, height=height - (LEGEND_PIXELS if look.screen and number < last else 0))
        for number, panel in enumerate(drawn)
    ]


def _positions(figure: Figure[PositionsContent], look: Look) -> list[Chart]:
    """Small maps, one a patch, at the places of the patches."""
    content = figure.content
    picture, (rows, columns) = content.picture, content.grid
    url = painted(picture, look.diverging, (-1.0, 1.0), sharp=SMALL_MAPS)
    height, width = picture.shape
    frame = pd.DataFrame({"url": [url], "x": [0.0], "x2": [float(width)], "y": [0.0], "y2": [float(height)]})

    def axis(title: str, shown: list[int], each: int) -> alt.Axis:
        step = max(1, -(-len(shown) // 16))
        middles = [i * (each + 1) + each / 2 for i in range(0, len(shown), step)]
        names = "{" + ", ".join(f"'{m:g}': '{shown[i * step]}'" for i, m in enumerate(middles)) + "}"
        return alt.Axis(
            title=title,
            values=middles,
            labelExpr=f"{names}[datum.value]",
            grid=False,
            domain=False,
            ticks=False,
            labelOverlap=False,
        )

    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[0, width], nice=False),
        axis=axis("column of the patch", content.across, columns),
    )
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[0, height], nice=False, reverse=True),
        axis=axis("row of the patch", content.down, rows),
    )
    image = alt.Chart(frame).mark_image(aspect=False).encode(x=x, x2="x2", y=y, y2="y2", url="url:N")
    unseen = pd.DataFrame({"cosine": [-1.0, 1.0], "x": [0, 0], "y": [0, 0]})
    scale = look.around_zero(1.0)
    key = (
        alt.Chart(unseen)
        .mark_point(opacity=0)
        .encode(
            x="x:Q",
            y="y:Q",
            color=alt.Color(
                "cosine:Q",
                scale=scale,
                legend=alt.Legend(title="cosine", orient="bottom", gradientLength=220, format=".2~f"),
            ),
        )
    )
    side = 600
    return [(image + key).properties(width=side, height=round(side * height / width))]


drawing("vision_positions")(_positions)
drawing("vision_table")(_positions)
