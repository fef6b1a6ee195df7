"""Drawings of geometry: lines and dots with what random vectors give, in grey, behind them."""

from collections.abc import Callable
from typing import Any, NotRequired, TypedDict

import altair as alt
import pandas as pd

from analysis.figures import Figure
from analysis.figures.drawing import GREY, VERMILION, Chart, Look, drawing

WIDE, HIGH, LEGEND_ROW = 330, 210, 30
LOG_TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]
LEGEND = alt.Legend(title=None, orient="bottom", columns=1, labelLimit=300, symbolOpacity=1, symbolType="stroke")
TIPS = [
    alt.Tooltip("value:Q", format=".4~g"),
    alt.Tooltip("baseline:Q", title="random", format=".4~g"),
    alt.Tooltip("baseline_low:Q", title="random, from", format=".4~g"),
    alt.Tooltip("baseline_high:Q", title="to", format=".4~g"),
]
KEPT = ["along", "value", "low", "high", "baseline", "baseline_low", "baseline_high", "series", "layer", "head"]


class Panel(TypedDict):
    """One panel of a figure of geometry. domain: of its values; log: whether its x axis is logarithmic."""

    title: str | list[str]
    x: str
    y: str
    rows: pd.DataFrame
    domain: NotRequired[list[float]]
    log: NotRequired[bool]
    wide: NotRequired[bool]


def _colour(rows: pd.DataFrame, look: Look, *, legend: bool = True) -> alt.Color:
    names = list(dict.fromkeys(rows.series))
    hues = look.many(5)
    scale = alt.Scale(domain=names, range=[hues[place % len(hues)] for place in range(len(names))])
    return alt.Color("series:N", scale=scale, legend=LEGEND if legend and len(names) > 1 else None)


def _gaps(lines: int) -> list[list[int]]:
    """The dash of each line: the first is whole."""
    return [[1, 0], *([9, 9 * place] for place in range(1, lines))]


def _named(rows: pd.DataFrame, look: Look) -> int:
    """Pixels that the legend takes of a panel on screen, where it is fitted into the height given."""
    names = rows.series.nunique()
    return LEGEND_ROW * names if look.screen and names > 1 else 0


def _sized(chart: Chart, panel: Panel, more: int = 0) -> Chart:
    title = alt.TitleParams(panel["title"], fontSize=13, anchor="start")
    return chart.properties(width=2 * WIDE if panel.get("wide") else WIDE, height=HIGH + more, title=title)


def _y(panel: Panel) -> alt.Y:
    domain: dict[str, Any] = {"domain": panel["domain"]} if "domain" in panel else {"zero": True}
    return alt.Y("value:Q", title=panel["y"], scale=alt.Scale(**domain, nice="domain" not in panel))


def _lines(panel: Panel, look: Look) -> Chart:
    """Value along an axis; the baseline's range as a band and its mean dashed.

    Lines after the first have gaps, through which one that it lies on is seen.
    """
    rows = panel["rows"].reindex(columns=KEPT).astype({"along": float, "value": float, "baseline_low": float})
    log = panel.get("log", False)
    scale = alt.Scale(type="log", nice=False) if log else alt.Scale(nice=False, zero=False, padding=6)
    x = alt.X("along:Q", title=panel["x"], scale=scale, axis=alt.Axis(grid=False, tickMinStep=1, tickCount=6))
    base, y, hue = alt.Chart(rows), _y(panel), _colour(rows, look)
    names = list(dict.fromkeys(rows.series))
    dash = alt.StrokeDash("series:N", scale=alt.Scale(domain=names, range=_gaps(len(names))), legend=None)

    def along(field: str) -> alt.Y:
        """Another column on the same axis: bands would begin it at 0."""
        other = y.copy()
        other["shorthand"] = f"{field}:Q"
        return other

    layers = [
        base.mark_area(opacity=0.3, color=GREY).encode(
            x=x, y=along("baseline_low"), y2="baseline_high:Q", detail="series:N"
        ),
        base.mark_line(strokeDash=[4, 3], strokeWidth=1.3, color=GREY).encode(
            x=x, y=along("baseline"), detail="series:N"
        ),
    ]
    if rows.low.notna().any():
        layers.append(base.mark_area(opacity=0.25).encode(x=x, y=along("low"), y2="high:Q", color=hue))
    layers.append(base.mark_line(strokeWidth=2).encode(x=x, y=y, color=hue, strokeDash=dash))
    if len(rows) <= 100:
        tips = [alt.Tooltip("series:N", title="of"), alt.Tooltip("along:Q", title=panel["x"]), *TIPS]
        layers.append(base.mark_point(filled=True, size=42, opacity=1).encode(x=x, y=y, color=hue, tooltip=tips))
    return _sized(alt.layer(*layers), panel, _named(rows, look))


