"""Step 8: what attention sees of order: nothing without positions, and with added ones more than distances."""

import pandas as pd

from analysis.core import frames
from analysis.core.formatting import fixed, join_names, percent
from analysis.figures.reading.order import CAUSAL, DEPTHS, MASKED, published_pairs
from analysis.figures.reading.shift import HEADS, SENTENCE, changes, summary
from analysis.narrative.reading.step import Control, Destination, Picture, Step, Values, register

MOVED = "moved"
"""The name of the second picture."""
MOVE = "Move the sentence"
"""The words on the button that shows it."""


def says(values: Values) -> str:
    """The published gain of positions; or the effect of a shift on the chosen head and on all."""
    return moved(int(values["head"])) if values["part"] == MOVED else shuffled()


def moved(head: int) -> str:
    """The effect of a shift by one on the chosen head, and of the largest shift on all heads."""
    first = percent(changes()[1, head], 1)
    return (
        f"When the sentence moves by a single position, head {head} sends {first} of its attention elsewhere. "
        f"{summary()} Where scores depend on places through distances alone, all of these would be zero."
    )


def shuffled() -> str:
    """The published perplexities of causal and of masked models, with positions and without."""
    parts, names = [], {CAUSAL: "causal models", MASKED: "masked ones"}
    for kind, pairs in published_pairs().groupby("kind", sort=False):
        changes = join_names(f"from {fixed(row.learned)} to {fixed(row.without)}" for row in frames.rows(pairs))
        parts.append(f"{direction(pairs.without - pairs.learned)} {changes} in {names[str(kind)]}")
    return (
        "Haviv et al. (2022) trained models with and without learned positions. Their numbers are perplexities: among "
        f"how many equally likely words a model seems to choose. Without positions this {', and '.join(parts)}. Each "
        "pair is of one model and corpus, and was read in a transcription or a note of the paper, not in itself."
    )


def direction(changes: pd.Series) -> str:
    """The verb that describes changes: one for all that rise, for all that fall, and for those that do not agree."""
    return "rises" if (changes > 0).all() else "falls" if (changes < 0).all() else "changes"


register(
    Step(
        place=8,
        name="order",
        title="What attention sees of order",
        text=(
            "Attention alone treats a text as a bag of words, as an answer on Stack Exchange points out: shuffle the "
            "other words, and a word gets exactly the same result, however many layers there are. With a **causal "
            "mask** a word sees only the words before it. From two layers on, that gives the order away to the last "
            "word: an early word has seen few others, a late one many, and the last one reads what each has seen. "
            "Choose the layers and watch the last word.\n\n"
            f"Press **{MOVE}** to do the opposite to a real model: the whole sentence moves, so that "
            "every **distance** stays. The article from Baobao Algorithm Notes holds that "
            "distances matter more than places. Where positions are added, attention changes nevertheless. Where "
            "queries and keys are rotated, a score depends on places only through the signed distance; a causal mask "
            "or a first token can still give the place away."
        ),
        documents=("003", "004"),
        claims=("C14", "C16", "C22"),
        citations=("haviv2022nopos", "su2021roformer"),
        pictures=(
            Picture(
                label="Shuffle the words",
                figure="reading_order",
                controls=(Control(field="depth", label="Layers", options=lambda: list(DEPTHS)),),
            ),
            Picture(
                name=MOVED,
                label=MOVE,
                figure="reading_shift",
                controls=(Control(field="head", label="Head", options=lambda: list(range(HEADS))),),
            ),
        ),
        says=says,
        more=Destination(
            page="inside",
            says="Shift or shuffle the positions of any text, in any model",
            values=lambda values: {
                "tab": "change",
                "look": "heads",
                "text": " ".join(SENTENCE[1:-1]),
                "do": ("shift_positions",),
            },
        ),
    )
)
