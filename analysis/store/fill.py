"""Fills the tables of a new store from the files under data/. A file that cannot be read is left out and reported."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from analysis.core.errors import StoreError
from analysis.store import files
from analysis.store.paths import data_folder

Rows = Sequence[Mapping[str, Any]]
Ask = Callable[[str], list[dict[str, Any]]]
"""Maps a SELECT to its rows; null and NaN are None."""
Judge = Callable[[Ask], Mapping[str, Rows]]
"""Computes further tables from the store's content: table name -> rows."""
Problems = list[tuple[str, str]]
"""Files that could not be read, in whole or in part, each with a sentence that says why."""

PUBLISHED = "published"
LATER_FIELDS = ("architecture", "causal")
"""Fields of a run that describe its model since 25 November 2026; older files lack them."""
PROBE_SET = "probe_set"
BIBTEX_KEY = re.compile(r"\s*@\w+\{([^,\s]+),")


def insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Rows | pa.Table) -> None:
    """Adds rows to a table by the names of their columns."""
    if len(rows):
        incoming = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist([dict(row) for row in rows])
        connection.register("incoming", incoming)
        connection.execute(f'INSERT INTO "{table}" BY NAME SELECT * FROM incoming')
        connection.unregister("incoming")


CACHED_VIEWS = ("measured_models", "newest_terms", "published_rows", "published_pairs")
"""Views that many rules query; each is computed once for all of them."""


