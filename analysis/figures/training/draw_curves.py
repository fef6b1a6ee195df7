"""Drawings along a pre-training: a thin line a seed, the mean thick, names at the end of the lines."""

import math

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import VARIANTS
from analysis.core import colours
from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.marks import heading, wrap_label

HEIGHT, WIDE, NARROW = 380, 820, 380
LINE, NEXT = 15, 13
"""Pixels that a name takes, and each further line of it."""
NAME = 14
"""Letters of a name on one line: on a phone longer ones would leave the curves little room."""
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


def looks(variants: list[str], baseline: str, look: Look) -> tuple[list[str], list[list[int]]]:
    """A colour for how each variant combines word and position, and a dash that tells it from others of that colour.

    Where all variants combine them in one way, its colour would tell nothing apart, and each gets a hue of its own.
    """
    ways = {name: WAYS.get(VARIANTS[name].combines, "none") if name in VARIANTS else "none" for name in variants}
    order = [*FIRST, *sorted(set(variants) - set(FIRST))]
    hues, dashes = [], []
    for name in variants:
        same = [other for other in order if other != baseline and ways.get(other) == ways[name]]
        place = 0 if name == baseline else same.index(name) + (ways[name] == ways.get(baseline))
        hues.append(look.colour(colours.WAYS[ways[name]]))
        dashes.append(DASHES[place % len(DASHES)])
    if len(variants) > 1 and len(set(ways.values())) == 1:
        hues = look.many(len(variants))
    return hues, dashes


def scales(figure: Figure, look: Look) -> tuple[alt.Color, alt.StrokeDash]:
    """The encodings that give every variant its look."""
    variants = figure.content["variants"]
    hues, dashes = looks(variants, figure.content["baseline"], look)
    return (
        alt.Color("variant:N", scale=alt.Scale(domain=variants, range=hues), legend=None),
        alt.StrokeDash("variant:N", scale=alt.Scale(domain=variants, range=dashes), legend=None),
    )


