"""Drawings of one published table."""

import altair as alt
import pandas as pd

from analysis.core.colours import SOURCES
from analysis.core.formatting import signed
from analysis.figures import Figure
from analysis.figures.drawing import SERIES, Chart, Look, drawing
from analysis.figures.marks import (
    DOT,
    HALF,
    LARGE_DOT,
    LINE,
    TEXT,
    Tip,
    hues,
    key_room,
    labelled_rows,
    legend,
    level_labels,
    number,
    panel,
    row_height,
    row_plot,
    rule,
    shapes,
    tips,
    values_beside,
    wrap_label,
)
from analysis.figures.published.data import AverageContent, DifferenceContent, ScoresContent

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
VARIANT: tuple[Tip, ...] = (("row", "variant"), "column", "printed")
BASELINE: Tip = ("printed_baseline", "baseline, printed")
SOURCE: tuple[Tip, ...] = ("setting", ("transcribed_from", "read in"))
SD: Tip = ("sd:Q", "standard deviation, printed")


def _panels(cells: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """(setting, unit, cells): what may share an axis."""
    used = [name for name in USED if name in cells]
    return [(str(panel), str(unit), rows[used]) for (panel, unit), rows in cells.groupby(["panel", "unit"], sort=False)]


def _title(setting: str) -> list[str]:
    """A panel's title, broken into lines; none where there is no setting."""
    return wrap_label(setting, 60).split("\n") if setting else []


def _labelled(frame: pd.DataFrame, names: pd.Series) -> tuple[pd.DataFrame, list[str]]:
    """Rows with the label of each, which is its name broken into lines; and the labels, in their order."""
    level = level_labels([wrap_label(name) for name in names])
    labels = [level[wrap_label(name)] for name in names]
    return frame.assign(label=labels), list(dict.fromkeys(labels))


def _direction(cells: pd.DataFrame) -> str:
    known = set(cells.higher_is_better.dropna())
    return {(True,): ", higher is better", (False,): ", lower is better"}.get(tuple(known), "")


# ---- Scores ----


@drawing("published_scores", columns=2)
def scores(figure: Figure[ScoresContent], look: Look) -> list[Chart]:
    """Columns down and a colour a variant; where there is one column, variants down."""
    cells, variants = figure.content.cells, figure.content.variants
    spread = cells.sd.fillna(0)
    ends = cells.assign(low=cells.value - spread, high=cells.value + spread).groupby("unit")
    reach = {unit: (float(result.low.min()), float(result.high.max())) for unit, result in ends}
    return [
        _variants_down(rows, _title(setting), reach[unit], look)
        if rows.column.nunique() == 1
        else _columns_down(rows, _title(setting), reach[unit], variants, look)
        for setting, unit, rows in _panels(cells)
    ]


def _score_axis(cells: pd.DataFrame, reach: tuple[float, float], name: str) -> alt.X:
    unit = str(cells.unit.iloc[0])
    log = unit == "perplexity" and reach[0] > 0 and reach[1] / reach[0] > LOG_ABOVE
    title = f"{name}{unit}{_direction(cells)}{' (log scale)' if log else ''}"
    return number(
        alt.X, "value", wrap_label(title, 44).split("\n"), domain=reach, log=10 if log else alt.Undefined, padding=14,
        ticks=5,
    )  # fmt: skip


def _variants_down(cells: pd.DataFrame, title: list[str], reach: tuple[float, float], look: Look) -> Chart:
    frame, labels = _labelled(cells.assign(low=cells.value - cells.sd, high=cells.value + cells.sd), cells.row)
    column, unit = str(cells.column.iloc[0]), str(cells.unit.iloc[0])
    dots = row_plot(
        frame,
        x=_score_axis(cells, reach, "" if column == unit else f"{column}: "),
        y=labelled_rows(labels),
        look=look,
        color=look.colour(SOURCES["published"]),
        tooltip=(*VARIANT, SD, *SOURCE),
    )
    return panel(*dots, look=look, width=HALF, height=len(labels) * row_height(labels), title=title)


def _columns_down(
    cells: pd.DataFrame, title: list[str], reach: tuple[float, float], variants: list[str], look: Look
) -> Chart:
    frame, labels = _labelled(cells, cells.column)
    keys = int(max(1, min(4, PHONE // (max(map(len, variants)) * 6.6 + 34))))
    key = legend(place="top", columns=keys)
    signs = {name: SHAPES[place // len(SERIES)] for place, name in enumerate(variants)}
    base = alt.Chart(frame).encode(y=labelled_rows(labels, gap=0.15))
    spans = base.mark_rule(color=look.faint).encode(x=alt.X("min(value):Q"), x2="max(value):Q")
    dots = base.mark_point(filled=True, size=DOT, opacity=1).encode(
        x=_score_axis(cells, reach, ""),
        yOffset=alt.YOffset("row:N", sort=variants, scale=alt.Scale(domain=variants, padding=0.5)),
        color=hues("row", dict(zip(variants, look.many(len(variants)), strict=True)), key),
        shape=shapes("row", signs, key) if len(variants) > len(SERIES) else alt.Undefined,
        tooltip=tips(*VARIANT, SD, *SOURCE),
    )
    # Dots of one row stand below one another, each in full.
    height = max(row_height(labels), 8 * len(variants) + 8)
    # A page takes the legend's room from the marks.
    room = key_room(look, len(variants), keys)
    return panel(spans, dots, look=look, width=HALF, height=len(labels) * height + room, title=title)


# ---- Differences ----


@drawing("published_difference")
def difference(figure: Figure[DifferenceContent], look: Look) -> list[Chart]:
    """Variants down, columns across, the difference written in each cell; one column is drawn as bars."""
    cells, decimals = figure.content.cells, figure.content.decimals
    reach = {unit: float(result.difference.abs().max()) or 1.0 for unit, result in cells.groupby("unit")}
    return [
        _bars(rows, _title(setting), decimals, look)
        if rows.column.nunique() == 1
        else _cells(rows, _title(setting), reach[unit], decimals, look)
        for setting, unit, rows in _panels(cells)
    ]


def _minus(cells: pd.DataFrame, width: int) -> list[str]:
    return wrap_label(f"{cells.unit.iloc[0]}, variant minus {cells.baseline.iloc[0]}{_direction(cells)}", width).split(
        "\n"
    )


def _cells(cells: pd.DataFrame, title: list[str], reach: float, decimals: int, look: Look) -> Chart:
    spread = cells.sd.notna() & cells.sd_baseline.notna()
    written = [
        signed(value, decimals) + (f"\nsd {a}; {b}" if known else "")
        for value, a, b, known in zip(cells.difference, cells.sd_text, cells.sd_text_baseline, spread, strict=True)
    ]
    frame, labels = _labelled(
        cells.assign(written=written, strong=cells.difference.abs() > look.strong * reach), cells.row
    )
    heads = list(dict.fromkeys(frame.column))
    top = alt.Axis(
        orient="top", labelAngle=-40, labelLimit=260, labelFontSize=TEXT, title=_minus(cells, 60), ticks=False,
        domain=False, labelOverlap=False, titleAnchor="start", titlePadding=8,
    )  # fmt: skip
    base = alt.Chart(frame).encode(x=alt.X("column:N", sort=heads, axis=top), y=labelled_rows(labels, gap=0.03))
    squares = base.mark_rect(stroke=look.ground, strokeWidth=1).encode(
        color=alt.Color("difference:Q", scale=look.around_zero(reach), legend=None),
        tooltip=tips(*VARIANT, "baseline", BASELINE, ("written", "difference"), *SOURCE),
    )
    # On a phone the cells are too narrow for digits side by side: there they are turned.
    turned = alt.expr(f"width > 0 && width / {len(heads)} < 38 ? 270 : 0")
    shift = -6 if spread.any() else 0
    digits = base.mark_text(fontSize=TEXT, lineBreak="\n", baseline="middle", dy=shift, angle=turned).encode(
        text="written:N",
        color=look.ink_on_cells("datum.strong"),
    )
    height = max(row_height(labels, 36), 40 if spread.any() else 0)
    return panel(squares, digits, look=look, width=max(HALF, 62 * len(heads)), height=len(labels) * height, title=title)


def _bars(cells: pd.DataFrame, title: list[str], decimals: int, look: Look) -> Chart:
    written = [signed(value, decimals) for value in cells.difference]
    frame, labels = _labelled(cells.assign(written=written, below=cells.difference < 0), cells.row)
    place = number(
        alt.X,
        "difference",
        [str(cells.column.iloc[0]), *_minus(cells, 44)],
        domain=(min(0.0, float(frame.difference.min())), max(0.0, float(frame.difference.max()))),
        padding=52,
        ticks=5,
    )
    base = alt.Chart(frame).encode(y=labelled_rows(labels))
    bars = base.mark_bar(height=alt.RelativeBandSize(0.6)).encode(
        x=place,
        color=alt.condition("datum.below", alt.value(look.diverging[1]), alt.value(look.diverging[5])),
        tooltip=tips(*VARIANT, SD, BASELINE, *SOURCE),
    )
    layers = (bars, rule(look, x=0), *values_beside(base, look, "below", place))
    return panel(*layers, look=look, width=HALF, height=len(labels) * row_height(labels), title=title)


# ---- Averages ----


@drawing("published_average", columns=2)
def averages(figure: Figure[AverageContent], look: Look) -> list[Chart]:
    """Differences of averages to the baseline, and the averages themselves."""
    return [_dumbbells(figure, look, relative=True), _dumbbells(figure, look, relative=False)]


def _dumbbells(figure: Figure[AverageContent], look: Look, *, relative: bool) -> Chart:
    means, names, baseline = figure.frame(), figure.content.names, figure.content.baseline
    columns = {"all": "all_columns", "ticked": "ticked"}
    kinds = {name: f"difference_{kind}" if relative else columns[kind] for kind, name in names.items() if name}
    shown = means[means.variant != baseline] if relative and len(means) > 1 else means
    each = [
        shown[["variant"]].assign(set=name, value=shown[column], printed=shown.printed)
        for name, column in kinds.items()
    ]
    frame = pd.concat(each, ignore_index=True)
    frame, labels = _labelled(
        frame.assign(
            written=[signed(value) if relative else f"{value:.2f}" for value in frame.value],
            left=frame.value < frame.groupby("variant").value.transform("mean") - 1e-9,
        ),
        frame.variant,
    )
    title = f"points, average minus that of {baseline}" if relative else "points, average (tick: as printed)"
    place = number(
        alt.X, "value", wrap_label(title, 44).split("\n"), nice=False, padding=46, ticks=5, grid=not relative
    )
    y = labelled_rows(labels)
    base = alt.Chart(frame).encode(y=y)
    layers: list[Chart] = [rule(look, x=0)] if relative else []
    layers.append(base.mark_rule(color=look.faint, strokeWidth=LINE).encode(x=alt.X("min(value):Q"), x2="max(value):Q"))
    printed = frame[frame.printed.notna()].drop_duplicates("variant")
    if not relative and len(printed):
        tick = alt.Chart(printed).mark_tick(color=look.ink, thickness=1.5, size=20)
        layers.append(tick.encode(x=alt.X("printed:Q"), y=y, tooltip=tips("printed:Q")))
    layers += row_plot(
        frame,
        x=place,
        y=y,
        look=look,
        ends=None,
        color=hues("set", dict(zip(kinds, look.many(len(kinds)), strict=True)), legend(place="top")),
        size=LARGE_DOT,
        tooltip=("variant", ("set", "average over"), ("written", "points")),
    )
    layers += values_beside(base, look, "left", place)
    height = len(labels) * row_height(labels, 30) + key_room(look, len(kinds))
    heading = f"Difference to {baseline}" if relative else "Average"
    return panel(*layers, look=look, width=HALF, height=height, title=_title(heading))