@contextmanager
def query_function(connection: duckdb.DuckDBPyConnection) -> Iterator[Ask]:
    """A query function on a store that is being built, in which temporary tables shadow slow views."""

    def ask(sql: str) -> list[dict[str, Any]]:
        result = connection.execute(sql)
        names = [column[0] for column in result.description or ()]
        rows = ([None if cell != cell else cell for cell in row] for row in result.fetchall())
        return [dict(zip(names, row, strict=True)) for row in rows]

    for view in CACHED_VIEWS:
        connection.execute(f"CREATE TEMP TABLE {view} AS SELECT * FROM main.{view}")
    try:
        yield ask
    finally:
        for view in CACHED_VIEWS:
            connection.execute(f"DROP TABLE temp.{view}")


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Commits when the block succeeds and rolls back when it raises."""
    connection.begin()
    try:
        yield
    except Exception:
        connection.rollback()
        raise
    connection.commit()


@contextmanager
def _reporting(file: str, problems: Problems) -> Iterator[None]:
    """Appends to `problems` what is wrong with a file, instead of raising."""
    try:
        yield
    except StoreError as error:
        problems.append((file, _one_line(error)))
    except (duckdb.IOException, duckdb.TransactionException, duckdb.OutOfMemoryException):
        raise  # Not the file's fault: no space is left for the store.
    except (OSError, csv.Error, pa.ArrowException, duckdb.Error, LookupError, TypeError, ValueError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else f"could not be taken in ({_one_line(error)})"
        problems.append((file, f"{Path(file).name} {reason}. Restore or remove it."))


@contextmanager
def _all_or_none(connection: duckdb.DuckDBPyConnection, file: str, problems: Problems) -> Iterator[None]:
    """Inserts a file completely, or leaves it out and appends the reason to `problems`."""
    with _reporting(file, problems), transaction(connection):
        yield


def _one_line(error: Exception) -> str:
    """An error in one line, and without the folders of this machine: readers see `problems`."""
    return FOLDER_PREFIX.sub("", " ".join(str(error).split("\n\nLINE ")[0].split()))


FOLDER_PREFIX = re.compile(r"(?<![\w:.~])/(?:[^/\s'\"()]+/)+")
LoadedFile = tuple[str, str, pa.Table, dict[str, Any]]
"""A results file that has been read: its name, kind, rows and run."""


def results(connection: duckdb.DuckDBPyConnection, problems: Problems) -> None:
    """Every results file: its run and its rows."""
    loaded = list(_read(problems))
    try:
        with transaction(connection):
            _insert_all(connection, loaded)
    except (duckdb.IOException, duckdb.TransactionException, duckdb.OutOfMemoryException):
        raise  # Not a file's fault: no space is left for the store.
    except (pa.ArrowException, duckdb.Error, LookupError, TypeError, ValueError):
        _insert_each(connection, loaded, problems)


def _read(problems: Problems) -> Iterator[LoadedFile]:
    """The files that can be read."""
    latest = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    for path in files.results_files():
        name = str(path.relative_to(data_folder()))
        with _reporting(name, problems):
            kind, table, run = files.read(path)
            if str(run["created"]) > latest:
                notice = (
                    f"{path.name} says that it was made at {run['created']}, which is yet to come. It is taken in and "
                )
                problems.append((name, notice + "counts as the newest. Check the clock of the machine that made it."))
            yield name, kind, table, run


def _insert_each(connection: duckdb.DuckDBPyConnection, loaded: Sequence[LoadedFile], problems: Problems) -> None:
    """Inserts the files one at a time, and leaves out and reports those that are invalid or repeat a run."""
    seen: set[str] = set()
    for entry in loaded:
        name, _, _, run = entry
        with _all_or_none(connection, name, problems):
            if run["run_id"] in seen:
                reason = f"{Path(name).name} repeats the run {run['run_id']} of another file. Remove one of them."
                raise StoreError(reason)
            _insert_all(connection, [entry])
            seen.add(run["run_id"])


def _insert_all(connection: duckdb.DuckDBPyConnection, loaded: Sequence[LoadedFile]) -> None:
    """Inserts runs, then the rows of each kind at once: the number of insertions is what takes time."""
    absent = dict.fromkeys(LATER_FIELDS)
    runs = [{**absent, **run, "file": name, "config": json.dumps(run["config"])} for name, _, _, run in loaded]
    insert(connection, "runs", runs)
    kinds: dict[str, list[pa.Table]] = {}
    for _, kind, table, run in loaded:
        if kind == "probe":
            _insert_probe(connection, table, run)
        else:
            kinds.setdefault(kind, []).append(table.append_column("run_id", pa.array([run["run_id"]] * len(table))))
    for kind, tables in kinds.items():
        insert(connection, kind, pa.concat_tables(tables))


def imported_names(connection: duckdb.DuckDBPyConnection) -> None:
    """Adds the variants and tasks that only imported runs have, so that pages can name them."""
    imported = f"preset LIKE '{files.IMPORTED}%'"
    connection.execute(
        "INSERT INTO variants BY NAME SELECT DISTINCT variant, variant AS title, 'imported' AS combines, "
        f"'Imported; not one of ours.' AS summary FROM runs WHERE {imported} AND variant IS NOT NULL "
        "AND variant NOT IN (SELECT variant FROM variants) ORDER BY variant"
    )
    connection.execute(
        "INSERT INTO tasks BY NAME SELECT task, task AS title, false AS glue, min(metric) AS metric, "
        f"'Imported; not one of ours.' AS summary FROM scores WHERE {imported} "
        "AND task NOT IN (SELECT task FROM tasks) GROUP BY task ORDER BY task"
    )
    connection.execute(
        "UPDATE tasks SET metric = found.metric FROM "
        f"(SELECT task, min(metric) AS metric FROM scores WHERE {imported} GROUP BY task) found "
        "WHERE tasks.task = found.task AND tasks.metric IS NULL"
    )


def fine_tunings(connection: duckdb.DuckDBPyConnection) -> None:
    """Recomputes the table of that name from the scores. Call after `imported_names`, which sets the main metrics."""
    connection.execute("DELETE FROM fine_tunings")
    connection.execute(
        "INSERT INTO fine_tunings BY NAME SELECT s.* EXCLUDE (seconds), r.created FROM scores s "
        "JOIN runs r USING (run_id) JOIN tasks t ON t.task = s.task AND t.metric = s.metric "
        "WHERE s.seed IS NOT NULL AND s.variant <> 'majority' QUALIFY row_number() OVER (PARTITION BY s.preset, "
        "s.variant, s.task, s.pretraining, s.seed, s.finetune_seed, s.learning_rate ORDER BY r.created DESC, r.run_id) "
        "= 1 ORDER BY preset, variant, task, learning_rate, seed, finetune_seed, created, run_id"
    )


def pretrainings(connection: duckdb.DuckDBPyConnection) -> None:
    """Recomputes the table of that name from the curves."""
    connection.execute("DELETE FROM pretrainings")
    connection.execute(
        """
        INSERT INTO pretrainings BY NAME SELECT c.* REPLACE (
            CASE WHEN NOT diverged THEN final_loss END AS final_loss, CASE WHEN NOT diverged THEN last_loss END
            AS last_loss
        ), r.created, r.config, r.config ->> '$.rules.sha256' AS rules_sha, r.config ->> '$.began' AS began
        FROM (
            SELECT
                run_id, any_value(variant) AS variant, any_value(preset) AS preset, any_value(seed) AS seed,
                max(value) FILTER (metric = 'final_loss_1x') AS final_loss,
                arg_max(value, step) FILTER (metric = 'validation_loss') AS last_loss,
                coalesce(bool_or(NOT isfinite(value)) FILTER (
                    metric IN ('training_loss', 'validation_loss', 'final_loss_1x')
                ), false) AS diverged,
                max(step) AS steps
            FROM curves GROUP BY run_id
        ) c JOIN runs r USING (run_id)
        ORDER BY r.created, c.run_id
        """
    )


def _insert_probe(connection: duckdb.DuckDBPyConnection, heads: pa.Table, run: Mapping[str, Any]) -> None:
    # What every layer gives stays in the probe's file: the page that shows it reads that.
    config = {name: value for name, value in run["config"].items() if name not in ("cancellation", "layers")}
    shared = {key: run[key] for key in ("run_id", "model", "revision", "device", "dtype", "created", "seconds")}
    row = {**config, **shared, "probe_id": run["run_id"], "tokens": json.dumps(config["tokens"])}
    insert(connection, "probes", [row])
    insert(connection, "probe_heads", heads.append_column("probe_id", pa.array([run["run_id"]] * len(heads))))


def _csv(path: Path) -> list[dict[str, str | None]]:
    """Rows of a CSV file, all as text; empty cells are None."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        return [{key: value or None for key, value in row.items()} for row in csv.DictReader(file)]


