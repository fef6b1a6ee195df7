"""Drawings of the ledger: verdicts as a table of marks, evidence as dots with intervals."""

import textwrap

import altair as alt
import pandas as pd

from analysis.core import colours
from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.marks import same_axis

VERDICTS = {
    "supported": (colours.VERDICTS["supported"], "circle"),
    "contradicted": (colours.VERDICTS["contradicted"], "cross"),
    "mixed": (colours.VERDICTS["mixed"], "diamond"),
    "open": (colours.VERDICTS["open"], "square"),
    "inconclusive": (colours.VERDICTS["open"], "square"),
    "not yet measured": (colours.VERDICTS["open"], "triangle-up"),
}
SIDES = {
    "for": (colours.VERDICTS["supported"], "circle"),
    "against": (colours.VERDICTS["contradicted"], "cross"),
    "beside": (colours.VERDICTS["open"], "diamond"),
}


@drawing("claims_statements")
@drawing("claims_verdicts")
def verdicts(figure: Figure, look: Look) -> list[Chart]:
    """One row a claim, one column a verdict; the mark's shape says the verdict again."""
    frame = figure.frame()
    words = list(figure.content["words"])
    shown = frame[["id", "claim", "verdict", "for", "against", "sentence"]]
    # Names in two lines leave the marks room on a narrow screen.
    lines = [textwrap.wrap(claim, 44, max_lines=3, placeholder=" …") for claim in shown.claim]
    shown = shown.assign(row=["|".join(parts) for parts in lines])
    height = sum(max(34, 15 * len(parts)) for parts in lines)
    chart = (
        alt.Chart(shown)
        .mark_point(filled=True, size=130, opacity=1)
        .encode(
            x=alt.X(
                "verdict:N",
                sort=words,
                scale=alt.Scale(domain=words),
                axis=alt.Axis(orient="top", labelAngle=-50, labelOverlap=False),
                title=None,
            ),
            y=alt.Y(
                "row:N",
                sort=list(shown.row),
                title=None,
                axis=alt.Axis(labelExpr="split(datum.label, '|')", grid=True, labelOverlap=False, labelPadding=6),
            ),
            color=alt.Color(
                "verdict:N",
                scale=alt.Scale(domain=words, range=[look.colour(VERDICTS[word][0]) for word in words]),
                legend=None,
            ),
            shape=alt.Shape(
                "verdict:N", scale=alt.Scale(domain=words, range=[VERDICTS[word][1] for word in words]), legend=None
            ),
            tooltip=["claim:N", "verdict:N", "for:Q", "against:Q", "sentence:N"],
        )
        .properties(width=420, height=height)
    )
    return [chart]


@drawing("claim_evidence")
def evidence(figure: Figure, look: Look) -> list[Chart]:
    """One panel a unit; rows are numbered as in the tables."""
    drawn = figure.content["drawn"]
    units = list(dict.fromkeys(drawn.unit))
    # What the rule judges by comes first.
    units.sort(key=lambda unit: unit != figure.content["unit"])
    return [_panel(drawn[drawn.unit == unit], unit, figure, look) for unit in units]


def _panel(rows: pd.DataFrame, unit: str, figure: Figure, look: Look) -> Chart:
    rows = rows.drop(columns=["values", "page", "caveat", "query"]).assign(
        label=[f"{row.number}  {row.source}" for row in rows.itertuples()],
        bears=[figure.content["sides"][side] for side in rows.side],
    )
    known = {figure.content["sides"][side]: style for side, style in SIDES.items()}
    sides = [name for name in known if name in set(rows.bears)]
    y = alt.Y("label:N", sort=list(rows.label), title=None, axis=alt.Axis(labelLimit=250, labelOverlap=False))
    style = {
        "color": alt.Color(
            "bears:N",
            scale=alt.Scale(domain=sides, range=[look.colour(known[side][0]) for side in sides]),
            legend=alt.Legend(title=None, orient="top", columns=1, labelLimit=300),
        ),
        "shape": alt.Shape("bears:N", scale=alt.Scale(domain=sides, range=[known[side][1] for side in sides])),
    }
    x = alt.X("value:Q", title=unit, scale=alt.Scale(zero=False, padding=14), axis=alt.Axis(tickCount=7))
    tips = ["number:Q", "says:N", "source:N", "value:Q", "low:Q", "high:Q", "kind:N"]
    base = alt.Chart(rows)
    layers: list[Chart] = [
        base.mark_rule(strokeWidth=2).encode(x=same_axis(x, "low"), x2="high:Q", y=y, color=style["color"]),
        base.mark_point(filled=True, size=80, opacity=1).encode(x=x, y=y, tooltip=tips, **style),
    ]
    threshold = figure.content["threshold"]
    if threshold is not None and unit == figure.content["unit"]:
        line = alt.Chart(alt.InlineData(values=[{"threshold": threshold}]))
        layers.insert(0, line.mark_rule(strokeDash=[5, 4], color=look.ink).encode(x=same_axis(x, "threshold")))
    return alt.layer(*layers).properties(
        width=430,
        height=24 * len(rows) + 22 * len(sides) + 20,
        title=alt.TitleParams(unit or "value", fontSize=13, anchor="start"),
    )
