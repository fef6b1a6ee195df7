"""Differences of one published table to a baseline, column by column."""

from collections.abc import Iterable, Mapping

import altair as alt
import pandas as pd

from analysis.core import colours
from analysis.core.errors import LinkError
from analysis.core.formatting import join_names, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.published.table_parts import (
    BASELINE,
    SD_TIP,
    SOURCE,
    VARIANT,
    BaselineParameters,
    caveats,
    direction,
    in_words,
    labelled,
    other_steps,
    panels,
    provenance,
    query_command,
    spread,
    where,
    wrapped_title,
)
from analysis.literature import tables as published
from analysis.literature.tables import Table, differences


@figure("published_difference", BaselineParameters)
def difference(params: BaselineParameters) -> Figure:
    """Every variant minus a baseline, column by column.

    Raises LinkError for a table or a baseline that is not there, and where nothing can be compared.
    """
    table = published.load(params.table)
    baseline = table.baseline(params.baseline)
    rows = differences(table, baseline)
    if rows.empty:
        raise LinkError(f"{baseline} shares no column with another variant; choose another baseline.")
    top, bottom = rows.iloc[rows.difference.argmax()], rows.iloc[rows.difference.argmin()]
    left_out = int(table.cells.change.sum())
    return Figure(
        title=f"{table.title}: difference from {baseline}",
        finding=(
            f"The largest rise over {baseline} is {top.row}'s: {signed(top.difference)} {top.unit} on {top.column}"
            if top.difference > 0
            else f"No variant is above {baseline} on any column"
        ),
        frame=lambda: _difference_frame(rows),
        caption=(
            f"{rows.row.nunique()} variants minus {baseline}, column by column, "
            f"in {join_names(dict.fromkeys(rows.unit))}, computed from the printed scores ({table.kinds}). "
            + (f"{table.shared}. " if table.shared else "")
            + (f"{left_out} printed changes are in the table only. " if left_out else "")
            + spread(rows)
            + caveats(table)
        ),
        alt=(
            f"Each variant of {table.title} minus {baseline}. Highest: {top.row}, {top.column}, "
            f"{signed(top.difference)} {top.unit}. Lowest: {bottom.row}, {bottom.column}, "
            f"{signed(bottom.difference)} {bottom.unit}."
        ),
        command=query_command(
            "SELECT a.variant, a.steps, a.setting, a.printed_task, a.printed_metric, a.printed_value AS value, "
            "b.printed_value AS baseline, a.printed_value - b.printed_value AS difference "
            "FROM published_rows a JOIN published_rows b "
            "USING (citation, table_name, printed_task, printed_metric) "
            f"WHERE {where(table)} AND coalesce(a.setting, '') = coalesce(b.setting, '') "
            f"AND b.row_number IN ({', '.join(map(str, _baseline_rows(table, baseline)))}) "
            "AND a.row_number <> b.row_number ORDER BY a.row_number"
        ),
        provenance=provenance(table),
        citation_keys=(table.citation,),
        draw=lambda theme: _draw(rows, _decimals(table.scores.printed), other_steps(table, baseline), theme),
        columns=1,
    )


def _baseline_rows(table: Table, baseline: str) -> list[int]:
    return [int(number) for number in table.scores.row_number[table.scores.row == baseline]]


def _decimals(printed: Iterable[str]) -> int:
    """Digits after the point, as the table prints them."""
    return max((len(text.partition(".")[2]) for text in printed if text.replace(".", "", 1).isdigit()), default=1)


