"""The directions that word and position use in every head."""

import math
from dataclasses import dataclass

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import colours, default_model
from analysis.core.formatting import percent, plural
from analysis.figures import marks, panels
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, geometry_figure, run_settings, stored_rows

SHARED = "word_position"
TRIANGLE = "▼"
NAMED = 0.6
"""The part of a panel's width over which the name of random heads reaches, at most."""
SHOWN_HEAD = (0, 2)
"""The layer and the head of the default model that the tour and Look inside show: it has a ring."""
RINGED = f"ring: head {SHOWN_HEAD[1]} of layer {SHOWN_HEAD[0]}"
TOP = 1.12
"""The end of the axis, which leaves room for a name above a share of 1."""
LOWEST = -0.05
"""The share at which the axis ends below zero; a triangle at its end stands for a head that lies beyond."""


@dataclass(frozen=True)
class Panel:
    """The title of a panel, the line below it, and the name of its hue in `colours.TERMS`; ink where it has none."""

    title: str
    below: str
    hue: str = ""


PANELS = {
    SHARED: Panel("Shared", "directions that both use"),
    "word_without_position": Panel("What words lose of their term", "without the directions of positions", "word"),
    "position_without_word": Panel("What positions lose of theirs", "without the directions of words", "position"),
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
    far = rows[rows.value < LOWEST]
    beyond = (
        f"{TRIANGLE}: {plural(len(far), 'head')} below the end of the axis, down to {percent(far.value.min())}. "
        "Without these directions the term of such a head grows, since they worked against the rest."
        if len(far)
        else ""
    )
    return geometry_figure(
        "How heads divide their directions between word and position",
        rows,
        caption=(
            f"{text} {losses} {below_chance} {readable(model)}, each dot a head. A head's scores come from W_Q W_K^T. "
            "Each of its singular "
            "directions has a share in word → word and one in position → position, by the mean square of what it "
            "adds (keys centred, over the probe set). Shared: the sum of the smaller of the two shares, 1 if both "
            "use the same directions. Lost: what a term loses without the smallest set of directions that holds 90 % "
            f"of the other term. {beyond} "
            "Layer 0 uses the sources of method frozen; deeper layers use method mean, where the "
            f"rest (word and context) is compared with position. Grey: 95 % range of {run_settings(rows)['draws']} "
            "random heads with the same singular values as a head, its ends averaged over the heads of a layer."
        ),
        alt=f"{text} {losses} {below_chance}",
        finding=text.removesuffix("."),
        columns=3,
        draw=lambda theme: [_heads(rows[rows.subject == subject], panel, theme) for subject, panel in PANELS.items()],
    )


def _free_of_the_grid(share: float) -> float:
    """The height of a name above a share: above the line at 1 where the name would else lie across it."""
    return 1.0 if share > 2 - TOP else share


def _heads(rows: pd.DataFrame, panel: Panel, theme: Theme) -> Chart:
    """A dot a head, layer by layer and the smallest first; random heads as a grey bar a layer."""
    medians = {column: percent(rows[column].median()) for column in ("value", "baseline")}
    y = marks.number(alt.Y, "value", None, domain=(LOWEST - 0.03, TOP), values=[0, 0.2, 0.4, 0.6, 0.8, 1], form="%")
    x = marks.categories(alt.X, "layer", ["layer; in each, its heads", "from the least to the most"])
    random = panels.chart_rows(rows).groupby("layer", as_index=False)[["baseline_low", "baseline_high"]].mean()
    under = random.head(math.ceil(NAMED * len(random)))
    named = pd.DataFrame(
        [{"layer": random.layer.iloc[0], "value": _free_of_the_grid(under.baseline_high.max()), "name": "random heads",
          "align": "left", "dx": -12, "dy": -12, "hue": theme.colour(colours.SOFT)}]
    )  # fmt: skip
    ordered = panels.chart_rows(rows).assign(
        order=rows.groupby("layer").value.rank(method="first"),
        at=rows.value.clip(lower=LOWEST),
        beyond=rows.value < LOWEST,
    )
    if ordered.beyond.any():
        lowest = rows.sort_values("value").iloc[0]
        late = int(lowest.layer) > random.layer.median()
        named.loc[len(named)] = named.loc[0].to_dict() | {
            "layer": lowest.layer, "value": LOWEST, "name": percent(lowest.value),
            "align": "right" if late else "left", "dx": -16 if late else -2, "dy": 0,
        }  # fmt: skip
    dots = alt.Chart(ordered).mark_point(
        filled=True,
        size=marks.SEED,
        opacity=1,
        color=theme.colour(colours.TERMS[panel.hue]) if panel.hue else theme.ink,
    )
    ring = ordered[(ordered.layer == SHOWN_HEAD[0]) & (ordered["head"] == SHOWN_HEAD[1]) & ~ordered.beyond]
    ring = ring if rows.model.iloc[0] == default_model.NAME else ring.head(0)
    rings = alt.Chart(ring).mark_point(filled=False, size=4 * marks.SEED, strokeWidth=1.5, opacity=1, color=theme.ink)
    shape = alt.Shape("beyond:N", scale=alt.Scale(domain=[False, True], range=["circle", "triangle-down"]), legend=None)
    band = alt.Chart(random).mark_bar(width={"band": 1}, opacity=0.4, color=GREY)
    return marks.panel(
        band.encode(x=x, y=marks.same_axis(y, "baseline_low"), y2=alt.Y2("baseline_high:Q")),
        marks.rule(theme, y=0),
        dots.encode(
            x=x,
            xOffset=alt.XOffset("order:O"),
            y=marks.same_axis(y, "at"),
            shape=shape,
            tooltip=marks.tips("layer:O", "head:O", *panels.RANDOM),
        ),
        *([rings.encode(x=x, xOffset=alt.XOffset("order:O"), y=marks.same_axis(y, "at"))] if len(ring) else []),
        *panels.names_at(named, x, y, theme),
        theme=theme,
        width=marks.THIRD,
        height=260,
        title=panel.title,
        below=[
            panel.below,
            f"median {medians['value']}, random {medians['baseline']}",
            *([RINGED] if len(ring) else []),
        ],
    )
