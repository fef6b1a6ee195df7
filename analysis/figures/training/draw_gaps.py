"""Drawings with one row a variant: final losses, differences, ratios, steps to leave the plateau, costs."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.core import frames
from analysis.core.formatting import signed
from analysis.figures import Figure, marks
from analysis.figures.drawing import GREY, VERMILION, Chart, Theme, drawing
from analysis.figures.training.costs import COSTS, CostsContent
from analysis.figures.training.gaps import ConvergenceContent, GapContent, PlateauContent

MAX_RATIO = 2.0
"""Ratios are drawn up to here; an interval that goes on is cut at the edge."""
TRIANGLE = "triangle-right"
RING = 2 * marks.LARGE_DOT
"""The area of a hollow mark that other marks are seen inside, in square pixels."""
DOTTED = [2, 3]
"""The dash of lines that show a paper's claim."""
VARIANT: marks.Tip = ("title", "variant")


def mean_ticks(frame: pd.DataFrame, x: alt.X, y: alt.Y, theme: Theme, tooltip: Sequence[marks.Tip]) -> Chart:
    """The means of dots: a bar across each row. x: on whose axis they stand; frame: with the column `mean`."""
    bars = alt.Chart(frame).mark_tick(thickness=2.5, size=17, color=theme.ink)
    return bars.encode(x=marks.same_axis(x, "mean"), y=y, tooltip=marks.tips(*tooltip))


def row_texts(frame: pd.DataFrame, y: alt.Y, theme: Theme) -> Chart:
    """The text `written` of each row, in a column at the right of the plot."""
    text = alt.Chart(frame).mark_text(align="left", dx=6, fontSize=marks.TEXT, color=theme.ink)
    return text.encode(x=alt.value("width"), y=y, text=alt.Text("written:N"))


def differences(frame: pd.DataFrame, x: alt.X, y: alt.Y, theme: Theme, tooltip: Sequence[marks.Tip]) -> list[Chart]:
    """Differences from zero with their intervals, and as text; hollow where they are not significant.

    frame: with the columns `gap`, `low`, `high`, `told_apart` and `written`.
    """
    layers: list[Chart] = [marks.rule(theme, x=0)]
    for significant in (True, False):
        selected = frame[frame.gap.notna() & (frame.told_apart == significant)]
        if len(selected):
            layers += marks.row_plot(
                selected,
                x=x,
                y=y,
                theme=theme,
                shape="diamond",
                size=marks.LARGE_DOT,
                filled=significant,
                tooltip=tooltip,
            )
    return [*layers, row_texts(frame, y, theme)]


@drawing("training_gap", columns=2)
def gap(figure: Figure[GapContent], theme: Theme) -> list[Chart]:
    """Final losses by seed, and the difference to the baseline with its interval."""
    table, baseline = figure.frame(), figure.content.baseline
    order = table.title.tolist()
    y, height = marks.rows_down("title", order), marks.ROW * len(order)
    runs = figure.content.runs
    runs = runs.assign(title=runs.variant.map(dict(zip(table.variant, table.title, strict=True))))
    x = marks.number(alt.X, "value", "final validation loss (nats per predicted token)", ticks=6)
    finals = [
        *marks.row_plot(
            runs, x=x, y=y, theme=theme, ends=None, size=marks.SEED, opacity=0.75,
            tooltip=(VARIANT, "seed", ("value", "loss", ".3f"), ("rate", "peak learning rate")),
        ),
        mean_ticks(table[["title", "mean", "seeds"]], x, y, theme, (VARIANT, ("mean", "", ".3f"), "seeds")),
    ]  # fmt: skip
    panels = [marks.panel(*finals, theme=theme, width=marks.HALF, height=height, title="Final loss")]
    if table.gap.notna().any():
        shown = table[["title", "gap", "low", "high", "n", "p", "p_holm", "detectable", "told_apart"]]
        layers = differences(
            shown.assign(written=[_difference(row) for row in frames.rows(table)]),
            marks.number(
                alt.X, "gap", f"nats, variant minus {baseline}", domain=figure.content.domain, padding=8, ticks=5
            ),
            y,
            theme,
            (
                VARIANT, ("written", "difference"), *marks.interval_tips(".3f"), ("p", "", ".2~g"),
                ("p_holm", "p, Holm", ".2~g"), ("detectable", "smallest detectable", ".3f"),
            ),
        )  # fmt: skip
        panels.append(
            marks.panel(*layers, theme=theme, width=marks.HALF, height=height, title=f"Difference to {baseline}")
        )
    return panels


def _difference(row) -> str:
    """The difference and how many pairs it is of; or why there is none."""
    if not row.n:
        return row.note
    return f"{signed(row.gap)} (n = {row.n}){f', {row.standing}' if row.standing else ''}"


