"""Angles and overlap of the leading subspaces of words and positions."""

import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import colours
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
SHARED = "overlap (mean squared cosine)"
KINDS = {"centred": "means subtracted", "raw": "as they are"}


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
        else f"The {RANK} leading directions of words and of positions, without their means, overlap by "
        f"{percent(overlap.value, 1)}; random directions by {percent(overlap.baseline, 1)}. As the tables are, they "
        f"overlap by {percent(own.value, 1)}. The smallest angle between them, without their means, is "
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
                rows[rows.measure == OVERLAP], theme, marks.HALF, title="Overlap", value=SHARED, form="%",
                along="leading directions of each", names=_overlap_names(rows[rows.measure == OVERLAP], theme),
            ),
            panels.curves_over_chance(
                rows[rows.measure == "principal_angle"], theme, marks.HALF, title=f"Angles between {RANK} directions",
                value="degrees", along="angle, from the smallest", domain=(_lowest_angle(rows), ABOVE_RIGHT),
                names=_angle_names(rows[rows.measure == "principal_angle"], theme), line=90,
            ),
        ],
    )  # fmt: skip


UNDER = 0.3
"""The height of the name of the solid curve, as a part of the curve's last value: there it lies below the curve."""
ABOVE_RIGHT = 98
"""The end of the axis of angles, in degrees: above a right angle there is room for a name."""


def _lowest_angle(rows: pd.DataFrame) -> float:
    """The beginning of the axis of angles: the multiple of ten below the smallest."""
    angles = rows[rows.measure == "principal_angle"]
    return 10.0 * (float(angles[["value", "baseline_low"]].min().min()) // 10)


def _overlap_names(rows: pd.DataFrame, theme: Theme) -> list[dict[str, object]]:
    """The names of the curves of overlap, where they lie apart, and that of random subspaces above their band."""
    ends = rows.sort_values("along").groupby("series")
    first, last = ends.first().loc["as they are"], ends.last().loc["means subtracted"]
    hues = {"ink": theme.ink, "soft": theme.colour(colours.SOFT)}
    return [
        {"along": first.along, "value": first.value, "name": "dashed: as they are", "hue": hues["ink"],
         "align": "left", "dx": 10, "dy": 0},
        {"along": last.along, "value": UNDER * last.value, "name": "solid: means subtracted", "hue": hues["ink"],
         "align": "right", "dx": 0, "dy": 0},
        {"along": last.along, "value": last.baseline, "name": "random subspaces", "hue": hues["soft"],
         "align": "right", "dx": -40, "dy": 0},
    ]  # fmt: skip


def _angle_names(rows: pd.DataFrame, theme: Theme) -> list[dict[str, object]]:
    """The names of the curves of angles: one below its first angle, one above the line of right angles."""
    first = rows[rows.along == rows.along.min()].set_index("series")
    middle = rows[(rows.series == "means subtracted") & (rows.along >= RANK / 2)].head(1).iloc[0]
    return [
        {"along": first.along.iloc[0], "value": first.value["as they are"], "name": "dashed: as they are",
         "hue": theme.ink, "align": "left", "dx": 10, "dy": 0},
        {"along": middle.along, "value": 94, "name": "solid: means subtracted", "hue": theme.ink, "align": "center",
         "dx": 0, "dy": 0},
        {"along": middle.along, "value": middle.baseline_low, "name": "random subspaces",
         "hue": theme.colour(colours.SOFT), "align": "left", "dx": 0, "dy": 14},
    ]  # fmt: skip
