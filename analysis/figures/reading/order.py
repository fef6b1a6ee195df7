"""The effect of shuffling words on attention without positions: a random network, with and without a causal mask."""

from collections.abc import Mapping
from typing import Annotated

import altair as alt
import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray
from scipy.special import softmax

from analysis.core import frames
from analysis.core.formatting import fixed, plural, power_of_ten
from analysis.figures import marks
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, whole_number
from analysis.figures.panels import names_at
from analysis.figures.reading.arithmetic import COMPUTED, command
from analysis.literature import tables

WORDS = ("we", "saw", "her", "dog", "run", "home")
PERMUTATION = (3, 0, 4, 2, 1, 5)
"""The index in `WORDS` of the word at each place after the shuffle; the last word stays last."""
DEPTHS = range(1, 7)
DIM, SEEDS = 16, 20
MIDDLE = (0.25, 0.75)
"""The quantiles of the networks at which the band ends."""
ROUNDING = 1e-14
"""A change below this is rounding."""
CAUSAL, MASKED = "causal", "masked"
TABLES = {"haviv2022nopos|Table 1": CAUSAL, "haviv2022nopos|Table 4": MASKED}
"""Published tables -> the mask of their models."""
MASKS = {"every word sees all": False, "a word sees only those before it": True}


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
    return result


def _finding(last_word: Mapping[str, float]) -> str:
    """A sentence on the change in the last word's output under each mask."""
    start = f"The other words shuffled, “{WORDS[-1]}”"
    if all(change < ROUNDING for change in last_word.values()):
        return f"{start} stays the same, whichever words it sees"
    moves = [
        f"by {fixed(change)} of its length where {mask}" for mask, change in last_word.items() if change >= ROUNDING
    ]
    return f"{start} moves {' and '.join(moves)}" + ("; else not at all" if len(moves) < len(last_word) else "")


class DepthParameters(Parameters):
    """The layers of the random network."""

    depth: Annotated[int, whole_number(DEPTHS[0], DEPTHS[-1])]


@figure("reading_order", DepthParameters)
def reading_order(params: DepthParameters) -> Figure:
    """The change of the last word's output at every depth, with and without a causal mask; one depth stands out."""
    depth = params.depth
    moved = {layers: changes(layers)[:, :, -1] for layers in DEPTHS}
    frame = pd.DataFrame(
        {
            "mask": mask,
            "layers": layers,
            "change": np.median(last),
            "low": last.min(),
            "high": last.max(),
            "lower": np.quantile(last, MIDDLE[0]),
            "upper": np.quantile(last, MIDDLE[1]),
        }
        for mask_index, mask in enumerate(MASKS)
        for layers in DEPTHS
        for last in [moved[layers][mask_index]]
    )
    text = _finding({row.mask: row.change for row in frames.rows(frame[frame.layers == depth])})
    shuffled = " ".join(WORDS[index] for index in PERMUTATION)
    return Figure(
        title=f"“{' '.join(WORDS)}” or “{shuffled}”, {plural(depth, 'layer')}",
        finding=text,
        frame=lambda: frame,
        caption=(
            f"Lines: median of {SEEDS} random networks without positions, by their layers; band: the middle half of "
            "these. "
            f"Each is of attention alone, in {DIM} dimensions. A change below {power_of_ten(ROUNDING)} is rounding."
        ),
        alt=f"Two orders of the same words, and two lines of change against layers. {text}.",
        command=command("reading_order", depth=depth),
        provenance=COMPUTED,
        citation_keys=("haviv2022nopos",),
        draw=lambda theme: [_orders(theme), _lines(frame, depth, theme)],
    )


