"""The process that runs a reader's query. It runs with `python -I` and imports nothing of Addend.

Everything a reader writes is parsed here and nowhere else. The process holds no more than the limits it is given,
can write no file, and ends by itself. It answers on its standard output: a line of JSON, then Arrow's stream format.
"""

import io
import json
import os
import re
import resource
import signal
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

QUERY_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
"""Nodes of queries. Statements that change rows have other nodes (a WITH may hold an INSERT)."""
TABLE_FUNCTIONS = {"range", "generate_series", "unnest"}
"""The allowed table functions; the others read a file, a setting, or text as SQL."""
REFUSED_FUNCTIONS = {
    *("current_setting", "getvariable", "getenv", "write_log", "nextval", "currval", "setval", "sleep_ms", "pg_sleep"),
    *("json_serialize_plan", "json_deserialize_sql", "add_parquet_key"),
}
CTE_NAME = re.compile(r"(?!duckdb_|pragma_|sqlite_|pg_)[^\W\d]\w*", re.IGNORECASE)
"""Allowed names of a WITH: none that would otherwise mean a file or one of DuckDB's own tables."""
FLAT_TYPES = {
    *("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint"),
    *("uhugeint", "float", "double", "decimal", "varchar", "blob", "uuid", "date", "time", "timestamp", "interval"),
    *("timestamp with time zone", "timestamp_s", "timestamp_ms", "timestamp_ns", "time with time zone", "null"),
}
"""Types that are returned unchanged. All others are converted to text: a cell of a struct or list can be any number of
objects, and an ENUM repeats a text of any length at a byte a row."""
EXPECTED = "Expected one SELECT (or WITH ... SELECT) over the tables and views listed on the page."
MESSAGE_LENGTH = 500
"""Characters of DuckDB's message that are passed on."""


class Refused(Exception):
    """A query that is not run; says why in a sentence."""


def confine(limits: Mapping[str, int]) -> None:
    """Limits this process: memory, processor time, wall time, no written files, few open files, no core dump."""

    def limit(resource_type: int, soft: int, hard: int | None = None) -> None:
        resource.setrlimit(resource_type, (soft, soft if hard is None else hard))

    limit(resource.RLIMIT_AS, limits["memory_mib"] << 20)
    limit(resource.RLIMIT_CPU, limits["cpu_seconds"], limits["cpu_seconds"] + 1)
    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_NOFILE, 64)
    # Ends the process even when its parent is gone: the signal's default action needs no Python.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits["seconds"] + 2)


def walk(tree: object) -> Iterator[tuple[dict[str, Any], bool]]:
    """Every object of a parsed query, and whether it is the function of a table function; without recursion."""
    stack: list[tuple[object, bool]] = [(tree, False)]
    while stack:
        node, as_table = stack.pop()
        if isinstance(node, dict):
            yield node, as_table
            is_call = node.get("type") == "TABLE_FUNCTION"
            stack += [(child, is_call and key == "function") for key, child in node.items()]
        elif isinstance(node, list):
            stack += [(child, False) for child in node]


def check(statements: list[object], tables: set[str]) -> None:
    """Raises Refused unless the parsed statements are one SELECT over these tables."""
    if len(statements) != 1:
        raise Refused(f"The query holds {len(statements)} statements. {EXPECTED}")
    nodes = list(walk(statements))
    cte_names = {str(entry["key"]).lower() for node, _ in nodes for entry in _cte_entries(node)}
    if invalid := sorted(name for name in cte_names if not CTE_NAME.fullmatch(name)):
        raise Refused(f"A WITH is called {invalid[0]!r}; expected a plain name of letters, digits and underscores.")
    for node, as_table in nodes:
        kind = str(node.get("type", ""))
        if kind.endswith("_NODE") and kind not in QUERY_NODES:
            raise Refused(f"The query would change rows. {EXPECTED}")
        if kind == "SHOW_REF":
            raise Refused(f"SHOW, DESCRIBE and SUMMARIZE are not allowed. {EXPECTED}")
        if kind == "BASE_TABLE":
            path = [str(name).lower() for name in node["qualified_name"]["path"]]
            if path[:-1] not in ([], ["main"]) or path[-1] not in tables | cte_names:
                raise Refused(f"There is no table or view {'.'.join(path)!r} to query. {EXPECTED}")
        if "function_name" in node:
            name = str(node["function_name"]).lower()
            if as_table and name not in TABLE_FUNCTIONS:
                raise Refused(
                    f"The table function {name!r} is not allowed; the allowed ones are: "
                    f"{', '.join(sorted(TABLE_FUNCTIONS))}."
                )
            if name in REFUSED_FUNCTIONS:
                raise Refused(f"The function {name!r} is not allowed: it reads or changes more than stored results.")


