"""The directions that word and position use in every head."""

import math
from dataclasses import dataclass

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import colours
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, geometry_figure, run_settings, stored_rows

SHARED = "word_position"
NAMED = 0.6
"""The part of a panel's width over which the name of random heads reaches, at most."""
NEGATIVE = -0.05
"""The share below which a term is said to grow."""


@dataclass(frozen=True)
class Panel:
    """The title of a panel, the line below it, and the name of its hue in `colours.TERMS`; ink where it has none."""

    title: str
    below: str
    hue: str = ""


PANELS = {
    SHARED: Panel("Shared", "directions that both use"),
    "word_without_position": Panel("What words lose", "without the directions of positions", "word"),
    "position_without_word": Panel("What positions lose", "without the directions of words", "position"),
}
"""The panels by the subjects of the stored rows, from left to right."""


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
    medians = rows.groupby("subject")[["value", "baseline"]].median()
    text = (
        f"In the median head, words and positions share {percent(medians.value[SHARED])} of the directions that they "
        f"use; in random heads, {percent(medians.baseline[SHARED])}."
    )
    losses = (
        f"Without the other's directions, words lose {percent(medians.value['word_without_position'])} of their term "
        f"in the median head, and positions {percent(medians.value['position_without_word'])}."
    )
    below_chance = (
        f"In {below} of {len(overlap)} heads, word and position share fewer directions than 95 % of random heads with "
        "the same singular values."
    )
    negative = "A share below zero: without these directions the term grows, since they worked against the rest."
    return geometry_figure(
        "How heads divide their directions between word and position",
        rows,
        caption=(
            f"{text} {losses} {below_chance} {readable(model)}, each dot a head. A head's scores come from W_Q W_K^T. "
            "Each of its singular "
            "directions has a share in word → word and one in position → position, by the mean square of what it "
            "adds (keys centred, over the probe set). Shared: the sum of the smaller of the two shares, 1 if both "
            "use the same directions. Lost: what a term loses without the smallest set of directions that holds 90 % "
            f"of the other term. {negative if (rows.value < NEGATIVE).any() else ''} "
            "Layer 0 uses the sources of method frozen; deeper layers use method mean, where the "
            f"rest (word and context) is compared with position. Grey: 95 % range of {run_settings(rows)['draws']} "
            "random heads with the same singular values as a head, its ends averaged over the heads of a layer."
        ),
        alt=f"{text} {losses} {below_chance}",
        finding=text.removesuffix("."),
        columns=3,
        draw=lambda theme: [
            _heads(rows[rows.subject == subject], panel, limits, theme) for subject, panel in PANELS.items()
        ],
    )


def _heads(rows: pd.DataFrame, panel: Panel, limits: tuple[float, float], theme: Theme) -> Chart:
    """A dot a head, layer by layer and the smallest first; random heads as a grey bar a layer.

    limits: of an axis that all panels share.
    """
    medians = {column: percent(rows[column].median()) for column in ("value", "baseline")}
    y = marks.number(alt.Y, "value", None, domain=limits, values=[0, 0.2, 0.4, 0.6, 0.8, 1], form="%")
    x = marks.categories(alt.X, "layer", ["layer; in each, its heads", "from the least to the most"])
    random = panels.chart_rows(rows).groupby("layer", as_index=False)[["baseline_low", "baseline_high"]].mean()
    under = random.head(math.ceil(NAMED * len(random)))
    named = pd.DataFrame(
        [{"layer": random.layer.iloc[0], "value": under.baseline_high.max(), "name": "random heads",
          "align": "left", "dx": -12, "dy": -12, "hue": theme.colour(colours.SOFT)}]
    )  # fmt: skip
    if (rows.value < NEGATIVE).any():
        below = {"layer": random.layer.iloc[-1], "value": limits[0] / 2, "align": "right",
                 "name": "below 0: without these\ndirections the term grows"}  # fmt: skip
        named.loc[1] = named.loc[0].to_dict() | below | {"dx": 12, "dy": 0}
    ordered = panels.chart_rows(rows).assign(order=rows.groupby("layer").value.rank(method="first"))
    dots = alt.Chart(ordered).mark_point(
        filled=True,
        size=marks.SEED,
        opacity=1,
        color=theme.colour(colours.TERMS[panel.hue]) if panel.hue else theme.ink,
    )
    band = alt.Chart(random).mark_bar(width={"band": 1}, opacity=0.4, color=GREY)
    return marks.panel(
        band.encode(x=x, y=marks.same_axis(y, "baseline_low"), y2=alt.Y2("baseline_high:Q")),
        marks.rule(theme, y=0),
        dots.encode(x=x, xOffset=alt.XOffset("order:O"), y=y, tooltip=marks.tips("layer:O", "head:O", *panels.RANDOM)),
        *panels.names_at(named, x, y, theme),
        theme=theme,
        width=marks.THIRD,
        height=260,
        title=panel.title,
        below=[panel.below, f"median {medians['value']}, random {medians['baseline']}"],
    )
