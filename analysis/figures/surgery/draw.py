"""Drawings of surgery: what a sentence encoder still does once its sum is cut apart."""

import altair as alt
import pandas as pd

from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing

LABEL = "Spearman's correlation"


@drawing("surgery", columns=2)
def surgery(figure: Figure, look: Look) -> list[Chart]:
    """A row for each operation; and separation by the number of directions."""
    frame = figure.frame()
    return [_rows(figure, look, frame), _by_rank(figure, look, frame)]


def _scale(shown: pd.DataFrame) -> alt.Scale:
    return alt.Scale(domain=[float(shown.low.min()) - 0.01, float(shown.high.max()) + 0.01], nice=False, zero=False)


def _tooltip(*more: alt.Tooltip) -> list[alt.Tooltip]:
    return [
        *more,
        alt.Tooltip("value:Q", title=LABEL, format=".4f"),
        alt.Tooltip("low:Q", title="95 % from", format=".4f"),
        alt.Tooltip("high:Q", title="to", format=".4f"),
        alt.Tooltip("difference:Q", title="less the intact model's", format="+.4f"),
    ]


def _rows(figure: Figure, look: Look, frame: pd.DataFrame) -> Chart:
    shown = frame[frame["rank"].isna() | (frame["rank"] == figure.content["rank"])]
    scale = _scale(shown)
    order = [name for name in figure.content["order"] if name in set(shown.done)]
    axis = alt.Axis(title=LABEL, titleAnchor="end")
    base = alt.Chart(shown).encode(
        y=alt.Y("done:N", sort=order, axis=alt.Axis(title=None, labelLimit=330, ticks=False, domain=False)),
        tooltip=_tooltip(alt.Tooltip("done:N", title="done"), alt.Tooltip("draw:Q", title="draw")),
    )
    intact = alt.Chart().mark_rule(color=look.faint).encode(x=alt.XDatum(figure.content["intact"], scale=scale))
    spans = (
        base.transform_filter("datum.draw == null")
        .mark_rule(strokeWidth=2, color=look.series)
        .encode(x=alt.X("low:Q", axis=axis, scale=scale), x2="high:Q")
    )
    dots = base.mark_point(filled=True, size=45, opacity=0.75, color=look.series).encode(
        x=alt.X("value:Q", axis=axis, scale=scale)
    )
    return (intact + spans + dots).properties(width=300, height=24 * len(order))


def _by_rank(figure: Figure, look: Look, frame: pd.DataFrame) -> Chart:
    curves = figure.content["curves"]
    shown = frame[frame.operation.isin(list(curves))].assign(along=lambda rows: rows.operation.map(curves))
    scale = _scale(shown)
    x = alt.X("rank:Q", scale=alt.Scale(type="log", base=2), axis=alt.Axis(title="directions of the positions"))
    y = alt.Y("value:Q", scale=scale, axis=alt.Axis(title=LABEL))
    hues = alt.Color(
        "along:N",
        scale=alt.Scale(domain=list(curves.values()), range=look.many(2)),
        legend=alt.Legend(title="words kept out of, positions inside", orient="bottom"),
    )
    base = alt.Chart(shown).encode(
        x=x,
        color=hues,
        tooltip=_tooltip(alt.Tooltip("along:N", title="along"), alt.Tooltip("rank:Q", title="directions")),
    )
    own = f"datum.operation == '{next(iter(curves))}'"
    intact = (
        alt.Chart()
        .mark_rule(color=look.faint, strokeDash=[4, 4])
        .encode(y=alt.YDatum(figure.content["intact"], scale=scale))
    )
    line = base.transform_filter(own).mark_line(strokeWidth=2).encode(y=y)
    spans = base.transform_filter(own).mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    dots = base.mark_point(filled=True, size=45, opacity=0.75).encode(y=y)
    return (intact + line + spans + dots).properties(width=330, height=300)


@drawing("masked_surgery")
def masked_surgery(figure: Figure, look: Look) -> list[Chart]:
    """A row for each operation: the change in loss of every encoder, from the one as trained at zero."""
    frame = figure.frame()
    order = [name for name in figure.content["order"] if name in set(frame.done)]
    x = alt.X("difference:Q", axis=alt.Axis(title="change in loss, nats a masked word (right is worse)"))
    base = alt.Chart(frame[frame.operation != "intact"]).encode(
        y=alt.Y("done:N", sort=order, axis=alt.Axis(title=None, labelLimit=330, ticks=False, domain=False)),
        tooltip=[
            alt.Tooltip("encoder:N", title="encoder"),
            alt.Tooltip("done:N", title="done"),
            alt.Tooltip("draw:Q", title="draw"),
            alt.Tooltip("value:Q", title="loss, nats", format=".3f"),
            alt.Tooltip("difference:Q", title="change, nats", format="+.3f"),
            alt.Tooltip("difference_low:Q", title="95 % from", format="+.3f"),
            alt.Tooltip("difference_high:Q", title="to", format="+.3f"),
        ],
    )
    encoders = sorted(frame.encoder.unique())
    hues = alt.Color(
        "encoder:N",
        scale=alt.Scale(domain=encoders, range=look.many(len(encoders))),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    zero = alt.Chart().mark_rule(color=look.faint).encode(x=alt.XDatum(0))
    spans = base.mark_rule(strokeWidth=2).encode(x="difference_low:Q", x2="difference_high:Q", color=hues)
    dots = base.mark_point(filled=True, size=45, opacity=0.75).encode(x=x, color=hues)
    return [(zero + spans + dots).properties(width=430, height=24 * len(order))]