def _cte_entries(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The named subqueries of a WITH."""
    cte_map = node.get("cte_map")
    return list(cte_map["map"]) if isinstance(cte_map, dict) else []


def parse(connection: "duckdb.DuckDBPyConnection", sql: str) -> tuple[str, list[object]]:
    """The statement's text, and its syntax tree as DuckDB parses it.

    Raises Refused for anything but one SELECT statement.
    """
    import duckdb

    statements = duckdb.extract_statements(sql)
    if not statements:
        raise Refused(f"The query is empty. {EXPECTED}")
    other_kinds = [str(s.type).rpartition(".")[2] for s in statements if s.type != duckdb.StatementType.SELECT]
    if other_kinds:
        # Only PIVOT without IN is made of several statements: the first finds its columns.
        raise Refused(
            "PIVOT is not allowed without IN, since it then runs more than one statement. Name its columns, such as "
            "PIVOT runs ON kind IN ('curves', 'scores') USING count(*)."
            if other_kinds[0] == "MULTI"
            else f"The query is, or contains, a statement of the kind {other_kinds[0]}. {EXPECTED}"
        )
    if len(statements) > 1:
        raise Refused(f"The query holds {len(statements)} statements. {EXPECTED}")
    text = strip_terminator(statements[0].query)
    tree = json.loads(connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()[0][0])
    if tree["error"]:
        raise Refused(f"{tree['error_message'].rstrip('.!')}. {EXPECTED}")
    return text, tree["statements"]


def strip_terminator(sql: str) -> str:
    """A statement without trailing semicolons and comments, so that it can be put in brackets."""
    import duckdb

    text = sql.encode()
    for offset, kind in reversed(duckdb.tokenize(sql)):
        if kind != duckdb.token_type.comment and text[offset : offset + 1] != b";":
            break
        text = text[:offset]
    return text.decode().strip()


def limited(relation: "duckdb.DuckDBPyRelation", limits: Mapping[str, int]) -> tuple["duckdb.DuckDBPyRelation", int]:
    """The query with flat columns and at most one row more than is accepted, and the accepted number of rows.

    The limit is part of the plan: executed as it stands, the whole result would be held before its first row is read.
    Raises Refused for too many columns.
    """
    names, kinds = relation.columns, [kind.id for kind in relation.types]
    if len(names) > limits["columns"]:
        raise Refused(
            f"The result has {len(names):,} columns; at most {limits['columns']} are accepted. Name those you need."
        )
    row_limit = min(limits["rows"], limits["cells"] // len(names))
    relation = relation.limit(row_limit + 1)
    if not set(kinds) <= FLAT_TYPES:
        names = relation.limit(0).to_arrow_reader().schema.names  # no two of them alike
        quoted = ['"' + name.replace('"', '""') + '"' for name in names]
        relation = relation.project(
            ", ".join(
                f"#{index}{'' if kind in FLAT_TYPES else '::VARCHAR'} AS {name}"
                for index, (name, kind) in enumerate(zip(quoted, kinds, strict=True), start=1)
            )
        )
    return relation, row_limit


def answer(store: str, sql: str, limits: Mapping[str, int]) -> tuple[dict[str, str], bytes]:
    """The header and the Arrow stream of the result. Raises Refused, and DuckDB's and Arrow's errors."""
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect(
        store,
        read_only=True,
        config={
            "enable_external_access": "false",
            "temp_directory": "",
            "autoload_known_extensions": "false",
            "autoinstall_known_extensions": "false",
            "python_enable_replacements": "false",
            "threads": "1",
            "memory_limit": f"{limits['memory_mib'] // 2}MiB",
        },
    )
    connection.execute("SET disabled_filesystems = 'LocalFileSystem'")
    connection.execute("SET lock_configuration = true")
    names = "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"
    tables = {str(name).lower() for (name,) in connection.execute(names).fetchall()}
    text, statements = parse(connection, sql)
    check(statements, tables)
    relation, rows_left = limited(connection.sql(text), limits)
    reader, bytes_left = relation.to_arrow_reader(1_024), limits["result_mib"] << 20
    row_cut = "rows" if rows_left == limits["rows"] else "cells"
    batches: list[pa.RecordBatch] = []
    cut = ""
    for batch in reader:
        part = batch.slice(0, rows_left)
        if part.nbytes > bytes_left:
            part, cut = part.slice(0, rows_that_fit(part, bytes_left)), "size"
        batches.append(part)
        rows_left, bytes_left = rows_left - len(part), bytes_left - part.nbytes
        cut = cut or (row_cut if len(part) < len(batch) else "")
        if cut:
            break
    if cut == "size" and not sum(len(batch) for batch in batches):
        raise Refused(f"The first row alone is larger than {limits['result_mib']} MiB. Ask for fewer columns.")
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, reader.schema) as stream:
        for batch in batches:
            # Sliced batches would be written with all that they were sliced from.
            stream.write_batch(batch.take(pa.array(range(len(batch)))) if cut else batch)
    return {"cut": cut}, buffer.getvalue()


def rows_that_fit(batch: "pa.RecordBatch", size_limit: int) -> int:
    """The number of a batch's first rows that together take at most `size_limit` bytes."""
    low, high = 0, len(batch)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if batch.slice(0, middle).nbytes <= size_limit else (low, middle - 1)
    return low


def error_message(error: Exception, folder: str) -> str:
    """DuckDB's message on one line, without the quoted query and without this machine's paths."""
    text = " ".join(str(error).split("\n\nLINE ")[0].replace(folder, "").split())
    return text[:MESSAGE_LENGTH] + (" ..." if len(text) > MESSAGE_LENGTH else "")


def main() -> None:
    """Reads the query from standard input and answers it."""
    arguments = json.loads(sys.argv[1])
    confine(arguments["limits"])
    sys.path.append(arguments["packages"])
    import duckdb
    import pyarrow as pa

    header: dict[str, str]
    rows = b""
    too_large = {"error": f"The query needs more than {arguments['limits']['memory_mib']} MiB of memory. Ask for less."}
    try:
        header, rows = answer(arguments["store"], sys.stdin.buffer.read().decode("utf-8"), arguments["limits"])
    except Refused as error:
        header = {"error": str(error)}
    except (duckdb.OutOfMemoryException, MemoryError):
        header = too_large
    except RecursionError:
        header = {"error": "The query is nested too deeply. Write it in fewer levels."}
    except (duckdb.Error, pa.ArrowException, ValueError) as error:
        header = {"error": f"The query failed: {error_message(error, os.getcwd())}"}
    sys.stdout.buffer.write(json.dumps(header).encode() + b"\n" + rows)
    sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
