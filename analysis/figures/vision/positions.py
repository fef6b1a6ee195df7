"""Similarity of the positions of patches: small maps of cosines, and the words that describe them."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from analysis.core import frames
from analysis.core.formatting import fixed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure
from analysis.figures.heatmap import painted, picture, unseen_key

CITATION_KEYS = ("dosovitskiy2021vit",)
SIMILAR = 0.1
"""The least difference in similarity, of neighbours minus opposite corners, that a heading mentions."""
MAX_SMALL_MAPS = 16
"""Rows, and columns, of small maps in the picture of positions: more would be too small to read."""
MAX_LABELS = 16
"""The most labels on an axis that counts patches."""
PANEL_WIDTH = 600
"""Pixels across the panel of small maps."""
PICTURE_WIDTH = 1_600
"""Pixels across the picture of positions."""


def position_source(grid: Sequence[int], trained: Sequence[int]) -> str:
    """A sentence on the source of a grid's positions. Both grids are (rows, columns) of patches."""
    table = f"{trained[0]} by {trained[1]}"
    if tuple(grid) == tuple(trained):
        return f"Positions are the model's own table of {table} patches."
    return f"Positions are interpolated (bicubic) to {grid[0]} by {grid[1]} patches from a table of {table}."


def mosaic(cosines: np.ndarray, rows: int, columns: int) -> tuple[np.ndarray, list[int], list[int]]:
    """A small map a patch, laid out as the patches are, with a seam of NaN between; and which rows and columns.

    Every n-th patch where there are more than `MAX_SMALL_MAPS` rows or columns of them.
    """
    step = -(-max(rows, columns) // MAX_SMALL_MAPS)
    down, across = list(range(step // 2, rows, step)), list(range(step // 2, columns, step))
    small_maps = np.full((len(down) * (rows + 1) - 1, len(across) * (columns + 1) - 1), np.nan)
    for i, row in enumerate(down):
        for j, column in enumerate(across):
            top, left = i * (rows + 1), j * (columns + 1)
            small_maps[top : top + rows, left : left + columns] = cosines[row * columns + column].reshape(rows, columns)
    return small_maps, down, across


def positions_figure(title: str, cosines: np.ndarray, grid: tuple[int, int], *, caption: str) -> Figure:
    """Cosine of every patch's position with all others, as in Dosovitskiy et al. (2021), Figure 7."""
    rows, columns = grid
    small_maps, down, across = mosaic(cosines, rows, columns)
    patch = np.arange(rows * columns)
    row, column = patch // columns, patch % columns
    steps = np.abs(row[:, None] - row) + np.abs(column[:, None] - column)
    near, far = cosines[steps == 1].mean(), cosines[steps == steps.max()].mean()
    aligned = (row[:, None] == row) ^ (column[:, None] == column)
    same = cosines[aligned & (steps > 2)]
    other = cosines[~aligned & (steps > 2)]
    text = f"Next to each other {fixed(near)} on average, in opposite corners {fixed(far)}"
    if len(same) and len(other):
        text += f"; over two steps apart {fixed(same.mean())} in one row or column, {fixed(other.mean())} elsewhere"
    if np.isnan(cosines).all():
        text = "Its positions are all zero, so there is nothing to compare: weights as they are before training"
    finding = (
        f"Positions of neighbouring patches are alike (cosine {fixed(near)}), those of opposite corners less so "
        f"({fixed(far)})"
        if near - far > SIMILAR
        else f"Positions of neighbouring patches (cosine {fixed(near)}) are no more alike than those of opposite "
        f"corners ({fixed(far)})"
    )
    if np.isnan(cosines).all():
        finding = "The positions are all zero, as before training"
    subset = "" if len(down) * len(across) == len(patch) else f", shown for {len(down)} by {len(across)} of the patches"
    return Figure(
        title=title,
        finding=finding,
        frame=lambda: frames.cells(np.round(cosines, 6), "cosine", patch=None, other=None),
        caption=(
            f"Cosine of a patch's position with every patch's{subset}: one small map a patch, at the patch's place. "
            f"{text}. {caption}"
        ),
        alt=f"A grid of {len(down)} by {len(across)} small maps. {text}.",
        citation_keys=CITATION_KEYS,
        draw=lambda theme: [_small_maps(small_maps, down, across, grid, theme)],
    )


def _patch_axis(title: str, patches: list[int], cells: int) -> alt.Axis:
    """Names small maps of so many cells each, one cell apart, by the numbers of their patches."""
    step = max(1, -(-len(patches) // MAX_LABELS))
    middles = [i * (cells + 1) + cells / 2 for i in range(0, len(patches), step)]
    names = "{" + ", ".join(f"'{m:g}': '{patches[i * step]}'" for i, m in enumerate(middles)) + "}"
    return alt.Axis(
        title=title, values=middles, labelExpr=f"{names}[datum.value]", grid=False, domain=False, ticks=False,
        labelOverlap=False,
    )  # fmt: skip


def _small_maps(cosines: np.ndarray, down: list[int], across: list[int], grid: tuple[int, int], theme: Theme) -> Chart:
    """Small maps of cosines, one a patch, at the places of the patches, with seams of NaN.

    down, across: the rows and columns of patches that have a map, of a grid of rows and columns.
    """
    domain, (height, width), (rows, columns) = (-1.0, 1.0), cosines.shape, grid
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[0, width], nice=False),
        axis=_patch_axis("column of the patch", across, columns),
    )
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[0, height], nice=False, reverse=True),
        axis=_patch_axis("row of the patch", down, rows),
    )
    url = painted(cosines, theme.diverging, domain, sharp=PICTURE_WIDTH)
    color = alt.Color("value:Q", scale=theme.around_zero(1.0), legend=marks.colour_bar("cosine", form=".2~f"))
    layers = picture(url, cosines.shape, x, y, first=0.5), unseen_key(color, domain)
    return marks.panel(*layers, theme=theme, width=PANEL_WIDTH, height=round(PANEL_WIDTH * height / width))
