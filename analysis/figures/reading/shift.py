"""A sentence moved to later positions: what a real model's first layer then attends to, computed from its weights."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Annotated

import altair as alt
import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray
from safetensors import safe_open
from scipy.special import softmax

from analysis.core import default_model, frames
from analysis.core.colours import TERMS
from analysis.core.formatting import percent
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, whole_number

SENTENCE = ("[CLS]", "the", "keys", "to", "the", "old", "cabinet", "are", "on", "the", "table", ".", "[SEP]")
SHIFTS = range(101)
HEADS = 12
NORM_EPSILON = 1e-12
"""The config's `layer_norm_eps`."""
LAYER = "encoder.layer.0.attention.self"


def _rows(names: Mapping[str, list[int] | range]) -> Iterator[Float[ndarray, "row dim"]]:
    with safe_open(default_model.folder() / "model.safetensors", framework="numpy") as weights:
        for name, rows in names.items():
            table = weights.get_slice(f"embeddings.{name}.weight")
            yield np.concatenate([table[row : row + 1] for row in rows]).astype(np.float64)


@lru_cache(maxsize=1)
def patterns() -> Float[ndarray, "shift head query key"]:
    """The first layer's attention to the sentence, when token i has the embedding of position i + shift."""
    vocabulary = (default_model.folder() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    count = len(SENTENCE)
    words, positions, segment = _rows(
        {
            "word_embeddings": [vocabulary.index(word) for word in SENTENCE],
            "position_embeddings": range(count + SHIFTS[-1]),
            "token_type_embeddings": [0],
        }
    )
    with safe_open(default_model.folder() / "model.safetensors", framework="numpy") as weights:
        norm, sides = (
            [
                [weights.get_tensor(f"{module}.{part}").astype(np.float64) for part in ("weight", "bias")]
                for module in modules
            ]
            for modules in (["embeddings.LayerNorm"], [f"{LAYER}.query", f"{LAYER}.key"])
        )
    ((gain, offset),) = norm
    positions_by_shift = np.add.outer(np.array(SHIFTS), np.arange(count))
    summed = words + positions[positions_by_shift] + segment
    centred = summed - summed.mean(-1, keepdims=True)
    states = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + NORM_EPSILON) * gain + offset
    query, key = (
        (states @ weight.T + bias).reshape(len(SHIFTS), count, HEADS, -1).swapaxes(1, 2) for weight, bias in sides
    )
    result = softmax(query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]), axis=-1)
    result.setflags(write=False)
    return result


def changes() -> Float[ndarray, "shift head"]:
    """The share of its attention that a token moves elsewhere, mean over tokens: total variation to shift 0."""
    return np.abs(patterns() - patterns()[0]).sum(-1).mean(-1) / 2


def summary() -> str:
    """A sentence on the heads that change least and most when the sentence is moved by the largest shift."""
    last = changes()[-1]
    lowest, highest = int(last.argmin()), int(last.argmax())
    return (
        f"When it moves by {SHIFTS[-1]}, the {HEADS} heads of the layer send between {percent(last[lowest], 1)} (head "
        f"{lowest}) and {percent(last[highest], 1)} (head {highest}) elsewhere."
    )


class MovedSentenceParameters(Parameters):
    """The head that stands out."""

    head: Annotated[int, whole_number(0, HEADS - 1)]


@figure("reading_shift", MovedSentenceParameters)
def reading_shift(params: MovedSentenceParameters) -> Figure:
    """The share of every head's attention that goes elsewhere when the sentence is moved."""
    head = params.head
    frame = frames.cells(changes(), "change", shift=None, head=None)
    text = (
        f"Moved by {SHIFTS[-1]} positions, with every distance kept, head {head} sends "
        f"{percent(changes()[-1, head], 1)} of its attention elsewhere"
    )
    return Figure(
        title="Attention of the first layer when a sentence is moved to later positions",
        finding=text,
        frame=lambda: frame,
        caption=(
            f"“{' '.join(SENTENCE[1:-1])}” in {default_model.NAME}: token i has the embedding of position "
            "i + shift. One line per head; 0 % means that attention does not change, as in a model that uses distances "
            "alone. Exact: the model's own weights, one sentence, the first layer."
        ),
        alt=f"A line a head, over the shift from 0 to {SHIFTS[-1]}. {text}.",
        command=f"python -m analysis export '/read?step=shift&head={head}' --figure reading_shift -o reading_shift.csv",
        provenance={
            "model": f"{default_model.NAME} ({default_model.REVISION})",
            "computed": "in float64 from the weights",
        },
        citation_keys=default_model.CITATION_KEYS,
        draw=lambda theme: [_draw(frame, head, theme)],
    )


def _draw(frame: pd.DataFrame, head: int, theme: Theme) -> Chart:
    """A line a head; the chosen one stands out and is named at its end."""
    x = marks.number(alt.X, "shift", "positions that the sentence is moved by", nice=False)
    y = marks.number(alt.Y, "change", "attention that goes elsewhere", form="%")
    tooltip: tuple[marks.Tip, ...] = ("head", ("shift", "moved by"), ("change", "attention that goes elsewhere", ".1%"))
    chosen = frame[frame["head"] == head]
    layers = [
        *marks.line_plot(
            frame[frame["head"] != head], x=x, y=y, theme=theme, color=theme.faint, detail="head:N", width=1, dots=0,
            tooltip=tooltip,
        ),
        *marks.line_plot(
            chosen, x=x, y=y, theme=theme, color=theme.colour(TERMS["position"]), width=3, dots=0, tooltip=tooltip
        ),
    ]  # fmt: skip
    end = alt.Chart(chosen.nlargest(1, "shift")).mark_text(align="left", dx=5, color=theme.ink, fontSize=marks.TEXT)
    label = end.encode(x=x, y=y, text=alt.value(f"head {head}"))
    title = f"orange: head {head}; grey: the {HEADS - 1} other heads"
    return marks.panel(*layers, label, theme=theme, width=marks.WIDE, height=260, title=title)
