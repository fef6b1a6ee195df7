"""Drawings with one row a variant: final losses, differences, ratios, steps to leave the plateau, costs."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.formatting import signed
from analysis.figures import Figure
from analysis.figures.drawing import GREY, VERMILION, Chart, Look, drawing
from analysis.figures.marks import heading, same_axis
from analysis.figures.training.costs import COSTS

ROW, WIDE = 25, 330
FARTHEST = 2.0
"""Ratios are drawn up to here; an interval that goes on is cut at the edge."""
TRIANGLE = "triangle-right"


def down(order: list[str]) -> alt.Y:
    """One row a variant, in this order in every panel."""
    axis = alt.Axis(
        labelLimit=180, labelPadding=6, ticks=False, domain=False, grid=True, labelOverlap=False, labelFlush=False
    )
    return alt.Y("title:N", sort=order, title=None, scale=alt.Scale(domain=order), axis=axis)


def blue(look: Look) -> str:
    """The colour of means."""
    return look.series


def rule(x: float, look: Look, dash: list[int] | None = None) -> Chart:
    """A line down all rows."""
    frame = pd.DataFrame({"x": [x]})
    return alt.Chart(frame).mark_rule(color=look.ink, strokeDash=dash or [1, 0], opacity=0.8).encode(x=alt.X("x:Q"))


def words(frame: pd.DataFrame, text: str, y: alt.Y, look: Look) -> Chart:
    """What a row says, in a column at the right of the plot, clear of every mark."""
    base = alt.Chart(frame[["title", text]]).mark_text(align="left", dx=6, fontSize=12, color=look.ink)
    return base.encode(x=alt.value("width"), y=y, text=f"{text}:N")


@drawing("training_gap", columns=2)
def gap(figure: Figure, look: Look) -> list[Chart]:
    """Final losses by seed, and the difference to the baseline with its interval."""
    table, runs = figure.content["table"], figure.content["runs"]
    order = table.title.tolist()
    y, height = down(order), ROW * len(order)
    runs = runs.assign(title=runs.variant.map(dict(zip(table.variant, table.title, strict=True))))
    place = alt.X(
        "value:Q", title="final validation loss (nats per predicted token)", scale=alt.Scale(zero=False),
        axis=alt.Axis(tickCount=6),
    )  # fmt: skip
    dots = alt.Chart(runs[["title", "seed", "value", "rate"]]).mark_point(filled=True, size=38, opacity=0.75)
    bars = alt.Chart(table[["title", "mean", "seeds"]]).mark_tick(thickness=2.5, size=17, color=look.ink)
    tips = [alt.Tooltip("title:N", title="variant"), "seed:Q", alt.Tooltip("value:Q", title="loss", format=".3f")]
    tips.append(alt.Tooltip("rate:N", title="peak learning rate"))
    finals = alt.layer(
        dots.encode(x=place, y=y, color=alt.value(blue(look)), tooltip=tips),
        bars.encode(
            x=same_axis(place, "mean"), y=y,
            tooltip=[
                alt.Tooltip("title:N", title="variant"), alt.Tooltip("mean:Q", format=".3f"), alt.Tooltip("seeds:Q")
            ],
        ),
    )  # fmt: skip
    compared = table.assign(written=[_difference(row) for row in table.itertuples()])
    panels: list[Chart] = [finals.properties(width=WIDE, height=height, title=heading("Final loss", look=look))]
    if compared.gap.notna().any():
        panels.append(
            _differences(compared, figure.content["reach"], figure.content["baseline"], y, look).properties(
                width=WIDE, height=height, title=heading(f"Difference to {figure.content['baseline']}", look=look)
            )
        )
    return panels


def _difference(row) -> str:
    """The difference and how many pairs it is of; or why there is none."""
    if not row.n:
        return row.note
    return f"{signed(row.gap)} (n = {row.n}){f', {row.standing}' if row.standing else ''}"


def _differences(table: pd.DataFrame, reach: tuple[float, float], baseline: str, y: alt.Y, look: Look) -> Chart:
    x = alt.X(
        "gap:Q", title=f"nats, variant minus {baseline}", axis=alt.Axis(tickCount=5),
        scale=alt.Scale(domain=list(reach), nice=False, clamp=True, padding=8),
    )  # fmt: skip
    shown = table[["title", "gap", "low", "high", "n", "p", "p_holm", "detectable", "told_apart", "written"]]
    tips = [
        alt.Tooltip("title:N", title="variant"),
        alt.Tooltip("written:N", title="difference"),
        alt.Tooltip("low:Q", title="95 % interval from", format=".3f"),
        alt.Tooltip("high:Q", title="to", format=".3f"),
        alt.Tooltip("p:Q", format=".2~g"),
        alt.Tooltip("p_holm:Q", title="p, Holm", format=".2~g"),
        alt.Tooltip("detectable:Q", title="smallest detectable", format=".3f"),
    ]
    base = alt.Chart(shown).encode(y=y)
    fill = alt.condition("datum.told_apart", alt.value(blue(look)), alt.value(look.ground))
    return alt.layer(
        rule(0, look),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=blue(look), strokeWidth=2)
        .encode(x=same_axis(x, "low"), x2="high:Q"),
        base.transform_filter("isValid(datum.gap)")
        .mark_point(size=75, shape="diamond", opacity=1, stroke=blue(look), strokeWidth=1.6)
        .encode(x=x, fill=fill, tooltip=tips),
        words(shown, "written", y, look),
    )


@drawing("training_convergence", columns=2)
def convergence(figure: Figure, look: Look) -> list[Chart]:
    """Steps and seconds, over the baseline's own; both on one scale."""
    table, seeds, order = (figure.content[key] for key in ("table", "seeds", "order"))
    titles = dict(zip(table.variant, table.title, strict=True))
    end = float(np.nanmin([FARTHEST, max(1.15, np.nanmax([table.ratio.max(), seeds.ratio.max(), table.high.max()]))]))
    panels = []
    for axis, unit in (("step", "steps"), ("seconds", "seconds")):
        own = table[(table.axis == axis) & table.ratio.notna()]
        shown = own[["title", "ratio", "low", "high", "n", "took"]].assign(
            censored=own.censored > 0,
            written=[_ratio(row, unit) for row in own.itertuples()],
        )
        dots = seeds[seeds.axis == axis].assign(title=lambda result: result.variant.map(titles))
        y = down(order)
        x = alt.X(
            "ratio:Q", title=f"{unit}, as a share of {figure.content['baseline']}'s", axis=alt.Axis(tickCount=5),
            scale=alt.Scale(domain=[0, end], nice=False, clamp=True),
        )  # fmt: skip
        tips = [
            alt.Tooltip("title:N", title="variant"), alt.Tooltip("written:N", title="ratio"),
            alt.Tooltip("low:Q", title="95 % interval from", format=".2f"),
            alt.Tooltip("high:Q", title="to", format=".2f"), alt.Tooltip("took:N", title=unit), "n:Q",
        ]  # fmt: skip
        layers = [rule(1, look)]
        if figure.content["claim"]:
            layers.append(rule(figure.content["claim"], look, [2, 3]))
        base = alt.Chart(shown).encode(y=y)
        layers += [
            base.transform_filter("isValid(datum.low)")
            .mark_rule(color=blue(look), strokeWidth=2)
            .encode(x=same_axis(x, "low"), x2="high:Q"),
            _dots(dots[["title", "seed", "ratio", "censored"]], x, y, look),
            *_means(base, x, look, tips),
            words(shown, "written", y, look),
        ]
        panels.append(
            alt.layer(*layers).properties(width=WIDE, height=ROW * len(order), title=heading(f"In {unit}", look=look))
        )
    return panels


