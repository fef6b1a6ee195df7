"""Figures of one published table: its scores, differences to a baseline, and averages with and without a column."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.core import frames
from analysis.core.errors import LinkError
from analysis.core.formatting import join_names, plural, signed
from analysis.figures.figure import Figure, Parameters, figure
from analysis.literature import tables as published
from analysis.literature.tables import Table, average, differences


class TableParameters(Parameters):
    """A published table, by its id."""

    table: str


class BaselineParameters(TableParameters):
    """A published table, and the variant that the others are compared with; the table's own where none is named."""

    baseline: str = ""


class AverageParameters(BaselineParameters):
    """A published table, a baseline, and the GLUE tasks that are left out of the average."""

    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScoresContent:
    """cells: every score of the table. variants: its variants, in the paper's order."""

    cells: pd.DataFrame
    variants: list[str]


@dataclass(frozen=True)
class DifferenceContent:
    """cells: every score with its baseline's. decimals: the digits after the point that the table prints."""

    cells: pd.DataFrame
    decimals: int


@dataclass(frozen=True)
class AverageContent:
    """baseline: the variant that others are compared with.

    names: of the averages over `all` and over the `ticked` columns; the second is empty if none is left out.
    """

    baseline: str
    names: dict[str, str]


def quoted(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def query_command(sql: str) -> str:
    """The command that answers this, quoted for a shell."""
    plain = not set(sql) & set('"$`\\!')
    return "python -m analysis query " + (f'"{sql}"' if plain else shlex.quote(sql)) + " --csv"


def _where(table: Table, alias: str = "") -> str:
    citation, _, name = table.id.partition("|")
    return f"{alias}citation = {quoted(citation)} AND {alias}table_name = {quoted(name)}"


def _spread(cells: pd.DataFrame) -> str:
    """A sentence on the uncertainty that is printed with a table's scores."""
    if cells.sd.notna().any():
        return "Standard deviations are as printed; they are no confidence intervals."
    return "No spread is printed, so no difference here can be called significant."


def _provenance(table: Table) -> dict[str, str]:
    return {
        "table": table.title,
        "file": "data/published/figures/" + ", ".join(dict.fromkeys(table.cells.file)),
        "read in": "; ".join(table.sources),
        "address": str(table.cells.url.iloc[0]),
    }


def _caveats(table: Table) -> str:
    """The number of caveats on the table, as a sentence for captions; the page shows their text."""
    count = len(table.notes)
    return "" if not count else f" {count} caveat{' is' if count == 1 else 's are'} listed with the table."


# ---- Scores ----


@figure("published_scores", TableParameters)
def scores(params: TableParameters) -> Figure[ScoresContent]:
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
            + _spread(cells)
            + _caveats(table)
        ),
        alt=f"Dot plot of {table.title}. {'; '.join(extremes[:14])}.",
        command=query_command(f"SELECT * FROM published_scores WHERE {_where(table)}"),
        provenance=_provenance(table),
        citation_keys=(table.citation,),
        columns=min(2, cells.groupby(["panel", "unit"]).ngroups),
        content=ScoresContent(cells, list(dict.fromkeys(cells.row))),
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


# ---- Differences ----


@figure("published_difference", BaselineParameters)
def difference(params: BaselineParameters) -> Figure[DifferenceContent]:
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
        title=f"{table.title}: difference to {baseline}",
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
            + _spread(rows)
            + _caveats(table)
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
            f"WHERE {_where(table)} AND coalesce(a.setting, '') = coalesce(b.setting, '') "
            f"AND b.row_number IN ({', '.join(map(str, _baseline_rows(table, baseline)))}) "
            "AND a.row_number <> b.row_number ORDER BY a.row_number"
        ),
        provenance=_provenance(table),
        citation_keys=(table.citation,),
        content=DifferenceContent(rows, _decimals(table.scores.printed)),
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


# ---- Averages ----


