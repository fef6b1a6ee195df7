"""Every score of one published table."""

import altair as alt
import pandas as pd

from analysis.core.colours import SOURCES
from analysis.core.formatting import join_names, plural
from analysis.figures import marks
from analysis.figures.drawing import SERIES, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.published.table_parts import (
    SD_TIP,
    SOURCE,
    VARIANT,
    TableParameters,
    caveats,
    direction,
    labelled,
    panels,
    provenance,
    query_command,
    spans,
    spread,
    where,
    wrapped_title,
)
from analysis.literature import tables as published
from analysis.literature.tables import Table

SHAPES = ("circle", "square", "triangle-up", "diamond")
LOG_ABOVE = 8
"""Perplexities that differ by more than this factor stand on a logarithmic axis."""
PHONE_WIDTH = 300
"""Pixels that a legend may take on a phone."""


@figure("published_scores", TableParameters)
def scores(params: TableParameters) -> Figure:
    """Every score of a table. Raises LinkError for a table that is not there or has no scores."""
    table = published.load(params.table)
    cells = table.scores
    if cells.empty:
        table.baseline("")  # Raises: there is nothing to draw.
    left_out = int(table.cells.change.sum())
    units = join_names(dict.fromkeys(cells.unit))
    extremes = [
        f"{column}{f' ({panel})' if panel else ''}: {_number(rows.value.min())} to {_number(rows.value.max())}"
        for (panel, column), rows in cells.groupby(["panel", "column"], sort=False)
    ]
    return Figure(
        title=f"{table.title}: scores",
        finding=_best_variant(cells),
        frame=lambda: _scores_frame(table),
        caption=(
            f"{len(cells)} scores of {cells.row.nunique()} variants, in {units}, as printed ({table.kinds}). "
            + (f"{table.shared}. " if table.shared else "")
            + (f"{left_out} printed changes are in the table only. " if left_out else "")
            + spread(cells)
            + caveats(table)
        ),
        alt=f"Dot plot of {table.title}. {'; '.join(extremes[:14])}.",
        command=query_command(f"SELECT * FROM published_scores WHERE {where(table)}"),
        provenance=provenance(table),
        citation_keys=(table.citation,),
        columns=min(2, cells.groupby(["panel", "unit"]).ngroups),
        draw=lambda theme: _draw(cells, theme),
    )


def _best_variant(cells: pd.DataFrame) -> str:
    """A sentence naming the variant that is best in most columns; empty if no column says which direction is better."""
    rated = cells[cells.higher_is_better.notna()]
    best: dict[str, int] = {}
    columns = rated.groupby(["panel", "column"], sort=False)
    for _, rows in columns:
        top = rows.value.max() if bool(rows.higher_is_better.iloc[0]) else rows.value.min()
        for variant in rows.row[rows.value == top].unique():
            best[variant] = best.get(variant, 0) + 1
    if not best:
        return ""
    winner = max(best, key=lambda variant: best[variant])
    return f"{winner} has the best score in {best[winner]} of {plural(columns.ngroups, 'column')}"


def _number(value: float) -> str:
    return f"{value:g}"


def _scores_frame(table: Table) -> pd.DataFrame:
    return table.scores[
        [
            "citation", "table_name", "variant", "steps", "setting", "printed_task", "printed_metric", "task", "metric",
            "value", "sd", "unit", "higher_is_better", "printed", "transcribed_from", "caveat",
        ]
    ]  # fmt: skip


def _draw(cells: pd.DataFrame, theme: Theme) -> list[Chart]:
    """Columns down and a colour a variant; where there is one column, variants down."""
    variants = list(dict.fromkeys(cells.row))
    deviations = cells.sd.fillna(0)
    by_unit = cells.assign(low=cells.value - deviations, high=cells.value + deviations).groupby("unit")
    extents = {unit: (float(result.low.min()), float(result.high.max())) for unit, result in by_unit}
    return [
        _variants_down(rows, wrapped_title(setting), extents[unit], theme)
        if rows.column.nunique() == 1
        else _columns_down(rows, wrapped_title(setting), extents[unit], variants, theme)
        for setting, unit, rows in panels(cells)
    ]


def _score_axis(cells: pd.DataFrame, extent: tuple[float, float], name: str) -> alt.X:
    unit = str(cells.unit.iloc[0])
    log = unit == "perplexity" and extent[0] > 0 and extent[1] / extent[0] > LOG_ABOVE
    title = f"{name}{unit}{direction(cells)}{' (log scale)' if log else ''}"
    return marks.number(
        alt.X, "value", marks.wrap_lines(title, 44), domain=extent, log=10 if log else alt.Undefined, padding=14,
        ticks=5,
    )  # fmt: skip


def _variants_down(cells: pd.DataFrame, title: list[str], extent: tuple[float, float], theme: Theme) -> Chart:
    frame, labels = labelled(cells.assign(low=cells.value - cells.sd, high=cells.value + cells.sd), cells.row)
    column, unit = str(cells.column.iloc[0]), str(cells.unit.iloc[0])
    dots = marks.row_plot(
        frame, x=_score_axis(cells, extent, "" if column == unit else f"{column}: "), y=marks.labelled_rows(labels),
        theme=theme, color=theme.colour(SOURCES["published"]), tooltip=(*VARIANT, SD_TIP, *SOURCE),
    )  # fmt: skip
    return marks.panel(*dots, theme=theme, width=marks.HALF, height=len(labels) * marks.row_height(labels), title=title)


def _columns_down(
    cells: pd.DataFrame, title: list[str], extent: tuple[float, float], variants: list[str], theme: Theme
) -> Chart:
    frame, labels = labelled(cells, cells.column)
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
    layers = spans(frame, x, y, theme), *dots
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=len(labels) * height, title=title)
