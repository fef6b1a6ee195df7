"""Step 6: what a state as wide as words alone saves, by formula for a real model and counted for our own."""

from analysis.core.errors import NoResults
from analysis.core.formatting import sentences
from analysis.figures.reading.saving import EXTRA
from analysis.narrative.answer.stored_answer import answer
from analysis.narrative.reading.step import Control, Destination, Picture, Step, Values, register


def says(values: Values) -> str:
    """The sentence of the answer on costs, with that on our own encoders. Raises NoResults where it is not stored."""
    step = next((step for step in answer() if step.name == "cost"), None)
    if step is None:
        raise NoResults("No costs are stored yet. Run: python -m analysis measure costs --help")
    # The parameters of the real model stand in the picture.
    return sentences(step.sentence, *step.further.splitlines()[1:])


register(
    Step(
        place=6,
        name="saving",
        title="What a narrower state saves",
        text=(
            "Answers on Stack Exchange say what concatenating costs: it takes dimensions away from words, or it "
            "makes the whole model wider. With narrower words the width stays, and with it the arithmetic of the "
            "layers. A third way, to concatenate and project back, costs next to nothing and is a sum again.\n\nA "
            "layer multiplies by matrices that are as high and as wide as the model. Carry p dimensions for "
            "positions beside the d of words through every layer, and every matrix grows **in both directions**: its "
            "arithmetic grows by (1 + p/d)² − 1. (The products of queries with keys grow by p/d alone; of short "
            "texts they are a small part, and are left out here.) Parameters grow less, since the table of words "
            "stays, and that of positions shrinks from d columns to p. Choose how many dimensions positions get."
        ),
        documents=("000", "001", "003"),
        claims=("C01",),
        pictures=(
            Picture(
                figure="reading_saving",
                controls=(Control(field="extra", label="Dimensions for positions", options=lambda: EXTRA),),
            ),
        ),
        says=says,
        more=Destination(page="choose", says="Costs of every way, measured", values=lambda values: {"part": "cost"}),
    )
)
