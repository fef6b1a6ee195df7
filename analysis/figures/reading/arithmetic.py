"""Figures of the guided reading that are pure arithmetic: sums in a plane, and concatenation as a sum."""

from typing import Annotated, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from analysis.core.colours import SOFT, TERMS
from analysis.core.formatting import plural, power_of_ten
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, whole_number
from analysis.figures.heatmap import heatmap

STEPS = 8
"""Words, and positions, in the plane."""
LIMIT = 2 * STEPS
"""The end of the axes, in steps."""
HEIGHT = 300
WIDTH, OUTPUTS = 8, 6
"""Dimensions of the concatenated vector, and of its product with the matrix."""
COMPUTED = {"computed": "here and now, in float64 NumPy; no model and no data"}


def command(name: str, **values: int) -> str:
    """The command that makes one of these figures' numbers anew."""
    link = "&".join(f"{field}={value}" for field, value in values.items())
    return f"python -m analysis export '/read?{link}' --figure {name} -o {name}.csv"


def plane(degrees: float) -> Float[ndarray, "word position 2"]:
    """word * u + position * v, for words and positions 1 to 8, u along x, v at an angle to it."""
    angle = np.radians(degrees)
    count = np.arange(1, STEPS + 1)
    u, v = np.array([1.0, 0.0]), np.array([np.cos(angle), np.sin(angle)])
    return count[:, None, None] * u + count[None, :, None] * v


class PlaneParameters(Parameters):
    """The angle between the words' axis and the positions', in degrees."""

    angle: Annotated[int, whole_number(0, 90)]


@figure("reading_plane", PlaneParameters)
def reading_plane(params: PlaneParameters) -> Figure:
    """Sums of a word and a position in a plane: which of them coincide."""
    degrees = params.angle
    sums = plane(degrees).reshape(-1, 2)
    distinct, inverse, counts = np.unique(np.round(sums, 9), axis=0, return_inverse=True, return_counts=True)
    pairs = counts[inverse]
    word, position = (index.ravel() + 1 for index in np.indices((STEPS, STEPS)))
    x, y = distinct[inverse].T
    frame = pd.DataFrame({"word": word, "position": position, "x": x, "y": y, "pairs": pairs})
    gaps = np.linalg.norm(sums[:, None] - sums[None], axis=-1)
    nearest = float(gaps[gaps > 1e-9].min())
    shared = int((pairs > 1).sum())
    collisions = f"{shared} pairs share theirs with another" if shared else "no two pairs share one"
    text = (
        f"At {degrees}°, {len(frame)} pairs of a word and a position give {len(distinct)} different sums: {collisions}."
    )
    return Figure(
        title=f"Eight words plus eight positions, {degrees}° apart",
        finding=text.removesuffix("."),
        frame=lambda: frame,
        caption=(
            f"{text} Rings show where the sums lie at 90°; the two that lie closest at {degrees}°, of those that "
            f"differ, are {nearest:.2f} steps apart. Words are 1 to {STEPS} steps along one axis, positions 1 to "
            f"{STEPS} steps along the other. Exact: nothing is sampled."
        ),
        alt=f"Dots in a plane, one a sum, larger where several pairs meet. {text}",
        command=command("reading_plane", angle=degrees),
        provenance=COMPUTED,
        draw=lambda theme: [_draw_plane(frame, theme)],
    )


class Concatenation(NamedTuple):
    """A word and a position side by side, a matrix, and its upper and lower rows on their own."""

    word: Float[ndarray, " word"]
    position: Float[ndarray, " position"]
    matrix: Float[ndarray, "dim output"]

    @property
    def both(self) -> Float[ndarray, " dim"]:
        """[word ; position]."""
        return np.concatenate([self.word, self.position])

    @property
    def mapped(self) -> Float[ndarray, " output"]:
        """[word ; position] W."""
        return self.both @ self.matrix

    @property
    def parts(self) -> tuple[Float[ndarray, " output"], Float[ndarray, " output"]]:
        """word W_upper and position W_lower."""
        cut = len(self.word)
        return self.word @ self.matrix[:cut], self.position @ self.matrix[cut:]


def concatenated(split: int) -> Concatenation:
    """The example: standard normal numbers, seed 0, the last `split` dimensions for the position."""
    rng = np.random.default_rng(0)
    vector = rng.standard_normal(WIDTH)
    return Concatenation(vector[: WIDTH - split], vector[WIDTH - split :], rng.standard_normal((WIDTH, OUTPUTS)))


class SplitParameters(Parameters):
    """The dimensions that the position gets."""

    split: Annotated[int, whole_number(1, WIDTH - 1)]


@figure("reading_concatenation", SplitParameters)
def reading_concatenation(params: SplitParameters) -> Figure:
    """A matrix applied to a concatenation, beside the sum of its two blocks applied to the parts."""
    split = params.split
    result = concatenated(split)
    word, position = result.parts
    error = float(np.abs(result.mapped - (word + position)).max())
    same = f"the same, but for rounding of {power_of_ten(error)}, as" if error else "exactly the same as"
    frame = pd.DataFrame(
        {
            "output": np.arange(1, OUTPUTS + 1),
            "word_part": word,
            "position_part": position,
            "sum": word + position,
            "concatenated": result.mapped,
        }
    )
    rows = [f"word {k + 1}" for k in range(len(result.word))] + [
        f"position {k + 1}" for k in range(len(result.position))
    ]
    text = (
        f"With {plural(len(rows) - split, 'dimension')} for the word and {split} for the position, the concatenated "
        f"vector after the matrix is {same} the sum of the two mapped parts."
    )
    return Figure(
        title="Concatenated and mapped, or mapped and added",
        finding=f"Concatenating and then multiplying is {same} multiplying and then adding",
        frame=lambda: frame,
        caption=(
            f"{text} Cells: the vector (first column) and the matrix it is multiplied with; the dashed line separates "
            "the rows that meet the word from those that meet the position. Bars: what each part adds to every output; "
            "dots: what the concatenation gives. Standard normal numbers, seed 0."
        ),
        alt=f"A vector and a matrix as coloured cells, and bars with dots on their sums. {text}",
        command=command("reading_concatenation", split=split),
        provenance=COMPUTED,
        draw=lambda theme: _draw_concatenation(result, rows, frame, theme),
        columns=2,
    )


