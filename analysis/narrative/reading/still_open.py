"""Step 11: what remains open."""

from analysis.claims.statements import WORDS, stored
from analysis.core.formatting import sentences
from analysis.figures.reading.open_questions import ALL
from analysis.narrative.answer.stored import answer
from analysis.narrative.reading.base import Control, Destination, Step, Values, register

CERTAIN, MEASURED = ("algebra",), ("concatenated", "told_once")


def says(values: Values) -> str:
    """The conclusion, from the sentences of the answer, and the number of statements with each verdict."""
    counts = stored.counts()
    text = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    texts = {step.name: step.sentence for step in answer()}
    certain, measured = (" ".join(texts[name] for name in names if name in texts) for names in (CERTAIN, MEASURED))
    return sentences(
        f"To conclude. What is certain: {certain}" if certain else "",
        f"What was measured: {measured}" if measured else "",
        f"What is open: of {sum(counts.values())} statements, today: {text}. The verdicts are computed again whenever "
        "the stored results change.",
    )


register(
    Step(
        place=11,
        name="open",
        title="What remains open",
        text=(
            "The five documents that this project began with make claims, guesses and doubts. We split each of these "
            "into statements that say one thing. For each statement a written rule turns measurements into a "
            "verdict: **supported**, **contradicted**, **mixed** where good evidence conflicts, or **open**, with "
            "the experiment that would decide it. Some things need no measurement: a pair of a word and a position "
            "is a sum of two vectors that have separate axes, and a concatenation becomes a sum as soon as a matrix "
            "follows. So whether to add, to give words and positions separate matrices, to rotate or to bias is a "
            "question of how models train and what they cost. Choose a verdict to see which statements have it."
        ),
        documents=("000", "001", "002", "003", "004"),
        figure="reading_open",
        controls=(
            Control(field="verdict", label="Show the statements that are", options=lambda: [ALL, *WORDS], slides=False),
        ),
        says=says,
        more=Destination(page="choose", says="Which encoding? What is known about each"),
    )
)
