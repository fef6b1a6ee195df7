"""Step 5: why so many questions need not disturb each other."""

from analysis.core import default_model
from analysis.core.errors import NoResults
from analysis.figures.reading.orthogonal import DIMENSIONS
from analysis.narrative.reading.base import Step, Touch, Values, Way, register
from analysis.store import read


def says(values: Values) -> str:
    """The mean size of the cosine between a real model's words and positions, beside that of random vectors.

    Raises NoResults where the angles are not stored.
    """
    rows = read.query(
        "SELECT subject, value, baseline, along FROM newest_geometry WHERE model = ? AND measure = 'abs_cosine' "
        "AND subject IN ('word_position', 'word_position_centred') "
        "QUALIFY along IS NOT DISTINCT FROM max(along) OVER (PARTITION BY subject)",
        [default_model.NAME],
    ).set_index("subject")
    if len(rows) < 2:
        raise NoResults(
            f"Nothing is stored yet of the angles between {default_model.NAME}'s words and positions. "
            "Run: python -m analysis measure geometry"
        )
    raw, centred = rows.loc["word_position"], rows.loc["word_position_centred"]
    return (
        f"Between the words and the positions of {default_model.NAME} the mean size of the cosine is {raw.value:.3f} "
        f"as the tables stand and {centred.value:.3f} once their means are taken away; random vectors of the same "
        f"width have {raw.baseline:.3f}."
    )


register(
    Step(
        place=5,
        name="orthogonal",
        title="Room in high dimension",
        text=(
            "Four jobs for one pair of matrices looks like a trade-off. Document 002 guesses that it is not: "
            "randomly chosen vectors in many dimensions are almost always nearly **at right angles**, so words and "
            "positions may lie in subspaces of their own without anybody arranging it. The first half is a fact of "
            "geometry: add dimensions and watch the angles narrow to a right one. The second half, that trained "
            "words and positions do the same, does not follow from it, and has to be measured."
        ),
        documents=("002", "003"),
        claims=("C05", "C06", "C11"),
        figure="reading_orthogonal",
        touches=(Touch(field="dim", label="Dimensions", options=lambda: list(DIMENSIONS)),),
        says=says,
        more=Way(page="geometry", says="A real model’s words and positions, beside random vectors"),
    )
)
