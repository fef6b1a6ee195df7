"""Four ways of counting the directions that words and positions use."""

from analysis.ablation.variants import readable
from analysis.core.colours import TERMS
from analysis.figures import marks, panels
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import (
    BAND,
    GeometryParameters,
    geometry_figure,
    run_settings,
    stored_rows,
)

SUBJECTS = {
    "word": "words",
    "position": "positions",
    "word_centred": "words, less their mean",
    "position_centred": "positions, less their mean",
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
    centred = {
        name: rows[rows.subject == f"{subject}_centred"].value
        for subject, name in (("position", "positions"), ("word", "words"))
    }
    spans = [f"{name} use {values.min():.0f} to {values.max():.0f}" for name, values in centred.items() if len(values)]
    text = f"By {len(RANKS)} ways of counting directions, with means subtracted, {' and '.join(spans)}."
    return geometry_figure(
        "Four ways of counting directions",
        rows,
        caption=(
            f"{text} {readable(model)}. Effective rank: the exponential of the entropy of the squared singular "
            "values, divided by their sum. Stable rank: their sum divided by the largest. Participation ratio: their "
            "sum squared, divided by the sum of their squares. Dimensions used: the same ratio for the energies of "
            "the model's own dimensions. Every row of the tables is used, so there is no interval. "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='Gaussian tables of the same shape and norm')}"
        ),
        alt=text,
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