def _dots(panel: Panel, look: Look) -> Chart:
    """One row a series, its value and interval; the baseline as a grey tick with its range."""
    rows = panel["rows"].reindex(columns=KEPT).astype({"low": float, "high": float, "baseline_low": float})
    names = list(dict.fromkeys(rows.series))
    domain: dict[str, Any] = {"domain": panel["domain"]} if "domain" in panel else {"zero": True}
    x = alt.X(
        "value:Q", title=panel["y"], scale=alt.Scale(**domain, nice="domain" not in panel), axis=alt.Axis(tickCount=5)
    )
    y = alt.Y("series:N", title=None, sort=names, axis=alt.Axis(labelLimit=210, grid=True))
    base = alt.Chart(rows).encode(y=y)
    blue = look.series
    chart = alt.layer(
        base.mark_rule(strokeWidth=7, opacity=0.4, color=GREY).encode(x="baseline_low:Q", x2="baseline_high:Q"),
        base.mark_tick(thickness=3, size=15, color=GREY).encode(x="baseline:Q"),
        base.mark_rule(strokeWidth=2, color=blue).encode(x="low:Q", x2="high:Q"),
        base.mark_point(filled=True, size=60, opacity=1, color=blue).encode(
            x=x, tooltip=[alt.Tooltip("series:N", title="of"), *TIPS]
        ),
    )
    return _sized(chart, panel).properties(height=max(110, 30 * len(names)))


def _every(figure: Figure, look: Look, draw: Callable[[Panel, Look], Chart]) -> list[Chart]:
    return [draw(panel, look) for panel in figure.content["panels"]]


for _name, _draw, _columns in (
    ("geometry_spectra", _lines, 2),
    ("geometry_ranks", _dots, 2),
    ("geometry_subspaces", _lines, 2),
    ("geometry_layers", _lines, 3),
    ("geometry_kept", _lines, 1),
    ("geometry_collisions", _lines, 1),
    ("geometry_decoded", _dots, 1),
    ("geometry_order", _dots, 2),
):
    drawing(_name, columns=_columns)(lambda figure, look, draw=_draw: _every(figure, look, draw))


@drawing("geometry_heads", columns=3)
def heads(figure: Figure, look: Look) -> list[Chart]:
    """A dot a head, layer by layer; random heads as grey bars beside them."""
    drawn = []
    for panel in figure.content["panels"]:
        rows = panel["rows"].reindex(columns=KEPT)
        blue = look.series
        scale = alt.Scale(zero=True)  # A loss may be below 0: what is removed may have worked against the rest.
        base = alt.Chart(rows).encode(
            x=alt.X("layer:O", title="layer", axis=alt.Axis(labelAngle=0)), xOffset=alt.XOffset("head:O")
        )
        tips = [alt.Tooltip("layer:O"), alt.Tooltip("head:O"), *TIPS]
        chart = alt.layer(
            base.mark_rule(strokeWidth=4, opacity=0.45, color=GREY).encode(
                y=alt.Y("baseline_low:Q", scale=scale), y2="baseline_high:Q"
            ),
            base.mark_point(filled=True, size=34, opacity=1, color=blue).encode(
                y=alt.Y("value:Q", title=panel["y"], scale=scale), tooltip=tips
            ),
        )
        drawn.append(_sized(chart, panel))
    return drawn


@drawing("geometry_energies")
def energies(figure: Figure, look: Look) -> list[Chart]:
    """A dot a dimension, both axes logarithmic; the share of a random table's dimensions dashed."""
    dots, chance = figure.content["dots"], pd.DataFrame({"chance": [figure.content["chance"]]})
    blue = look.series
    scale = alt.Scale(type="log", nice=True)
    base = alt.Chart(dots[(dots.word > 0) & (dots.position > 0)])
    points = base.mark_point(filled=True, size=30, opacity=0.6, color=blue).encode(
        x=alt.X("position:Q", title="share of the positions' variance", scale=scale, axis=alt.Axis(tickCount=5)),
        y=alt.Y("word:Q", title="share of the words' variance", scale=scale, axis=alt.Axis(tickCount=5)),
        tooltip=["dimension:Q", alt.Tooltip("position:Q", format=".3~g"), alt.Tooltip("word:Q", format=".3~g")],
    )
    line = alt.Chart(chance).mark_rule(strokeDash=[4, 3], color=GREY)
    return [
        alt.layer(line.encode(x="chance:Q"), line.encode(y="chance:Q"), points).properties(width=2 * WIDE, height=300)
    ]


