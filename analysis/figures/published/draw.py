"""Drawings of one published table."""

import altair as alt
import pandas as pd

from analysis.core.colours import SOURCES
from analysis.core.formatting import signed
from analysis.figures import Figure, marks
from analysis.figures.drawing import SERIES, Chart, Theme, drawing
from analysis.figures.published.data import AverageContent, DifferenceContent, ScoresContent

SHAPES = ("circle", "square", "triangle-up", "diamond")
LOG_ABOVE = 8
"""Perplexities that differ by more than this factor stand on a logarithmic axis."""
USED = (
    "row", "column", "unit", "value", "sd", "printed", "setting", "transcribed_from", "higher_is_better", "baseline",
    "difference", "printed_baseline", "sd_baseline", "sd_text", "sd_text_baseline",
)  # fmt: skip
"""The columns of a cell that a chart needs; with all of them, its specification would repeat every caveat."""
PHONE_WIDTH = 300
"""Pixels that a legend may take on a phone."""
VARIANT: tuple[marks.Tip, ...] = (("row", "variant"), "column", "printed")
BASELINE: marks.Tip = ("printed_baseline", "baseline, printed")
SOURCE: tuple[marks.Tip, ...] = ("setting", ("transcribed_from", "read in"))
SD_TIP: marks.Tip = ("sd:Q", "standard deviation, printed")


