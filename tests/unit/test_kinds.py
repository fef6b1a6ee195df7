"""Kinds of results: everything that a kind needs follows from its one declaration."""

import duckdb
import pytest

from analysis.commands.measure.plan import MEASUREMENTS
from analysis.store.kinds import KINDS, kind_title
from analysis.store.sync import schema_statements


@pytest.fixture(scope="module")
def store() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for statements in schema_statements():
        connection.execute(statements)
    return connection


SQL = {"string": "VARCHAR", "int32": "INTEGER", "int64": "BIGINT", "double": "DOUBLE", "float": "FLOAT"}


@pytest.mark.parametrize("name", [kind.name for kind in KINDS.values() if kind.table])
def test_the_table_of_a_kind_has_its_columns(store: duckdb.DuckDBPyConnection, name: str) -> None:
    columns = [row[:2] for row in store.execute(f'DESCRIBE "{name}"').fetchall()]
    assert columns[0] == ("run_id", "VARCHAR")
    for (column, sql_type), field in zip(columns[1:], KINDS[name].schema, strict=True):
        listed = str(field.type).startswith("list<")
        inner = str(field.type.value_type if listed else field.type)
        assert (column, sql_type) == (field.name, SQL[inner] + ("[]" if listed else ""))


def test_the_newest_rows_of_a_kind_are_those_of_the_last_run(store: duckdb.DuckDBPyConnection) -> None:
    """Two runs of one model over one corpus, an older one of another: the last of each is shown."""
    for run, model, created in (("a", "m", "2026-01-01"), ("b", "m", "2026-01-02"), ("c", "n", "2025-01-01")):
        store.execute(
            "INSERT INTO runs (run_id, kind, model, created) VALUES (?, 'decoding', ?, ?)", [run, model, created]
        )
        store.execute("INSERT INTO decoding (run_id, corpus, layer, value) VALUES (?, 'x', 0, 1)", [run])
    assert store.execute("SELECT run_id FROM newest_decoding ORDER BY run_id").fetchall() == [("b",), ("c",)]


def test_every_kind_has_a_title_of_its_own() -> None:
    titles = [kind.title for kind in KINDS.values()]
    assert len(set(titles)) == len(titles)
    assert not any("_" in title for title in titles)
    assert kind_title("equivariance") == "permuted words"
    assert kind_title("unreadable") == "unreadable"


def test_what_is_measured_of_many_models_writes_kinds_that_there_are() -> None:
    for measurement in MEASUREMENTS.values():
        assert set(measurement.result_kinds) <= set(KINDS)
