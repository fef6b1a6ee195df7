"""The marks of figures with a line a variant: colours, dashes, thin seeds and thick means, names at the ends."""

from collections.abc import Collection, Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import title, way
from analysis.core import colours
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.training.row_marks import VARIANT

NAME_HEIGHT, NAME_LINE = 15, 13
"""Pixels that a name takes, and each further line of it."""
NAME_CHARACTERS = 14
"""Letters of a name on one line: on a phone longer ones would leave the curves little room."""
LOSS = "validation loss (nats per predicted token)"
DASHES = ([1, 0], [7, 3], [2, 2], [8, 2, 2, 2], [12, 4], [4, 2, 1, 2], [1, 3], [10, 2], [5, 5], [3, 1])
GAPS = [9, 7]
"""The dash of a curve that lies on another."""
ON_ANOTHER, MOSTLY = 0.012, 0.5
"""Two curves nearer than this share of the axis, along this share of the steps, lie on each other."""
DASH_ORDER = (
    "tupe_a", "no_position", "concat_20", "sinusoidal", "tupe_a_unscaled", "rotary", "alibi",
    "bert_a_norm", "no_cross", "bert_a_d", "bert_r", "tupe_r", "relative_only", "deberta",
    "concat_50", "concat_05", "concat_wide", "concat_blocked", "multiply", "tupe_a_tie_cls", "random_fixed",
    "frozen_word", "no_segment", "window", "recurrent", "causal_no_position",
    "bert_a_smooth", "bert_a_wide_table", "one_segment", "frozen_own_word",
    "causal_rotary", "causal_partial_25", "causal_partial_10", "causal_drope", "causal_polar",
    "causal_one_turned_key", "causal_alibi", "causal_relative_only", "causal_sinusoidal_lead",
)  # fmt: skip
"""The order in which variants of one colour get their dashes, the same in every chart."""


def scales(
    variants: Sequence[str], baseline: str, theme: Theme, covering: Collection[str] = ()
) -> tuple[alt.Color, alt.StrokeDash]:
    """A colour for how each variant tells positions, and a dash that tells it from others of that colour.

    covering: variants whose curves lie on others, which are seen through their gaps. Where all variants tell them in
    one way, its colour would tell nothing apart, and each gets a hue of its own.
    """
    ways = {name: way(name) for name in variants}
    order = [*DASH_ORDER, *sorted(set(variants) - set(DASH_ORDER))]
    variant_colours, variant_dashes = {}, {}
    for name in variants:
        same_way = [other for other in order if other != baseline and ways.get(other) == ways[name]]
        index = 0 if name == baseline else same_way.index(name) + (ways[name] == ways.get(baseline))
        variant_colours[name] = theme.colour(colours.of_way(ways[name]))
        variant_dashes[name] = GAPS if name in covering else DASHES[index % len(DASHES)]
    if len(variants) > 1 and len(set(ways.values())) == 1:
        variant_colours = dict(zip(variants, theme.many(len(variants)), strict=True))
    return marks.hues("variant", variant_colours), marks.dashes("variant", variant_dashes)


def name_heights(titles: list[str], letters: int = NAME_CHARACTERS) -> np.ndarray:
    """The pixels that each name takes in lines of so many letters."""
    return np.array(
        [NAME_HEIGHT + NAME_LINE * marks.wrap_label(name, letters).count("\n") for name in titles], dtype=float
    )


def plot_height(ends: pd.DataFrame, minimum: int) -> int:
    """The height in pixels of a plot beside which all names have room."""
    return max(minimum, int(name_heights(end_labels(ends)).sum()) + 20)


def end_labels(ends: pd.DataFrame) -> list[str]:
    """The names at the ends of lines, each with what the column `written` adds to it, where there is one."""
    written = ends.written if "written" in ends else [""] * len(ends)
    return [f"{title(name)} {text}".strip() for name, text in zip(ends.variant, written, strict=True)]


def names(
    ends: pd.DataFrame,
    variants: Sequence[str],
    baseline: str,
    theme: Theme,
    *,
    domain: tuple[float, float],
    height: int,
    log: bool = False,
    covering: Collection[str] = (),
) -> Chart:
    """Names right of the plot, each with a piece of its line. ends: variant, value.

    Their scale is that of the plot's pixels, which a page may stretch.
    """
    colour, dash = scales(variants, baseline, theme, covering)
    named = ends.assign(name=end_labels(ends))
    return names_at_ends(named, "variant", colour, dash, theme, domain=domain, height=height, log=log)