def _panels(cells: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """(setting, unit, cells): what may share an axis."""
    used = [column for column in USED if column in cells]
    return [(str(name), str(unit), rows[used]) for (name, unit), rows in cells.groupby(["panel", "unit"], sort=False)]


def _wrapped_title(setting: str) -> list[str]:
    """A panel's title, broken into lines; none where there is no setting."""
    return marks.wrap_lines(setting, 60) if setting else []


def _labelled(frame: pd.DataFrame, names: pd.Series) -> tuple[pd.DataFrame, list[str]]:
    """Rows with the label of each, which is its name broken into lines; and the labels, in their order."""
    labels = marks.wrapped_labels(names.tolist())
    return frame.assign(label=names.map(labels)), list(labels.values())


def _direction(cells: pd.DataFrame) -> str:
    known = set(cells.higher_is_better.dropna())
    return {(True,): ", higher is better", (False,): ", lower is better"}.get(tuple(known), "")


# ---- Scores ----


@drawing("published_scores", columns=2)
def scores(figure: Figure[ScoresContent], theme: Theme) -> list[Chart]:
    """Columns down and a colour a variant; where there is one column, variants down."""
    cells, variants = figure.content.cells, figure.content.variants
    spread = cells.sd.fillna(0)
    by_unit = cells.assign(low=cells.value - spread, high=cells.value + spread).groupby("unit")
    extents = {unit: (float(result.low.min()), float(result.high.max())) for unit, result in by_unit}
    return [
        _variants_down(rows, _wrapped_title(setting), extents[unit], theme)
        if rows.column.nunique() == 1
        else _columns_down(rows, _wrapped_title(setting), extents[unit], variants, theme)
        for setting, unit, rows in _panels(cells)
    ]


def _score_axis(cells: pd.DataFrame, extent: tuple[float, float], name: str) -> alt.X:
    unit = str(cells.unit.iloc[0])
    log = unit == "perplexity" and extent[0] > 0 and extent[1] / extent[0] > LOG_ABOVE
    title = f"{name}{unit}{_direction(cells)}{' (log scale)' if log else ''}"
    return marks.number(
        alt.X, "value", marks.wrap_lines(title, 44), domain=extent, log=10 if log else alt.Undefined, padding=14,
        ticks=5,
    )  # fmt: skip


def _variants_down(cells: pd.DataFrame, title: list[str], extent: tuple[float, float], theme: Theme) -> Chart:
    frame, labels = _labelled(cells.assign(low=cells.value - cells.sd, high=cells.value + cells.sd), cells.row)
    column, unit = str(cells.column.iloc[0]), str(cells.unit.iloc[0])
    dots = marks.row_plot(
        frame, x=_score_axis(cells, extent, "" if column == unit else f"{column}: "), y=marks.labelled_rows(labels),
        theme=theme, color=theme.colour(SOURCES["published"]), tooltip=(*VARIANT, SD_TIP, *SOURCE),
    )  # fmt: skip
    return marks.panel(*dots, theme=theme, width=marks.HALF, height=len(labels) * marks.row_height(labels), title=title)


def _columns_down(
    cells: pd.DataFrame, title: list[str], extent: tuple[float, float], variants: list[str], theme: Theme
) -> Chart:
    frame, labels = _labelled(cells, cells.column)
    legend_columns = int(max(1, min(4, PHONE_WIDTH // (max(map(len, variants)) * 6.6 + 34))))
    key = marks.legend(place="top", columns=legend_columns)
    shapes = {name: SHAPES[index // len(SERIES)] for index, name in enumerate(variants)}
    x, y = _score_axis(cells, extent, ""), marks.labelled_rows(labels, gap=0.15)
    dots = marks.row_plot(
        frame, x=x, y=y, theme=theme, ends=None,
        offset=alt.YOffset("row:N", sort=variants, scale=alt.Scale(domain=variants, padding=0.5)),
        color=marks.series("row", variants, theme, key),
        shape=marks.shapes("row", shapes, key) if len(variants) > len(SERIES) else alt.Undefined,
        tooltip=(*VARIANT, SD_TIP, *SOURCE),
    )  # fmt: skip
    # Dots of one row stand below one another, each in full.
    height = max(marks.row_height(labels), 8 * len(variants) + 8)
    layers = _spans(frame, x, y, theme), *dots
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=len(labels) * height, title=title)


def _spans(frame: pd.DataFrame, x: alt.X, y: alt.Y, theme: Theme) -> Chart:
    """A faint line from the least to the largest value of each row."""
    lines = alt.Chart(frame).mark_rule(color=theme.faint, strokeWidth=marks.LINE)
    return lines.encode(x=marks.same_axis(x, "min(value)"), x2=alt.X2("max(value):Q"), y=y)


# ---- Differences ----


@drawing("published_difference")
def difference(figure: Figure[DifferenceContent], theme: Theme) -> list[Chart]:
    """Variants down, columns across, the difference written in each cell; one column is drawn as bars."""
    cells, decimals = figure.content.cells, figure.content.decimals
    limits = {unit: float(result.difference.abs().max()) or 1.0 for unit, result in cells.groupby("unit")}
    return [
        _bars(rows, _wrapped_title(setting), decimals, theme)
        if rows.column.nunique() == 1
        else _cells(rows, _wrapped_title(setting), limits[unit], decimals, theme)
        for setting, unit, rows in _panels(cells)
    ]


def _difference_title(cells: pd.DataFrame, width: int) -> list[str]:
    text = f"{cells.unit.iloc[0]}, variant minus {cells.baseline.iloc[0]}{_direction(cells)}"
    return marks.wrap_lines(text, width)


def _cells(cells: pd.DataFrame, title: list[str], limit: float, decimals: int, theme: Theme) -> Chart:
    spread = cells.sd.notna() & cells.sd_baseline.notna()
    written = [
        signed(value, decimals) + (f"\nsd {a}; {b}" if known else "")
        for value, a, b, known in zip(cells.difference, cells.sd_text, cells.sd_text_baseline, spread, strict=True)
    ]
    frame, labels = _labelled(
        cells.assign(written=written, strong=cells.difference.abs() > theme.strong * limit), cells.row
    )
    columns = list(dict.fromkeys(frame.column))
    base = alt.Chart(frame).encode(
        x=marks.columns_across("column", columns, title=_difference_title(cells, 60)),
        y=marks.labelled_rows(labels, gap=0.03),
        tooltip=marks.tips(*VARIANT, "baseline", BASELINE, ("written", "difference"), *SOURCE),
    )
    squares = base.mark_rect(stroke=theme.ground, strokeWidth=1).encode(
        color=alt.Color("difference:Q", scale=theme.around_zero(limit), legend=None)
    )
    # On a phone the cells are too narrow for digits side by side: there they are rotated.
    rotation = alt.expr(f"width > 0 && width / {len(columns)} < 38 ? 270 : 0")
    shift = -6 if spread.any() else 0
    text = base.mark_text(fontSize=marks.TEXT, lineBreak="\n", baseline="middle", dy=shift, angle=rotation)
    layers = squares, text.encode(text=alt.Text("written:N"), color=theme.ink_on_cells("datum.strong"))
    height = max(marks.row_height(labels, 36), 40 if spread.any() else 0) * len(labels)
    return marks.panel(*layers, theme=theme, width=max(marks.HALF, 62 * len(columns)), height=height, title=title)


def _bars(cells: pd.DataFrame, title: list[str], decimals: int, theme: Theme) -> Chart:
    written = [signed(value, decimals) for value in cells.difference]
    frame, labels = _labelled(cells.assign(written=written, below=cells.difference < 0), cells.row)
    x = marks.number(
        alt.X, "difference", [str(cells.column.iloc[0]), *_difference_title(cells, 44)],
        domain=(min(0.0, float(frame.difference.min())), max(0.0, float(frame.difference.max()))), padding=52, ticks=5,
    )  # fmt: skip
    base = alt.Chart(frame).encode(y=marks.labelled_rows(labels))
    bars = base.mark_bar(height=alt.RelativeBandSize(0.6)).encode(
        x=x,
        color=alt.condition("datum.below", alt.value(theme.diverging[1]), alt.value(theme.diverging[5])),
        tooltip=marks.tips(*VARIANT, SD_TIP, BASELINE, *SOURCE),
    )
    layers = (bars, marks.rule(theme, x=0), *marks.values_beside(base, theme, "below", x))
    return marks.panel(
        *layers, theme=theme, width=marks.HALF, height=len(labels) * marks.row_height(labels), title=title
    )


# ---- Averages ----


@drawing("published_average", columns=2)
def averages(figure: Figure[AverageContent], theme: Theme) -> list[Chart]:
    """Differences of averages to the baseline, and the averages themselves."""
    return [_dumbbells(figure, theme, relative=True), _dumbbells(figure, theme, relative=False)]


def _dumbbells(figure: Figure[AverageContent], theme: Theme, *, relative: bool) -> Chart:
    means, names, baseline = figure.frame(), figure.content.names, figure.content.baseline
    columns = {"all": "all_columns", "ticked": "ticked"}
    kinds = {name: f"difference_{kind}" if relative else columns[kind] for kind, name in names.items() if name}
    shown = means[means.variant != baseline] if relative and len(means) > 1 else means
    parts = [
        shown[["variant"]].assign(set=name, value=shown[column], printed=shown.printed)
        for name, column in kinds.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    frame, labels = _labelled(
        frame.assign(
            written=[signed(value) if relative else f"{value:.2f}" for value in frame.value],
            left=frame.value < frame.groupby("variant").value.transform("mean") - 1e-9,
        ),
        frame.variant,
    )
    title = f"points, average minus that of {baseline}" if relative else "points, average (tick: as printed)"
    x = marks.number(alt.X, "value", marks.wrap_lines(title, 44), nice=False, padding=46, ticks=5, grid=not relative)
    y = marks.labelled_rows(labels)
    layers: list[Chart] = [marks.rule(theme, x=0)] if relative else []
    layers.append(_spans(frame, x, y, theme))
    printed = frame[frame.printed.notna()].drop_duplicates("variant")
    if not relative and len(printed):
        tick = alt.Chart(printed).mark_tick(color=theme.ink, thickness=1.5, size=20)
        layers.append(tick.encode(x=marks.same_axis(x, "printed"), y=y, tooltip=marks.tips("printed:Q")))
    layers += marks.row_plot(
        frame, x=x, y=y, theme=theme, ends=None, size=marks.LARGE_DOT,
        color=marks.series("set", list(kinds), theme, marks.legend(place="top")),
        tooltip=("variant", ("set", "average over"), ("written", "points")),
    )  # fmt: skip
    layers += marks.values_beside(alt.Chart(frame).encode(y=y), theme, "left", x)
    height = len(labels) * marks.row_height(labels, 30)
    heading = f"Difference to {baseline}" if relative else "Average"
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=height, title=_wrapped_title(heading))
