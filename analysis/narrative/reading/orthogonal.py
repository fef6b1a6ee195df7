"""Step 4: why so many questions need not disturb each other."""

from analysis.ablation.variants import quote
from analysis.claims.statements import stored
from analysis.claims.statements.judgement import FAILS
from analysis.core import default_model
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, sentences
from analysis.figures.reading.orthogonal import DIMENSIONS
from analysis.narrative.reading.step import Control, Destination, Picture, Step, Values, register
from analysis.store import read


def says(values: Values) -> str:
    """The mean absolute cosine between a real model's words and positions, and that of random vectors.

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
            f"No angles between {default_model.NAME}'s words and positions are stored yet. Run: python -m analysis "
            "measure geometry"
        )
    raw, centred = rows.loc["word_position"], rows.loc["word_position_centred"]
    return sentences(
        f"Between the words and the positions of {default_model.NAME}, the mean absolute cosine is {raw.value:.3f}, "
        f"and {centred.value:.3f} once each table's mean is subtracted; for random vectors of the same width it is "
        f"{raw.baseline:.3f}.",
        failing(),
    )


def failing() -> str:
    """The models for which the statements on angles and on centred subspaces fail; empty where none does."""
    told = [
        f"{what.format(line=fact.line)} in {join_names(models)} ({fact.id})"
        for name, what in (
            ("C05b", "the mean absolute cosine reaches {line:g}"),
            ("C06a", "centred subspaces overlap more than random ones"),
        )
        if (fact := stored.by_id().get(name))
        and (models := [quote(one.source) for one in fact.readings if one.standing == FAILS])
    ]
    return f"Not in all models: {', and '.join(told)}." if told else ""


register(
    Step(
        place=4,
        name="orthogonal",
        title="Room in high dimension",
        text=(
            "One space for both looks like a trade-off. An answer on Stack Exchange guesses that nothing is lost: "
            "randomly chosen vectors in many dimensions are almost always nearly **at right angles**, so words and "
            "positions may lie in separate directions without anybody arranging it. The first half is "
            "geometry: add dimensions and watch the angles gather around 90° (a cosine of 0). That trained words "
            "and positions do the same does not follow and has to be measured: the box gives their cosines, and the "
            "next step cuts them apart."
        ),
        documents=("002", "003"),
        claims=("C05", "C06", "C11"),
        pictures=(
            Picture(
                figure="reading_orthogonal",
                controls=(Control(field="dim", label="Dimensions", options=lambda: list(DIMENSIONS), between=True),),
            ),
        ),
        says=says,
        more=Destination(page="geometry", says="A real model’s words and positions, compared with random vectors"),
    )
)
