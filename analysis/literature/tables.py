"""Tables of the literature, laid out as the papers print them: variants down, columns across.

A table's id is `citation key|table name`, as it stands in links. Values here are as printed (GLUE x100).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.core import frames
from analysis.core.errors import LinkError
from analysis.store import read

HYPER_PARAMETER = "hyper-parameter"
GLUE_AVERAGE = "glue_average"
CHANGE = ": change"
"""The mark in a variant's name for a row in which the paper prints a difference, not a score."""

POINTS = {"accuracy", "f1", "exact_match", "matthews_correlation", "pearson", "spearmanr", "mean", "average_precision"}
"""Metrics printed x100, whose differences are points."""
UNITS = {"perplexity": "perplexity", "bleu": "BLEU", "sacrebleu": "SacreBLEU"}

READ_AS = {
    "full text of the paper": "full text",
    "transcription of the paper": "transcription",
    "abstract of the paper": "abstract only",
    "third-party note of the paper": "second-hand",
    "author's blog": "author's blog",
}

BASELINES = {
    "he2021deberta|Table 4": "DeBERTa-base",
    "haviv2022nopos|Table 1": "Learned",
    "haviv2022nopos|Table 2": "Learned",
    "haviv2022nopos|Table 3": "Learned",
    "haviv2022nopos|Table 4": "Learned",
    "lescao2022what|text sec 4": "Learned",
    "shaw2018relative|Table 2": "clipping k=16, no absolute positions",
    "kazemnejad2023length|Figure 1": "APE (sinusoidal)",
    "hsiao2024reinforced|abstract": "baseline: addition, same embedding dim, ~3x parameters",
}
"""The row that a table's variants are compared with, for tables in which it is not the first one."""


def read_as(transcribed_from: str) -> str:
    """The kind of text that a figure was read in, in a word or two."""
    if transcribed_from.startswith("authors' repository"):
        return "authors' repository"
    return READ_AS.get(transcribed_from, "web page" if transcribed_from.startswith("https://") else transcribed_from)


@dataclass(frozen=True)
class Note:
    """A caveat and the cells it belongs to; a mark ties the two where it is not the whole table."""

    mark: str
    about: str
    text: str
    rows: frozenset[str]
    columns: frozenset[str]


