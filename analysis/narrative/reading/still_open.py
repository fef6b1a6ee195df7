"""Step 10: what remains open."""

from analysis.claims.statements import WORDS
from analysis.core.errors import NoResults
from analysis.figures.reading.open_questions import ALL
from analysis.narrative.answer.stored import answer
from analysis.narrative.reading.base import Control, Destination, Picture, Step, Values, register


def says(values: Values) -> str:
    """The answer; the picture counts what is open.

    Raises NoResults where it is not stored.
    """
    lead = next((step.sentence for step in answer() if step.name == "lead"), "")
    if not lead:
        raise NoResults("The store holds no answer. Run: python -m analysis sync --rebuild")
    return lead


register(
    Step(
        place=10,
        name="open",
        title="What remains open",
        text=(
            "Two things needed no measurement: a pair is a sum of two vectors that have separate axes, and a "
            "concatenation becomes a sum as soon as a matrix follows. The rest is a question of how models train and "
            "what they cost.\n\nFor that we split the claims, guesses and doubts of five documents into statements "
            "that say one thing. For each a written rule turns measurements into a verdict: **supported**, "
            "**contradicted**, **mixed** where good evidence conflicts, or **open**, with the experiment that would "
            "decide it. Choose a verdict to see which questions have most of it. Under *Claims*, in the menu, each "
            "statement stands with its evidence."
        ),
        documents=("000", "001", "002", "003", "004"),
        pictures=(
            Picture(
                figure="reading_open",
                controls=(
                    Control(
                        field="verdict",
                        label="Show the statements that are",
                        options=lambda: [ALL, *WORDS],
                        slides=False,
                    ),
                ),
            ),
        ),
        says=says,
        more=Destination(page="choose", says="Which encoding? What is known about each"),
    )
)
