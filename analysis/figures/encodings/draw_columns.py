"""Drawings of an encoding's columns: how much each moves, and how fast."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.encodings.columns import MovementContent, SpectrumContent
from analysis.figures.encodings.data import Sized
from analysis.figures.encodings.draw import WIDE, colours, empty, name
from analysis.figures.heatmap import heatmap
from analysis.figures.marks import heading


@drawing("encoding_movement", columns=3)
def movement(figure: Figure[MovementContent], look: Look) -> list[Chart]:
    """Range and deviation by column, one panel an encoding; then the share of variance that the top columns hold."""
    frame, shown, held = figure.frame(), figure.content.shown, figure.content.held
    panels = []
    for one, highest, colour in zip(shown, figure.content.highest, colours(look), strict=False):
        own = frame.loc[frame.encoding == one.name]
        if not own["range"].to_numpy().any():
            panels.append(empty(one, f"No {one.column} moves.", look=look))
            continue
        x = alt.X(
            "column:Q",
            title=one.column,
            scale=alt.Scale(domain=[0, one.dim - 1], nice=False),
            axis=alt.Axis(format="d"),
        )
        tooltip = [
            alt.Tooltip("column:Q", title=one.column),
            alt.Tooltip("range:Q", format=".3~g"),
            alt.Tooltip("sd:Q", title="standard deviation", format=".3~g"),
        ]
        y = alt.Scale(domain=[0, highest * 1.04], nice=False)
        base = alt.Chart(own)
        # Dots, not a line: sines and cosines take turns, and a line between them fills the space.
        dots = 10 if one.dim > 64 else 40
        ranges = base.mark_circle(color=colour, size=dots, opacity=1).encode(
            x=x, y=alt.Y("range:Q", title=one.unit, scale=y), tooltip=tooltip
        )
        sds = base.mark_circle(color=look.ink, size=dots * 0.6, opacity=1).encode(
            x=x, y=alt.Y("sd:Q", scale=y), tooltip=tooltip
        )
        below = f"coloured: range; {'white' if look.dark else 'black'}: standard deviation"
        panels.append((ranges + sds).properties(width=WIDE * 2 // 3, height=240, title=name(one, below, look=look)))
    if len(held):
        panels.append(_held(held, shown, look))
    return panels


def _held(held: pd.DataFrame, shown: Sequence[Sized], look: Look) -> Chart:
    share = alt.Axis(format="%", tickCount=5)
    line = (
        alt.Chart(held)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("columns:Q", title="share of columns, most variable first", axis=share),
            y=alt.Y("variance:Q", title="share of variance", axis=share, scale=alt.Scale(domain=[0, 1])),
            color=_by_title(shown, look),
            tooltip=[
                alt.Tooltip("title:N", title="encoding"),
                alt.Tooltip("columns:Q", format=".1%"),
                alt.Tooltip("variance:Q", format=".1%"),
            ],
        )
    )
    half = alt.Chart(held.head(1)).mark_rule(color=look.faint, strokeDash=[4, 3]).encode(x=alt.datum(0.5))
    return (half + line).properties(width=WIDE * 2 // 3, height=240, title=heading("Who holds the variance", look=look))


def _by_title(shown: Sequence[Sized], look: Look) -> alt.Color:
    scale = alt.Scale(domain=[one.title for one in shown], range=colours(look)[: len(shown)])
    return alt.Color("title:N", scale=scale, legend=alt.Legend(title=None, orient="bottom", labelLimit=240, columns=1))


@drawing("encoding_spectrum", columns=3)
def spectrum(figure: Figure[SpectrumContent], look: Look) -> list[Chart]:
    """Every column's spectrum, one map an encoding on one scale; then the mean spectra on one pair of axes."""
    shown, top, mean = figure.content.shown, figure.content.top, figure.content.mean.dropna()
    panels = []
    for one, power in zip(shown, figure.content.power, strict=True):
        if np.isnan(power).all():
            panels.append(empty(one, "Constant: it has no frequencies.", look=look))
            continue
        # A row for frequency 0, the mean that was removed, so that row numbers are numbers of cycles.
        cycles = np.vstack([np.zeros(power.shape[1]), np.nan_to_num(power)])
        panels.append(
            heatmap(
                cycles,
                [str(row) for row in range(len(cycles))],
                [str(column) for column in range(one.dim)],
                domain=(0, top),
                row_title=f"cycles in {one.length} tokens",
                column_title=one.column,
                value_title="share of the column's variance",
                diverging=False,
                side=WIDE * 2 // 3,
                height=240,
                look=look,
            ).properties(title=name(one, look=look))
        )
    if len(mean):
        panels.append(_mean(mean, shown, look))
    return panels


def _mean(mean: pd.DataFrame, shown: Sequence[Sized], look: Look) -> Chart:
    seen = mean[mean.share > 0]
    return (
        alt.Chart(seen)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(
                "frequency:Q",
                title="cycles per token",
                scale=alt.Scale(type="log", domain=[float(seen.frequency.min()), 0.5], nice=False),
                axis=alt.Axis(format="~g", values=[0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]),
            ),
            y=alt.Y(
                "share:Q",
                title="mean share of variance",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(format="~%", tickCount=4),
            ),
            color=_by_title(shown, look),
            tooltip=[
                alt.Tooltip("title:N", title="encoding"),
                alt.Tooltip("frequency:Q", title="cycles per token", format=".3~g"),
                alt.Tooltip("share:Q", title="mean share", format=".2~%"),
            ],
        )
        .properties(width=WIDE * 2 // 3, height=240, title=heading("Mean over the columns", look=look))
    )
