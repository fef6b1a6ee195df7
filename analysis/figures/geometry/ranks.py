"""Four ways of counting the directions that words and positions use."""

from analysis.ablation.variants import readable
from analysis.core.colours import TERMS
from analysis.figures import marks, panels
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import (
    BAND,
    GeometryParameters,
    find_estimate,
    geometry_figure,
    run_settings,
    stored_rows,
)

SUBJECTS = {
    "word": "words",
    "position": "positions",
    "word_centred": "words, centred",
    "position_centred": "positions, centred",
}
RANKS = {
    "effective_rank": "Effective rank",
    "stable_rank": "Stable rank",
    "participation_ratio": "Participation ratio",
    "dimension_participation": "Dimensions used",
}


@figure("geometry_ranks", GeometryParameters)
def ranks(params: GeometryParameters) -> Figure:
    """Four ways of counting the directions, compared with random tables.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, *RANKS)
    rows = rows.assign(series=rows.subject.map(SUBJECTS), panel=rows.measure.map(RANKS))
    word, position = (find_estimate(rows, "effective_rank", f"{name}_centred") for name in ("word", "position"))
    text = " ".join(
        f"Effective rank of the {name}, centred: {row.value:.0f} (random: {row.baseline:.0f})."
        for name, row in (("words", word), ("positions", position))
        if row is not None
    )
    return geometry_figure(
        "Ranks",
        rows,
        caption=(
            f"{text} {readable(model)}. Effective rank: the exponential of the entropy of the squared singular "
            "values, divided by their sum. Stable rank: their sum divided by the largest. Participation ratio: their "
            "sum squared, divided by the sum of their squares. Dimensions used: the same ratio for the energies of "
            "the model's own dimensions. Every row of the tables is used, so there is no interval. "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='Gaussian tables of the same shape and norm')}"
        ),
        alt=text,
        finding=f"By their effective ranks, less their means, words spread over about {word.value:.0f} directions and "
        f"positions over about {position.value:.0f}"
        if word is not None and position is not None
        else "",
        columns=2,
        draw=lambda theme: [
            panels.dots_over_chance(
                rows[rows.measure == measure],
                theme,
                marks.HALF,
                title=title,
                value="directions",
                colours={title: theme.colour(TERMS[name.partition("_")[0]]) for name, title in SUBJECTS.items()},
            )
            for measure, title in RANKS.items()
        ],
    )