def _orders(theme: Theme) -> Chart:
    """Both orders of the words, with a line from each word's first place to its second; the last one's is heavy."""
    first, second = "first", "shuffled"
    frame = pd.DataFrame(
        {"word": word, "place": place, "order": order, "stays": place == len(WORDS) - 1}
        for order, words in ((first, WORDS), (second, [WORDS[index] for index in PERMUTATION]))
        for place, word in enumerate(words)
    )
    base = alt.Chart(frame).encode(
        x=alt.X("place:Q", axis=None, scale=alt.Scale(domain=[-0.4, len(WORDS) - 0.6])),
        y=alt.Y(
            "order:N",
            sort=[first, second],
            scale=alt.Scale(type="point"),
            axis=alt.Axis(title=None, domain=False, ticks=False, grid=False, labelFontSize=marks.TEXT),
        ),
    )
    moves = base.mark_line().encode(
        detail="word:N",
        color=alt.condition("datum.stays", alt.value(theme.ink), alt.value(GREY)),
        strokeWidth=alt.condition("datum.stays", alt.value(2.5), alt.value(1)),
    )
    texts = base.encode(text="word:N")
    weight = alt.expr("datum.stays ? 'bold' : 'normal'")
    return marks.panel(
        moves,
        texts.mark_text(fontSize=14, fontWeight=weight, stroke=theme.ground, strokeWidth=10, strokeJoin="round"),
        texts.mark_text(fontSize=14, fontWeight=weight, color=theme.ink),
        theme=theme,
        width=marks.HALF,
        height=70,
        title="The same words twice",
    )


def _lines(frame: pd.DataFrame, depth: int, theme: Theme) -> Chart:
    """The last word's change against the layers: a line for each mask with its name, and a dot at the chosen depth."""
    x = marks.number(
        alt.X, "layers", "layers", domain=(DEPTHS[0] - 0.2, DEPTHS[-1] + 0.2), values=list(DEPTHS), form="d"
    )
    top = 1.1 * float(frame.upper.max())
    y = marks.number(
        alt.Y, "change", [f"how far the output of “{WORDS[-1]}”", "moves (share of its length)"], domain=(-0.12, top),
        values=[0, 0.5, 1, 1.5],
    )  # fmt: skip
    hues = dict(zip(MASKS, theme.many(len(MASKS)), strict=True))
    # A change that is rounding is printed as none.
    written = [f"{change:.2g}" if change > ROUNDING else "0" for change in frame.change]
    rows = frame.assign(written=written, hue=frame["mask"].map(hues))
    chosen = rows[rows.layers == depth].drop_duplicates("written")
    numbers = alt.Chart(chosen).encode(x=x, y=y, text="written:N")
    # Names stand where no number does: that of the lower line right of it or left, the upper one's below its band.
    lower, upper = MASKS
    at = {lower: DEPTHS[-1] if depth < DEPTHS[3] else depth - 1, upper: DEPTHS[-1]}
    named = rows[rows.layers == rows["mask"].map(at)].assign(
        name=lambda named: named["mask"].str.replace("only ", "only\n"), align="right", dx=0, dy=[-16.0, 0.0],
        change=lambda named: named.change.where(named["mask"] == lower, named.lower / 2),
    )  # fmt: skip
    return marks.panel(
        marks.rule(theme, x=depth, dash=marks.DASH),
        *marks.line_plot(
            rows, x=x, y=y, theme=theme, ends=("lower", "upper"), band=True, color=marks.hues("mask", hues),
            tooltip=("mask", "layers", ("change", "", ".2g"), ("low", "smallest", ".2g"), ("high", "largest", ".2g")),
            dots=marks.SEED,
        ),
        alt.Chart(rows[rows.layers == depth])
        .mark_point(filled=True, size=2 * marks.LARGE_DOT, opacity=1)
        .encode(x=x, y=y, color=marks.hues("mask", hues)),
        *names_at(named, x, y, theme),
        numbers.mark_text(dy=-16, fontSize=14, fontWeight="bold", stroke=theme.ground, strokeWidth=5),
        numbers.mark_text(dy=-16, fontSize=14, fontWeight="bold", color=theme.ink),
        theme=theme,
        width=marks.HALF,
        height=210,
        title="Random networks without positions",
    )  # fmt: skip


def published_pairs() -> pd.DataFrame:
    """The perplexities of published models with and without learned positions: a row a model.

    Columns: kind, model, learned, without.
    """
    found = []
    for table, kind in TABLES.items():
        rows = tables.load(table).scores
        pairs = rows[rows.row.isin(("NoPos", "Learned"))].pivot(index="column", columns="row", values="value").dropna()
        found.append(
            pd.DataFrame({"kind": kind, "model": pairs.index, "learned": pairs.Learned, "without": pairs.NoPos})
        )
    return pd.concat(found, ignore_index=True)
