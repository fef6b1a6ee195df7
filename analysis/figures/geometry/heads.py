"""The directions that word and position use in every head."""

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, geometry_figure, run_settings, stored_rows

SHARED = "word_position"
PANELS = {
    SHARED: ("Used by both", "overlap of the directions used"),
    "word_without_position": ("What word loses", "without position's directions"),
    "position_without_word": ("What position loses", "without word's directions"),
}
"""The subjects of the stored rows, from left to right -> the title of the panel and the line below it."""


NEGATIVE = -0.05
"""The share below which a head is named as one whose term grows."""


@figure("geometry_heads", GeometryParameters)
def heads(params: GeometryParameters) -> Figure:
    """The overlap of the directions used by word and position in every head, and the loss of one without the other's.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, "head_overlap", "head_loss")
    overlap = rows[rows.measure == "head_overlap"]
    # From zero, and below it: what is removed may have worked against the rest.
    limits = (min(0.0, float(rows.value.min())) - 0.03, 1.03)
    below = int((overlap.value < overlap.baseline_low).sum())
    medians = {subject: percent(found.value.median()) for subject, found in rows.groupby("subject")}
    text = (
        f"The median head uses {medians[SHARED]} of its directions for both; without the other's directions, word "
        f"loses {medians['word_without_position']} of its term and position {medians['position_without_word']}."
    )
    below_chance = (
        f"In {below} of {len(overlap)} heads, word and position share fewer directions than in random heads with the "
        f"same singular values, whose median overlap is {percent(overlap.baseline.median())}."
    )
    negative = "A share below zero: without these directions the term grows, since they worked against the rest."
    return geometry_figure(
        "How heads divide their directions between word and position",
        rows,
        caption=(
            f"{text} {negative if (rows.value < NEGATIVE).any() else ''} {below_chance} {readable(model)}, dots are "
            "heads. A head's scores come from W_Q W_K^T. Each of its singular "
            "directions has a share in word → word and one in position → position, by the mean square of what it "
            "adds (keys centred, over the probe set). Overlap: the sum of the smaller of the two shares, 1 if both "
            "use the same directions. Lost: what a term loses without the smallest set of directions that holds 90 % "
            "of the other term. Layer 0 uses the sources of method frozen; deeper layers use method mean, where the "
            f"rest (word and context) is compared with position. Grey: 95 % range of {run_settings(rows)['draws']} "
            "random heads with the same singular values."
        ),
        alt=f"{text} {below_chance}",
        finding=text.removesuffix("."),
        columns=3,
        draw=lambda theme: [
            _heads(rows[rows.subject == subject], *lines, limits, theme) for subject, lines in PANELS.items()
        ],
    )


def _heads(rows: pd.DataFrame, title: str, below: str, limits: tuple[float, float], theme: Theme) -> Chart:
    """A dot a head, layer by layer; random heads as grey bars beside them. limits: of an axis that all panels share."""
    y = marks.number(alt.Y, "value", "share", domain=limits, ticks=6, form="%")
    x = marks.categories(alt.X, "layer", "layer")
    base = alt.Chart(panels.chart_rows(rows)).encode(x=x, xOffset=alt.XOffset("head:O"))
    lowest = frames.rows(rows[rows.value < NEGATIVE].nsmallest(1, "value"))
    names = [
        {"layer": head.layer, "value": head.value, "name": "grows without them", "align": "left", "dx": 28, "dy": 0,
         "hue": theme.ink}
        for head in lowest
    ]  # fmt: skip
    random = base.mark_rule(strokeWidth=4, opacity=0.45, color=GREY)
    points = base.mark_point(filled=True, size=marks.SEED, opacity=1, color=theme.series)
    return marks.panel(
        random.encode(y=marks.same_axis(y, "baseline_low"), y2=alt.Y2("baseline_high:Q")),
        points.encode(y=y, tooltip=marks.tips("layer:O", "head:O", *panels.RANDOM)),
        *(panels.names_at(pd.DataFrame(names), x, y, theme) if names else []),
        theme=theme,
        width=marks.THIRD,
        height=panels.HEIGHT,
        title=title,
        below=[below, "grey: random heads"],
    )
