"""Figures of the guided reading that are pure arithmetic: sums in a plane, and concatenation as a sum."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from analysis.core.formatting import plural, power_of_ten
from analysis.figures.figure import Figure, Parameters, figure, whole_number

STEPS = 8
"""Words, and positions, in the plane."""
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


@dataclass(frozen=True)
class PlaneContent:
    """frame: word, position, x, y, and how many pairs share the sum. limit: of the axes, in steps."""

    frame: pd.DataFrame
    limit: float


@figure("reading_plane", PlaneParameters)
def reading_plane(params: PlaneParameters) -> Figure[PlaneContent]:
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
            f"{text} The two sums that lie closest, of those that differ, are {nearest:.2f} steps apart. Words are 1 "
            f"to {STEPS} steps along one axis, positions 1 to {STEPS} steps along the other. Exact: nothing is "
            "sampled."
        ),
        alt=f"Dots in a plane, one a sum, larger where several pairs meet. {text}",
        command=command("reading_plane", angle=degrees),
        provenance=COMPUTED,
        content=PlaneContent(frame=frame, limit=2.0 * STEPS),
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


@dataclass(frozen=True)
class ConcatenationContent:
    """frame: a row an output. rows: the names of the vector's dimensions, the last `split` of them the position's."""

    frame: pd.DataFrame
    rows: list[str]
    split: int
    example: Concatenation


@figure("reading_concatenation", SplitParameters)
def reading_concatenation(params: SplitParameters) -> Figure[ConcatenationContent]:
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
        content=ConcatenationContent(frame=frame, rows=rows, split=split, example=result),
    )
