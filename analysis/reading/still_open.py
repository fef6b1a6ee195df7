"""Step 10: what remains open."""

from analysis.claims import WORDS, stored
from analysis.figures.reading_open import ALL
from analysis.reading.base import Step, Touch, Values, Way, register


def says(values: Values) -> str:
    """How many claims have which verdict."""
    counts = stored.counts()
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"Of the {sum(counts.values())} claims, today: {told}; verdicts turn by themselves when the store does."


register(
    Step(
        place=10,
        name="open",
        title="What remains open",
        text=(
            "The documents make claims, guesses and doubts. For each of them a rule was written down that turns "
            "measurements into a verdict, and the store decides: **supported**, **contradicted**, **mixed**, "
            "**inconclusive** where too little was measured to tell, **not yet measured** where nothing was. What "
            "needs no measurement is this: a pair is a sum of two vectors that have axes of their own, and a "
            "concatenation becomes a sum as soon as a matrix follows. So whether to add, untie, rotate or bias is a "
            "question of how models then train and what they cost, not of units. Choose a verdict and see which "
            "claims have it."
        ),
        documents=("000", "001", "002", "003", "004"),
        figure="reading_open",
        touches=(
            Touch(field="verdict", label="Show the claims that are", options=lambda: [ALL, *WORDS], slides=False),
        ),
        says=says,
        more=Way(page="choose", says="Choosing an encoding: what is known of each"),
    )
)
