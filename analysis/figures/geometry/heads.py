"""The directions that word and position use in every head."""

from dataclasses import dataclass

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import colours
from analysis.core.formatting import percent, plural
from analysis.figures import marks, panels
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, geometry_figure, run_settings, stored_rows

SHARED = "word_position"
TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]
"""The numbers of the axis where it begins at zero."""
TOP = 1.12
"""The end of the axis, which leaves room for a name above a share of 1."""


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
    below_zero = rows[rows.value < 0]
    grows = (
        f"{plural(len(below_zero), 'value')} of the data lie below zero, down to {percent(below_zero.value.min())}: "
        "without these directions the term of such a head grows, since they worked against the rest. "
        if len(below_zero)
        else ""
    )
    return geometry_figure(
        "How heads divide their directions between word and position",
        rows,
        caption=(
            f"Grey: the 95 % range of random heads with a head's own singular values. {text} {losses} {below_chance} "
            f"{readable(model)}: the median head of each layer, and a line over the middle half of its heads. A "
            "head's scores come from W_Q W_K^T. Each of its singular directions has a share in word → word and one "
            "in position → position, by the mean square of what it adds (keys centred, over the probe set). Shared: "
            "the sum of the smaller of the two shares, 1 if both use the same directions. Lost: what a term loses "
            f"without the smallest set of directions that holds 90 % of the other term. {grows}Layer 0 uses the "
            "sources of method frozen; deeper layers use method mean, where the rest (word and context) is compared "
            f"with position. The grey range is of {run_settings(rows)['draws']} random heads, its ends averaged over "
            "the heads of a layer."
            + (" It is cut at the lower end of the axis." if rows.baseline_low.min() < _least(rows) else "")
        ),
        alt=f"{text} {losses} {below_chance}",
        finding=text.removesuffix("."),
        columns=3,
        draw=lambda theme: [
            _heads(rows[rows.subject == subject], panel, _least(rows), theme) for subject, panel in PANELS.items()
        ],
    )


def _least(rows: pd.DataFrame) -> float:
    """The lower end of the axis of all panels: that of the middle half of the heads of any layer, at most zero."""
    return min(0.0, float(rows.groupby(["subject", "layer"]).value.quantile(0.25).min()))


def _heads(rows: pd.DataFrame, panel: Panel, least: float, theme: Theme) -> Chart:
    """The median head of each layer with the middle half of its heads; random heads as a grey bar a layer.

    least: the lower end of the axis, at which the bars of random heads are cut.
    """
    medians = {column: percent(rows[column].median()) for column in ("value", "baseline")}
    by_layer = panels.chart_rows(rows).groupby("layer")
    quarters = {"low": 0.25, "median": 0.5, "high": 0.75}
    layers = (
        by_layer[["baseline_low", "baseline_high"]]
        .mean()
        .assign(heads=by_layer.size(), **{name: by_layer.value.quantile(share) for name, share in quarters.items()})
        .reset_index()
    )
    y = marks.number(
        alt.Y,
        "median",
        None,
        domain=(least, TOP),
        values=[tick for tick in (-2, -1.5, -1, -0.5, 0, 0.5, 1) if tick >= least] if least < -0.1 else TICKS,
        form="%",
    )
    layers = layers.assign(baseline_low=layers.baseline_low.clip(lower=least))
    x = marks.categories(alt.X, "layer", "layer")
    named = pd.DataFrame(
        [{"layer": layers.layer.iloc[0], "median": min(1.0, layers.baseline_high.max()), "name": "random heads",
          "align": "left", "dx": -12, "dy": -12, "hue": theme.colour(colours.SOFT)}]
    )  # fmt: skip
    ink = theme.colour(colours.TERMS[panel.hue]) if panel.hue else theme.ink
    base = alt.Chart(layers)
    tooltip = marks.tips(
        "layer:O", "heads", ("median", "", ".1%"), ("low", "quarter below", ".1%"), ("high", "quarter above", ".1%")
    )
    return marks.panel(
        base.mark_bar(width={"band": 1}, opacity=0.4, color=GREY).encode(
            x=x, y=marks.same_axis(y, "baseline_low"), y2=alt.Y2("baseline_high:Q")
        ),
        marks.rule(theme, y=0),
        base.mark_rule(color=ink, strokeWidth=marks.LINE).encode(x=x, y=marks.same_axis(y, "low"), y2=alt.Y2("high:Q")),
        base.mark_point(filled=True, opacity=1, size=marks.LARGE_DOT, color=ink).encode(x=x, y=y, tooltip=tooltip),
        *panels.names_at(named, x, y, theme),
        theme=theme,
        width=marks.THIRD,
        height=260,
        title=panel.title,
        below=[
            panel.below,
            f"median {medians['value']}, random {medians['baseline']}",
            "line: the middle half of the heads",
        ],
    )
