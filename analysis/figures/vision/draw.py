"""Drawings of images, of the scores between their patches, and of how similar their positions are."""

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image

from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.heatmap import LEGEND_PIXELS, heatmap, index_axes, painted, picture, png_address, unseen_key
from analysis.figures.terms.measures import term_label
from analysis.figures.terms.token_maps import share_and_effect
from analysis.figures.vision.data import LayersContent, PositionsContent, VisionMapsContent

SIDE = 290
"""Pixels of a panel that is laid out as the image is, the longer way."""
PANEL_WIDTH = 600
"""Pixels across the panel of small maps."""
QUERY = "#d6007f"
"""The outline of the query's patch, a colour on none of our scales."""
PICTURE_WIDTH = 1_600
"""Pixels across the picture of positions."""
MAX_LABELS = 16
"""The most labels on an axis that counts patches."""


@drawing("vision_layers", columns=2)
def layers(figure: Figure[LayersContent], theme: Theme) -> list[Chart]:
    """Layers by heads, a map a term, on one scale."""
    maps, share = figure.content.maps, figure.content.measure == "share"
    limit = float(max(np.nanmax(np.abs(values)) for values in maps.values())) or 1.0
    limit = min(limit, 1.0) if share else limit
    return [
        heatmap(
            values, domain=(-limit if share else 0.0, limit), row_title="layer", column_title="head",
            value_title="share" if share else "effect (nats)", title=term_label(term), legend=index >= len(maps) - 2,
            side=marks.HALF, height=22 * len(values), theme=theme,
        )
        for index, (term, values) in enumerate(maps.items())
    ]  # fmt: skip


def _outline(query: tuple[int, int] | None) -> list[Chart]:
    """The query's patch, on axes that count patches from their middles."""
    if query is None:
        return []
    row, column = query
    frame = pd.DataFrame({"x": [column - 0.5], "x2": [column + 0.5], "y": [row - 0.5], "y2": [row + 0.5]})
    mark = alt.Chart(frame).mark_rect(fill=None, stroke=QUERY, strokeWidth=2.5)
    return [mark.encode(x=alt.X("x:Q"), x2=alt.X2("x2"), y=alt.Y("y:Q"), y2=alt.Y2("y2"))]


def _image(pixels: np.ndarray, grid: tuple[int, int]) -> list[Chart]:
    """The image, and lines between its patches."""
    rows, columns = grid
    across = alt.Chart(pd.DataFrame({"y": np.arange(1, rows) - 0.5}))
    down = alt.Chart(pd.DataFrame({"x": np.arange(1, columns) - 0.5}))
    style = {"color": "white", "opacity": 0.45, "strokeWidth": 0.7}
    return [
        picture(png_address(Image.fromarray(pixels)), grid, *index_axes(grid, "row", "column")),
        across.mark_rule(**style).encode(y=alt.Y("y:Q")),
        down.mark_rule(**style).encode(x=alt.X("x:Q")),
    ]


def _cells(values: np.ndarray, scale: alt.Scale, key: alt.Legend | None) -> Chart:
    """One term's scores at the places of their keys: cells to read by pointing."""
    row, column = (indices.ravel() for indices in np.indices(values.shape))
    frame = pd.DataFrame({"row": row, "column": column, "score": values.ravel()}).dropna()
    frame = frame.assign(x=frame.column - 0.5, x2=frame.column + 0.5, y=frame.row - 0.5, y2=frame.row + 0.5)
    x, y = index_axes(values.shape, "row", "column")
    cells, tooltip = alt.Chart(frame).mark_rect(), marks.tips("row", "column", ("score", "", ".4~g"))
    color = alt.Color("score:Q", scale=scale, legend=key)
    return cells.encode(x=x, x2=alt.X2("x2"), y=y, y2=alt.Y2("y2"), color=color, tooltip=tooltip)


@drawing("vision_maps", columns=3)
def maps(figure: Figure[VisionMapsContent], theme: Theme) -> list[Chart]:
    """The image with its patches and the query's, the total, and the terms, on one scale."""
    content, outline = figure.content, _outline(figure.content.query)
    rows, columns = content.grid
    # Read by rows of three: beside the image the queries of words, beside the total those of positions.
    order = ["total", *content.share]
    if len(order) == 5:
        order = [*order[1:3], order[0], *order[3:]]
    last = (len(order) // 3) * 3
    scale, key = theme.around_zero(content.limit), marks.colour_bar("score", length=180)
    panels = [(_image(content.pixels, content.grid), ("the image", "outlined: the query"))]
    for index, name in enumerate(order, 1):
        cells = _cells(content.maps[name], scale, key if index >= last else None)
        title = (
            (term_label(name), share_and_effect(content.share[name], content.effect[name]))
            if name in content.share
            else (name, "all terms together")
        )
        panels.append(([cells], title))
    # For patches as square as they are.
    width, height = round(SIDE * min(1, columns / rows)), round(SIDE * min(1, rows / columns))
    return [
        marks.panel(
            *charts, *outline, theme=theme, width=width, title=title,
            height=height - (LEGEND_PIXELS if theme.screen and index < last else 0),
        )
        for index, (charts, title) in enumerate(panels)
    ]  # fmt: skip


def _patch_axis(title: str, patches: list[int], cells: int) -> alt.Axis:
    """Names small maps of so many cells each, one cell apart, by the numbers of their patches."""
    step = max(1, -(-len(patches) // MAX_LABELS))
    middles = [i * (cells + 1) + cells / 2 for i in range(0, len(patches), step)]
    names = "{" + ", ".join(f"'{m:g}': '{patches[i * step]}'" for i, m in enumerate(middles)) + "}"
    return alt.Axis(
        title=title, values=middles, labelExpr=f"{names}[datum.value]", grid=False, domain=False, ticks=False,
        labelOverlap=False,
    )  # fmt: skip


@drawing("vision_positions", "vision_table")
def positions(figure: Figure[PositionsContent], theme: Theme) -> list[Chart]:
    """Small maps, one a patch, at the places of the patches."""
    content, domain = figure.content, (-1.0, 1.0)
    (height, width), (rows, columns) = content.picture.shape, content.grid
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[0, width], nice=False),
        axis=_patch_axis("column of the patch", content.across, columns),
    )
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[0, height], nice=False, reverse=True),
        axis=_patch_axis("row of the patch", content.down, rows),
    )
    url = painted(content.picture, theme.diverging, domain, sharp=PICTURE_WIDTH)
    color = alt.Color("value:Q", scale=theme.around_zero(1.0), legend=marks.colour_bar("cosine", form=".2~f"))
    layers = picture(url, content.picture.shape, x, y, first=0.5), unseen_key(color, domain)
    return [marks.panel(*layers, theme=theme, width=PANEL_WIDTH, height=round(PANEL_WIDTH * height / width))]
