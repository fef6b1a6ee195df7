"""The sum that enters a real model: a word's vector, a position's, a segment's, and what they make."""

from functools import cache
from typing import Annotated, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray
from safetensors import safe_open

from analysis.core import default_model, frames
from analysis.core.colours import TERMS
from analysis.core.errors import LinkError
from analysis.core.formatting import percent, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, whole_number
from analysis.store import read

WORDS = ("king", "queen", "dog", "river", "run", "the")
RETIRED = ("slave",)
"""Words of the documents' own example, which older links name and which are not offered any more."""
POSITIONS = 512
TABLES = ("word_embeddings", "position_embeddings", "token_type_embeddings")
SEGMENT = 0
BAR = 30
"""Pixels of the height of the bar of parts."""
POWER = 2
"""The power that gives a value from the place of its colour: small values are seen beside a few large ones."""
WITHIN = 0.99
"""The share of all values that the scale of colours covers; the largest of a sum is named in numbers."""


def summands(word: str, position: int) -> Float[ndarray, "3 dim"]:
    """The rows of the embedded model's word, position and segment tables that meet in a sum. Reads no other row."""
    folder = default_model.folder()
    vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    indices = (vocabulary.index(word), position, SEGMENT)
    with safe_open(folder / "model.safetensors", framework="numpy") as weights:
        tables = (weights.get_slice(f"embeddings.{name}.weight") for name in TABLES)
        rows = np.stack([table[index] for table, index in zip(tables, indices, strict=True)]).astype(np.float64)
    rows.setflags(write=False)
    return rows


class Scale(NamedTuple):
    """The ends of the scales of every sum: of the colours of dimensions, and of the lengths of vectors.

    Colours cover all but the largest values, and those of position 0, where in training no word stood, are not asked:
    it is several times as long as the others. The axis of lengths holds every vector.
    """

    value: float
    length: float


@cache
def scale() -> Scale:
    """One scale for all words at all positions, so that moving a word changes no vector that stays the same."""
    folder = default_model.folder()
    vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    with safe_open(folder / "model.safetensors", framework="numpy") as weights:
        words, positions, segments = (weights.get_slice(f"embeddings.{name}.weight") for name in TABLES)
        chosen = np.stack([words[vocabulary.index(word)] for word in (*WORDS, *RETIRED)])
        sums = (chosen[:, None] + positions[:POSITIONS] + segments[SEGMENT]).astype(np.float64)
        usual = np.concatenate([chosen, positions[1:POSITIONS], sums[:, 1:].reshape(-1, sums.shape[-1])])
    return Scale(float(np.quantile(np.abs(usual), WITHIN)), float(np.linalg.norm(sums, axis=-1).max()))


PARTS = {
    "residual_share": "each token's own, mostly its word",
    "position_share": "position",
    "mean_share": "the mean of all tokens, segment 0 included",
    "context_share": "shared by the words of a text",
}
"""Parts of the squared length of what enters the first layer: column of the stored means -> its name."""


def input_parts() -> pd.DataFrame:
    """The stored shares of the parts of the first layer's input, in one row; empty where they are not measured."""
    return read.query(
        "SELECT * FROM newest_means WHERE model = ? AND layer = 0 ORDER BY created DESC LIMIT 1", [default_model.NAME]
    )


class SumParameters(Parameters):
    """A word and the position that it stands at."""

    word: str
    position: Annotated[int, whole_number(0, POSITIONS - 1)]


FIRST_POSITION = " Position 0 is unlike the others: in training only [CLS] stood there, and never a word."
NEAR, FAR = 0.8, 0.5
"""Cosines of the sum with the word: above the first it points where the word does; below the second, elsewhere too."""


def _finding(summed: str, cosine: float, to_position: float) -> str:
    """A sentence on the cosine between the sum and the word, or on both where that with the position is larger."""
    value = f"their cosine is {signed(cosine)}"
    if to_position > cosine:
        return f"{summed} is nearer to the position (cosine {signed(to_position)}) than to the word ({signed(cosine)})"
    if cosine > NEAR:
        return f"{summed} still points where the word does: {value}"
    if cosine >= FAR:
        return f"{summed} is turned away from the word by {np.degrees(np.arccos(cosine)):.0f}°: {value}"
    return f"{summed} is as much position as word: {value}"


@figure("reading_sum", SumParameters)
def reading_sum(params: SumParameters) -> Figure:
    """The three summands and their sum, dimension by dimension."""
    word, position = params.word, params.position
    if word not in (*WORDS, *RETIRED):
        raise LinkError(f"The link says word={word!r}; expected one of: {', '.join(WORDS)}.")
    parts = summands(word, position)
    names = [f"word “{word}”", f"position {position}", f"segment {SEGMENT}", "sum"]
    values = np.vstack([parts, parts.sum(0)])
    frame = frames.cells(values, "value", part=names, dimension=None)
    lengths = np.linalg.norm(values, axis=1)
    cosine = float(parts[0] @ parts[1] / (lengths[0] * lengths[1]))
    cosine_to_sum, position_to_sum = (float(parts[i] @ values[3] / (lengths[i] * lengths[3])) for i in (0, 1))
    text = (
        f"Lengths: {', '.join(f'{name} {length:.2f}' for name, length in zip(names, lengths, strict=True))}. "
        f"Cosine of word and position {signed(cosine)}, of word and sum {signed(cosine_to_sum)}."
    )
    return Figure(
        title=f"“{word}” at position {position}",
        finding=_finding(f"The sum of “{word}” and position {position}", cosine_to_sum, position_to_sum),
        frame=lambda: frame,
        caption=(
            f"{values.shape[1]} dimensions of {default_model.NAME}, before the LayerNorm that follows the sum. All "
            f"words and positions have the same scales; colours are stretched around zero, so that small values "
            f"are seen. The strips order the dimensions by the word's values. {text} "
            f"Exact: the model's own tables.{FIRST_POSITION if position == 0 else ''}"
        ),
        alt=f"Four strips of coloured cells, one a summand and one their sum. {text}",
        command=f"python -m analysis export '/read?word={word}&position={position}' --figure reading_sum "
        "-o reading_sum.csv",
        provenance={"model": f"{default_model.NAME} ({default_model.REVISION})", "weights": ", ".join(TABLES)},
        citation_keys=default_model.CITATION_KEYS,
        draw=lambda theme: [
            *_draw(values, names, theme),
            *(_draw_parts(row[[*PARTS]].astype(float), row.windows, theme) for _, row in input_parts().iterrows()),
        ],
    )


