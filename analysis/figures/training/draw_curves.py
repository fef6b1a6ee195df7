"""Drawings along a pre-training: a thin line a seed, the mean thick, names at the end of the lines."""

import math
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import VARIANTS, title
from analysis.core import colours
from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.training.curves import UNITS, CurvesContent, LearningCurvesContent
from analysis.figures.training.draw_gaps import VARIANT
from analysis.figures.training.names_at_lines import spread_names

HEIGHT = 380
NAME_HEIGHT, NAME_LINE = 15, 13
"""Pixels that a name takes, and each further line of it."""
NAME_CHARACTERS = 14
"""Letters of a name on one line: on a phone longer ones would leave the curves little room."""
LOSS = "validation loss (nats per predicted token)"
COMBINATION_COLOURS = {
    "added": "adding", "multiplied": "adding", "concatenated": "concatenating", "untied": "apart", "absent": "none",
    "biased": "relative", "disentangled": "relative", "rotated": "relative",
}  # fmt: skip
"""The colour's name by how a variant combines; what reaches the scores as a distance is relative."""
DASHES = ([1, 0], [7, 3], [2, 2], [8, 2, 2, 2], [12, 4], [4, 2, 1, 2], [1, 3], [10, 2], [5, 5], [3, 1])
DASH_ORDER = (
    "tupe_a", "no_position", "concat_20", "sinusoidal", "tupe_a_unscaled", "rotary", "alibi",
    "bert_a_norm", "no_cross", "bert_a_d", "bert_r", "tupe_r", "relative_only", "deberta",
    "concat_50", "concat_05", "concat_wide", "concat_blocked", "multiply", "tupe_a_tie_cls", "random_fixed",
    "frozen_word", "no_segment", "window", "recurrent", "causal_no_position",
    "bert_a_smooth", "bert_a_wide_table", "one_segment", "frozen_own_word",
    "causal_rotary", "causal_partial_25", "causal_partial_10", "causal_drope", "causal_polar",
)  # fmt: skip
"""The order in which variants of one colour get their dashes, the same in every chart."""


def scales(content: CurvesContent, theme: Theme) -> tuple[alt.Color, alt.StrokeDash]:
    """A colour for how each variant combines word and position, and a dash that tells it from others of that colour.

    Where all variants combine them in one way, its colour would tell nothing apart, and each gets a hue of its own.
    """
    variants, baseline = content.variants, content.baseline
    ways = {
        name: COMBINATION_COLOURS.get(VARIANTS[name].combines, "none") if name in VARIANTS else "none"
        for name in variants
    }
    order = [*DASH_ORDER, *sorted(set(variants) - set(DASH_ORDER))]
    variant_colours, variant_dashes = {}, {}
    for name in variants:
        same_way = [other for other in order if other != baseline and ways.get(other) == ways[name]]
        index = 0 if name == baseline else same_way.index(name) + (ways[name] == ways.get(baseline))
        variant_colours[name] = theme.colour(colours.WAYS[ways[name]])
        variant_dashes[name] = DASHES[index % len(DASHES)]
    if len(variants) > 1 and len(set(ways.values())) == 1:
        variant_colours = dict(zip(variants, theme.many(len(variants)), strict=True))
    return marks.hues("variant", variant_colours), marks.dashes("variant", variant_dashes)


def name_heights(titles: list[str]) -> np.ndarray:
    """The pixels that each name takes."""
    return np.array(
        [NAME_HEIGHT + NAME_LINE * marks.wrap_label(name, NAME_CHARACTERS).count("\n") for name in titles], dtype=float
    )


def plot_height(ends: pd.DataFrame, minimum: int) -> int:
    """The height in pixels of a plot beside which all names have room."""
    return max(minimum, int(name_heights([title(name) for name in ends.variant]).sum()) + 20)


