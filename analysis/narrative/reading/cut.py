"""Step 5: the sum of a real model cut apart, with some directions for positions and the others for words."""

from analysis.core.errors import NoResults
from analysis.core.formatting import sentences
from analysis.figures.reading.cut import kept_directions, past_the_best
from analysis.narrative.answer.stored_answer import answer
from analysis.narrative.reading.step import Control, Destination, Picture, Step, Values, register


def says(values: Values) -> str:
    """The beginning of the answer's sentence on the room that positions need, and what more directions do.

    Home tells all of it.

    Raises NoResults where it is not stored.
    """
    sentence = next((step.sentence for step in answer() if step.name == "room"), "")
    if not sentence:
        raise NoResults("No such surgery is stored yet. Run: python -m analysis measure surgery --help")
    beginning, end, _ = sentence.partition("). ")  # Other models come after the numbers of this one.
    return sentences(beginning + end.strip(), past_the_best())


register(
    Step(
        place=5,
        name="cut",
        title="Cut the sum apart",
        text=(
            "Answers on Stack Exchange guess that words learn to stay out of the positions' directions, so that the "
            "sum is at heart a concatenation. That can be tried on a trained model: keep the strongest directions of "
            "the position table for positions, erase from each position what lies outside them, and from each word "
            "what lies inside. Turn the space, and the sum **is** a concatenation. (Whether words stay out of these "
            "directions by themselves is another statement, C11, under Sources.)\n\nNothing is trained anew. The "
            "model still has to say how alike two sentences are, as people rate them. Choose how many directions "
            "positions keep. The grey dots are the same cut along random directions, which hold next to nothing of "
            "the positions: the model loses its positions, and a part of its words as well. On average it then does "
            "worse than with every position replaced by their mean (lower dashed line)."
        ),
        documents=("000", "001", "003"),
        claims=("C10", "C11"),
        pictures=(
            Picture(
                figure="reading_cut",
                controls=(
                    Control(field="kept", label="Directions kept for positions", options=lambda: kept_directions()),
                ),
            ),
        ),
        says=says,
        more=Destination(
            page="inside",
            says="Every operation that was tried on this model",
            values=lambda values: {"tab": "change", "look": "surgery"},
        ),
    )
)