def _draw_plane(sums: pd.DataFrame, theme: Theme) -> Chart:
    """One dot a sum, larger and of another colour where several pairs meet; rings where the sums lie at 90°."""
    kinds = ["one pair: its parts are known", "several pairs: parts are lost (larger: more pairs)"]
    frame = sums.assign(kind=lambda f: np.where(f.pairs > 1, kinds[1], kinds[0]))
    # A dot at which several pairs meet names them all.
    frame = (
        frame.assign(both=[f"{w} + {p}" for w, p in zip(frame.word, frame.position, strict=True)])
        .groupby(["x", "y", "pairs", "kind"], as_index=False)
        .agg(both=("both", ", ".join))
    )
    x = marks.number(alt.X, "x", "along the words' axis (steps)", domain=(0, LIMIT + 0.5))
    y = marks.number(alt.Y, "y", "across it (steps)", domain=(-0.6, LIMIT / 2 + 0.5))
    dots = alt.Chart(frame).mark_circle(opacity=0.85)
    dots = dots.encode(
        x=x,
        y=y,
        size=alt.Size("pairs:Q", scale=alt.Scale(domain=[1, 8], range=[marks.DOT, 7 * marks.DOT]), legend=None),
        color=marks.hues("kind", dict(zip(kinds, theme.many(2), strict=True)), marks.legend(place="top")),
        tooltip=marks.tips(("both", "word + position"), ("pairs", "pairs with this sum")),
    )
    apart = pd.DataFrame(plane(90).reshape(-1, 2), columns=["x", "y"])
    rings = alt.Chart(apart).mark_point(size=marks.DOT, strokeWidth=1, color=theme.colour(SOFT), opacity=0.4)
    return marks.panel(rings.encode(x=x, y=y), dots, theme=theme, width=620, height=310)


def _draw_concatenation(example: Concatenation, rows: list[str], frame: pd.DataFrame, theme: Theme) -> list[Chart]:
    """The vector and the matrix as cells; and bars of the parts with dots of the whole."""
    return [_cells(example, rows, theme), _bars(frame, theme)]


def _cells(example: Concatenation, rows: list[str], theme: Theme) -> Chart:
    table = np.column_stack([example.both, example.matrix])
    limit = float(np.abs(table).max())
    cells = heatmap(
        table,
        rows,
        ["vector", *(str(k + 1) for k in range(example.matrix.shape[1]))],
        domain=(-limit, limit),
        row_title="dimension",
        column_title="vector | matrix, by output",
        value_title="value",
        level=True,
        side=marks.HALF,
        height=HEIGHT,
        theme=theme,
    )
    cut = alt.Chart(pd.DataFrame({"row": [len(example.word)]}))
    line = cut.mark_rule(color=theme.ink, strokeDash=marks.DASH, strokeWidth=marks.LINE).encode(
        y=alt.Y("row:O", bandPosition=0)
    )
    return marks.panel(
        cells, line, theme=theme, width=marks.HALF, height=HEIGHT, title="[word ; position] and the matrix"
    )


def _bars(frame: pd.DataFrame, theme: Theme) -> Chart:
    parts = {"word_part": "word × upper rows", "position_part": "position × lower rows"}
    concatenated = "[word ; position] × matrix"
    # Parts of unlike sign are drawn either side of zero, so that bars end where their sum does.
    long = frame.melt("output", list(parts), var_name="part", value_name="value")
    colours = {name: theme.colour(TERMS[column.removesuffix("_part")]) for column, name in parts.items()}
    x, y = marks.categories(alt.X, "output", "output"), marks.number(alt.Y, "value", "value", zero=True)
    bars = alt.Chart(long.assign(part=long.part.map(parts))).mark_bar()
    bars = bars.encode(
        x=x,
        y=y,
        xOffset=alt.XOffset("part:N", sort=list(parts.values())),
        color=marks.hues("part", colours, marks.legend(place="top")),
        tooltip=marks.tips("output", "part", ("value", "", ".3f")),
    )
    sums = alt.Chart(frame).mark_tick(thickness=3, color=theme.ink)
    sums = sums.encode(
        x=x, y=marks.same_axis(y, "sum"), tooltip=marks.tips("output", ("sum", "sum of the two parts", ".3f"))
    )
    y, tooltip = marks.same_axis(y, "concatenated"), ("output", ("concatenated", concatenated, ".3f"))
    dots = marks.row_plot(frame, x=x, y=y, theme=theme, ends=None, color=theme.ink, tooltip=tooltip)
    below = ["line: both bars added", f"dot: {concatenated}"]
    return marks.panel(
        bars, sums, *dots, theme=theme, width=marks.HALF, height=HEIGHT, title="What comes out", below=below
    )
