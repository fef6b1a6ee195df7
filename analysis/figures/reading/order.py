"""The effect of shuffling words on attention without positions: a random network, with and without a causal mask."""

from collections.abc import Mapping
from typing import Annotated

import altair as alt
import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray
from scipy.special import softmax

from analysis.core.formatting import power_of_ten
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, whole_number
from analysis.figures.reading.arithmetic import COMPUTED, command

WORDS = ("we", "saw", "her", "dog", "run", "home")
PERMUTATION = (3, 0, 4, 2, 1, 5)
"""The index in `WORDS` of the word at each place after the shuffle; the last word stays last."""
DEPTHS = range(1, 7)
DIM, SEEDS = 16, 20
ROUNDING = 1e-14
"""A change below this is rounding."""
MASKS = {"every word sees all": False, "a word sees those before it": True}


def network(
    words: Float[ndarray, "token dim"], weights: Float[ndarray, "layer 3 dim dim"], *, causal: bool
) -> Float[ndarray, "token dim"]:
    """Layers of one-headed attention, each added to its input; no positions, no norms, no feed-forward."""
    count, dim = words.shape
    mask_bias = np.triu(np.full((count, count), -np.inf), 1) if causal else 0.0
    for query, key, value in weights:
        scores = (words @ query) @ (words @ key).T / np.sqrt(dim) + mask_bias
        words = words + softmax(scores, axis=-1) @ words @ value
    return words


def changes(depth: int) -> Float[ndarray, "mask seed token"]:
    """The movement of each word's output when all words but the last are shuffled, divided by the output's length."""
    result = np.empty((len(MASKS), SEEDS, len(WORDS)))
    order = np.array(PERMUTATION)
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        words = rng.standard_normal((len(WORDS), DIM))
        weights = rng.standard_normal((depth, 3, DIM, DIM)) / np.sqrt(DIM)
        for mask_index, causal in enumerate(MASKS.values()):
            before = network(words, weights, causal=causal)
            after = np.empty_like(before)
            after[order] = network(words[order], weights, causal=causal)
            result[mask_index, seed] = np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1)
    result.setflags(write=False)
    return result


def _finding(changes: Mapping[str, float]) -> str:
    """A sentence on the change in the last word's output under each mask."""
    if all(change < ROUNDING for change in changes.values()):
        return "When the other words are shuffled, the last word's output stays the same in both networks"
    start = "When the other words are shuffled, the last word's output"
    parts = (
        f"does not change where {mask}" if change < ROUNDING else f"changes by {change:.2g} of its length where {mask}"
        for mask, change in changes.items()
    )
    return f"{start} {', and '.join(parts)}"


class DepthParameters(Parameters):
    """The layers of the random network."""

    depth: Annotated[int, whole_number(DEPTHS[0], DEPTHS[-1])]


@figure("reading_order", DepthParameters)
def reading_order(params: DepthParameters) -> Figure:
    """The change of every word's output, with and without a causal mask."""
    depth = params.depth
    shifts = changes(depth)
    rows = [
        {
            "mask": mask,
            "word": word,
            "place": index,
            "change": shifts[mask_index, :, index].mean(),
            "low": shifts[mask_index, :, index].min(),
            "high": shifts[mask_index, :, index].max(),
        }
        for mask_index, mask in enumerate(MASKS)
        for index, word in enumerate(WORDS)
    ]
    frame = pd.DataFrame(rows)
    means = {mask: float(shifts[mask_index, :, -1].mean()) for mask_index, mask in enumerate(MASKS)}
    text = f"{_finding(means)}."
    layers = f"{depth} layer{'' if depth == 1 else 's'}"
    shuffled = " ".join(WORDS[index] for index in PERMUTATION)
    return Figure(
        title=f"“{' '.join(WORDS)}” or “{shuffled}”, {layers}",
        finding=_finding(means),
        frame=lambda: frame,
        caption=(
            f"{text} Change of each word's output when the others are shuffled, divided by the output's length; bars: "
            f"mean over {SEEDS} random networks of {layers} of attention, {DIM} dimensions, no positions; lines: "
            f"smallest to largest of them. A change below {power_of_ten(ROUNDING)} is rounding."
        ),
        alt=f"Bars, a word each, in two panels. {text}",
        command=command("reading_order", depth=depth),
        provenance=COMPUTED,
        citation_keys=("haviv2022nopos",),
        draw=lambda theme: _draw(frame, theme),
        columns=2,
    )


def _draw(frame: pd.DataFrame, theme: Theme) -> list[Chart]:
    """A bar a word; a panel with every word in sight, and one with those before alone."""
    results = []
    top = 1.05 * float(frame.high.max())
    y = marks.number(alt.Y, "change", "change of the output (share of its length)", domain=(0, top))
    for mask, colour in zip(MASKS, theme.many(2), strict=True):
        base = alt.Chart(frame[frame["mask"] == mask]).encode(
            x=marks.categories(alt.X, "word", "word, in the first order", WORDS),
            y=y,
            tooltip=marks.tips(
                "word", ("change", "mean change", ".3g"), ("low", "smallest", ".3g"), ("high", "largest", ".3g")
            ),
        )
        spans = base.mark_rule(color=theme.ink).encode(y=marks.same_axis(y, "low"), y2=alt.Y2("high:Q"))
        # Beside the line, at the bar's top, where no number can be taken for the end of a line.
        numbers = base.mark_text(dx=-11, dy=-6, color=theme.ink, fontSize=marks.TEXT)
        # A change that is rounding is printed as none.
        printed = f"datum.change < {ROUNDING} ? '0' : format(datum.change, '.1f')"
        numbers = numbers.transform_calculate(printed=printed).encode(text=alt.Text("printed:N"))
        bars = base.mark_bar(color=colour)
        results.append(
            marks.panel(
                bars,
                spans,
                numbers,
                marks.rule(theme, y=0),
                theme=theme,
                width=marks.HALF,
                height=240,
                title=mask,
                below=[f"bar: mean of {SEEDS} networks; line: smallest to largest"],
            )
        )
    return results