def _difference_frame(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[
        [
            "citation", "table_name", "variant", "steps", "setting", "printed_task", "printed_metric", "task", "metric",
            "value", "sd", "baseline", "value_baseline", "sd_baseline", "difference", "unit", "higher_is_better",
            "transcribed_from", "caveat",
        ]
    ]  # fmt: skip


def _draw(cells: pd.DataFrame, decimals: int, steps: Mapping[str, str], theme: Theme) -> list[Chart]:
    """Variants down, columns across, the difference written in each cell; one column is drawn as bars.

    steps: those of variants that were trained for another length than the baseline, which stand beside their names.
    """
    cells = cells.assign(row=in_words(cells.row, steps))
    limits = {unit: float(result.difference.abs().max()) or 1.0 for unit, result in cells.groupby("unit")}
    return [
        _bars(rows, wrapped_title(setting), decimals, theme)
        if rows.column.nunique() == 1
        else _cells(rows, wrapped_title(setting), limits[unit], decimals, theme)
        for setting, unit, rows in panels(cells)
    ]


def _gains(cells: pd.DataFrame) -> list[float]:
    """The differences with a positive sign for the better; 0 where a column does not say which direction that is."""
    signs = {True: 1.0, False: -1.0}
    return [
        0.0 if pd.isna(higher) else signs[bool(higher)] * difference
        for higher, difference in zip(cells.higher_is_better, cells.difference, strict=True)
    ]


def _difference_title(cells: pd.DataFrame, width: int) -> list[str]:
    text = f"{cells.unit.iloc[0]}, variant minus {cells.baseline.iloc[0]}{direction(cells)}"
    return marks.wrap_lines(text, width)


def _cells(cells: pd.DataFrame, title: list[str], limit: float, decimals: int, theme: Theme) -> Chart:
    has_spread = cells.sd.notna() & cells.sd_baseline.notna()
    written = [
        signed(value, decimals) + (f"\nsd {a}; {b}" if known else "")
        for value, a, b, known in zip(cells.difference, cells.sd_text, cells.sd_text_baseline, has_spread, strict=True)
    ]
    frame, labels = labelled(
        cells.assign(written=written, strong=cells.difference.abs() > theme.strong * limit, gain=_gains(cells)),
        cells.row,
    )
    columns = list(dict.fromkeys(frame.column))
    base = alt.Chart(frame).encode(
        x=marks.columns_across("column", columns, title=_difference_title(cells, 34), level=True),
        y=marks.labelled_rows(labels, gap=0.03),
        tooltip=marks.tips(*VARIANT, "baseline", BASELINE, ("written", "difference"), *SOURCE),
    )
    squares = base.mark_rect(stroke=theme.ground, strokeWidth=1).encode(
        color=alt.Color("gain:Q", scale=theme.gains(limit), legend=None)
    )
    # On a phone the cells are too narrow for digits side by side: there they are rotated.
    rotation = alt.expr(f"width > 0 && width / {len(columns)} < 38 ? 270 : 0")
    shift = -6 if has_spread.any() else 0
    text = base.mark_text(fontSize=marks.TEXT, lineBreak="\n", baseline="middle", dy=shift, angle=rotation)
    layers = squares, text.encode(text=alt.Text("written:N"), color=theme.ink_on_cells("datum.strong"))
    height = max(marks.row_height(labels, 36), 40 if has_spread.any() else 0) * len(labels)
    # On screen the names of columns take their room from the height.
    height += marks.slant_height(columns) if theme.screen else 0
    return marks.panel(*layers, theme=theme, width=max(marks.HALF, 62 * len(columns)), height=height, title=title)


def _signs(theme: Theme) -> alt.Scale:
    """Violet for the worse, green for the better, grey where it is not said which is which."""
    worse, better = (colours.DIVERGING[theme.dark][stop] for stop in (1, 5))
    return alt.Scale(type="threshold", domain=[-1e-12, 1e-12], range=[worse, theme.faint, better])


def _bars(cells: pd.DataFrame, title: list[str], decimals: int, theme: Theme) -> Chart:
    written = [signed(value, decimals) for value in cells.difference]
    frame, labels = labelled(cells.assign(written=written, below=cells.difference < 0, gain=_gains(cells)), cells.row)
    x = marks.number(
        alt.X, "difference", [str(cells.column.iloc[0]), *_difference_title(cells, 44)],
        domain=(min(0.0, float(frame.difference.min())), max(0.0, float(frame.difference.max()))), padding=52, ticks=5,
    )  # fmt: skip
    base = alt.Chart(frame).encode(y=marks.labelled_rows(labels))
    bars = base.mark_bar(height=alt.RelativeBandSize(0.6)).encode(
        x=x,
        color=alt.Color("gain:Q", scale=_signs(theme), legend=None),
        tooltip=marks.tips(*VARIANT, SD_TIP, BASELINE, *SOURCE),
    )
    layers = (bars, marks.rule(theme, x=0), *marks.values_beside(base, theme, "below", x))
    return marks.panel(
        *layers, theme=theme, width=marks.HALF, height=len(labels) * marks.row_height(labels), title=title
    )
