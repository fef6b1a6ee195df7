"""The drawing of the board: one panel a measure, variants down, coloured by how they combine word and position."""

import altair as alt

from analysis.core import colours
from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.experiments.data import MEASURES
from analysis.figures.training.draw_curves import WAYS
from analysis.figures.training.draw_gaps import ROW, down, rule

KEY_ROW = 24
"""Pixels of a row of the legend, which Streamlit takes from the marks."""
NEUTRAL = {"loss": 0.0, "glue": 0.0, "published": 0.0, "time": 1.0, "parameters": 1.0}
"""Where a measure says: as the baseline."""


@drawing("experiments_board", columns=3)
def board(figure: Figure, look: Look) -> list[Chart]:
    """A dot with its interval for each variant that was measured."""
    long, titles = figure.content["long"], figure.content["titles"]
    ways = [way for way in colours.WAYS if way in set(long.combines.map(WAYS))]
    keys = KEY_ROW * -(-len(ways) // 2) if look.screen else 0
    panels = []
    for number, (measure, name) in enumerate(MEASURES.items()):
        frame = long[long.measure == measure]
        if frame.empty:
            continue
        frame = frame.assign(way=frame.combines.map(WAYS))[["title", "way", "value", "low", "high", "seeds", "word"]]
        x = alt.X("value:Q", scale=alt.Scale(zero=False, nice=True, padding=8), axis=alt.Axis(title=None, tickCount=4))
        base = alt.Chart(frame).encode(
            y=down(titles),
            color=alt.Color(
                "way:N",
                scale=alt.Scale(domain=ways, range=[look.colour(colours.WAYS[way]) for way in ways]),
                legend=alt.Legend(title=None, orient="bottom", columns=2) if number == 0 else None,
            ),
        )
        dots = base.mark_point(filled=True, size=60, opacity=1).encode(
            x=x,
            tooltip=[
                alt.Tooltip("title:N", title="variant"),
                alt.Tooltip("value:Q", title=name, format=",.4~g"),
                alt.Tooltip("low:Q", title="95 % interval from", format=",.4~g"),
                alt.Tooltip("high:Q", title="to", format=",.4~g"),
                alt.Tooltip("seeds:Q"),
                alt.Tooltip("word:N", title="verdict"),
            ],
        )
        bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q")
        layers: list[Chart] = [rule(NEUTRAL[measure], look)] if measure in NEUTRAL else []
        layers += [bars.transform_filter("isValid(datum.low)"), dots]
        height = ROW * len(titles) + (keys if number == 0 else 0)
        heading = alt.TitleParams(name, fontSize=13, anchor="start")
        panels.append(alt.layer(*layers).properties(width=300, height=height, title=heading))
    return panels
