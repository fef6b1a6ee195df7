"""Drawings of one published table."""

import altair as alt
import pandas as pd

from analysis.core.colours import SOURCES
from analysis.core.formatting import signed
from analysis.figures import Figure
from analysis.figures.drawing import SERIES, Chart, Look, drawing
from analysis.figures.marks import labelled_rows, level_labels, row_height, rule, values_beside, wrap_label

SHAPES = ("circle", "square", "triangle-up", "diamond")
LOG_ABOVE = 8
"""Perplexities that differ by more than this factor stand on a logarithmic axis."""
USED = (
    "row", "column", "unit", "value", "sd", "printed", "setting", "transcribed_from", "higher_is_better", "baseline",
    "difference", "printed_baseline", "sd_baseline", "sd_text", "sd_text_baseline",
)  # fmt: skip
"""What a chart carries of a cell: its specification should not hold every caveat over and over."""
PHONE = 300
"""Pixels that a legend may take on a phone."""


def _heading(text: str) -> alt.TitleParams:
    return alt.TitleParams(wrap_label(text, 60).split("\n"), fontSize=13, anchor="start")


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
    return alt.X("value:Q", scale=scale, axis=alt.Axis(title=wrap_label(title, 44).split("\n"), tickCount=5))


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
    names = level_labels([wrap_label(text) for text in cells.row])
    frame = cells.assign(label=[names[wrap_label(text)] for text in cells.row])
    labels = list(dict.fromkeys(frame.label))
    column, unit = str(cells.column.iloc[0]), str(cells.unit.iloc[0])
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=90, opacity=1, color=look.colour(SOURCES["published"]))
        .encode(
            y=labelled_rows(labels),
            x=_score_axis(cells, reach, "" if column == unit else f"{column}: "),
            tooltip=list(TIPS),
        )
    )
    layers: list[Chart] = [points]
    if frame.sd.notna().any():
        ends = frame.assign(low=frame.value - frame.sd, high=frame.value + frame.sd)
        bars = alt.Chart(ends).mark_rule(color=look.colour(SOURCES["published"]), strokeWidth=2, opacity=0.6)
        layers.insert(0, bars.encode(y=labelled_rows(labels), x=alt.X("low:Q"), x2="high:Q"))
    return _titled(alt.layer(*layers).properties(width=330, height=len(labels) * row_height(labels)), panel)


def _columns_down(
    cells: pd.DataFrame, panel: str, reach: tuple[float, float], variants: list[str], look: Look
) -> Chart:
    names = level_labels([wrap_label(text) for text in cells.column])
    frame = cells.assign(label=[names[wrap_label(text)] for text in cells.column])
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
    base = alt.Chart(frame).encode(y=labelled_rows(labels, gap=0.15))
    rules = base.mark_rule(color=look.faint).encode(x=alt.X("min(value):Q"), x2="max(value):Q")
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=_score_axis(cells, reach, ""),
        yOffset=alt.YOffset("row:N", sort=variants, scale=alt.Scale(domain=variants, padding=0.5)),
        color=alt.Color("row:N", scale=hues, legend=legend),
        tooltip=list(TIPS),
    )
    if len(variants) > len(SERIES):
        points = points.encode(shape=alt.Shape("row:N", scale=shapes, legend=legend))
    height = max(row_height(labels), 6 * len(variants) + 8)
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
    return wrap_label(f"{cells.unit.iloc[0]}, variant minus {cells.baseline.iloc[0]}{_direction(cells)}", width).split(
        "\n"
    )


def _cells(cells: pd.DataFrame, reach: float, decimals: int, look: Look) -> Chart:
    spread = cells.sd.notna() & cells.sd_baseline.notna()
    names = level_labels([wrap_label(text) for text in cells.row])
    frame = cells.assign(
        label=[names[wrap_label(text)] for text in cells.row],
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
    base = alt.Chart(frame).encode(x=alt.X("column:N", sort=heads, axis=top), y=labelled_rows(labels, gap=0.03))
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
    height = max(row_height(labels, 36), 40 if spread.any() else 0)
    return (squares + digits).properties(width=max(360, 62 * len(heads)), height=len(labels) * height)


def _bars(cells: pd.DataFrame, reach: float, decimals: int, look: Look) -> Chart:
    del reach
    names = level_labels([wrap_label(text) for text in cells.row])
    frame = cells.assign(
        label=[names[wrap_label(text)] for text in cells.row],
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
    base = alt.Chart(frame).encode(y=labelled_rows(labels))
    tips = [*TIPS[:4], alt.Tooltip("printed_baseline:N", title="baseline, printed"), *TIPS[4:]]
    bars = base.mark_bar(height=alt.RelativeBandSize(0.6)).encode(
        x=place,
        color=alt.condition("datum.below", alt.value(look.diverging[1]), alt.value(look.diverging[5])),
        tooltip=tips,
    )
    layers = [bars, rule(look, x=0), *values_beside(base, look, "below", place)]
    return alt.layer(*layers).properties(width=420, height=len(labels) * row_height(labels))


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
    names_down = level_labels([wrap_label(text) for text in frame.variant])
    frame["label"] = [names_down[wrap_label(text)] for text in frame.variant]
    frame["written"] = [signed(v) if relative else f"{v:.2f}" for v in frame.value]
    frame["left"] = frame.value.to_numpy() < ends.transform("mean").to_numpy() - 1e-9
    labels = list(dict.fromkeys(frame.label))
    title = f"points, average minus that of {baseline}" if relative else "points, average (tick: as printed)"
    place = alt.X(
        "value:Q",
        scale=alt.Scale(zero=False, nice=False, padding=46),
        axis=alt.Axis(title=wrap_label(title, 44).split("\n"), tickCount=5, grid=not relative),
    )
    color = alt.Color(
        "set:N",
        scale=alt.Scale(domain=list(kinds), range=look.many(2)[: len(kinds)]),
        legend=alt.Legend(title=None, orient="top", columns=1, labelLimit=400, symbolOpacity=1),
    )
    base = alt.Chart(frame).encode(y=labelled_rows(labels))
    layers: list[Chart] = [rule(look, x=0)] if relative else []
    layers.append(base.mark_rule(color=look.faint, strokeWidth=2).encode(x=alt.X("min(value):Q"), x2="max(value):Q"))
    printed = shown.dropna(subset="printed")
    printed = printed.assign(label=[names_down[wrap_label(text)] for text in printed.variant])
    if not relative and len(printed):
        tick = alt.Chart(printed).mark_tick(color=look.ink, thickness=1.5, size=20)
        layers.append(tick.encode(x=alt.X("printed:Q"), y=labelled_rows(labels), tooltip=[alt.Tooltip("printed:Q")]))
    layers.append(
        base.mark_point(filled=True, size=110, opacity=1).encode(
            x=place,
            color=color,
            tooltip=[alt.Tooltip("variant:N"), alt.Tooltip("set:N", title="average over"), alt.Tooltip("written:N")],
        )
    )
    layers += values_beside(base, look, "left", place)
    heading = f"Difference to {baseline}" if relative else "Average"
    return alt.layer(*layers).properties(
        width=330, height=len(labels) * row_height(labels, 30), title=_heading(heading)
    )
