"""Step 2: concatenation, followed by a linear map, is addition."""

from analysis.claims.statements import SUPPORTED, stored
from analysis.core.formatting import fixed, power_of_ten, sentences
from analysis.figures.reading.arithmetic import WIDTH
from analysis.narrative.answer.sentences.algebra import error_bound
from analysis.narrative.reading.step import Control, Destination, Picture, Step, Values, register

NOT_FOUND = "C36b"
"""The statement that concatenating ends lower than adding, with words of half of the width on both sides."""


def says(values: Values) -> str:
    """The identity, checked with random matrices as large as a real model's, and what training makes of it."""
    return sentences(
        "With random vectors and matrices as wide as a real model's, dot and bars differ by less than "
        f"{power_of_ten(error_bound())}, which is rounding. Adding is the case in which both blocks are the same; the "
        "next steps measure what that costs.",
        trained(),
    )


def trained() -> str:
    """The statement that our encoders did not find the split that adding can imitate; empty unless it is supported."""
    fact = stored.by_id().get(NOT_FOUND)
    if fact is None or fact.verdict != SUPPORTED or fact.effect is None or fact.effect > 0:
        return ""
    return (
        "Training does not find such a split by itself: of two small encoders of ours whose words have half of the "
        f"width, the one that adds positions ends with a higher loss, {fixed(-fact.effect)} nats higher than "
        f"concatenating ({fact.id})."
    )


register(
    Step(
        place=2,
        name="concatenation",
        title="Concatenating is adding, if a matrix follows",
        text=(
            "Some answers on Stack Exchange propose shorter word vectors, each with a short position vector "
            "appended. But matrices make the queries, keys and values of the first layer (after a LayerNorm, which "
            "divides both parts by one number). The left columns of such a matrix meet only the word and the right "
            "columns only the position, so the result is a **sum** again: a mapped word plus a mapped position. "
            "Choose a split: in every output the dot (concatenated) lies where the second bar ends (added).\n\nWhat "
            "passes by on the skip connection meets no matrix: there the two stay side by side. But what layers add "
            "to them mixes both, unless each matrix has one block for the word, one for the position and nothing "
            "between, as in Kitaev & Klein's parser (2018). A concatenation does decide how many dimensions each "
            "part may use. One answer turns this around: adding can imitate any split by leaving dimensions empty."
        ),
        documents=("001", "003"),
        claims=("C01", "C10"),
        citations=("kitaev2018constituency",),
        pictures=(
            Picture(
                figure="reading_concatenation",
                controls=(
                    Control(
                        field="split",
                        label=f"Dimensions of the position, of {WIDTH}",
                        options=lambda: list(range(1, WIDTH)),
                    ),
                ),
            ),
        ),
        says=says,
        more=Destination(
            page="experiments",
            says="Our own trainings of concatenations",
            values=lambda values: {
                "part": "curves",
                "preset": "cpu",
                "variants": ("bert_a", "concat_50", "concat_20", "concat_05", "concat_blocked"),
            },
        ),
    )
)
