"""Step 6: what a state as wide as words alone saves, by formula for a real model and counted for our own."""

import numpy as np

from analysis.core import default_model
from analysis.core.errors import NoResults
from analysis.core.formatting import percent, sentences
from analysis.figures.reading.saving import EXTRA, more_arithmetic
from analysis.measurements.surgery.arms import RANK
from analysis.narrative.answer.stored_answer import answer
from analysis.narrative.reading.step import Control, Destination, Picture, Step, Values, register
from analysis.store import read


def says(values: Values) -> str:
    """The sentence of the answer on costs, with that on our own encoders. Raises NoResults where it is not stored."""
    step = next((step for step in answer() if step.name == "cost"), None)
    if step is None:
        raise NoResults("No costs are stored yet. Run: python -m analysis measure costs --help")
    # The parameters of the real model stand in the picture.
    return sentences(step.sentence, *step.further.splitlines()[1:], among_heads())


def among_heads() -> str:
    """The widths nearest to that of the sentence that the model's heads can share; empty where it is one of these."""
    row = read.query("SELECT hidden_size, heads FROM models WHERE model = ?", [default_model.NAME]).iloc[0]
    width, heads = int(row.hidden_size), int(row.heads)
    wider = width + RANK
    if wider % heads == 0:
        return ""
    near = np.array([wider - wider % heads, wider - wider % heads + heads])
    low, high = (percent(more, 1) for more in more_arithmetic(near - width, width))
    return (
        f"The {heads} heads of {default_model.NAME} can share {near[0]} dimensions ({low}) or {near[1]} ({high}), not "
        f"{wider}."
    )


register(
    Step(
        place=6,
        name="saving",
        title="What a narrower state saves",
        text=(
            "Answers on Stack Exchange say what concatenating costs: it takes dimensions away from words, or it makes "
            "the whole model wider. Narrower words change no arithmetic in the layers. A third way, to concatenate "
            "and project back, costs next to nothing and is a sum again.\n\nA layer multiplies by matrices that are as "
            "high and as wide as the model. Carry p dimensions for positions beside the d of words through every "
            "layer, and every matrix grows **in both directions**: its arithmetic grows by (1 + p/d)² − 1. Parameters "
            "grow less, since the table of words stays and that of positions shrinks. Choose how many dimensions "
            "positions get."
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