def _draw(values: Float[ndarray, "part dim"], names: list[str], theme: Theme) -> list[Chart]:
    """A strip a summand, one for the sum, on one scale; and the lengths of the four.

    Dimensions stand in the order of the word's values, so that the word is one slope, and how much of that slope is
    left in the sum is seen at once: in the order of the tables both strips look like noise.
    """
    row, column = (index.ravel() for index in np.indices(values.shape))
    place = _places(values)[column]
    frame = pd.DataFrame(
        {
            "part": np.array(names)[row],
            "dimension": column,
            "place": place,
            "end": place + 1,
            "value": values.ravel(),
        }
    )
    limit = scale().value
    beyond = f"; colours end at ±{limit:.2g}" if np.abs(values).max() > limit else ""
    key = marks.legend(f"value{beyond}")
    cells = alt.Chart(frame).mark_rect()
    cells = cells.encode(
        x=marks.number(
            alt.X,
            "place",
            "dimensions",
            domain=(0, values.shape[1]),
            ticks=6,
            grid=False,
        ),
        x2=alt.X2("end:Q"),
        y=marks.categories(alt.Y, "part", None, names),
        color=alt.Color("value:Q", scale=_rooted(theme.around_zero(limit)), legend=key),
        tooltip=marks.tips("part", "dimension", ("value", "", ".4f")),
    )
    lengths = pd.DataFrame({"part": names, "length": np.linalg.norm(values, axis=1)})
    y = marks.categories(alt.Y, "part", None, names)
    bars = alt.Chart(lengths).encode(
        x=marks.number(alt.X, "length", "length of the vector", domain=(0, 1.1 * scale().length), ticks=5),
        y=y,
        tooltip=marks.tips("part", ("length", "", ".3f")),
    )
    hues = [*(theme.colour(TERMS[term]) for term in ("word", "position", "segment")), theme.ink]
    numbers = bars.mark_text(align="left", dx=5, color=theme.ink, fontSize=marks.TEXT)
    return [
        marks.panel(
            cells,
            theme=theme,
            width=marks.WIDE,
            height=170,
            title="Value by dimension",
            below=["from the word's highest value to its lowest"],
        ),
        marks.panel(
            bars.mark_bar().encode(color=marks.hues("part", dict(zip(names, hues, strict=True)))),
            numbers.encode(text=alt.Text("length:Q", format=".2f")),
            theme=theme,
            width=marks.WIDE,
            height=130,
            title="Their lengths",
            below=_lengths(values),
        ),
    ]


def _draw_parts(shares: pd.Series, windows: int, theme: Theme) -> Chart:
    """One bar of the parts of the squared length; their names and numbers stand in the legend."""
    names = [f"{name}: {percent(share, 1)}" for name, share in zip(PARTS.values(), shares, strict=True)]
    end = 100 * shares.cumsum()
    frame = pd.DataFrame({"part": names, "start": end - 100 * shares, "end": end})
    colours = [*(theme.colour(TERMS[term]) for term in ("word", "position")), theme.faint, theme.colour(TERMS["bias"])]
    bar = (
        alt.Chart(frame)
        .mark_bar(height=BAR, stroke=theme.ground)
        .encode(
            x=marks.number(alt.X, "start", "% of the squared length", domain=(0, 100), nice=False, ticks=5),
            x2=alt.X2("end:Q"),
            color=marks.hues("part", dict(zip(names, colours, strict=True)), marks.legend()),
        )
    )
    title = f"What enters the first layer, over {windows:,} texts"
    return marks.panel(bar, theme=theme, width=marks.WIDE, height=BAR + 10, title=title)


def _places(values: Float[ndarray, "part dim"]) -> Int[ndarray, " dim"]:
    """The place of each dimension among those of the word, 0 for its highest value."""
    return np.argsort(np.argsort(-values[0]))


def _rooted(colours: alt.Scale) -> alt.Scale:
    """The same colours, stretched around zero."""
    places = np.array(colours["domain"])
    ends = np.abs(places).max()
    warped = np.sign(places) * ends * np.abs(places / ends) ** POWER
    return alt.Scale(domain=warped.tolist(), range=colours["range"], clamp=True, interpolate="rgb")


def _lengths(values: Float[ndarray, "part dim"]) -> list[str]:
    """Lines on why the length of the sum is not the sum of the lengths."""
    *parts, whole = np.linalg.norm(values, axis=1)
    upright = float(np.sqrt(np.square(parts).sum()))
    squares = " + ".join(f"{length:.2f}²" for length in parts)
    return [
        "At right angles squares add up, not lengths:",
        f"√({squares}) = {upright:.2f}; the sum is {whole:.2f} long.",
    ]
