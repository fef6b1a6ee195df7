"""Drawings of surgery: the quality of a sentence encoder after its sum is cut apart."""

import altair as alt
import pandas as pd

from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.surgery.data import MaskedSurgeryContent, SurgeryContent

LABEL = "Spearman's correlation"
LABEL_CHARACTERS = 30
"""The most letters in one line of a label; two such lines leave room for the dots on a phone."""
AXIS_PADDING = 0.01
"""The length by which an axis extends beyond the longest interval, in units of the axis."""
TIPS: tuple[marks.Tip, ...] = (
    ("value", LABEL, ".4f"),
    *marks.interval_tips(".4f"),
    ("difference", "change from the intact model", "+.4f"),
)


@drawing("surgery", columns=2)
def surgery(figure: Figure[SurgeryContent], theme: Theme) -> list[Chart]:
    """A row for each operation; and separation by the number of directions."""
    frame = figure.frame()
    return [_operations(figure.content, theme, frame), _by_rank(figure.content, theme, frame)]


def _axis_range(shown: pd.DataFrame) -> tuple[float, float]:
    return float(shown.low.min()) - AXIS_PADDING, float(shown.high.max()) + AXIS_PADDING


def _operations(content: SurgeryContent, theme: Theme, frame: pd.DataFrame) -> Chart:
    shown = frame[frame["rank"].isna() | (frame["rank"] == content.rank)]
    order = [name for name in content.order if name in set(shown.done)]
    # Several random draws share a row: their intervals would cover one another.
    shown = shown.assign(low=shown.low.where(shown.draw.isna()), high=shown.high.where(shown.draw.isna()))
    labels = marks.wrapped_labels(order, LABEL_CHARACTERS)
    dots = marks.row_plot(
        shown.assign(label=shown.done.map(labels)),
        x=marks.number(alt.X, "value", LABEL, domain=_axis_range(frame), ticks=6),
        y=marks.labelled_rows(list(labels.values()), grid=True),
        theme=theme,
        size=marks.SEED,
        tooltip=(("done", "operation"), "draw", *TIPS),
    )
    height = marks.row_height(list(labels.values()), marks.ROW) * len(order)
    return marks.panel(marks.rule(theme, x=content.intact), *dots, theme=theme, width=marks.HALF, height=height)


def _by_rank(content: SurgeryContent, theme: Theme, frame: pd.DataFrame) -> Chart:
    shown = frame[frame.operation.isin(list(content.curves))]
    shown = shown.assign(along=shown.operation.map(content.curves))
    actual, random = content.curves.values()
    x = marks.number(alt.X, "rank", "directions of the positions", log=2)
    y = marks.number(alt.Y, "value", LABEL, domain=_axis_range(shown))
    color = marks.series("along", (actual, random), theme, marks.legend("directions reserved for positions"))
    lines = marks.line_plot(
        shown[shown.along == actual], x=x, y=y, theme=theme, color=color, ends=("low", "high"), dots=marks.SEED,
        tooltip=("along", ("rank:Q", "directions"), *TIPS),
    )  # fmt: skip
    draws = alt.Chart(shown[shown.along == random]).mark_point(filled=True, size=marks.SEED, opacity=0.75)
    layers = marks.rule(theme, y=content.intact, dash=marks.DASH), *lines, draws.encode(x=x, y=y, color=color)
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=300)


@drawing("masked_surgery")
def masked_surgery(figure: Figure[MaskedSurgeryContent], theme: Theme) -> list[Chart]:
    """A row for each operation: the change in loss of every encoder, from the one as trained at zero."""
    frame = figure.frame()
    order = [name for name in figure.content.order if name in set(frame.done)]
    encoders = sorted(frame.encoder.unique())
    labels = marks.wrapped_labels(order, LABEL_CHARACTERS)
    dots = marks.row_plot(
        frame[frame.operation != "intact"].assign(label=lambda rows: rows.done.map(labels)),
        x=marks.number(alt.X, "difference", "change in loss (nats)"),
        y=marks.labelled_rows(list(labels.values()), grid=True),
        theme=theme,
        ends=("difference_low", "difference_high"),
        color=marks.series("encoder", encoders, theme, marks.legend()),
        size=marks.SEED,
        opacity=0.75,
        tooltip=(
            "encoder",
            ("done", "operation"),
            "draw",
            ("value", "loss, nats", ".3f"),
            ("difference", "change, nats", "+.3f"),
            *marks.interval_tips("+.3f", "difference_low", "difference_high"),
        ),
    )
    height = marks.row_height(list(labels.values()), marks.ROW) * len(order)
    return [marks.panel(marks.rule(theme, x=0), *dots, theme=theme, width=430, height=height)]
