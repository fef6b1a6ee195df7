"""Step 8: what attention sees of order: nothing without positions, and with added ones more than distances."""

from analysis.core.formatting import percent, signed
from analysis.figures.reading.order import DEPTHS
from analysis.figures.reading.shift import HEADS, SENTENCE, changes, summary
from analysis.literature import tables as published
from analysis.narrative.reading.base import Control, Destination, Picture, Step, Values, register

TABLE = "haviv2022nopos|Table 1"
MASKED_TABLE = "haviv2022nopos|Table 4"
MOVED = "moved"
"""The name of the second picture."""


def says(values: Values) -> str:
    """The published gain of positions; or the effect of a shift on the chosen head and on all."""
    return moved(int(values["head"])) if values["part"] == MOVED else shuffled()


def moved(head: int) -> str:
    """The effect of a shift by one on the chosen head, and of the largest shift on all heads."""
    first = percent(changes()[1, head], 1)
    return (
        f"When the sentence moves by a single position, head {head} sends {first} of its attention elsewhere. "
        f"{summary()} In a model that sees distances alone, every one of these numbers would be zero."
    )


def shuffled() -> str:
    """The published gain in perplexity that positions give to causal and to masked models."""
    parts = []
    for table, kind in ((TABLE, "causal"), (MASKED_TABLE, "masked")):
        rows = published.load(table).scores
        pairs = rows[rows.row.isin(("NoPos", "Learned"))].pivot(index="column", columns="row", values="value")
        gaps = (pairs.NoPos - pairs.Learned).dropna()
        parts.append(f"{' and '.join(signed(gap) for gap in gaps)} for {kind} language models")
    return (
        "Haviv et al. (2022) trained models with and without learned positions. Without them the perplexity (as if the "
        "model chose among so many equally likely words) differs by "
        f"{', and by '.join(parts)}; above zero, positions help. One number per model and corpus."
    )


register(
    Step(
        place=8,
        name="order",
        title="What attention sees of order",
        text=(
            "Attention alone treats a text as a bag of words: shuffle them, and every word gets the same result as "
            "before, as an answer on Stack Exchange points out. Stacking layers does not change that. A **causal "
            "mask** does, from two layers on: where a word sees only the words before it, what those have seen depends "
            "on where they stand. The first picture shuffles all words but the last in random networks without "
            "positions; watch the last word. The second moves a sentence to later positions in a real model. Positions "
            "that are added are numbers, so its attention changes although every distance between words stays. The "
            "article from Baobao Algorithm Notes says that **distances** matter more. Models that rotate queries and "
            "keys see distances alone."
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
                label="Move the sentence",
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
