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

HEIGHT = 380
NAME_HEIGHT, NAME_LINE = 15, 13
"""Pixels that a name takes, and each further line of it."""
NAME_LETTERS = 14
"""Letters of a name on one line: on a phone longer ones would leave the curves little room."""
LOSS = "validation loss (nats per predicted token)"
WAYS = {
    "added": "adding", "multiplied": "adding", "concatenated": "concatenating", "untied": "apart", "absent": "none",
    "biased": "relative", "disentangled": "relative", "rotated": "relative",
}  # fmt: skip
"""The colour's name by how a variant combines; what reaches the scores as a distance is relative."""
DASHES = ([1, 0], [7, 3], [2, 2], [8, 2, 2, 2], [12, 4], [4, 2, 1, 2], [1, 3], [10, 2], [5, 5], [3, 1])
FIRST = (
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
    ways = {name: WAYS.get(VARIANTS[name].combines, "none") if name in VARIANTS else "none" for name in variants}
    order = [*FIRST, *sorted(set(variants) - set(FIRST))]
    colour_of, dash_of = {}, {}
    for name in variants:
        same = [other for other in order if other != baseline and ways.get(other) == ways[name]]
        place = 0 if name == baseline else same.index(name) + (ways[name] == ways.get(baseline))
        colour_of[name] = theme.colour(colours.WAYS[ways[name]])
        dash_of[name] = DASHES[place % len(DASHES)]
    if len(variants) > 1 and len(set(ways.values())) == 1:
        colour_of = dict(zip(variants, theme.many(len(variants)), strict=True))
    return marks.hues("variant", colour_of), marks.dashes("variant", dash_of)


def spread_names(
    values: np.ndarray, rooms: np.ndarray, domain: tuple[float, float], height: int, *, log: bool = False
) -> np.ndarray:
    """Where names stand (pixels from the top) so that none covers another: as near their lines as there is room.

    rooms: the pixels that each name takes.
    """
    low, high = np.log(domain) if log else domain
    wanted = (high - (np.log(values) if log else values)) / ((high - low) or 1) * height
    order = np.argsort(wanted, kind="stable")
    wanted, rooms = wanted[order], rooms[order]
    # How far below the top of the first name each stands where they touch, so that only where all begin is to be found.
    below = np.cumsum(rooms) - rooms / 2
    begins = wanted - below
    # Names that would touch stand in one block, in the middle of where they want to be.
    blocks: list[list[float]] = []
    for begin in begins:
        blocks.append([float(begin)])
        while len(blocks) > 1 and np.mean(blocks[-1]) < np.mean(blocks[-2]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    items = np.array([np.mean(block) for block in blocks for _ in block])
    # What stands out above or below is pushed in, and pushes the next.
    items = np.clip(items, 0, max(height + rooms[-1] / 2 - 4 - rooms.sum(), 0))
    placed = np.empty_like(items)
    placed[order] = items + below
    return placed


def name_heights(titles: list[str]) -> np.ndarray:
    """The pixels that each name takes."""
    return np.array(
        [NAME_HEIGHT + NAME_LINE * marks.wrap_label(name, NAME_LETTERS).count("\n") for name in titles], dtype=float
    )


def plot_height(ends: pd.DataFrame, least: int) -> int:
    """The height in pixels of a plot beside which all names have room."""
    return max(least, int(name_heights([title(name) for name in ends.variant]).sum()) + 20)


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
        name=[marks.wrap_label(name, NAME_LETTERS) for name in titles],
        place=spread_names(ends.value.to_numpy(dtype=float), name_heights(titles), domain, height, log=log),
        up=[-NAME_LINE / 2 * marks.wrap_label(name, NAME_LETTERS).count("\n") for name in titles],
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


def reach(values: pd.Series, share: float = 0.04) -> tuple[float, float]:
    """From the least to the largest value, with a little room."""
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

    What a pointer finds is an evaluation, not a line between two. dots: the area of a dot there; 0 for none to see.
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
    """Loss against training, the baseline's final loss as a rule, and each crossing of it."""
    content = figure.content
    rows, mean, axis, target = content.rows, content.mean, content.axis, content.target
    domain = reach(rows.value if target is None else pd.concat([rows.value, pd.Series([target])]))
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
    crossed = {name: one.step for name, one in content.crossings.items() if one.reached}
    if crossed:
        frame = pd.DataFrame({"variant": list(crossed), axis: list(crossed.values()), "value": target})
        frame = frame.assign(title=frame.variant.map(title), at=[f"{at:,.0f}" for at in crossed.values()])
        dots = alt.Chart(frame).mark_point(
            filled=True, size=marks.LARGE_DOT, opacity=1, stroke=theme.ground, strokeWidth=1.5
        )
        shown = marks.tips(("title", "crosses: "), ("at", UNITS[axis]))
        layers.append(dots.encode(x=x, y=y, color=scales(content, theme)[0], tooltip=shown))
    ends = mean.groupby("variant", sort=False).value.last().reset_index()
    height = plot_height(ends, HEIGHT)
    beside = names(ends, content, theme, domain=domain, height=height)
    whole = marks.panel(alt.layer(*layers), beside, theme=theme, width=marks.WIDE, height=height)
    return [whole.resolve_scale(y="independent")]


@drawing("training_length")
def longer(figure: Figure[CurvesContent], theme: Theme) -> list[Chart]:
    """Loss at one, two and four times the training length."""
    content = figure.content
    rows, mean = content.rows, content.mean
    domain = reach(rows.value)
    x = marks.number(
        alt.X, "times", "length of the texts (times the training length)", domain=(0.94, 4.1), log=2,
        values=sorted(set(rows.times)), form="d",
    )  # fmt: skip
    y = marks.number(alt.Y, "value", LOSS, domain=domain)
    tooltip = (("times:Q", "times the training length"), ("value", "mean validation loss", ".3f"))
    curves = lines(rows, mean, content, theme, x=x, y=y, tooltip=tooltip, dots=marks.SEED)
    last = mean[mean.times == mean.times.max()]
    height = plot_height(last, 320)
    beside = names(last, content, theme, domain=domain, height=height)
    whole = marks.panel(curves, beside, theme=theme, width=marks.WIDE, height=height)
    return [whole.resolve_scale(y="independent")]


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
        own, thick = rows[rows.layer == layer], mean[mean.layer == layer]
        ends = thick.groupby("variant", sort=False).value.last().reset_index()
        curves = lines(own, thick, content, theme, x=x, y=y, tooltip=tooltip)
        beside = names(ends, content, theme, domain=domain, height=height, log=True)
        whole = marks.panel(curves, beside, theme=theme, width=marks.HALF, height=height, title=f"Layer {layer}")
        panels.append(whole.resolve_scale(y="independent"))
    return panels


def _decades(low: float, high: float) -> list[float]:
    """1 and 3 times the powers of ten within a range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in (1, 3) if low <= step * 10.0**power <= high]
