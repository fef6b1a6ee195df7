"""Step 2: concatenation, followed by a linear map, is addition."""

from analysis.core.formatting import power_of_ten
from analysis.figures.reading.arithmetic import WIDTH
from analysis.narrative.answer.sentences.algebra import error_bound
from analysis.narrative.reading.step import Control, Destination, Picture, Step, Values, register


def says(values: Values) -> str:
    """The identity, checked with random matrices as large as a real model's."""
    return (
        "With random vectors and matrices as wide as a real model's, the concatenation after the matrix and the sum of "
        f"the two mapped parts differ by less than {power_of_ten(error_bound())}, which is rounding. So the two are "
        "one thing, and adding is the case in which both blocks of the matrix are the same. What that costs is a "
        "question for measurements: the next steps take them one by one."
    )


register(
    Step(
        place=2,
        name="concatenation",
        title="Concatenating is adding, if a matrix follows",
        text=(
            "Some answers on Stack Exchange propose shorter word vectors, each with a short position vector "
            "appended. But the first thing that a transformer does with its input is to multiply it by a matrix. The "
            "left columns of that matrix meet only the word and the right columns only the position, so the result is "
            "a **sum** again: a mapped word plus a mapped position. Choose a split: in every output the dot "
            "(concatenated) lies where the second bar ends (added).\n\n"
            "What a concatenation does decide is how many dimensions each part may use. Nor do the parts stay "
            "separate: every later matrix mixes them again, unless it has one block for the word, one for the "
            "position and nothing between, as in Kitaev & Klein's parser (2018). One answer turns this around: "
            "adding can imitate any split by leaving dimensions empty."
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
