"""Step 4: the same words at later positions."""

from analysis.core.formatting import percent
from analysis.figures.reading.shift import HEADS, SENTENCE, changes, summary
from analysis.narrative import shift
from analysis.narrative.reading.base import Control, Destination, Step, Values, register


def says(values: Values) -> str:
    """The effect of a shift by one on the chosen head, and of the largest shift on all heads."""
    head = int(values["head"])
    first = percent(changes()[1, head], 1)
    return (
        f"When the sentence moves by a single position, head {head} sends {first} of its attention elsewhere. "
        f"{summary()}"
    )


register(
    Step(
        place=4,
        name="shift",
        title="The same words, later in the text",
        text=(
            "Three of those four questions refer to a position by its number. So a model that adds positions can "
            "tell a sentence at the start of a text from the same sentence further on, even though every distance "
            "between its words is the same. The article from Baobao Algorithm Notes says that **distances** matter "
            "more than numbers. Models that rotate queries and keys, or add a bias for each distance, see distances "
            "alone. Drag the sentence: the picture shows a real head of MiniLM's first layer. In a model that sees "
            "distances alone, the picture would stand still."
        ),
        documents=("004",),
        claims=("C22",),
        citations=("su2021roformer",),
        figure="reading_shift",
        controls=(Control(field="head", label="Head", options=lambda: list(range(HEADS))),),
        says=says,
        more=Destination(
            page="interventions",
            says="Shift the positions of any text, in any model",
            values=lambda values: {"text": " ".join(SENTENCE[1:-1]), "do": ("shift_positions",)},
        ),
        moving=lambda values: shift.picture(int(values["head"])),
    )
)