@figure("published_average", AverageParameters)
def averages(params: AverageParameters) -> Figure[AverageContent]:
    """Average over every GLUE column and over the ticked ones, side by side, and the differences to a baseline.

    Raises LinkError for a table or a baseline that is not there, and where nothing is left to be averaged.
    """
    table = published.load(params.table)
    baseline = table.baseline(params.baseline)
    without = params.without
    means = average(table, without).assign(baseline=baseline)
    baseline_row = means[means.variant == baseline].iloc[0]
    means["difference_all"] = means.all_columns - baseline_row.all_columns
    means["difference_ticked"] = means.ticked - baseline_row.ticked
    means["difference_printed"] = means.printed - baseline_row.printed
    columns = dict(table.glue_columns)
    left_out = [column for task, column in columns.items() if task in without]
    retained = [column for task, column in columns.items() if task not in without]
    names = {"all": f"all {len(columns)} columns", "ticked": f"without {join_names(left_out)}" if left_out else ""}
    missing = [c for c in dict.fromkeys(table.scores.column[table.scores.glue]) if c not in columns.values()]
    others = means[means.variant != baseline]
    texts = _sentences(table, others, baseline, left_out)
    printed = means.dropna(subset="printed")
    largest_error = (printed.printed - printed.all_columns).abs().max()
    return Figure(
        title=f"{table.title}: average "
        f"{f'with and without {join_names(left_out)}' if left_out else 'of all GLUE columns'}",
        finding=_best_gain(others, baseline, left_out),
        frame=lambda: means.assign(columns=", ".join(columns.values()), columns_ticked=", ".join(retained)),
        caption=(
            f"Mean of {len(columns)} GLUE columns ({', '.join(columns.values())})"
            + (f" and of the {len(retained)} without {join_names(left_out)}" if left_out else "")
            + f", {len(means)} variants, computed from the printed scores ({table.kinds}); points, and points minus "
            + f"{baseline}. "
            + (f"Not averaged, because not every variant has it: {join_names(missing)}. " if missing else "")
            + (
                f"The paper's printed averages differ from ours by at most {largest_error:.3f}, so a difference of "
                "printed averages may differ from ours in its last digit. "
                if len(printed)
                else "The paper prints no average. "
            )
            + _spread(table.scores[table.scores.glue])
            + _caveats(table)
        ),
        alt=" ".join(
            [f"Averages of {table.title} and their differences to {baseline}.", *_average_texts(others, names)]
        ),
        command=query_command(_average_sql(table, list(columns), [t for t in columns if t not in without])),
        provenance=_provenance(table),
        citation_keys=(table.citation,),
        content=AverageContent(baseline, names),
        sentences=tuple(texts),
    )


def _average_sql(table: Table, tasks: list[str], retained: list[str]) -> str:
    ticked = f" FILTER (task IN ({', '.join(map(quoted, retained))}))" if retained != tasks else ""
    return (
        f"SELECT variant, 100 * avg(value) AS all_columns, 100 * avg(value){ticked} AS ticked FROM published_scores "
        f"WHERE {_where(table)} AND task IN ({', '.join(map(quoted, tasks))}) GROUP BY variant"
    )


def _average_texts(others: pd.DataFrame, names: dict[str, str]) -> list[str]:
    return [
        f"{row.variant}: {signed(row.difference_all)} over {names['all']}"
        + (f", {signed(row.difference_ticked)} {names['ticked']}." if names["ticked"] else ".")
        for row in frames.rows(others)
    ]


def _sentences(table: Table, others: pd.DataFrame, baseline: str, left_out: Sequence[str]) -> list[str]:
    """The effect of leaving columns out: every variant whose sign changes, and the one of the rest that moves most."""
    if not left_out or others.empty:
        return []
    sign_changes = others.difference_all.round(2) * others.difference_ticked.round(2) < 0
    moves = (others.difference_ticked - others.difference_all).abs()[~sign_changes]
    single = len(left_out) == 1 and len(table.glue_columns) > 2
    alternatives = _one_at_a_time(table, baseline, left_out[0]) if single else None
    sentences = []
    shown = pd.concat([others[sign_changes], others.loc[moves.nlargest(1).index]])
    for row in frames.rows(shown):
        text = (
            f"Without {join_names(left_out)}, {row.variant} minus {baseline} goes from {signed(row.difference_all)} "
            f"to {signed(row.difference_ticked)} points."
        )
        if sign_changes[row.Index]:
            text = text.removesuffix(".") + ": the sign changes."
        if alternatives is not None:
            low, high = alternatives[row.variant].min(), alternatives[row.variant].max()
            text += f" Leaving out any other one column instead, it lies between {signed(low)} and {signed(high)}."
        sentences.append(text)
    return sentences


def _one_at_a_time(table: Table, baseline: str, column: str) -> pd.DataFrame:
    """Differences of averages to the baseline when one column other than `column` is left out: a row per column."""
    means = [
        average(table, (task,)).set_index("variant").ticked.rename(name)
        for task, name in table.glue_columns
        if name != column
    ]
    return pd.DataFrame(means).pipe(lambda rows: rows.sub(rows[baseline], axis=0))


def _best_gain(others: pd.DataFrame, baseline: str, left_out: Sequence[str]) -> str:
    """The variant with the highest average, against the baseline, with and without the columns left out."""
    if others.empty:
        return ""
    best = others.iloc[others.difference_all.argmax()]
    text = f"{best.variant} gains most over {baseline}: {signed(best.difference_all)} points"
    return f"{text}, and {signed(best.difference_ticked)} without {join_names(left_out)}" if left_out else text
