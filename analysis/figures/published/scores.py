"""Every score of one published table."""

import altair as alt
import pandas as pd

from analysis.core.colours import SOURCES
from analysis.core.formatting import join_names, plural
from analysis.figures import marks
from analysis.figures.drawing import GREY, Chart, Theme
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

LOG_ABOVE = 8
"""Perplexities that differ by more than this factor stand on a logarithmic axis."""
OTHERS = "others, in the table's order"
"""The name of the variants that the heading does not name: as many hues would have meanings of their own."""


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


def _best_in_columns(cells: pd.DataFrame) -> tuple[str, int, int]:
    """The variant that is best in most columns, in how many, and of how many; no name if none says what is better."""
    rated = cells[cells.higher_is_better.notna()]
    best: dict[str, int] = {}
    columns = rated.groupby(["panel", "column"], sort=False)
    for _, rows in columns:
        top = rows.value.max() if bool(rows.higher_is_better.iloc[0]) else rows.value.min()
        for variant in rows.row[rows.value == top].unique():
            best[variant] = best.get(variant, 0) + 1
    winner = max(best, key=lambda variant: best[variant], default="")
    return winner, best.get(winner, 0), columns.ngroups


def _best_variant(cells: pd.DataFrame) -> str:
    """A sentence naming the variant that is best in most columns; empty if no column says which direction is better."""
    winner, count, columns = _best_in_columns(cells)
    return f"{winner} has the best score in {count} of {plural(columns, 'column')}" if winner else ""


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
    """Columns down, the variant of the heading in black; where there is one column, variants down."""
    variants, (winner, *_) = list(dict.fromkeys(cells.row)), _best_in_columns(cells)
    deviations = cells.sd.fillna(0)
    by_unit = cells.assign(low=cells.value - deviations, high=cells.value + deviations).groupby("unit")
    extents = {unit: (float(result.low.min()), float(result.high.max())) for unit, result in by_unit}
    return [
        _variants_down(rows, wrapped_title(setting), extents[unit], theme)
        if rows.column.nunique() == 1
        else _columns_down(rows, wrapped_title(setting), extents[unit], variants, winner, theme)
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
    cells: pd.DataFrame, title: list[str], extent: tuple[float, float], variants: list[str], winner: str, theme: Theme
) -> Chart:
    frame, labels = labelled(cells, cells.column)
    who = {winner: theme.ink, OTHERS: GREY} if winner else {OTHERS: theme.ink}
    frame = frame.assign(who=frame.row.where(frame.row == winner, OTHERS))
    x, y = _score_axis(cells, extent, ""), marks.labelled_rows(labels, gap=0.15)
    dots = marks.row_plot(
        frame, x=x, y=y, theme=theme, ends=None,
        offset=alt.YOffset("row:N", sort=variants, scale=alt.Scale(domain=variants, padding=0.5)),
        color=marks.hues("who", who, marks.legend(place="top")),
        tooltip=(*VARIANT, SD_TIP, *SOURCE),
    )  # fmt: skip
    # Dots of one row stand below one another, each in full.
    height = max(marks.row_height(labels), 8 * len(variants) + 8)
    layers = spans(frame, x, y, theme), *dots
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=len(labels) * height, title=title)
