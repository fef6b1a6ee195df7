"""Step 7: concatenation, followed by a linear map, is addition."""

from analysis.core.formatting import signed
from analysis.figures.reading.arithmetic import WIDTH
from analysis.literature import tables as published
from analysis.narrative.reading.base import Step, Touch, Values, Way, register

CONCATENATION = "hallam2026fusion|Table 1"


def says(values: Values) -> str:
    """The published comparison of the two."""
    result = published.load(CONCATENATION)
    means = result.scores[result.scores.task.notna()].pivot(index="column", columns="variant", values="value")
    difference = (means["Concat+projection W[E;P]"] - means["Add"]).sort_values()
    each = ", ".join(f"{signed(value)} on {task}" for task, value in difference.items())
    return (
        f"In {result.title}, concatenating and mapping back instead of adding changes accuracy by {each} (points, "
        f"small encoders): {(difference > 0).sum()} up, {(difference < 0).sum()} down."
    )


register(
    Step(
        place=7,
        name="concatenation",
        title="Concatenating is adding, if a matrix follows",
        text=(
            "Documents 001 and 003 propose smaller word vectors with a small position vector beside them. But the "
            "first thing that a transformer does with its input is to multiply it by a matrix, and the upper rows of "
            "that matrix meet only the word, the lower rows only the position: the result is a **sum** again, of a "
            "mapped word and a mapped position. What a concatenation does decide is how many dimensions each part may "
            "use, and it keeps the parts separate only where every matrix after it is kept in blocks, as in Kitaev & "
            "Klein's parser (2018). Document 001 turns this around: adding can imitate any split, by leaving "
            "dimensions empty. Choose a split and compare the bars with the dots."
        ),
        documents=("001", "003"),
        claims=("C01", "C10", "C17"),
        citations=("kitaev2018constituency", "hallam2026fusion"),
        figure="reading_concatenation",
        touches=(
            Touch(
                field="split",
                label=f"Dimensions for the position, of {WIDTH}",
                options=lambda: list(range(1, WIDTH)),
            ),
        ),
        says=says,
        more=Way(
            page="training",
            says="Our own trainings of three splits",
            values=lambda values: {"variants": ("bert_a", "concat_50", "concat_20", "concat_05", "concat_blocked")},
        ),
    )
)