def names(
    ends: pd.DataFrame,
    content: CurvesContent,
    theme: Theme,
    *,
    domain: tuple[float, float],
    height: int,
    log: bool = False,
) -> Chart:
    """Names right of the plot, each with a piece of its line. ends: variant, value.

    Their scale is that of the plot's pixels, which a page may stretch.
    """
    colour, dash = scales(content, theme)
    titles = [title(name) for name in ends.variant]
    frame = ends[["variant"]].assign(
        name=[marks.wrap_label(name, NAME_CHARACTERS) for name in titles],
        place=spread_names(ends.value.to_numpy(dtype=float), name_heights(titles), domain, height, log=log),
        up=[-NAME_LINE / 2 * marks.wrap_label(name, NAME_CHARACTERS).count("\n") for name in titles],
    )
    base = alt.Chart(frame).encode(
        y=alt.Y("place:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None), x=alt.value("width")
    )
    keys = base.mark_rule(strokeWidth=marks.LINE, xOffset=5, x2Offset=21).encode(
        x2=alt.value("width"), color=colour, strokeDash=dash
    )
    text = base.mark_text(
        align="left",
        baseline="middle",
        dx=26,
        dy=alt.expr("datum.up"),
        lineBreak="\n",
        lineHeight=NAME_LINE,
        fontSize=marks.TEXT,
        color=theme.ink,
    ).encode(text=alt.Text("name:N"))
    return alt.layer(keys, text)


def padded_range(values: pd.Series, share: float = 0.04) -> tuple[float, float]:
    """The range from the smallest to the largest value, with padding of `share` of it at either end."""
    low, high = float(values.min()), float(values.max())
    room = share * (high - low or 1)
    return low - room, high + room


def lines(
    rows: pd.DataFrame,
    mean: pd.DataFrame,
    content: CurvesContent,
    theme: Theme,
    *,
    x: alt.X,
    y: alt.Y,
    tooltip: Sequence[marks.Tip],
    dots: float = 0,
) -> Chart:
    """A thin line a seed and the mean thick; one seed is its own mean.

    A pointer finds evaluations, not the lines between them. dots: the area of an evaluation's dot; 0 hides it.
    """
    color, dash = scales(content, theme)
    seeds = alt.Chart(rows).mark_line(strokeWidth=marks.THIN_LINE, opacity=0.5)
    titled = mean.assign(title=mean.variant.map(title))
    means = marks.line_plot(
        titled, x=x, y=y, theme=theme, color=color, dash=dash, dots=dots, tooltip=(VARIANT, *tooltip)
    )
    return alt.layer(seeds.encode(x=x, y=y, color=color, detail=alt.Detail("seed:N")), *means)


@drawing("training_curves")
def learning_curves(figure: Figure[LearningCurvesContent], theme: Theme) -> list[Chart]:
    """Loss against training, the baseline's end as a rule, each crossing of it, and final losses as diamonds."""
    content = figure.content
    rows, mean, axis, target = content.rows, content.mean, content.axis, content.target
    targets = [] if target is None else [target]
    domain = padded_range(pd.Series([*rows.value, *targets, *content.finals.value]))
    end = float(rows[axis].max())
    x = marks.number(alt.X, axis, UNITS[axis], domain=(0, end), ticks=6, form="~s" if end >= 100_000 else ",d")
    y = marks.number(alt.Y, "value", LOSS, domain=domain)
    tooltip = (
        ("step", "", ","), ("tokens", "", ","), ("seconds", "", ",.0f"), ("value", "mean validation loss", ".3f"),
        "seeds",
    )  # fmt: skip
    layers = [lines(rows, mean, content, theme, x=x, y=y, tooltip=tooltip)]
    if target is not None:
        layers.insert(0, marks.rule(theme, y=target, dash=marks.DASH))
    crossings = {name: crossing.step for name, crossing in content.crossings.items() if crossing.reached}
    if crossings:
        frame = pd.DataFrame({"variant": list(crossings), axis: list(crossings.values()), "value": target})
        frame = frame.assign(title=frame.variant.map(title), at=[f"{step:,.0f}" for step in crossings.values()])
        dots = alt.Chart(frame).mark_point(
            filled=True, size=marks.LARGE_DOT, opacity=1, stroke=theme.ground, strokeWidth=1.5
        )
        shown = marks.tips(("title", "crosses: "), ("at", UNITS[axis]))
        layers.append(dots.encode(x=x, y=y, color=scales(content, theme)[0], tooltip=shown))
    if len(content.finals):
        finals = content.finals.assign(title=content.finals.variant.map(title))[["variant", "title", axis, "value"]]
        diamonds = alt.Chart(finals).mark_point(shape="diamond", size=2 * marks.DOT, strokeWidth=1.5, fill=theme.ground)
        shown = marks.tips("title", ("value", "final loss, larger sample", ".3f"))
        layers.append(diamonds.encode(x=x, y=y, color=scales(content, theme)[0], tooltip=shown))
    ends = mean.groupby("variant", sort=False).value.last().reset_index()
    height = plot_height(ends, HEIGHT)
    labels = names(ends, content, theme, domain=domain, height=height)
    panel = marks.panel(alt.layer(*layers), labels, theme=theme, width=marks.WIDE, height=height)
    return [panel.resolve_scale(y="independent")]


@drawing("training_length")
def longer(figure: Figure[CurvesContent], theme: Theme) -> list[Chart]:
    """Loss at one, two and four times the training length."""
    content = figure.content
    rows, mean = content.rows, content.mean
    domain = padded_range(rows.value)
    x = marks.number(
        alt.X, "times", "length of the texts (times the training length)", domain=(0.94, 4.1), log=2,
        values=sorted(set(rows.times)), form="d",
    )  # fmt: skip
    y = marks.number(alt.Y, "value", LOSS, domain=domain)
    tooltip = (("times:Q", "times the training length"), ("value", "mean validation loss", ".3f"))
    curves = lines(rows, mean, content, theme, x=x, y=y, tooltip=tooltip, dots=marks.SEED)
    last = mean[mean.times == mean.times.max()]
    height = plot_height(last, 320)
    labels = names(last, content, theme, domain=domain, height=height)
    panel = marks.panel(curves, labels, theme=theme, width=marks.WIDE, height=height)
    return [panel.resolve_scale(y="independent")]


@drawing("training_scores", columns=2)
def score_scale(figure: Figure[CurvesContent], theme: Theme) -> list[Chart]:
    """One panel a layer, all on one logarithmic scale."""
    content, height = figure.content, 260
    # Zero has no logarithm.
    rows, mean = content.rows[content.rows.value > 0], content.mean[content.mean.value > 0]
    domain = (0.8 * float(rows.value.min()), 1.25 * float(rows.value.max()))
    x = marks.number(alt.X, "step", "steps", ticks=4, form=",d", nice=False)
    y = marks.number(
        alt.Y, "value", "variance of the scores", domain=domain, log=10, values=_decades(*domain), form="~g"
    )
    tooltip = (("step", "", ","), ("value", "mean variance", ".3~g"))
    panels = []
    for layer in sorted(set(content.rows.layer)):
        layer_rows, layer_mean = rows[rows.layer == layer], mean[mean.layer == layer]
        ends = layer_mean.groupby("variant", sort=False).value.last().reset_index()
        curves = lines(layer_rows, layer_mean, content, theme, x=x, y=y, tooltip=tooltip)
        labels = names(ends, content, theme, domain=domain, height=height, log=True)
        panel = marks.panel(curves, labels, theme=theme, width=marks.HALF, height=height, title=f"Layer {layer}")
        panels.append(panel.resolve_scale(y="independent"))
    return panels


def _decades(low: float, high: float) -> list[float]:
    """1 and 3 times the powers of ten within a range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in (1, 3) if low <= step * 10.0**power <= high]