@drawing("training_convergence", columns=2)
def convergence(figure: Figure[ConvergenceContent], theme: Theme) -> list[Chart]:
    """Steps and seconds, over the baseline's own; both on one scale."""
    table, seeds, order = figure.frame(), figure.content.seeds, figure.content.order
    titles = dict(zip(table.variant, table.title, strict=True))
    end = float(np.nanmin([MAX_RATIO, max(1.15, np.nanmax([table.ratio.max(), seeds.ratio.max(), table.high.max()]))]))
    y = marks.rows_down("title", order)
    panels = []
    for axis, unit in (("step", "steps"), ("seconds", "seconds")):
        axis_rows = table[(table.axis == axis) & table.ratio.notna()]
        shown = axis_rows[["title", "low", "high", "n", "took"]].assign(
            ratio=axis_rows.ratio.clip(upper=end),
            censored=axis_rows.censored > 0,
            written=[_ratio(row, unit) for row in frames.rows(axis_rows)],
        )
        dots = seeds[seeds.axis == axis].assign(
            title=lambda result: result.variant.map(titles), ratio=lambda result: result.ratio.clip(upper=end)
        )
        title = f"{unit}, as a share of {figure.content.baseline}'s"
        x = marks.number(alt.X, "ratio", title, domain=(0, end), ticks=5)
        tooltip = (VARIANT, ("written", "ratio"), *marks.interval_tips(".2f"), ("took", unit), "n")
        layers: list[Chart] = [marks.rule(theme, x=1)]
        if figure.content.claim:
            layers.append(marks.rule(theme, x=figure.content.claim, dash=DOTTED))
        layers += _seeds_and_means(dots[["title", "seed", "ratio", "censored"]], shown, x, y, theme, tooltip)
        panels.append(
            marks.panel(*layers, theme=theme, width=marks.HALF, height=marks.ROW * len(order), title=f"In {unit}")
        )
    return panels


def _ratio(row, unit: str) -> str:
    """A ratio with its number of seeds, or, where censored, as a lower bound with the steps of the run."""
    if row.censored:
        within = f" ({row.took}{' s' if unit == 'seconds' else ''})" if row.took else ""
        return f"≥ {row.ratio:.2f}{within}"
    return f"{row.ratio:.2f} (n = {row.n})"


def _seeds_and_means(
    seeds: pd.DataFrame, means: pd.DataFrame, x: alt.X, y: alt.Y, theme: Theme, tooltip: Sequence[marks.Tip]
) -> list[Chart]:
    """Seeds in grey, and their means as diamonds with intervals.

    A triangle is a seed that did not reach the goal within its run or, if hollow, a mean that is therefore a lower
    bound.
    """
    exact, bounds = means[~means.censored], means[means.censored]
    # Drawn first, so that seeds inside stay visible.
    layers = marks.row_plot(
        bounds, x=x, y=y, theme=theme, ends=None, color=VERMILION, shape=TRIANGLE, size=RING, filled=False,
        tooltip=tooltip,
    )  # fmt: skip
    for censored, shape in ((False, "circle"), (True, TRIANGLE)):
        selected = seeds[seeds.censored == censored]
        layers += marks.row_plot(
            selected, x=x, y=y, theme=theme, ends=None, color=GREY, shape=shape, size=marks.SEED, opacity=0.8
        )
    layers += marks.row_plot(exact, x=x, y=y, theme=theme, shape="diamond", size=marks.LARGE_DOT, tooltip=tooltip)
    return [*layers, row_texts(means, y, theme)]


@drawing("training_plateau")
def plateau(figure: Figure[PlateauContent], theme: Theme) -> list[Chart]:
    """Steps until a model leaves the plateau."""
    table, seeds = figure.content.table, figure.frame()
    end = float(np.nanmax([seeds.step.max(), min(table.high.max(), 1.5 * seeds.step.max())]))
    shown = table[["title", "low", "high", "n"]].assign(
        step=table["mean"],
        censored=table.censored > 0,
        written=[f"{row.told} (n = {row.n})" for row in frames.rows(table)],
    )
    layers = _seeds_and_means(
        seeds[["title", "seed", "step", "censored"]],
        shown,
        marks.number(
            alt.X, "step", "steps until a model leaves the plateau", domain=(0, 1.03 * end), ticks=10, form=",d"
        ),
        marks.rows_down("title", table.title.tolist()),
        theme,
        (VARIANT, ("written", "steps"), *marks.interval_tips(",.0f")),
    )
    return [marks.panel(*layers, theme=theme, width=marks.WIDE, height=marks.ROW * len(table))]


@drawing("training_costs", columns=3)
def costs(figure: Figure[CostsContent], theme: Theme) -> list[Chart]:
    """One panel a measure, from 0; trained parameters are drawn over all of them."""
    rows, order = figure.frame(), figure.content.order
    y, panels = marks.rows_down("title", order), []
    trained = rows.loc[rows.measure == "trained_parameters", ["title", "value"]]
    for name, cost in COSTS.items():
        values = rows.loc[rows.measure == name, ["title", "value"]]
        if values.empty or name == "trained_parameters":
            continue
        form = "~s" if values.value.max() >= 10_000 else ",~r"
        x = marks.number(alt.X, "value", cost.unit, zero=True, ticks=4, form=form)
        tooltip = (VARIANT, ("value", cost.title, cost.format))
        layers: list[Chart] = [marks.rule(theme, x=1, dash=marks.DASH)] if name == "step_ratio" else []
        layers.append(alt.Chart(values).mark_rule(color=theme.faint).encode(x=x, x2=alt.datum(0), y=y))
        # A line below every title keeps the panels of a row level.
        below = "filled: all, hollow: trained" if name == "parameters" else " "
        if name == "parameters":
            layers += marks.row_plot(
                trained,
                x=x,
                y=y,
                theme=theme,
                ends=None,
                color=VERMILION,
                size=RING,
                filled=False,
                tooltip=tooltip,
            )
        layers += marks.row_plot(values, x=x, y=y, theme=theme, ends=None, tooltip=tooltip)
        panels.append(
            marks.panel(
                *layers, theme=theme, width=marks.THIRD, height=marks.ROW * len(order), title=cost.title, below=[below]
            )
        )
    return panels