def names_at_ends(
    ends: pd.DataFrame,
    field: str,
    colour: alt.Color,
    dash: alt.StrokeDash,
    theme: Theme,
    *,
    domain: tuple[float, float],
    height: int,
    log: bool = False,
    letters: int = NAME_CHARACTERS,
) -> Chart:
    """Names of lines right of the plot, each with a piece of its line. ends: value, name, and the field of the line.

    letters: the most of a line of a name.
    """
    titles = list(ends.name)
    low, high = np.log(domain) if log else domain
    values = ends.value.to_numpy(dtype=float)
    frame = ends[[field]].assign(
        at=np.clip((high - (np.log(values) if log else values)) / ((high - low) or 1), 0, 1) * height,
        name=[marks.wrap_label(name, letters) for name in titles],
        place=spread_names(values, name_heights(titles, letters), domain, height, log=log),
        up=[-NAME_LINE / 2 * marks.wrap_label(name, letters).count("\n") for name in titles],
    )
    base = alt.Chart(frame).encode(y=pixels_down(height), x=alt.value("width"))
    keys = base.mark_rule(strokeWidth=marks.LINE, xOffset=12, x2Offset=23).encode(
        x2=alt.value("width"), color=colour, strokeDash=dash
    )
    # From the end of a line to its name, which may stand higher or lower.
    leaders = base.mark_rule(strokeWidth=1, xOffset=5, x2Offset=12).encode(
        x2=alt.value("width"), y=alt.Y("at:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None),
        y2=alt.Y2("place:Q"), color=colour,
    )  # fmt: skip
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
    return alt.layer(leaders, keys, text)


def padded_range(values: pd.Series, padding: float = 0.04) -> tuple[float, float]:
    """The range from the smallest to the largest value, with a share of it as padding at either end."""
    low, high = float(values.min()), float(values.max())
    room = padding * (high - low or 1)
    return low - room, high + room


def covering_curves(mean: pd.DataFrame, variants: Sequence[str], domain: tuple[float, float]) -> list[str]:
    """The variants whose mean curves lie on one of an earlier variant for most of the training."""
    values = mean.pivot_table(index="step", columns="variant", values="value")
    near = ON_ANOTHER * (domain[1] - domain[0])
    found: list[str] = []
    for place, name in enumerate(variants):
        before = [values[other] for other in variants[:place] if other in values and other not in found]
        if name in values and any(((values[name] - other).abs() < near).mean() > MOSTLY for other in before):
            found.append(name)
    return found


def lines(
    rows: pd.DataFrame,
    mean: pd.DataFrame,
    variants: Sequence[str],
    baseline: str,
    theme: Theme,
    *,
    x: alt.X,
    y: alt.Y,
    tooltip: Sequence[marks.Tip],
    covering: Collection[str] = (),
) -> Chart:
    """A thin line a seed and the mean thick; one seed is its own mean.

    A pointer finds evaluations, not the lines between them.
    covering: as `scales` has it; these are drawn last.
    """
    color, dash = scales(variants, baseline, theme, covering)
    seeds = alt.Chart(rows).mark_line(strokeWidth=marks.THIN_LINE, opacity=0.5)
    titled = mean.assign(title=mean.variant.map(title))
    means: list[Chart] = []
    for part in (titled[~titled.variant.isin(covering)], titled[titled.variant.isin(covering)]):
        if len(part):
            means += marks.line_plot(
                part, x=x, y=y, theme=theme, color=color, dash=dash, dots=0, tooltip=(VARIANT, *tooltip)
            )
    return alt.layer(seeds.encode(x=x, y=y, color=color, detail=alt.Detail("seed:N")), *means)


def pixels_down(height: int) -> alt.Y:
    """The channel of `place`, which `spread_names` gives: pixels from the top of a plot of this height."""
    return alt.Y("place:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)


def spread_names(
    values: np.ndarray, sizes: np.ndarray, domain: tuple[float, float], height: int, *, log: bool = False
) -> np.ndarray:
    """The heights of names (pixels from the top) at which none covers another, each as near to its line as possible.

    values: of the lines, which order and place their names. sizes: the pixels that each name takes.
    """
    low, high = np.log(domain) if log else domain
    preferred = (high - (np.log(values) if log else values)) / ((high - low) or 1) * height
    order = np.argsort(preferred, kind="stable")
    preferred, sizes = preferred[order], sizes[order]
    # Offset of each name from the top of a stack in which all names touch.
    offsets = np.cumsum(sizes) - sizes / 2
    starts = preferred - offsets
    # Overlapping names form one block, centred on their preferred positions.
    blocks: list[list[float]] = []
    for start in starts:
        blocks.append([float(start)])
        while len(blocks) > 1 and np.mean(blocks[-1]) < np.mean(blocks[-2]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    positions = np.array([np.mean(block) for block in blocks for _ in block])
    # Names beyond the plot are pushed in.
    positions = np.clip(positions, 0, max(height + sizes[-1] / 2 - 4 - sizes.sum(), 0))
    result = np.empty_like(positions)
    result[order] = positions + offsets
    return result
