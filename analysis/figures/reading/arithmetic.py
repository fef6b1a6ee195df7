"""Figures of the guided reading that are pure arithmetic: sums in a plane, and concatenation as a sum."""

from typing import Annotated, Any, NamedTuple

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
SHOWN = 3
"""The word and the position whose sums are marked."""
LIMIT = 2 * STEPS
"""The end of the axes, in steps."""
PLANE = 0.5
"""Height of the plane over its width: so both axes have the same scale, and angles are true."""
HEIGHT = 300
GAP = 8
"""Pixels between the vector and the matrix."""
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


def closest(degrees: float) -> float:
    """The distance of the two sums in `plane` that lie closest; 0 where two coincide."""
    steps = np.arange(1 - STEPS, STEPS)
    word, position = np.meshgrid(steps, steps)
    squares = word**2 + position**2 + 2 * word * position * np.cos(np.radians(degrees))
    return float(np.sqrt(np.abs(squares[(word != 0) | (position != 0)]).min()))


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
    shared = int((pairs > 1).sum())
    collisions = f"{shared} pairs share theirs with another" if shared else "no two pairs share one"
    text = (
        f"At {degrees}°, {len(frame)} pairs of a word and a position give {len(distinct)} different sums: {collisions}."
    )
    counted = f"{STEPS} × {STEPS} = {len(frame)}"
    alone = int((pairs == 1).sum())
    read = f"The parts of {alone} sums can be read back here" if shared else "The parts of every sum can be read back"
    return Figure(
        title=f"Eight words plus eight positions, {degrees}° apart",
        finding=f"At {degrees}°, the {counted} pairs have only {len(distinct)} different sums"
        if shared
        else f"At {degrees}°, all {counted} sums differ; the two closest are {closest(degrees):.2f} steps apart",
        frame=lambda: frame,
        caption=(
            f"{read}{'.' if shared else '; drag the angle to 0° to lose them.'} {text} Rings show where the sums lie "
            f"at 90°. Below: how far apart the two closest sums are, at every angle. "
            f"Words are 1 to {STEPS} steps along one axis, positions 1 to "
            f"{STEPS} steps along the other. Exact: nothing is sampled."
        ),
        alt=f"Dots in a plane, one a sum, larger where several pairs meet. {text}",
        command=command("reading_plane", angle=degrees),
        provenance=COMPUTED,
        draw=lambda theme: [_draw_plane(frame, degrees, theme), _draw_closest(degrees, theme)],
        proportions=(PLANE, 0.36),
    )


class Concatenation(NamedTuple):
    """A word and a position side by side, a matrix, and its left and right columns on their own."""

    word: Float[ndarray, " word"]
    position: Float[ndarray, " position"]
    matrix: Float[ndarray, "output dim"]

    @property
    def both(self) -> Float[ndarray, " dim"]:
        """[word ; position]."""
        return np.concatenate([self.word, self.position])

    @property
    def mapped(self) -> Float[ndarray, " output"]:
        """W [word ; position]."""
        return self.matrix @ self.both

    @property
    def parts(self) -> tuple[Float[ndarray, " output"], Float[ndarray, " output"]]:
        """W_left word and W_right position."""
        cut = len(self.word)
        return self.matrix[:, :cut] @ self.word, self.matrix[:, cut:] @ self.position


def concatenated(split: int) -> Concatenation:
    """The example: standard normal numbers, seed 0, the last `split` dimensions for the position."""
    rng = np.random.default_rng(0)
    vector = rng.standard_normal(WIDTH)
    return Concatenation(vector[: WIDTH - split], vector[WIDTH - split :], rng.standard_normal((WIDTH, OUTPUTS)).T)


def _ends_of_axis() -> tuple[float, float]:
    """The ends of the axis of outputs, the same for every split, so that a dot that stays is seen to stay."""
    splits = [concatenated(split) for split in range(1, WIDTH)]
    values = np.array([[*one.parts, sum(one.parts), one.mapped] for one in splits])
    return 1.05 * float(values.min()), 1.05 * float(values.max())


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
    rounding = f", but for rounding ({power_of_ten(error)} here)" if error else ", exactly"
    frame = pd.DataFrame(
        {
            "output": np.arange(1, OUTPUTS + 1),
            "word_part": word,
            "position_part": position,
            "sum": word + position,
            "concatenated": result.mapped,
        }
    )
    text = (
        f"With {plural(WIDTH - split, 'dimension')} for the word and {split} for the position, the concatenated "
        f"vector after the matrix is the sum of the two mapped parts{rounding}."
    )
    return Figure(
        title="Concatenated and mapped, or mapped and added",
        finding=f"{plural(WIDTH - split, 'dimension')} for the word, {split} for the position: concatenated and "
        "multiplied, or multiplied and added, the result is the same",
        frame=lambda: frame,
        caption=(
            f"{text} Cells: the vector (upper row) and, below it, the matrix, whose columns each meet the number above "
            "them; the dashed line separates those of the word from those of the position. Bars: what each part adds "
            "to every output, the second from where the first ends; dots: what the concatenation gives. Standard "
            "normal numbers, seed 0."
        ),
        alt=f"A vector and a matrix as coloured cells, and bars with dots on their sums. {text}",
        command=command("reading_concatenation", split=split),
        provenance=COMPUTED,
        draw=lambda theme: [_cells(result, theme), _bars(frame, theme)],
        columns=2,
    )


