"""Angles, overlap and energies of the leading subspaces of words and positions."""

from analysis.ablation.variants import readable
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import (
    BAND,
    RAW,
    GeometryParameters,
    find_estimate,
    geometry_figure,
    run_settings,
    stored_rows,
)

SUBSPACES = {
    "principal_angle": ("Principal angles", "number of the angle, both of rank 20", "degrees"),
    "subspace_overlap": ("Overlap", "rank of both subspaces", "mean squared cosine"),
    "word_energy_in_position": ("Words' energy among positions", "rank of the positions' subspace", "share"),
    "position_energy_in_word": ("Positions' energy among words", "rank of the words' subspace", "share"),
}
KINDS = {"raw": "tables as they are", "centred": "minus their mean row"}


@figure("geometry_subspaces", GeometryParameters)
def subspaces(params: GeometryParameters) -> Figure:
    """Angles, overlap and energies of the leading subspaces of words and positions.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, *SUBSPACES)
    rows = rows[rows.subject.isin(KINDS)]
    if rows.empty:
        stored_rows(model, "abs_cosine")  # Says why, where words and positions are no summands.
    rows = rows.assign(series=rows.subject.map(KINDS))
    row = find_estimate(rows, "word_energy_in_position", "centred", 20)
    angle = find_estimate(rows, "principal_angle", "centred", 1)
    text = (
        ""
        if row is None or angle is None
        else f"With means subtracted, the positions' 20 leading directions hold {percent(row.value, 1)} of the words' "
        f"energy; 20 random directions hold {percent(row.baseline, 1)} ({percent(row.baseline_low, 1)} to "
        f"{percent(row.baseline_high, 1)}). The smallest angle between the two subspaces is {angle.value:.0f} "
        f"degrees; between random subspaces it is {angle.baseline:.0f} degrees."
    )
    return geometry_figure(
        "Do words and positions use separate directions?",
        rows,
        caption=(
            f"{text} {readable(model)}. {RAW} Subspaces: the leading right singular vectors of each table. Energy "
            "above grey: words and positions share more directions than by chance; below: they share fewer. "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='subspaces of the same rank and dimension')}"
        ),
        alt=text,
        columns=2,
        draw=lambda theme: [
            panels.curves_over_chance(
                rows[rows.measure == name], theme, marks.HALF, title=title, value=value, along=along
            )
            for name, (title, along, value) in SUBSPACES.items()
        ],
    )