@dataclass(frozen=True)
class Table:
    """One table of a paper.

    cells: one row per printed number, in the paper's order: `row`, `column` and `panel` are its place, `value` and
    `sd` are as printed, `unit` is the unit of its differences.
    """

    id: str
    cells: pd.DataFrame
    notes: tuple[Note, ...]
    shared: str
    """The common beginning of all columns' settings, which the columns' names leave out."""

    @property
    def citation(self) -> str:
        """The paper's BibTeX key."""
        return str(self.cells.citation.iloc[0])

    @property
    def title(self) -> str:
        """The paper and the table, as in "Ke et al. 2021 (TUPE), Table 1"."""
        return label(str(self.cells.short.iloc[0]), str(self.cells.table_name.iloc[0]))

    @property
    def sources(self) -> list[str]:
        """The texts that the figures were read in."""
        return list(dict.fromkeys(self.cells.transcribed_from))

    @property
    def kinds_read(self) -> list[str]:
        """The kinds of those texts, without repetition."""
        return list(dict.fromkeys(map(read_as, self.sources)))

    @property
    def kinds(self) -> str:
        """The same, for captions."""
        return " and ".join(self.kinds_read)

    @property
    def scores(self) -> pd.DataFrame:
        """Cells that hold a score: a number, and not a printed change."""
        return self.cells[self.cells.value.notna() & ~self.cells.change & (self.cells.metric != HYPER_PARAMETER)]

    @property
    def variants(self) -> list[str]:
        """Rows with a score, the default baseline first."""
        names = list(dict.fromkeys(self.scores.row))
        first = BASELINES.get(self.id, "")
        return sorted(names, key=lambda name: name != first)

    @property
    def compares(self) -> bool:
        """Two or more variants have a score in the same column, so that they can be compared."""
        return bool((self.scores.groupby(["panel", "column"]).row.nunique() > 1).any())

    @property
    def glue_columns(self) -> list[tuple[str, str]]:
        """(task, column) of the GLUE columns that every variant of the table has."""
        scores = self.scores
        columns: dict[str, str] = {}
        having: dict[str, set[str]] = {}
        for glue, task, column, row in zip(scores.glue, scores.task, scores.column, scores.row, strict=True):
            if glue:
                columns.setdefault(task, column)
                having.setdefault(task, set()).add(row)
        count = len(set(scores.row))
        return [(task, column) for task, column in columns.items() if len(having[task]) == count]

    def baseline(self, name: str) -> str:
        """The row that others are compared with: the named one, or the table's own where none is named.

        Raises LinkError for a name that no row has, and for a table without two scores to compare.
        """
        if name and name not in self.variants:
            raise LinkError(
                f"{self.title} has no variant {name!r} with a score; it has: {', '.join(self.variants) or 'none'}."
            )
        if not self.compares:
            raise LinkError(f"{self.title} holds no two scores that could be compared; choose another table.")
        return name or self.variants[0]

    def printed(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The table as printed, and a frame of the same shape with each cell's row number (or none)."""
        cells = self.cells.assign(line=[_line(p, r) for p, r in zip(self.cells.panel, self.cells.row, strict=True)])
        shown = cells.printed.where(cells.sd.isna(), cells.printed + " ± " + cells.sd_text)
        index, columns = list(dict.fromkeys(cells.line)), list(dict.fromkeys(cells.column))
        location = pd.MultiIndex.from_arrays([cells.line, cells.column])
        grids = [
            pd.Series(list(values), index=location, dtype=object).unstack().reindex(index=index, columns=columns)
            for values in (shown, cells.row_number)
        ]
        if len(index) == 1:
            return grids[0].T, grids[1].T
        steps = cells.groupby("line", sort=False).steps.agg(
            lambda result: result.iloc[0] if result.nunique() == 1 else None
        )
        if steps.notna().all() and steps.nunique() > 1:
            grids[0].insert(0, "steps", [f"{int(text):,}" if text.isdigit() else text for text in steps])
            grids[1].insert(0, "steps", None)
        return grids[0], grids[1]

    def best(self) -> set[int]:
        """Row numbers of the best cell of each column for which it is known whether higher or lower is better."""
        items: set[int] = set()
        for _, cells in self.scores.groupby(["panel", "column"]):
            better = cells.higher_is_better.iloc[0]
            if len(cells) > 1 and not pd.isna(better):
                top = cells.value.max() if better else cells.value.min()
                items |= set(cells.row_number[cells.value == top])
        return items

    def marks(self, row: str, column: str) -> str:
        """Marks of the notes on exactly this row and column; "" stands for the whole of them."""
        return "".join(
            note.mark
            for note in self.notes
            if note.mark and (row in note.rows if row else not note.rows)
            if (column in note.columns if column else not note.columns)
        )


def label(short: str, table_name: str) -> str:
    """A table's name on screen."""
    return f"{short}, {'table not known' if table_name == '?' else table_name}"


def _line(panel: str, row: str) -> str:
    return f"{row} · {panel}" if panel else row


def index() -> pd.DataFrame:
    """Every table: id, label, kind. GLUE first, widest first; then by kind; hyper-parameters last."""
    rows = read.query(
        "SELECT citation || '|' || table_name AS id, any_value(short) AS short, any_value(table_name) AS table_name, "
        "first(task_title ORDER BY row_number) AS task, first(metric_title ORDER BY row_number) AS metric, "
        "count(DISTINCT task) AS tasks, count(DISTINCT metric) AS metrics, count(DISTINCT task) FILTER (glue) AS glue, "
        "count(printed_value) AS numbers, count(DISTINCT variant) AS variants, bool_or(metric = ?) AS settings "
        "FROM published_rows GROUP BY ALL",
        (HYPER_PARAMETER,),
    )
    rows["kind"] = [_kind(row) for row in frames.rows(rows)]
    rows["rank"] = rows.kind.map({"GLUE": 0, "Single findings": 2, "Hyper-parameters": 3}).fillna(1)
    rows["label"] = [f"{row.kind}: {label(row.short, row.table_name)}" for row in frames.rows(rows)]
    rows["glue"] = rows.glue.where(rows.kind == "GLUE", 0)
    order = ["rank", "glue", "kind", "short", "table_name"]
    rows = rows.sort_values(order, ascending=[True, False, True, True, True])
    return rows[["id", "label", "kind"]].reset_index(drop=True)


def _kind(table: Any) -> str:
    """The quantity that a table measures, in a few words."""
    if table.settings:
        return "Hyper-parameters"
    if table.glue >= 2:
        return "GLUE"
    if table.variants < 2 or table.numbers < 2:
        return "Single findings"
    if table.tasks > 3 and table.metrics == 1:
        return table.metric
    return table.task if table.tasks == 1 else f"{table.task} and {table.tasks - 1} more"


def load(table: str) -> Table:
    """A table by its id. Raises LinkError for one that is not there."""
    return load_all([table])[table]


def load_all(tables: Sequence[str]) -> dict[str, Table]:
    """Tables by their ids, in two questions to the store. Raises LinkError for an id that no table has."""
    marks = read.placeholders(tables)
    rows = read.query(
        f"SELECT * FROM published_rows WHERE citation || '|' || table_name IN ({marks}) ORDER BY row_number", tables
    )
    frame = read.query("SELECT citation_key, table_name, variant, task, caveat FROM caveats ORDER BY rowid")
    entries = {f"{citation}|{name}": cells for (citation, name), cells in rows.groupby(["citation", "table_name"])}
    loaded = {}
    for table in tables:
        if table not in entries:
            raise LinkError(
                f"There is no published table {table!r}; expected a citation key and a table, as in "
                "'ke2021tupe|Table 1'. The page's own picker lists them all."
            )
        citation, _, name = table.partition("|")
        caveats = frame[(frame.citation_key == citation) & (frame.table_name.isna() | (frame.table_name == name))]
        cells, shared = _with_layout(entries[table].reset_index(drop=True))
        loaded[table] = Table(table, cells, tuple(_notes(caveats, cells)), shared)
    return loaded


def _with_layout(cells: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Says of every figure in which row, column and panel it stands. A cell holds one figure."""
    measures = cells[["printed_task", "printed_metric"]].agg(tuple, axis=1)
    settings = cells.setting.fillna("")
    panel, shared = pd.Series("", index=cells.index), ""
    if (settings.groupby(measures).nunique() == 1).all():
        column = _measure_names(cells)
    elif measures.nunique() == 1 or (cells.metric == HYPER_PARAMETER).all():
        column, shared = _without_common_start(settings)
    else:
        column, panel = _measure_names(cells), settings
    row = cells.printed_task if (cells.metric == HYPER_PARAMETER).all() else cells.variant
    if pd.DataFrame({"row": row, "column": column, "panel": panel}).duplicated().any():
        row = row + ", " + cells.steps.fillna("steps not given")
    return (
        cells.assign(
            row=row,
            column=column,
            panel=panel,
            value=cells.printed_value,
            sd=cells.printed_sd,
            sd_text=[
                "" if pd.isna(sd) else f"{sd:.{len(printed.partition('.')[2])}f}"
                for sd, printed in zip(cells.printed_sd, cells.printed, strict=True)
            ],
            change=cells.variant.str.contains(CHANGE, regex=False),
            unit=[
                "points" if metric in POINTS else str(UNITS.get(metric, title))
                for metric, title in zip(cells.metric, cells.metric_title, strict=True)
            ],
        ),
        shared,
    )


def _measure_names(cells: pd.DataFrame) -> pd.Series:
    """The task where that tells the columns apart, else the metric, else both."""
    measures = cells[["printed_task", "printed_metric"]].drop_duplicates()
    if measures.printed_task.is_unique:
        return cells.printed_task
    if measures.printed_task.nunique() == 1 and measures.printed_metric.is_unique:
        return cells.printed_metric
    repeated = set(measures.printed_task[measures.printed_task.duplicated()])
    both = cells.printed_task + " " + cells.printed_metric
    return cells.printed_task.where(~cells.printed_task.isin(repeated), both)


def _without_common_start(settings: pd.Series) -> tuple[pd.Series, str]:
    """Settings without the comma-separated parts that all of them begin with, and those parts."""
    parts = [setting.split(", ") for setting in settings]
    common = 0
    while all(len(part) > common + 1 for part in parts) and len({part[common] for part in parts}) == 1:
        common += 1
    return pd.Series([", ".join(part[common:]) for part in parts], index=settings.index), ", ".join(parts[0][:common])


def _notes(caveats: pd.DataFrame, cells: pd.DataFrame) -> list[Note]:
    general: list[Note] = []
    locations: dict[str, tuple[list[str], list[str]]] = {}
    for caveat in frames.rows(caveats):
        named_variant, named_task = not pd.isna(caveat.variant), not pd.isna(caveat.task)
        matching = cells[
            ((cells.variant == caveat.variant) | (not named_variant))
            & ((cells.printed_task == caveat.task) | (not named_task))
        ]
        if matching.empty:
            continue
        if not (named_variant or named_task):
            general.append(Note("", "", caveat.caveat, frozenset(), frozenset()))
            continue
        rows, columns = locations.setdefault(caveat.caveat, ([], []))
        rows += [row for row in dict.fromkeys(matching.row) if named_variant and row not in rows]
        columns += [column for column in dict.fromkeys(matching.column) if named_task and column not in columns]
    return general + [
        Note(
            _mark(number),
            "; ".join(filter(None, (", ".join(rows), ", ".join(columns)))),
            text,
            frozenset(rows),
            frozenset(columns),
        )
        for number, (text, (rows, columns)) in enumerate(locations.items())
    ]


def _mark(number: int) -> str:
    """Superscript letters, as under a printed table."""
    return "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"[number]


def average(table: Table, without: Sequence[str] = ()) -> pd.DataFrame:
    """Every variant's mean over the GLUE columns that all have, and over those whose task is not in `without`.

    Columns: variant, all_columns, ticked, printed (the paper's own average, where it prints one). In points.
    Raises LinkError where a table has fewer than two GLUE columns, or where none is left.
    """
    tasks = [task for task, _ in table.glue_columns]
    retained = [task for task in tasks if task not in without]
    if len(tasks) < 2:
        raise LinkError(
            f"{table.title} has {len(tasks)} GLUE column{'' if len(tasks) == 1 else 's'} that every variant has; "
            "an average needs two. Choose a table of GLUE scores."
        )
    if not retained:
        raise LinkError(f"Every GLUE column of {table.title} is left out; an average needs one. Tick one.")
    wide = table.scores[table.scores.glue].pivot(index="row", columns="task", values="value")
    printed = table.scores[table.scores.task == GLUE_AVERAGE].set_index("row").value
    names = list(dict.fromkeys(table.scores.row))
    return pd.DataFrame(
        {
            "variant": names,
            "all_columns": wide[tasks].mean(axis=1).reindex(names).to_numpy(),
            "ticked": wide[retained].mean(axis=1).reindex(names).to_numpy(),
            "printed": printed.reindex(names).to_numpy(),
        }
    )


def differences(table: Table, baseline: str = "") -> pd.DataFrame:
    """Every score minus the baseline's in the same column, in the unit printed; without the baseline's own rows."""
    row = table.baseline(baseline)
    keys = ["panel", "column"]
    references = table.scores[table.scores.row == row][[*keys, "value", "sd", "sd_text", "printed"]]
    merged = table.scores.merge(references, on=keys, suffixes=("", "_baseline"), validate="many_to_one")
    merged = merged[merged.row != row].sort_values("row_number", kind="stable")
    return merged.assign(baseline=row, difference=merged.value - merged.value_baseline).reset_index(drop=True)
