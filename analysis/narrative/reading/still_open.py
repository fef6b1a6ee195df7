"""Step 10: what remains open."""

from analysis.claims.statements import WORDS, stored
from analysis.core.formatting import join_names, sentences
from analysis.figures.reading.open_questions import ALL
from analysis.narrative.answer.stored import answer
from analysis.narrative.reading.base import Control, Destination, Picture, Step, Values, register


def says(values: Values) -> str:
    """The number of statements with each verdict, and what the answer rests on."""
    counts = stored.counts()
    text = join_names(f"{count} {'is' if count == 1 else 'are'} {word}" for word, count in counts.items() if count)
    lead = next((step.bold for step in answer() if step.name == "lead"), "")
    return sentences(
        lead,
        f"Of {sum(counts.values())} statements, {text}. The verdicts are computed again whenever the stored "
        "results change.",
    )


register(
    Step(
        place=10,
        name="open",
        title="What remains open",
        text=(
            "The five documents that this project began with make claims, guesses and doubts. We split them into "
            "statements that say one thing. For each a written rule turns measurements into a verdict: **supported**, "
            "**contradicted**, **mixed** where good evidence conflicts, or **open**, with the experiment that would "
            "decide it.\n\nTwo things needed no measurement: a pair is a sum of two vectors that have separate axes, "
            "and a concatenation becomes a sum as soon as a matrix follows. The rest is a question of how models "
            "train and what they cost. Choose a verdict to see which questions have most of it. Under *Claims*, in "
            "the menu, each statement stands with its evidence."
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
