"""The drawing of an advantage against the length of training: differences in loss, and shares of steps."""

import altair as alt

from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.marks import heading
from analysis.figures.training.draw_gaps import blue

WIDE, HIGH = 300, 240


def _steps(trained: list[float], fitted: list[float]) -> alt.X:
    """Steps on a log scale, marked where something was trained and where the fitted line ends."""
    ends = min(trained), max([*trained, *fitted])
    return alt.X(
        "steps:Q",
        title="steps of training",
        scale=alt.Scale(type="log", domain=[0.9 * ends[0], 1.1 * ends[1]], nice=False),
        axis=alt.Axis(values=sorted({*trained, round(ends[1])}), format=",", labelOverlap=True, grid=False),
    )


@drawing("training_advantage", columns=2)
def advantage(figure: Figure, look: Look) -> list[Chart]:
    """Left: the difference in final loss with its fitted line. Right: the share of the baseline's steps."""
    table, pairs, lines, base = (figure.content[name] for name in ("table", "pairs", "lines", "baseline"))
    x, trained = (_steps(table.steps.tolist(), furthest) for furthest in (lines.steps.tolist(), []))
    names = list(dict.fromkeys(table.title))
    colour = alt.value(blue(look)) if len(names) == 1 else alt.Color("title:N", legend=alt.Legend(title=None))
    detail = "title:N"
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color=look.ink, opacity=0.6).encode(y="zero:Q")
    loss = f"final loss minus {base}'s (nats)"
    band = (
        alt.Chart(lines[~lines.beyond.astype(bool)])
        .mark_area(opacity=0.18)
        .encode(x=x, y=alt.Y("low:Q", title=loss), y2="high:Q", color=colour, detail=detail)
    )
    fitted = (
        alt.Chart(lines)
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y("size:Q", title=loss),
            color=colour,
            detail=detail,
            strokeDash=alt.StrokeDash(
                "beyond:N", scale=alt.Scale(domain=[False, True], range=[[1, 0], [2, 4]]), legend=None
            ),
        )
    )
    dots = (
        alt.Chart(pairs[["title", "steps", "seed", "gap", "run_id"]])
        .mark_point(filled=True, size=45, opacity=0.8)
        .encode(
            x=x,
            y=alt.Y("gap:Q", title=loss),
            color=colour,
            tooltip=[
                alt.Tooltip("title:N", title="variant"),
                alt.Tooltip("steps:Q", format=","),
                "seed:Q",
                alt.Tooltip("gap:Q", title="difference (nats)", format="+.3f"),
                "run_id:N",
            ],
        )
    )
    one = alt.Chart(alt.Data(values=[{"one": 1}])).mark_rule(color=look.ink, opacity=0.6).encode(y="one:Q")
    share = f"steps to {base}'s final loss, over its own"
    top = alt.Scale(domain=[0, max(1.1, 1.05 * float(table[["ratio", "ratio_high"]].max().max()))], nice=False)
    spans = (
        alt.Chart(table[table.ratio_low.notna()])
        .mark_rule(strokeWidth=2)
        .encode(x=trained, y=alt.Y("ratio_low:Q", title=share, scale=top), y2="ratio_high:Q", color=colour)
    )
    ratios = (
        alt.Chart(table)
        .mark_point(filled=True, size=90, shape="diamond", opacity=1)
        .encode(
            x=trained,
            y=alt.Y("ratio:Q", title=share, scale=top),
            color=colour,
            tooltip=[
                alt.Tooltip("title:N", title="variant"),
                alt.Tooltip("steps:Q", format=","),
                "seeds:Q",
                alt.Tooltip("ratio:Q", format=".3f"),
            ],
        )
    )
    return [
        alt.layer(zero, band, fitted, dots).properties(
            width=WIDE, height=HIGH, title=heading("Difference in final loss", look=look)
        ),
        alt.layer(one, spans, ratios).properties(width=WIDE, height=HIGH, title=heading("Share of steps", look=look)),
    ]