FLAT = 12
"""The angle in degrees below which the dots of one position lie in the row of the words' axis, or nearly."""


def _rows_of_one(degrees: int, x: alt.X, y: alt.Y, theme: Theme) -> list[Chart]:
    """A line through the sums of one word with every position, and one through those of one position with every word.

    Each has its name at its end, so that a reader sees which pair a dot is.
    """
    sums, index = plane(degrees), SHOWN - 1
    layers: list[Chart] = []
    ends_of: tuple[tuple[str, np.ndarray, dict[str, Any]], ...] = (
        ("word", sums[index], {"align": "center", "dy": -12}),
        # Nearly flat, the line ends among dots, and beside the other one.
        ("position", sums[:, index], {"align": "center", "dy": -30} if degrees < FLAT else {"align": "left", "dx": 12}),
    )
    for part, row, place in ends_of:
        colour = theme.colour(TERMS[part])
        ends = pd.DataFrame(row, columns=["x", "y"])
        line = alt.Chart(ends).mark_line(color=colour, strokeWidth=5, opacity=0.45).encode(x=x, y=y)
        name = alt.Chart(ends.tail(1)).encode(x=x, y=y)
        text = name.mark_text(text=f"{part} {SHOWN}", color=colour, fontSize=marks.PANEL_TITLE, **place)
        layers += [line, text]
    return layers


def _draw_plane(sums: pd.DataFrame, degrees: int, theme: Theme) -> Chart:
    """One dot a sum, larger and of another colour where several pairs meet; rings where the sums lie at 90°."""
    kinds = ["one pair", "several pairs"]
    frame = sums.assign(kind=lambda f: np.where(f.pairs > 1, kinds[1], kinds[0]))
    # A dot at which several pairs meet names them all.
    frame = (
        frame.assign(both=[f"{w} + {p}" for w, p in zip(frame.word, frame.position, strict=True)])
        .groupby(["x", "y", "pairs", "kind"], as_index=False)
        .agg(both=("both", ", ".join))
    )
    x = marks.number(alt.X, "x", "steps along the words' axis", domain=(0, LIMIT + 0.5))
    y = marks.number(alt.Y, "y", "steps across it", domain=(-0.6, LIMIT / 2 + 0.5))
    dots = alt.Chart(frame).mark_circle(opacity=0.85)
    dots = dots.encode(
        x=x,
        y=y,
        size=alt.Size("pairs:Q", scale=alt.Scale(domain=[1, 8], range=[marks.DOT, 7 * marks.DOT]), legend=None),
        color=marks.hues("kind", dict(zip(kinds, theme.many(2), strict=True))),
        tooltip=marks.tips(("both", "word + position"), ("pairs", "pairs with this sum")),
    )
    apart = pd.DataFrame(plane(90).reshape(-1, 2), columns=["x", "y"])
    rings = alt.Chart(apart).mark_point(size=marks.DOT, strokeWidth=1, color=theme.colour(SOFT), opacity=0.4)
    return marks.panel(
        rings.encode(x=x, y=y), *_rows_of_one(degrees, x, y, theme), dots, theme=theme, width=620, height=310,
        title="The sums",
        below=["dot: the sum of a pair; ring: where it lies at 90°",
               *["green, large: several pairs share one sum, their parts are lost"] * bool((sums.pairs > 1).any())],
    )  # fmt: skip


def _draw_closest(degrees: int, theme: Theme) -> Chart:
    """The distance of the two closest sums at every angle, with a dot at the chosen one."""
    angles = pd.DataFrame({"angle": range(91), "distance": [closest(angle) for angle in range(91)]})
    x = marks.number(alt.X, "angle", "angle between the two axes (degrees)", domain=(-2, 92), values=range(0, 91, 15))
    y = marks.number(alt.Y, "distance", "steps", domain=(-0.15, 1.3), values=(0, 0.5, 1))
    here = angles[angles.angle == degrees].assign(text=f"{closest(degrees):.2f}")
    dot = alt.Chart(here).encode(x=x, y=y)
    last = degrees > angles.angle.max() / 2
    number = dot.mark_text(
        align="right" if last else "left", dx=-2 if last else 10, dy=-14 if last else 0, fontSize=marks.PANEL_TITLE,
        fontWeight="bold", color=theme.ink,
    )  # fmt: skip
    return marks.panel(
        *marks.line_plot(
            angles, x=x, y=y, theme=theme, dots=0, tooltip=("angle", ("distance", "steps apart", ".2f")), width=3
        ),
        dot.mark_point(filled=True, size=2 * marks.LARGE_DOT, color=theme.ink, opacity=1),
        number.encode(text="text:N"),
        theme=theme,
        width=620,
        height=170,
        title="How far apart the two closest sums are",
        below=["a step: from one word, or one position, to the next"],
    )


