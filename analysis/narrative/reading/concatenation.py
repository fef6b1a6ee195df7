"""Step 7: concatenation, followed by a linear map, is addition."""

from analysis.core.formatting import signed
from analysis.figures.reading.arithmetic import WIDTH
from analysis.literature import tables as published
from analysis.narrative.reading.base import Control, Destination, Step, Values, register

CONCATENATION = "hallam2026fusion|Table 1"


def says(values: Values) -> str:
    """The published comparison of the two."""
    result = published.load(CONCATENATION)
    means = result.scores[result.scores.task.notna()].pivot(index="column", columns="variant", values="value")
    difference = (means["Concat+projection W[E;P]"] - means["Add"]).sort_values()
    changes = ", ".join(f"{signed(value)} on {task}" for task, value in difference.items())
    return (
        f"In {result.title}, replacing addition by concatenation and a matrix that maps back to the old width changes "
        f"accuracy by {changes} (percentage points, small encoders): it rises on {(difference > 0).sum()} and falls on "
        f"{(difference < 0).sum()} of {len(difference)} tasks."
    )


register(
    Step(
        place=7,
        name="concatenation",
        title="Concatenating is adding, if a matrix follows",
        text=(
            "Some answers on Stack Exchange propose shorter word vectors, each with a short position vector "
            "appended. But the first thing that a transformer does with its input is to multiply it by a matrix. The "
            "upper rows of that matrix meet only the word and the lower rows only the position, so the result is a "
            "**sum** again: a mapped word plus a mapped position. What a concatenation does decide is how many "
            "dimensions each part may use. And it keeps the parts separate only where every later matrix is made of "
            "separate blocks too, as in Kitaev & Klein's parser (2018). One answer turns this around: adding can "
            "imitate any split by leaving dimensions empty. Choose a split and compare the bars with the dots."
        ),
        documents=("001", "003"),
        claims=("C01", "C10", "C17"),
        citations=("kitaev2018constituency", "hallam2026fusion"),
        figure="reading_concatenation",
        controls=(
            Control(
                field="split",
                label=f"Dimensions given to the position, out of {WIDTH}",
                options=lambda: list(range(1, WIDTH)),
            ),
        ),
        says=says,
        more=Destination(
            page="training",
            says="Our own trainings with three splits",
            values=lambda values: {"variants": ("bert_a", "concat_50", "concat_20", "concat_05", "concat_blocked")},
        ),
    )
)