def apart(
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


def rooms_of(titles: list[str]) -> np.ndarray:
    """The pixels that each name takes."""
    return np.array([LINE + NEXT * wrap_label(title, NAME).count("\n") for title in titles], dtype=float)


def room(ends: pd.DataFrame, figure: Figure, least: int) -> int:
    """The height of a plot beside which all names have room."""
    return max(least, int(rooms_of([figure.content["titles"][name] for name in ends.variant]).sum()) + 20)


def names(ends: pd.DataFrame, figure: Figure, domain: tuple[float, float], height: int, look: Look, **more) -> Chart:
    """Names right of the plot, each with a piece of its line. ends: variant, value.

    Their scale is that of the plot's pixels, which a page may stretch.
    """
    colour, dash = scales(figure, look)
    titles = [figure.content["titles"][name] for name in ends.variant]
    frame = ends.assign(
        name=[wrap_label(title, NAME) for title in titles],
        place=apart(ends.value.to_numpy(dtype=float), rooms_of(titles), domain, height, **more),
        up=[-NEXT / 2 * wrap_label(title, NAME).count("\n") for title in titles],
    )
    base = alt.Chart(frame[["variant", "name", "place", "up"]]).encode(
        y=alt.Y("place:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None), x=alt.value("width")
    )
    keys = base.mark_rule(strokeWidth=2.4, xOffset=5, x2Offset=21).encode(
        x2=alt.value("width"), color=colour, strokeDash=dash
    )
    text = base.mark_text(
        align="left",
        baseline="middle",
        dx=26,
        dy=alt.expr("datum.up"),
        lineBreak="\n",
        lineHeight=NEXT,
        fontSize=12,
        color=look.ink,
    ).encode(text="name:N")
    return alt.layer(keys, text)


def reach(values: pd.Series, share: float = 0.04) -> tuple[float, float]:
    """From the least to the largest value, with a little room."""
    low, high = float(values.min()), float(values.max())
    room = share * (high - low or 1)
    return low - room, high + room


def lines(rows: pd.DataFrame, mean: pd.DataFrame, x: alt.X, y: alt.Y, figure: Figure, look: Look, tips: list) -> list:
    """A thin line a seed and the mean thick; one seed is its own mean."""
    colour, dash = scales(figure, look)
    thin = alt.Chart(rows[["variant", "seed", x_field(x), "value"]]).mark_line(strokeWidth=0.8, opacity=0.5)
    thick = alt.Chart(mean).mark_line(strokeWidth=2.4, strokeCap="round")
    return [
        thin.encode(x=x, y=y, color=colour, detail="seed:N"),
        thick.encode(x=x, y=y, color=colour, strokeDash=dash),
        # What a pointer finds: an evaluation, not a line between two.
        alt.Chart(mean).mark_point(size=60, opacity=0).encode(x=x, y=y, tooltip=tips),
    ]


def x_field(x: alt.X) -> str:
    """The column an encoding reads."""
    return str(x.shorthand).split(":")[0]


@drawing("training_curves")
def learning_curves(figure: Figure, look: Look) -> list[Chart]:
    """Loss against training, the baseline's final loss as a rule, and each crossing of it."""
    rows, mean, axis = (figure.content[key] for key in ("rows", "mean", "axis"))
    mean = mean.assign(name=mean.variant.map(figure.content["titles"]))
    target = figure.content["target"]
    values = pd.concat([rows.value, pd.Series([] if target is None else [target], dtype=float)])
    domain = reach(values)
    end = float(rows[axis].max())
    x = alt.X(
        f"{axis}:Q",
        title=figure.content["unit"],
        scale=alt.Scale(domain=[0, end], nice=False),
        axis=alt.Axis(format="~s" if end >= 100_000 else ",d", tickCount=6),
    )
    y = alt.Y("value:Q", title="validation loss (nats per predicted token)", scale=alt.Scale(domain=domain, nice=False))
    tips = [
        alt.Tooltip("name:N", title="variant"),
        alt.Tooltip("step:Q", format=","),
        alt.Tooltip("tokens:Q", format=","),
        alt.Tooltip("seconds:Q", format=",.0f"),
        alt.Tooltip("value:Q", title="mean validation loss", format=".3f"),
        alt.Tooltip("seeds:Q"),
    ]
    layers = lines(rows, mean, x, y, figure, look, tips)
    if target is not None:
        rule = alt.Chart(pd.DataFrame({"value": [target]})).mark_rule(color=look.ink, strokeDash=[5, 4], opacity=0.8)
        layers.insert(0, rule.encode(y=y))
    crossed = pd.DataFrame([one for one in figure.content["crossings"] if one["at"] == one["at"]])
    if len(crossed):
        colour, _ = scales(figure, look)
        crossed = crossed.assign(
            name=crossed.variant.map(figure.content["titles"]), told=[f"{at:,.0f}" for at in crossed["at"]]
        ).rename(columns={"at": axis})
        marks = alt.Chart(crossed).mark_point(filled=True, size=95, opacity=1, stroke=look.ground, strokeWidth=1.5)
        tips = [alt.Tooltip("name:N", title="crosses: "), alt.Tooltip("told:N", title=figure.content["unit"])]
        layers.append(marks.encode(x=x, y=y, color=colour, tooltip=tips))
    ends = mean.groupby("variant", sort=False).value.last().reset_index()
    height = room(ends, figure, HEIGHT)
    curves = alt.layer(*layers)
    return [
        alt.layer(curves, names(ends, figure, domain, height, look))
        .resolve_scale(y="independent")
        .properties(width=WIDE, height=height)
    ]


@drawing("training_length")
def longer(figure: Figure, look: Look) -> list[Chart]:
    """Loss at one, two and four times the training length."""
    rows, mean = figure.content["rows"], figure.content["mean"]
    mean = mean.assign(name=mean.variant.map(figure.content["titles"]))
    domain = reach(rows.value)
    x = alt.X(
        "times:Q",
        title="length of the texts (times the training length)",
        scale=alt.Scale(type="log", base=2, domain=[0.94, 4.1], nice=False),
        axis=alt.Axis(values=sorted(set(rows.times)), format="d", labelExpr="datum.label + ' ×'"),
    )
    y = alt.Y("value:Q", title="validation loss (nats per predicted token)", scale=alt.Scale(domain=domain, nice=False))
    tips = [
        alt.Tooltip("name:N", title="variant"),
        alt.Tooltip("times:Q", title="times the training length"),
        alt.Tooltip("value:Q", title="mean validation loss", format=".3f"),
    ]
    colour, _ = scales(figure, look)
    layers = lines(rows, mean, x, y, figure, look, tips)
    layers.append(alt.Chart(mean).mark_point(filled=True, size=45, opacity=1).encode(x=x, y=y, color=colour))
    last = mean[mean.times == mean.times.max()]
    height = room(last, figure, 320)
    curves = alt.layer(*layers)
    return [
        alt.layer(curves, names(last, figure, domain, height, look))
        .resolve_scale(y="independent")
        .properties(width=WIDE, height=height)
    ]


@drawing("training_scores", columns=2)
def score_scale(figure: Figure, look: Look) -> list[Chart]:
    """One panel a layer, all on one logarithmic scale."""
    rows, mean = figure.content["rows"], figure.content["mean"]
    mean = mean.assign(name=mean.variant.map(figure.content["titles"]))
    positive = rows.value[rows.value > 0]
    domain = (float(positive.min()) * 0.8, float(positive.max()) * 1.25)
    x = alt.X("step:Q", title="steps", axis=alt.Axis(format=",d", tickCount=4), scale=alt.Scale(nice=False))
    y = alt.Y(
        "value:Q",
        title="variance of the scores",
        scale=alt.Scale(type="log", domain=domain, nice=False),
        axis=alt.Axis(format="~g", values=_decades(*domain)),
    )
    tips = [
        alt.Tooltip("name:N", title="variant"),
        alt.Tooltip("step:Q", format=","),
        alt.Tooltip("value:Q", title="mean variance", format=".3~g"),
    ]
    panels = []
    for layer in sorted(set(rows.layer)):
        own, thick = rows[(rows.layer == layer) & (rows.value > 0)], mean[(mean.layer == layer) & (mean.value > 0)]
        ends = thick.groupby("variant", sort=False).value.last().reset_index()
        curves = alt.layer(*lines(own, thick, x, y, figure, look, tips))
        panels.append(
            alt.layer(curves, names(ends, figure, domain, 260, look, log=True))
            .resolve_scale(y="independent")
            .properties(width=NARROW, height=260, title=heading(f"Layer {layer}", look=look))
        )
    return panels


def _decades(low: float, high: float) -> list[float]:
    """1 and 3 times the powers of ten within a range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in (1, 3) if low <= step * 10.0**power <= high]


@drawing("runs_curve")
def run_curve(figure: Figure, look: Look) -> list[Chart]:
    """Validation and training loss of one run."""
    rows = figure.content["rows"]
    kinds = [name for name in figure.content["losses"] if name in set(rows.loss)]
    hues = [look.ink, *look.many(3)]
    dashes = [[1, 0] if place % 2 == 0 else [5, 3] for place in range(len(kinds))]
    lines = alt.Chart(rows[["step", "value", "loss"]]).mark_line(strokeWidth=2, point={"size": 18})
    return [
        lines.encode(
            x=alt.X("step:Q", title="steps", axis=alt.Axis(format=",d"), scale=alt.Scale(nice=False)),
            y=alt.Y("value:Q", title=figure.content["label"], scale=alt.Scale(zero=False)),
            color=alt.Color(
                "loss:N",
                scale=alt.Scale(domain=kinds, range=hues[: len(kinds)]),
                legend=alt.Legend(title=None, orient="top", symbolOpacity=1),
            ),
            strokeDash=alt.StrokeDash("loss:N", scale=alt.Scale(domain=kinds, range=dashes), legend=None),
            tooltip=[
                alt.Tooltip("loss:N"),
                alt.Tooltip("step:Q", format=","),
                alt.Tooltip("value:Q", format=".3f"),
            ],
        ).properties(width=WIDE, height=280)
    ]