def _cells(example: Concatenation, theme: Theme) -> Chart:
    """The vector above the matrix: each of its numbers above the column that it is multiplied with."""
    table = np.vstack([example.both, example.matrix])
    limit = float(np.abs(table).max())
    cells = heatmap(
        table,
        ["vector", *(str(k + 1) for k in range(OUTPUTS))],
        [str(k + 1) for k in range(WIDTH)],
        domain=(-limit, limit),
        row_title="W, one row an output",
        column_title="dimension",
        value_title="value",
        side=marks.THIRD,
        height=HEIGHT,
        theme=theme,
    )
    # The vector stands apart from the matrix.
    gap = alt.Chart(pd.DataFrame({"row": [1]})).mark_rule(color=theme.ground, strokeWidth=GAP)
    gap = gap.encode(y=alt.Y("row:O", bandPosition=0))
    cut = alt.Chart(pd.DataFrame({"column": [len(example.word)]}))
    line = cut.mark_rule(color=theme.ink, strokeDash=marks.DASH, strokeWidth=marks.LINE).encode(
        x=alt.X("column:O", bandPosition=0)
    )
    cut_at = len(example.word)
    return marks.panel(
        cells, gap, line, *_named_part("word", 0, cut_at, theme), *_named_part("position", cut_at, WIDTH, theme),
        theme=theme, width=marks.THIRD, height=HEIGHT, title="The vector, and the matrix W below it", below=[" "],
    )  # fmt: skip


def _named_part(part: str, first: int, end: int, theme: Theme) -> list[Chart]:
    """A line in the colour of a part above its columns, and its name above their middle."""
    colour, middle = theme.colour(TERMS[part]), (first + end) / 2
    columns = alt.Chart(pd.DataFrame({"column": range(first, end)}))
    line = columns.mark_rect(color=colour).encode(x="column:O", y=alt.value(-6), y2=alt.value(-3))
    at = alt.X("column:O", bandPosition=middle % 1)
    name = alt.Chart(pd.DataFrame({"column": [int(middle)]})).encode(x=at, y=alt.value(-14))
    return [line, name.mark_text(text=part, color=colour, fontSize=marks.TEXT)]


def _bars(frame: pd.DataFrame, theme: Theme) -> Chart:
    parts = {"word_part": "left columns × word", "position_part": "right columns × position"}
    concatenated = "W × [word ; position]"
    # The second bar begins where the first ends, so that it ends at the sum, where the dot has to be.
    colours = {name: theme.colour(TERMS[column.removesuffix("_part")]) for column, name in parts.items()}
    ends = {"word_part": (0.0 * frame["sum"], frame.word_part), "position_part": (frame.word_part, frame["sum"])}
    long = pd.concat(
        frame[["output"]].assign(part=parts[column], value=frame[column], start=start, end=end)
        for column, (start, end) in ends.items()
    )
    x = marks.categories(alt.X, "output", "output")
    y = marks.number(alt.Y, "end", "value", domain=_ends_of_axis(), ticks=6)
    offset = alt.XOffset("part:N", sort=list(parts.values()))
    bars = (
        alt.Chart(long)
        .mark_bar()
        .encode(
            x=x,
            y=y,
            y2=alt.Y2("start:Q"),
            xOffset=offset,
            color=marks.hues("part", colours),
            tooltip=marks.tips("output", "part", ("value", "", ".3f")),
        )
    )
    whole = alt.Chart(frame.assign(part=parts["position_part"])).mark_point(
        filled=True, size=2 * marks.LARGE_DOT, color=theme.ink, opacity=1, stroke=theme.ground, strokeWidth=2
    )
    dots = whole.encode(
        x=x,
        y=marks.same_axis(y, "concatenated"),
        xOffset=offset,
        tooltip=marks.tips("output", ("concatenated", concatenated, ".3f"), ("sum", "sum of the two parts", ".3f")),
    )
    below = ["blue: word part; orange: position part", "dot: both at once, concatenated"]
    return marks.panel(
        marks.rule(theme, y=0),
        bars,
        dots,
        theme=theme,
        width=marks.HALF,
        height=HEIGHT,
        title="What comes out",
        below=below,
    )