def published(connection: duckdb.DuckDBPyConnection, problems: Problems) -> None:
    """The literature: papers, citations, findings in words, metrics, caveats, and every printed figure."""
    folder = data_folder() / PUBLISHED
    for table in ("papers", "findings", "caveats", "metrics", "variants"):
        if (folder / f"{table}.csv").is_file():
            with _all_or_none(connection, f"{PUBLISHED}/{table}.csv", problems):
                insert(connection, table, _csv(folder / f"{table}.csv"))
    connection.execute(
        "INSERT INTO tasks BY NAME SELECT task, any_value(task_title) AS title, bool_or(glue) AS glue FROM metrics "
        "WHERE task IS NOT NULL AND task NOT IN (SELECT task FROM tasks) GROUP BY task ORDER BY task"
    )
    if (folder / "citations.bib").is_file():
        with _all_or_none(connection, f"{PUBLISHED}/citations.bib", problems):
            bibtex = re.split(r"\n(?=@)", (folder / "citations.bib").read_text(encoding="utf-8-sig"))
            citations = [(key[1], entry.strip()) for entry in bibtex if (key := BIBTEX_KEY.match(entry))]
            insert(connection, "citations", [{"citation_key": key, "bibtex": entry} for key, entry in citations])
    count = 0
    for path in sorted((folder / "figures").glob("*.csv")):
        name = f"{PUBLISHED}/figures/{path.name}"
        with _all_or_none(connection, name, problems):
            figures = []
            for line, row in enumerate(_csv(path), start=2):
                try:
                    figures.append({"row_number": count + len(figures), "file": path.name, **_figure(row)})
                except ValueError as error:
                    problems.append((name, f"line {line}: {error}; the row is left out. Correct it."))
            insert(connection, "published", figures)
            count += len(figures)


def _figure(row: Mapping[str, str | None]) -> dict[str, object]:
    """A printed figure as a row of the store. Raises ValueError for a number that cannot be parsed."""
    return {
        "paper": row["paper"],
        "arxiv": row["arxiv"],
        "year": int(row["year"]) if row["year"] else None,
        "table_name": row["table"],
        "variant": row["variant"],
        "steps": row["steps"],
        "setting": row["setting"],
        "task": row["task"],
        "metric": row["metric"],
        "value": float(row["value"]) if row["value"] else None,
        "sd": float(row["sd"]) if row["sd"] else None,
        "printed": row["text"] or row["value"],
        "transcribed_from": row["transcribed_from"],
    }


def probe_set(connection: duckdb.DuckDBPyConnection, problems: Problems) -> None:
    """The texts of the probe set."""
    for path in sorted((data_folder() / PROBE_SET).glob("*.csv")):
        with _all_or_none(connection, f"{PROBE_SET}/{path.name}", problems):
            texts = [
                {
                    "corpus": PROBE_SET,
                    "text_id": row["id"],
                    "category": row["category"],
                    "text": row["text"],
                    "text_pair": row.get("text_pair"),
                }
                for row in _csv(path)
            ]
            insert(connection, "corpora", texts)
