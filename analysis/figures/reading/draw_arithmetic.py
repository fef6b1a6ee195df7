"""Drawings of the guided reading's arithmetic."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import TERMS
from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.reading.arithmetic import ConcatenationContent, PlaneContent


@drawing("reading_plane")
def plane(figure: Figure[PlaneContent], look: Look) -> list[Chart]:
    """One dot a sum, larger and of another colour where several pairs meet."""
    reach = figure.content.reach
    kinds = ["one pair: its parts are known", "several pairs: the parts cannot be recovered"]
    frame = figure.content.frame.assign(kind=lambda f: np.where(f.pairs > 1, kinds[1], kinds[0]))
    # A dot at which several pairs meet names them all.
    frame = (
        frame.assign(both=[f"{w} + {p}" for w, p in zip(frame.word, frame.position, strict=True)])
        .groupby(["x", "y", "pairs", "kind"], as_index=False)
        .agg(both=("both", ", ".join))
    )
    dots = (
        alt.Chart(frame)
        .mark_circle(opacity=0.85)
        .encode(
            x=alt.X("x:Q", title="along the words' axis (steps)", scale=alt.Scale(domain=[0, reach + 0.5], nice=False)),
            y=alt.Y("y:Q", title="across it (steps)", scale=alt.Scale(domain=[-0.6, reach / 2 + 0.5], nice=False)),
            size=alt.Size("pairs:Q", scale=alt.Scale(domain=[1, 8], range=[60, 420]), legend=None),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=kinds, range=look.many(2)),
                legend=alt.Legend(title=None, orient="top", direction="vertical", labelLimit=320),
            ),
            tooltip=[
                alt.Tooltip("both:N", title="word + position"),
                alt.Tooltip("pairs:Q", title="pairs with this sum"),
            ],
        )
    )
    return [dots.properties(width=620, height=310)]


@drawing("reading_concatenation", columns=2)
def concatenation(figure: Figure[ConcatenationContent], look: Look) -> list[Chart]:
    """The vector and the matrix as cells; and bars of the parts with dots of the whole."""
    return [_cells(figure, look), _bars(figure, look)]


def _cells(figure: Figure[ConcatenationContent], look: Look) -> Chart:
    result, rows, split = (figure.content.made, figure.content.rows, figure.content.split)
    table = np.column_stack([result.both, result.matrix])
    columns = ["vector", *(f"to {k + 1}" for k in range(result.matrix.shape[1]))]
    row, column = np.indices(table.shape)
    frame = pd.DataFrame(
        {
            "row": np.array(rows)[row.ravel()],
            "column": np.array(columns)[column.ravel()],
            "value": table.ravel(),
        }
    )
    reach = float(np.abs(table).max())
    cells = (
        alt.Chart(frame)
        .mark_rect(stroke=look.ground, strokeWidth=2)
        .encode(
            x=alt.X("column:N", sort=columns, axis=alt.Axis(title="the vector | the matrix, by output", labelAngle=0)),
            y=alt.Y("row:N", sort=rows, axis=alt.Axis(title="dimension")),
            color=alt.Color(
                "value:Q",
                scale=look.around_zero(reach),
                legend=alt.Legend(title="value", orient="bottom", gradientLength=160),
            ),
            tooltip=["row:N", "column:N", alt.Tooltip("value:Q", format=".3f")],
        )
    )
    cut = pd.DataFrame({"row": [rows[len(rows) - split]]})
    line = (
        alt.Chart(cut)
        .mark_rule(color=look.ink, strokeDash=[6, 4], strokeWidth=2)
        .encode(y=alt.Y("row:N", sort=rows, bandPosition=0))
    )
    return (cells + line).properties(width=380, height=300, title="[word ; position] and the matrix")


def _bars(figure: Figure[ConcatenationContent], look: Look) -> Chart:
    frame = figure.content.frame
    parts = {"word_part": "word × upper rows", "position_part": "position × lower rows"}
    long = frame.melt("output", list(parts), var_name="part", value_name="value")
    # Parts of unlike sign are drawn either side of zero, so that bars end where their sum does.
    long["part"] = long.part.map(parts)
    whole = "[word ; position] × matrix"
    names = [*parts.values(), whole]
    colour = alt.Scale(domain=names, range=[look.colour(TERMS["word"]), look.colour(TERMS["position"]), look.ink])
    bars = (
        alt.Chart(long)
        .mark_bar()
        .encode(
            x=alt.X("output:O", axis=alt.Axis(title="output", labelAngle=0)),
            xOffset=alt.XOffset("part:N", sort=names),
            y=alt.Y("value:Q", title="value"),
            color=alt.Color(
                "part:N",
                scale=colour,
                legend=alt.Legend(title=None, orient="top", direction="vertical", values=list(parts.values())),
            ),
            tooltip=["output:O", "part:N", alt.Tooltip("value:Q", format=".3f")],
        )
    )
    sums = (
        alt.Chart(frame)
        .mark_tick(thickness=3, color=look.ink)
        .encode(
            x=alt.X("output:O"),
            y=alt.Y("sum:Q"),
            tooltip=["output:O", alt.Tooltip("sum:Q", title="sum of the two parts", format=".3f")],
        )
    )
    dots = (
        alt.Chart(frame.assign(part=whole))
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            x=alt.X("output:O"),
            y=alt.Y("concatenated:Q"),
            color=alt.Color("part:N", scale=colour),
            tooltip=["output:O", alt.Tooltip("concatenated:Q", title=whole, format=".3f")],
        )
    )
    return (bars + sums + dots).properties(
        width=380,
        height=300,
        title=alt.TitleParams(
            "What comes out",
            subtitle="green: both bars added; dot: [word ; position] × matrix",
            subtitleColor=look.ink,
        ),
    )
