"""Drawings of one published table."""

import textwrap
from collections.abc import Sequence
from typing import Literal

import altair as alt
import pandas as pd

from analysis.core.colours import SOURCES
from analysis.core.formatting import signed
from analysis.figures import Figure
from analysis.figures.drawing import SERIES, Chart, Look, drawing

SHAPES = ("circle", "square", "triangle-up", "diamond")
LINE = 13
LABEL_CHARACTERS = 26
LINES = "split(datum.label, '\\n')"
LOG_ABOVE = 8
"""Perplexities that differ by more than this factor stand on a logarithmic axis."""
USED = (
    "row", "column", "unit", "value", "sd", "printed", "setting", "transcribed_from", "higher_is_better", "baseline",
    "difference", "printed_baseline", "sd_baseline", "sd_text", "sd_text_baseline",
)  # fmt: skip
"""What a chart carries of a cell: its specification should not hold every caveat over and over."""
PHONE = 300
"""Pixels that a legend may take on a phone."""


def lines(text: str, width: int = LABEL_CHARACTERS) -> str:
    """A label broken into lines, so that none is cut off."""
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False)) or text


def levelled(labels: Sequence[str]) -> dict[str, str]:
    """Labels with empty lines around the shorter ones: an axis moves all labels up by the same amount."""
    most = max((label.count("\n") for label in labels), default=0)
    return {label: "\n" * ((most - label.count("\n")) // 2) + label for label in labels}


def step(labels: Sequence[str], least: int = 26) -> int:
    """Pixels a row needs for the label with most lines."""
    return max(least, LINE * max(label.strip("\n").count("\n") + 1 for label in labels) + 8)


def down(labels: Sequence[str], gap: float = 0.1) -> alt.Y:
    """Rows with levelled labels, in the order given."""
    most = max(label.strip("\n").count("\n") for label in labels)
    axis = alt.Axis(
        labelExpr=LINES, labelLimit=260, labelFontSize=12, labelLineHeight=LINE, labelOffset=-most * LINE / 2,
        ticks=False, domain=False, title=None, grid=False, labelOverlap=False,
    )  # fmt: skip
    return alt.Y("label:N", sort=list(labels), axis=axis, scale=alt.Scale(type="band", padding=gap))


SIDES: tuple[tuple[str, Literal["left", "right"], int], ...] = (("true", "right", -9), ("false", "left", 9))


def values_beside(base: alt.Chart, look: Look, flag: str, place: alt.X, dy: int = 0) -> list[Chart]:
    """`written` left of the mark where `flag` holds, else right of it, on a halo that keeps lines off the digits."""
    layers: list[Chart] = []
    for holds, align, shift in SIDES:
        if isinstance(base.data, pd.DataFrame) and (base.data[flag] == (holds == "true")).any():
            text = base.transform_filter(f"datum.{flag} === {holds}").encode(x=place, text="written:N")
            layers += [
                text.mark_text(
                    align=align,
                    dx=shift,
                    yOffset=dy,
                    fontSize=12,
                    stroke=look.ground,
                    strokeWidth=4,
                    strokeJoin="round",
                ),
                text.mark_text(align=align, dx=shift, yOffset=dy, fontSize=12, color=look.ink),
            ]
    return layers


def zero(look: Look) -> Chart:
    """The line of no difference."""
    return alt.Chart(pd.DataFrame({"x": [0]})).mark_rule(color=look.ink, strokeWidth=1).encode(x=alt.X("x:Q"))


def _heading(text: str) -> alt.TitleParams:
    return alt.TitleParams(lines(text, 60).split("\n"), fontSize=13, anchor="start")


def _direction(cells: pd.DataFrame) -> str:
    known = set(cells.higher_is_better.dropna())
    return {(True,): ", higher is better", (False,): ", lower is better"}.get(tuple(known), "")


def _panels(cells: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """(setting, unit, cells): what may share an axis."""
    used = [name for name in USED if name in cells]
    return [(str(panel), str(unit), rows[used]) for (panel, unit), rows in cells.groupby(["panel", "unit"], sort=False)]


# ---- Scores ----


@drawing("published_scores", columns=2)
def scores(figure: Figure, look: Look) -> list[Chart]:
    """Columns down and a colour a variant; where there is one column, variants down."""
    cells = figure.content["cells"]
    variants = figure.content["variants"]
    spread = cells.sd.fillna(0)
    ends = cells.assign(low=cells.value - spread, high=cells.value + spread).groupby("unit")
    reach = {unit: (float(result.low.min()), float(result.high.max())) for unit, result in ends}
    return [
        (_variants_down if rows.column.nunique() == 1 else _columns_down)(rows, panel, reach[unit], variants, look)
        for panel, unit, rows in _panels(cells)
    ]


def _score_axis(cells: pd.DataFrame, reach: tuple[float, float], name: str) -> alt.X:
    unit = str(cells.unit.iloc[0])
    log = unit == "perplexity" and reach[0] > 0 and reach[1] / reach[0] > LOG_ABOVE
    title = f"{name}{unit}{_direction(cells)}{' (log scale)' if log else ''}"
    scale = alt.Scale(type="log" if log else "linear", domain=reach, zero=False, nice=False, padding=14)
    return alt.X("value:Q", scale=scale, axis=alt.Axis(title=lines(title, 44).split("\n"), tickCount=5))


TIPS = (
    alt.Tooltip("row:N", title="variant"),
    alt.Tooltip("column:N", title="column"),
    alt.Tooltip("printed:N", title="printed"),
    alt.Tooltip("sd:Q", title="standard deviation, printed"),
    alt.Tooltip("setting:N"),
    alt.Tooltip("transcribed_from:N", title="read in"),
)


def _variants_down(
    cells: pd.DataFrame, panel: str, reach: tuple[float, float], variants: list[str], look: Look
) -> Chart:
    del variants
    names = levelled([lines(text) for text in cells.row])
    frame = cells.assign(label=[names[lines(text)] for text in cells.row])
    labels = list(dict.fromkeys(frame.label))
    column, unit = str(cells.column.iloc[0]), str(cells.unit.iloc[0])
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=90, opacity=1, color=look.colour(SOURCES["published"]))
        .encode(
            y=down(labels), x=_score_axis(cells, reach, "" if column == unit else f"{column}: "), tooltip=list(TIPS)
        )
    )
    layers: list[Chart] = [points]
    if frame.sd.notna().any():
        ends = frame.assign(low=frame.value - frame.sd, high=frame.value + frame.sd)
        bars = alt.Chart(ends).mark_rule(color=look.colour(SOURCES["published"]), strokeWidth=2, opacity=0.6)
        layers.insert(0, bars.encode(y=down(labels), x=alt.X("low:Q"), x2="high:Q"))
    return _titled(alt.layer(*layers).properties(width=330, height=len(labels) * step(labels)), panel)


def _columns_down(
    cells: pd.DataFrame, panel: str, reach: tuple[float, float], variants: list[str], look: Look
) -> Chart:
    names = levelled([lines(text) for text in cells.column])
    frame = cells.assign(label=[names[lines(text)] for text in cells.column])
    labels = list(dict.fromkeys(frame.label))
    legend = alt.Legend(
        title=None,
        orient="top",
        columns=int(max(1, min(4, PHONE // (max(map(len, variants)) * 6.6 + 34)))),
        labelLimit=400,
        symbolOpacity=1,
    )
    hues = alt.Scale(domain=variants, range=look.many(len(variants)))
    shapes = alt.Scale(domain=variants, range=[SHAPES[i // len(SERIES)] for i in range(len(variants))])
    base = alt.Chart(frame).encode(y=down(labels, gap=0.15))
    rules = base.mark_rule(color=look.faint).encode(x=alt.X("min(value):Q"), x2="max(value):Q")
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=_score_axis(cells, reach, ""),
        yOffset=alt.YOffset("row:N", sort=variants, scale=alt.Scale(domain=variants, padding=0.5)),
        color=alt.Color("row:N", scale=hues, legend=legend),
        tooltip=list(TIPS),
    )
    if len(variants) > len(SERIES):
        points = points.encode(shape=alt.Shape("row:N", scale=shapes, legend=legend))
    height = max(step(labels), 6 * len(variants) + 8)
    keys = 18 * -(-len(variants) // 2)  # Streamlit takes the legend's room from the marks.
    return _titled((rules + points).properties(width=330, height=len(labels) * height + keys), panel)


def _titled(chart: Chart, title: str) -> Chart:
    return chart.properties(title=_heading(title)) if title else chart


# ---- Differences ----


@drawing("published_difference")
def difference(figure: Figure, look: Look) -> list[Chart]:
    """Variants down, columns across, the difference written in each cell; one column is drawn as bars."""
    cells, decimals = figure.content["cells"], figure.content["decimals"]
    reach = {unit: float(result.difference.abs().max()) or 1.0 for unit, result in cells.groupby("unit")}
    return [
        _titled(
            (_bars if rows.column.nunique() == 1 else _cells)(rows, reach[unit], decimals, look),
            panel,
        )
        for panel, unit, rows in _panels(cells)
    ]


def _minus(cells: pd.DataFrame, width: int) -> list[str]:
    return lines(f"{cells.unit.iloc[0]}, variant minus {cells.baseline.iloc[0]}{_direction(cells)}", width).split("\n")


def _cells(cells: pd.DataFrame, reach: float, decimals: int, look: Look) -> Chart:
    spread = cells.sd.notna() & cells.sd_baseline.notna()
    names = levelled([lines(text) for text in cells.row])
    frame = cells.assign(
        label=[names[lines(text)] for text in cells.row],
        written=[
            signed(value, decimals) + (f"\nsd {a}; {b}" if known else "")
            for value, a, b, known in zip(cells.difference, cells.sd_text, cells.sd_text_baseline, spread, strict=True)
        ],
        strong=cells.difference.abs() > look.strong * reach,
    )
    labels, heads = list(dict.fromkeys(frame.label)), list(dict.fromkeys(frame.column))
    scale = look.around_zero(reach)
    top = alt.Axis(
        orient="top", labelAngle=-40, labelLimit=260, labelFontSize=12, title=_minus(cells, 60), ticks=False,
        domain=False, labelOverlap=False, titleAnchor="start", titlePadding=8,
    )  # fmt: skip
    base = alt.Chart(frame).encode(x=alt.X("column:N", sort=heads, axis=top), y=down(labels, gap=0.03))
    tips = [
        *TIPS[:3],
        alt.Tooltip("baseline:N"),
        alt.Tooltip("printed_baseline:N", title="baseline, printed"),
        alt.Tooltip("written:N", title="difference"),
        *TIPS[4:],
    ]
    squares = base.mark_rect(stroke=look.ground, strokeWidth=1).encode(
        color=alt.Color("difference:Q", scale=scale, legend=None), tooltip=tips
    )
    # On a phone the cells are too narrow for digits side by side: there they are turned.
    turned = alt.expr(f"width > 0 && width / {len(heads)} < 38 ? 270 : 0")
    shift = -6 if spread.any() else 0
    digits = base.mark_text(fontSize=12, lineBreak="\n", baseline="middle", dy=shift, angle=turned).encode(
        text="written:N",
        color=look.ink_on_cells("datum.strong"),
    )
    height = max(step(labels, 36), 40 if spread.any() else 0)
    return (squares + digits).properties(width=max(360, 62 * len(heads)), height=len(labels) * height)


def _bars(cells: pd.DataFrame, reach: float, decimals: int, look: Look) -> Chart:
    del reach
    names = levelled([lines(text) for text in cells.row])
    frame = cells.assign(
        label=[names[lines(text)] for text in cells.row],
        written=[signed(value, decimals) for value in cells.difference],
        below=cells.difference < 0,
    )
    labels = list(dict.fromkeys(frame.label))
    domain = [min(0.0, float(frame.difference.min())), max(0.0, float(frame.difference.max()))]
    title = [str(cells.column.iloc[0]), *_minus(cells, 44)]
    place = alt.X(
        "difference:Q",
        scale=alt.Scale(domain=domain, padding=52, nice=False),
        axis=alt.Axis(title=title, tickCount=5),
    )
    base = alt.Chart(frame).encode(y=down(labels))
    tips = [*TIPS[:4], alt.Tooltip("printed_baseline:N", title="baseline, printed"), *TIPS[4:]]
    bars = base.mark_bar(height=alt.RelativeBandSize(0.6)).encode(
        x=place,
        color=alt.condition("datum.below", alt.value(look.diverging[1]), alt.value(look.diverging[5])),
        tooltip=tips,
    )
    layers = [bars, zero(look), *values_beside(base, look, "below", place)]
    return alt.layer(*layers).properties(width=420, height=len(labels) * step(labels))


# ---- Averages ----


@drawing("published_average", columns=2)
def averages(figure: Figure, look: Look) -> list[Chart]:
    """Differences of averages to the baseline, and the averages themselves."""
    return [_dumbbells(figure, look, relative=True), _dumbbells(figure, look, relative=False)]


def _dumbbells(figure: Figure, look: Look, *, relative: bool) -> Chart:
    means, names = figure.content["means"], figure.content["names"]
    baseline = figure.content["baseline"]
    kinds = {name: column for name, column in zip(names.values(), ("all", "ticked"), strict=True) if name}
    shown = means[means.variant != baseline] if relative else means
    if shown.empty:
        shown = means
    values = {
        name: shown[f"difference_{kind}"] if relative else shown["all_columns" if kind == "all" else kind]
        for name, kind in kinds.items()
    }
    frame = pd.concat(
        [pd.DataFrame({"variant": shown.variant, "set": name, "value": result}) for name, result in values.items()]
    )
    ends = frame.groupby("variant").value
    names_down = levelled([lines(text) for text in frame.variant])
    frame["label"] = [names_down[lines(text)] for text in frame.variant]
    frame["written"] = [signed(v) if relative else f"{v:.2f}" for v in frame.value]
    frame["left"] = frame.value.to_numpy() < ends.transform("mean").to_numpy() - 1e-9
    labels = list(dict.fromkeys(frame.label))
    title = f"points, average minus that of {baseline}" if relative else "points, average (tick: as printed)"
    place = alt.X(
        "value:Q",
        scale=alt.Scale(zero=False, nice=False, padding=46),
        axis=alt.Axis(title=lines(title, 44).split("\n"), tickCount=5, grid=not relative),
    )
    color = alt.Color(
        "set:N",
        scale=alt.Scale(domain=list(kinds), range=look.many(2)[: len(kinds)]),
        legend=alt.Legend(title=None, orient="top", columns=1, labelLimit=400, symbolOpacity=1),
    )
    base = alt.Chart(frame).encode(y=down(labels))
    layers: list[Chart] = [zero(look)] if relative else []
    layers.append(base.mark_rule(color=look.faint, strokeWidth=2).encode(x=alt.X("min(value):Q"), x2="max(value):Q"))
    printed = shown.dropna(subset="printed")
    printed = printed.assign(label=[names_down[lines(text)] for text in printed.variant])
    if not relative and len(printed):
        tick = alt.Chart(printed).mark_tick(color=look.ink, thickness=1.5, size=20)
        layers.append(tick.encode(x=alt.X("printed:Q"), y=down(labels), tooltip=[alt.Tooltip("printed:Q")]))
    layers.append(
        base.mark_point(filled=True, size=110, opacity=1).encode(
            x=place,
            color=color,
            tooltip=[alt.Tooltip("variant:N"), alt.Tooltip("set:N", title="average over"), alt.Tooltip("written:N")],
        )
    )
    layers += values_beside(base, look, "left", place)
    heading = f"Difference to {baseline}" if relative else "Average"
    return alt.layer(*layers).properties(width=330, height=len(labels) * step(labels, 30), title=_heading(heading))
