"""Similarity of the positions of patches: maps of cosines, their mean against distance, and the words on them."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.core import frames
from analysis.core.formatting import fixed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure
from analysis.figures.heatmap import heatmap

CITATION_KEYS = ("dosovitskiy2021vit",)
SIMILAR = 0.1
"""The least difference in similarity, of neighbours minus that of the farthest patches, that a heading mentions."""
SIDE = 310
"""Pixels of a small map, the longer way, and of the curve beside them."""
TOGETHER, ELSEWHERE = "in one row or column", "elsewhere"
"""The two ways in which patches can lie to each other, by which the curve is cut in two."""


def position_source(grid: Sequence[int], trained: Sequence[int]) -> str:
    """A sentence on the source of a grid's positions. Both grids are (rows, columns) of patches."""
    table = f"{trained[0]} by {trained[1]}"
    if tuple(grid) == tuple(trained):
        return f"Positions are the model's own table of {table} patches."
    return f"Positions are interpolated (bicubic) to {grid[0]} by {grid[1]} patches from a table of {table}."


def landmarks(rows: int, columns: int) -> dict[str, int]:
    """The patches whose maps are drawn, with what they are called: the corners and the middle of the image."""
    places = {
        "top left": (0, 0),
        "top right": (0, columns - 1),
        "the middle": (rows // 2, columns // 2),
        "bottom left": (rows - 1, 0),
        "bottom right": (rows - 1, columns - 1),
    }
    return {name: row * columns + column for name, (row, column) in places.items()}


def by_distance(cosines: np.ndarray, rows: int, columns: int) -> pd.DataFrame:
    """The mean cosine of two patches at each whole distance, with how many pairs lie so far apart, by how they lie."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    first, second = np.triu_indices(rows * columns, 1)
    down, across = np.abs(row[first] - row[second]), np.abs(column[first] - column[second])
    pairs = pd.DataFrame(
        {
            "distance": np.hypot(down, across).round().astype(int),
            "lie": np.where((down == 0) | (across == 0), TOGETHER, ELSEWHERE),
            "cosine": cosines[first, second],
        }
    )
    means = pairs.groupby(["lie", "distance"], as_index=False, sort=True).agg(
        cosine=("cosine", "mean"), pairs=("cosine", "size")
    )
    return means.sort_values(["lie", "distance"], ascending=[False, True], ignore_index=True)


def positions_figure(title: str, cosines: np.ndarray, grid: tuple[int, int], *, caption: str) -> Figure:
    """Cosine of every patch's position with all others, as in Dosovitskiy et al. (2021), Figure 7."""
    rows, columns = grid
    patch = np.arange(rows * columns)
    row, column = patch // columns, patch % columns
    steps = np.abs(row[:, None] - row) + np.abs(column[:, None] - column)
    near = cosines[steps == 1].mean()
    # The end of the curve: opposite corners, and what is as far apart.
    distances = by_distance(cosines, rows, columns)
    farthest = distances[distances.distance == distances.distance.max()].iloc[-1]
    far = float(farthest.cosine)
    apart = f"{int(farthest.distance)} patches"
    lowest = distances.sort_values("cosine").iloc[0]
    aligned = (row[:, None] == row) ^ (column[:, None] == column)
    same = cosines[aligned & (steps > 2)]
    other = cosines[~aligned & (steps > 2)]
    text = f"Next to each other {fixed(near)} on average, {apart} apart {fixed(far)}"
    if len(same) and len(other):
        text += f"; over two steps apart {fixed(same.mean())} in one row or column, {fixed(other.mean())} elsewhere"
    if np.isnan(cosines).all():
        text = "Its positions are all zero, so there is nothing to compare: weights as they are before training"
    finding = (
        f"Positions of neighbouring patches are alike (cosine {fixed(near)}), those {int(lowest.distance)} patches "
        f"apart least ({fixed(float(lowest.cosine))})"
        if near - far > SIMILAR
        else f"Positions of neighbouring patches (cosine {fixed(near)}) are no more alike than those {apart} apart "
        f"({fixed(far)})"
    )
    if np.isnan(cosines).all():
        finding = "The positions are all zero, as before training"
    return Figure(
        title=title,
        finding=finding,
        frame=lambda: frames.cells(np.round(cosines, 6), "cosine", patch=None, other=None),
        caption=(
            "Cosine of a patch's position with every patch's: maps of the corners and of the middle, and the mean at "
            f"each distance. {text}. {caption} The data hold every pair of patches."
        ),
        alt=f"Maps of {len(landmarks(rows, columns))} of the patches, and curves against distance. {text}.",
        citation_keys=CITATION_KEYS,
        draw=lambda theme: _draw(cosines, grid, theme),
        columns=3,
    )


def _draw(cosines: np.ndarray, grid: tuple[int, int], theme: Theme) -> list[Chart]:
    """A map of each landmark's cosines, laid out as the image is, and the mean cosine against distance."""
    rows, columns = grid
    width, height = round(SIDE * min(1, columns / rows)), round(SIDE * min(1, rows / columns))
    places = landmarks(rows, columns)
    low = min(0.0, float(np.nan_to_num(cosines[list(places.values())]).min()))
    maps = [
        heatmap(
            cosines[patch].reshape(grid), domain=(low, 1), row_title="row", column_title="column", value_title="cosine",
            title=f"{name}: row {patch // columns}, column {patch % columns}", diverging=True,
            legend=index == len(places) - 1, axes=index == 0, side=width, height=height, theme=theme,
        )
        for index, (name, patch) in enumerate(places.items())
    ]  # fmt: skip
    curve = marks.line_plot(
        by_distance(cosines, rows, columns),
        x=marks.whole_numbers(alt.X, "distance", "patches apart"),
        y=marks.number(alt.Y, "cosine", "cosine, mean"),
        theme=theme,
        color=marks.series("lie", (TOGETHER, ELSEWHERE), theme, marks.legend(place="top")),
        tooltip=("lie", "distance", ("cosine", "", ".3f"), ("pairs", "pairs of patches")),
    )
    panel = marks.panel(marks.rule(theme, y=0), *curve, theme=theme, width=SIDE, height=SIDE, title="against distance")
    return [*maps, panel]
