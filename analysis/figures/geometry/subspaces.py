"""Angles and overlap of the leading subspaces of words and positions."""

import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.drawing import Theme
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

RANK = 20
"""The leading directions of each table, or of the states, of which the finding speaks."""
OVERLAP = "subspace_overlap"
SHARED = "mean squared cosine"
KINDS = {"centred": "less their means", "raw": "as they are"}


@figure("geometry_subspaces", GeometryParameters)
def subspaces(params: GeometryParameters) -> Figure:
    """Angles and overlap of the leading subspaces of words and positions.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, OVERLAP, "principal_angle")
    rows = rows[rows.subject.isin(KINDS)]
    if rows.empty:
        stored_rows(model, "abs_cosine")  # Says why, where words and positions are no summands.
    rows = rows.assign(series=rows.subject.map(KINDS)).sort_values("subject", kind="stable")
    overlap, own = (find_estimate(rows, OVERLAP, kind, RANK) for kind in KINDS)
    angle = find_estimate(rows, "principal_angle", "centred", 1)
    text = (
        ""
        if overlap is None or own is None or angle is None
        else f"Less their means, the {RANK} leading directions of words and of positions overlap by "
        f"{percent(overlap.value, 1)}; random directions by {percent(overlap.baseline, 1)}. As the tables are, they "
        f"overlap by {percent(own.value, 1)}. The smallest angle between them, less their means, is "
        f"{angle.value:.0f} degrees; between random subspaces {angle.baseline:.0f}."
    )
    return geometry_figure(
        "Do words and positions use separate directions?",
        rows,
        caption=(
            f"{text} {readable(model)}. {RAW} Subspaces: the leading right singular vectors of each table. Overlap: "
            "the mean squared cosine of their principal angles, 1 where they are the same. Above grey, words and "
            "positions share more directions than by chance; below it, fewer. "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='subspaces of the same rank and dimension')}"
        ),
        alt=text,
        finding=text.split(". ")[0],
        columns=2,
        draw=lambda theme: [
            panels.curves_over_chance(
                rows[rows.measure == OVERLAP], theme, marks.HALF, title="Overlap", value=SHARED,
                along="leading directions of each", below=["grey: random subspaces"],
                names=_names(rows[rows.measure == OVERLAP], theme),
            ),
            panels.curves_over_chance(
                rows[rows.measure == "principal_angle"], theme, marks.HALF, title=f"Angles between {RANK} directions",
                value="degrees", along="angle, from the smallest", names=[], below=["90 degrees: nothing shared"],
            ),
        ],
    )  # fmt: skip


def _names(rows: pd.DataFrame, theme: Theme) -> list[dict[str, object]]:
    """The names of the curves, at opposite ends, so that they never meet."""
    ends = rows.sort_values("along").groupby("series")
    places = (("as they are", ends.first(), "left", 10, 0), ("less their means", ends.last(), "right", -4, 40))
    return [
        {"along": end.loc[name, "along"], "value": end.loc[name, "value"], "name": name, "hue": theme.ink,
         "align": align, "dx": dx, "dy": dy}
        for name, end, align, dx, dy in places
    ]  # fmt: skip