@drawing("geometry_cosines")
def cosines(figure: Figure, look: Look) -> list[Chart]:
    """Shares of pairs by cosine: random ones as a grey area, the model's as lines."""
    real, random = figure.content["rows"].reindex(columns=KEPT), figure.content["random"]
    x = alt.X("along:Q", title="cosine", scale=alt.Scale(domain=[-1, 1], nice=False))
    hue = _colour(real, look)
    area = (
        alt.Chart(random)
        .mark_area(opacity=0.45, color=GREY)
        .encode(
            x=x,
            y=alt.Y("value:Q", title="share of pairs, bins of 0.02"),
            tooltip=[alt.Tooltip("series:N"), alt.Tooltip("value:Q", format=".3~g")],
        )
    )
    lines = alt.Chart(real).mark_line(strokeWidth=2).encode(x=x, y="value:Q", color=hue)
    title = alt.TitleParams(f"Grey: {figure.content['random_name']}", fontSize=13, anchor="start")
    return [alt.layer(area, lines).properties(width=2 * WIDE, height=260 + _named(real, look), title=title)]


@drawing("geometry_dimension")
def dimension(figure: Figure, look: Look) -> list[Chart]:
    """Mean |cosine| against dimension, both logarithmic; the exact formula in grey, the slider upright."""
    rows = figure.content["panel"]["rows"].reindex(columns=KEPT)
    ticks = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    x = alt.X(
        "along:Q",
        title="dimension",
        scale=alt.Scale(type="log", domain=[2, 1024], nice=False),
        axis=alt.Axis(values=ticks),
    )
    y = alt.Y("value:Q", title="mean |cosine|", scale=alt.Scale(type="log", nice=True), axis=alt.Axis(values=LOG_TICKS))
    base, hue = alt.Chart(rows), _colour(rows, look)
    exact = rows[rows.series == "random, measured"]
    tips = [alt.Tooltip("series:N", title="of"), alt.Tooltip("along:Q", title="dimension"), *TIPS[:2]]
    at = pd.DataFrame({"along": [float(figure.content["dim"])]})
    return [
        alt.layer(
            alt.Chart(at).mark_rule(strokeDash=[2, 3], color=look.ink).encode(x=x),
            alt.Chart(exact).mark_line(strokeWidth=5, opacity=0.5, color=GREY).encode(x=x, y=alt.Y("baseline:Q")),
            base.mark_rule(strokeWidth=2, opacity=0.6).encode(x=x, y="low:Q", y2="high:Q", color=hue),
            base.mark_line(strokeWidth=1.6).encode(x=x, y=y, color=hue),
            base.mark_point(filled=True, size=36, opacity=1).encode(x=x, y=y, color=hue, tooltip=tips),
        ).properties(width=2 * WIDE, height=300 + _named(rows, look))
    ]


@drawing("geometry_calls")
def calls(figure: Figure, look: Look) -> list[Chart]:
    """Every word's margin in order, the picked one marked; below the line a word is lost."""
    rows, picked = figure.content["rows"], figure.content["picked"]
    blue = look.series
    x = alt.X("rank:Q", title="words, the closest call first", scale=alt.Scale(nice=False, padding=8))
    y = alt.Y("margin:Q", title="margin (0: as near to another word)")
    tips = [
        "word:N",
        "position:Q",
        alt.Tooltip("other_word:N", title="nearest other"),
        alt.Tooltip("margin:Q", format=".3~g"),
    ]
    mine = alt.Chart(rows[rows.word == picked].assign(label=lambda r: r.word + " → " + r.other_word))
    # The label reaches into the chart, not over an axis.
    left = bool((rows[rows.word == picked]["rank"] < rows["rank"].median()).all())
    side: dict[str, Any] = {"align": "left", "dx": 12} if left else {"align": "right", "dx": -12}
    return [
        alt.layer(
            alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=GREY, strokeDash=[4, 3]).encode(y="zero:Q"),
            alt.Chart(rows).mark_point(filled=True, size=22, opacity=0.6, color=blue).encode(x=x, y=y, tooltip=tips),
            mine.mark_point(filled=True, size=110, opacity=1, color=VERMILION).encode(x=x, y=y, tooltip=tips),
            mine.mark_text(**side, fontSize=13, fontWeight="bold", color=look.ink).encode(x=x, y=y, text="label:N"),
        ).properties(width=2 * WIDE, height=240)
    ]
