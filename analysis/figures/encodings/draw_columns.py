"""Drawings of an encoding's columns: how much each moves, and how fast."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.encodings.columns import MovementContent, SpectrumContent
from analysis.figures.encodings.data import SizedEncoding
from analysis.figures.encodings.draw import HEIGHT, colours, empty_panel
from analysis.figures.heatmap import heatmap

FREQUENCIES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@drawing("encoding_movement", columns=3)
def movement(figure: Figure[MovementContent], theme: Theme) -> list[Chart]:
    """Range and deviation by column, one panel an encoding; then the share of variance that the top columns hold."""
    frame, shown, cumulative = figure.frame(), figure.content.shown, figure.content.cumulative
    panels = []
    for entry, highest, colour in zip(shown, figure.content.highest, colours(theme), strict=False):
        rows = frame.loc[frame.encoding == entry.name]
        if not rows["range"].to_numpy().any():
            panels.append(empty_panel(entry, f"No {entry.column} moves.", theme=theme))
            continue
        x = marks.number(alt.X, "column", entry.column, domain=(0, entry.dim - 1), form="d")
        y = marks.number(alt.Y, "range", entry.unit, domain=(0, highest * 1.04))
        tooltip = (("column:Q", entry.column), ("range", "", ".3~g"), ("sd", "standard deviation", ".3~g"))
        # Dots, not a line: sines and cosines take turns, and a line between them fills the space.
        size = 10 if entry.dim > 64 else marks.SEED
        layers = [
            *marks.line_plot(rows, x=x, y=y, theme=theme, color=colour, width=0, dots=size, tooltip=tooltip),
            *marks.line_plot(
                rows, x=x, y=marks.same_axis(y, "sd"), theme=theme, color=theme.ink, width=0, dots=0.6 * size,
                tooltip=tooltip,
            ),
        ]  # fmt: skip
        below = (*entry.lines, f"coloured: range; {'white' if theme.dark else 'black'}: standard deviation")
        panels.append(
            marks.panel(*layers, theme=theme, width=marks.THIRD, height=HEIGHT, title=entry.title, below=below)
        )
    if len(cumulative):
        panels.append(_variance_panel(cumulative, shown, theme))
    return panels


def _variance_panel(cumulative: pd.DataFrame, shown: Sequence[SizedEncoding], theme: Theme) -> Chart:
    lines = marks.line_plot(
        cumulative, theme=theme, color=_title_colours(shown, theme), dots=0,
        x=marks.number(alt.X, "columns", "share of columns, most variable first", zero=True, form="%", ticks=5),
        y=marks.number(alt.Y, "variance", "share of variance", domain=(0, 1), form="%", ticks=5),
        tooltip=(("title", "encoding"), ("columns", "", ".1%"), ("variance", "", ".1%")),
    )  # fmt: skip
    half = marks.rule(theme, x=0.5, dash=marks.DASH)
    return marks.panel(
        half, *lines, theme=theme, width=marks.THIRD, height=HEIGHT, title="How many columns hold the variance"
    )


def _title_colours(shown: Sequence[SizedEncoding], theme: Theme) -> alt.Color:
    return marks.series("title", [entry.title for entry in shown], theme, marks.legend(lines=True))


@drawing("encoding_spectrum", columns=3)
def spectrum(figure: Figure[SpectrumContent], theme: Theme) -> list[Chart]:
    """Every column's spectrum, one map an encoding on one scale; then the mean spectra on one pair of axes."""
    shown, top, mean = figure.content.shown, figure.content.top, figure.content.mean.dropna()
    panels = []
    for entry, power in zip(shown, figure.content.power, strict=True):
        if np.isnan(power).all():
            panels.append(empty_panel(entry, "Constant: it has no frequencies.", theme=theme))
            continue
        # A row for frequency 0, the mean that was removed, so that row numbers are numbers of cycles.
        panels.append(
            heatmap(
                np.vstack([np.zeros(power.shape[1]), np.nan_to_num(power)]), domain=(0, top),
                row_title=f"cycles in {entry.length} tokens", column_title=entry.column,
                value_title="share of the column's variance", title=entry.title, below=entry.lines, side=marks.THIRD,
                height=HEIGHT, theme=theme,
            )
        )  # fmt: skip
    return [*panels, _mean_panel(mean, shown, theme)] if len(mean) else panels


def _mean_panel(mean: pd.DataFrame, shown: Sequence[SizedEncoding], theme: Theme) -> Chart:
    positive = mean[mean.share > 0]
    domain = (float(positive.frequency.min()), 0.5)
    lines = marks.line_plot(
        positive, theme=theme, color=_title_colours(shown, theme), dots=0,
        x=marks.number(alt.X, "frequency", "cycles per token", domain=domain, log=10, form="~g", values=FREQUENCIES),
        y=marks.number(alt.Y, "share", "mean share of variance", log=10, nice=False, form="~%", ticks=4),
        tooltip=(
            ("title", "encoding"), ("frequency", "cycles per token", ".3~g"), ("share", "mean share", ".2~%"),
        ),
    )  # fmt: skip
    return marks.panel(*lines, theme=theme, width=marks.THIRD, height=HEIGHT, title="Mean over the columns")