def _ratio(row, unit: str) -> str:
    """A ratio, and what could not be reached with the steps that it outlasts."""
    if row.censored:
        within = f" ({row.took}{' s' if unit == 'seconds' else ''})" if row.took else ""
        return f"≥ {row.ratio:.2f}{within}"
    return f"{row.ratio:.2f} (n = {row.n})"


def _dots(frame: pd.DataFrame, x: alt.X, y: alt.Y, look: Look) -> Chart:
    """The seeds; a triangle is one that was not there by the end of its run."""
    shape = alt.condition("datum.censored", alt.value(TRIANGLE), alt.value("circle"))
    base = alt.Chart(frame).mark_point(filled=True, size=26, opacity=0.8, color=GREY)
    return base.encode(x=x, y=y, shape=shape)


def _means(base: Chart, x: alt.X, look: Look, tips: list) -> list[Chart]:
    """A diamond; a hollow triangle where the mean is a bound."""
    sure = base.transform_filter("!datum.censored").mark_point(filled=True, size=85, shape="diamond", opacity=1)
    bound = base.transform_filter("datum.censored").mark_point(size=85, shape=TRIANGLE, opacity=1, strokeWidth=2)
    return [
        sure.encode(x=x, color=alt.value(blue(look)), tooltip=tips),
        bound.encode(x=x, color=alt.value(VERMILION), tooltip=tips),
    ]


