"""The process that runs a reader's query. Run alone, with `python -I`; it imports nothing of Addend.

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

NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
"""Ways to ask. What changes rows has nodes of its own (a WITH may hold an INSERT)."""
TABLE_FUNCTIONS = {"range", "generate_series", "unnest"}
"""Every other one reads a file, a setting, or text as SQL."""
REFUSED_FUNCTIONS = {
    *("current_setting", "getvariable", "getenv", "write_log", "nextval", "currval", "setval", "sleep_ms", "pg_sleep"),
    *("json_serialize_plan", "json_deserialize_sql", "add_parquet_key"),
}
NAME = re.compile(r"(?!duckdb_|pragma_|sqlite_|pg_)[^\W\d]\w*", re.IGNORECASE)
"""What a WITH may be called: no name that outside of it stands for a file or for a table of DuckDB's own."""
FLAT = {
    *("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint"),
    *("uhugeint", "float", "double", "decimal", "varchar", "blob", "uuid", "date", "time", "timestamp", "interval"),
    *("timestamp with time zone", "timestamp_s", "timestamp_ms", "timestamp_ns", "time with time zone", "null"),
}
"""Types that come back as they are. Every other is made text: a cell of a struct or list can be any number of objects,
and an ENUM repeats a text of any length at a byte a row."""
ONE = "Expected one SELECT (or WITH ... SELECT) over the tables and views listed on the page."
SHOWN = 500
"""Characters of DuckDB's own message that are passed on."""


class Refused(Exception):
    """A query that is not run; says why in a sentence."""


def confine(limits: Mapping[str, int]) -> None:
    """Holds this process to its limits: memory, processor, clock; no files to write, few to open, no core dump."""

    def hold(which: int, soft: int, hard: int | None = None) -> None:
        resource.setrlimit(which, (soft, soft if hard is None else hard))

    hold(resource.RLIMIT_AS, limits["memory_mib"] << 20)
    hold(resource.RLIMIT_CPU, limits["cpu_seconds"], limits["cpu_seconds"] + 1)
    hold(resource.RLIMIT_FSIZE, 0)
    hold(resource.RLIMIT_CORE, 0)
    hold(resource.RLIMIT_NOFILE, 64)
    # Ends the process even when nobody is left to end it: the signal's own action needs no Python.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits["seconds"] + 2)


def parts(tree: object) -> Iterator[tuple[dict[str, Any], bool]]:
    """Every object of a parsed query, and whether it stands where a table function does; without recursion."""
    waiting: list[tuple[object, bool]] = [(tree, False)]
    while waiting:
        value, as_table = waiting.pop()
        if isinstance(value, dict):
            yield value, as_table
            is_call = value.get("type") == "TABLE_FUNCTION"
            waiting += [(inner, is_call and key == "function") for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(inner, False) for inner in value]


def check(statements: list[object], tables: set[str]) -> None:
    """Raises Refused unless the parsed statements are one SELECT over these tables."""
    if len(statements) != 1:
        raise Refused(f"The query holds {len(statements)} statements. {ONE}")
    items = list(parts(statements))
    named = {str(entry["key"]).lower() for value, _ in items for entry in _entries(value)}
    if odd := sorted(name for name in named if not NAME.fullmatch(name)):
        raise Refused(f"A WITH is called {odd[0]!r}; expected a plain name of letters, digits and underscores.")
    for value, as_table in items:
        kind = str(value.get("type", ""))
        if kind.endswith("_NODE") and kind not in NODES:
            raise Refused(f"The query would change rows. {ONE}")
        if kind == "SHOW_REF":
            raise Refused(f"SHOW, DESCRIBE and SUMMARIZE are not allowed. {ONE}")
        if kind == "BASE_TABLE":
            path = [str(name).lower() for name in value["qualified_name"]["path"]]
            if path[:-1] not in ([], ["main"]) or path[-1] not in tables | named:
                raise Refused(f"There is no table or view {'.'.join(path)!r} to query. {ONE}")
        if "function_name" in value:
            name = str(value["function_name"]).lower()
            if as_table and name not in TABLE_FUNCTIONS:
                raise Refused(
                    f"The table function {name!r} is not allowed; the allowed ones are: "
                    f"{', '.join(sorted(TABLE_FUNCTIONS))}."
                )
            if name in REFUSED_FUNCTIONS:
                raise Refused(f"The function {name!r} is not allowed: it reads or changes more than stored results.")