@drawing("training_plateau")
def plateau(figure: Figure, look: Look) -> list[Chart]:
    """Steps until the plateau is left."""
    table, seeds = figure.content["table"], figure.content["seeds"]
    order = table.title.tolist()
    end = float(np.nanmax([seeds.step.max(), min(table.high.max(), 1.5 * seeds.step.max())]))
    y = down(order)
    x = alt.X(
        "step:Q", title="steps until the plateau is left", axis=alt.Axis(format=",d"),
        scale=alt.Scale(domain=[0, 1.03 * end], nice=False, clamp=True),
    )  # fmt: skip
    shown = table[["title", "low", "high", "n"]].assign(
        step=table["mean"],
        censored=table.censored > 0,
        written=[f"{row.told} (n = {row.n})" for row in table.itertuples()],
    )
    tips = [alt.Tooltip("title:N", title="variant"), alt.Tooltip("written:N", title="steps")]
    tips += [
        alt.Tooltip("low:Q", title="95 % interval from", format=",.0f"),
        alt.Tooltip("high:Q", title="to", format=",.0f"),
    ]
    base = alt.Chart(shown).encode(y=y)
    return [
        alt.layer(
            base.transform_filter("isValid(datum.low)")
            .mark_rule(color=blue(look), strokeWidth=2)
            .encode(x=same_axis(x, "low"), x2="high:Q"),
            _dots(seeds[["title", "seed", "step", "censored"]], x, y, look),
            *_means(base, x, look, tips),
            words(shown, "written", y, look),
        ).properties(width=700, height=ROW * len(order))
    ]


@drawing("training_costs", columns=3)
def costs(figure: Figure, look: Look) -> list[Chart]:
    """One panel a measure, from 0; trained parameters are drawn over all of them."""
    rows, order = figure.content["rows"], figure.content["order"]
    y, panels = down(order), []
    for name, cost in COSTS.items():
        own = rows.loc[rows.measure == name, ["title", "value"]]
        if own.empty or name == "trained_parameters":
            continue
        x = alt.X(
            "value:Q", title=cost.unit, scale=alt.Scale(zero=True, nice=True),
            axis=alt.Axis(format="~s" if own.value.max() >= 10_000 else ",~r", tickCount=4),
        )  # fmt: skip
        tips = [alt.Tooltip("title:N", title="variant"), alt.Tooltip("value:Q", title=cost.title, format=cost.format)]
        base = alt.Chart(own).encode(x=x, y=y, tooltip=tips)
        layers: list[Chart] = [
            base.mark_rule(color=look.faint).encode(x2=alt.datum(0)),
            base.mark_point(filled=True, size=50, opacity=1, color=blue(look)),
        ]
        trained = rows.loc[rows.measure == "trained_parameters", ["title", "value"]]
        if name == "parameters" and len(trained):
            mark = alt.Chart(trained).mark_point(size=95, opacity=1, strokeWidth=1.6, color=VERMILION)
            layers.append(mark.encode(x=x, y=y, tooltip=tips))
        if name == "step_ratio":
            layers.insert(0, rule(1, look, [4, 3]))
        below = ["● all  ○ trained"] if name == "parameters" else [" "]
        panels.append(
            alt.layer(*layers).properties(
                width=200, height=18 * len(order), title=heading(cost.title, *below, look=look)
            )
        )
    return panels