def _entries(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The named parts of a WITH."""
    held = value.get("cte_map")
    return list(held["map"]) if isinstance(held, dict) else []


def parsed(connection: "duckdb.DuckDBPyConnection", sql: str) -> tuple[str, list[object]]:
    """The query without what stands around it, and as DuckDB's parser reads it.

    Raises Refused for anything but one SELECT statement.
    """
    import duckdb

    items = duckdb.extract_statements(sql)
    if not items:
        raise Refused(f"The query is empty. {ONE}")
    other = [str(one.type).rpartition(".")[2] for one in items if one.type != duckdb.StatementType.SELECT]
    if other:
        # Only PIVOT without IN is made of several statements: the first finds its columns.
        raise Refused(
            "PIVOT is not allowed without IN, since it then runs more than one statement. Name its columns, such as "
            "PIVOT runs ON kind IN ('curves', 'scores') USING count(*)."
            if other[0] == "MULTI"
            else f"The query is, or contains, a statement of the kind {other[0]}. {ONE}"
        )
    if len(items) > 1:
        raise Refused(f"The query holds {len(items)} statements. {ONE}")
    text = without_end(items[0].query)
    sentence = json.loads(connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()[0][0])
    if sentence["error"]:
        raise Refused(f"{sentence['error_message'].rstrip('.!')}. {ONE}")
    return text, sentence["statements"]


def without_end(sql: str) -> str:
    """A statement without the semicolons and comments after it, with which it could not stand in brackets."""
    import duckdb

    text = sql.encode()
    for place, kind in reversed(duckdb.tokenize(sql)):
        if kind != duckdb.token_type.comment and text[place : place + 1] != b";":
            break
        text = text[:place]
    return text.decode().strip()


def bounded(relation: "duckdb.DuckDBPyRelation", limits: Mapping[str, int]) -> tuple["duckdb.DuckDBPyRelation", int]:
    """A query with its columns flat and no more rows than are accepted and one, and how many are accepted.

    The limit is part of the plan: executed as it stands, the whole result would be held before its first row is read.
    Raises Refused for too many columns.
    """
    names, kinds = relation.columns, [kind.id for kind in relation.types]
    if len(names) > limits["columns"]:
        raise Refused(
            f"The result has {len(names):,} columns; at most {limits['columns']} are accepted. Name those you need."
        )
    most = min(limits["rows"], limits["cells"] // len(names))
    relation = relation.limit(most + 1)
    if not set(kinds) <= FLAT:
        names = relation.limit(0).to_arrow_reader().schema.names  # no two of them alike
        quoted = ['"' + name.replace('"', '""') + '"' for name in names]
        relation = relation.project(
            ", ".join(
                f"#{place}{'' if kind in FLAT else '::VARCHAR'} AS {name}"
                for place, (name, kind) in enumerate(zip(quoted, kinds, strict=True), start=1)
            )
        )
    return relation, most


def answer(store: str, sql: str, limits: Mapping[str, int]) -> tuple[dict[str, str], bytes]:
    """What is said of the result, and the result. Raises Refused, and DuckDB's and Arrow's errors."""
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
    text, statements = parsed(connection, sql)
    check(statements, tables)
    relation, most = bounded(connection.sql(text), limits)
    reader, room = relation.to_arrow_reader(1_024), limits["result_mib"] << 20
    end = "rows" if most == limits["rows"] else "cells"
    kept: list[pa.RecordBatch] = []
    cut = ""
    for batch in reader:
        taken = batch.slice(0, most)
        if taken.nbytes > room:
            taken, cut = taken.slice(0, fitting(taken, room)), "size"
        kept.append(taken)
        most, room = most - len(taken), room - taken.nbytes
        cut = cut or (end if len(taken) < len(batch) else "")
        if cut:
            break
    if cut == "size" and not sum(len(batch) for batch in kept):
        raise Refused(f"The first row alone is larger than {limits['result_mib']} MiB. Ask for fewer columns.")
    written = io.BytesIO()
    with pa.ipc.new_stream(written, reader.schema) as stream:
        for batch in kept:
            # Sliced batches would be written with all that they were sliced from.
            stream.write_batch(batch.take(pa.array(range(len(batch)))) if cut else batch)
    return {"cut": cut}, written.getvalue()


def fitting(batch: "pa.RecordBatch", room: int) -> int:
    """How many rows of a batch have room."""
    low, high = 0, len(batch)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if batch.slice(0, middle).nbytes <= room else (low, middle - 1)
    return low


def sentence(error: Exception, folder: str) -> str:
    """DuckDB's message in a line: without the query under it, and without this machine's paths."""
    text = " ".join(str(error).split("\n\nLINE ")[0].replace(folder, "").split())
    return text[:SHOWN] + (" ..." if len(text) > SHOWN else "")


def main() -> None:
    """Reads the query from standard input and answers it."""
    text = json.loads(sys.argv[1])
    confine(text["limits"])
    sys.path.append(text["packages"])
    import duckdb
    import pyarrow as pa

    texts: dict[str, str]
    rows = b""
    too_large = {"error": f"The query needs more than {text['limits']['memory_mib']} MiB of memory. Ask for less."}
    try:
        texts, rows = answer(text["store"], sys.stdin.buffer.read().decode("utf-8"), text["limits"])
    except Refused as why:
        texts = {"error": str(why)}
    except (duckdb.OutOfMemoryException, MemoryError):
        texts = too_large
    except RecursionError:
        texts = {"error": "The query is nested too deeply. Write it in fewer levels."}
    except (duckdb.Error, pa.ArrowException, ValueError) as wrong:
        texts = {"error": f"The query failed: {sentence(wrong, os.getcwd())}"}
    sys.stdout.buffer.write(json.dumps(texts).encode() + b"\n" + rows)
    sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
