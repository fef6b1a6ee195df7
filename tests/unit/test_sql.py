"""Proves that a reader's query is answered, and that no query does more than read stored results.

Every hostile query is run as a reader would send it, against a store that holds a saved probe with a secret text, in
a folder that is watched: it must be refused in one sentence that names none of this machine's folders, or end within
its limits; the store and the folder stay as they were; no child is left alive; the secret never comes back.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import altair as alt
import duckdb
import pandas as pd
import psutil
import pyarrow as pa
import pytest
from drawn_values import valid_panels

from analysis import links, store_build
from analysis.core.colours import of_term
from analysis.core.errors import AddendError, QueryError
from analysis.core.term_names import FOUR
from analysis.figures import FIGURES, drawing
from analysis.figures.terms.measures import term_label
from analysis.figures.terms.term_marks import COLOURS
from analysis.probes import text_probe
from analysis.sql import public, run_query as module
from analysis.sql.examples import EXAMPLES, VIEWS
from analysis.sql.limits import LIMITS, Limits
from analysis.sql.run_query import ENVIRONMENT, ask
from analysis.store.paths import store_path

ROOT = Path(__file__).resolve().parents[2]
SECRET = "a secret of one reader"
SHORT = Limits(seconds=4, cpu_seconds=2)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A store of the committed data and one probe that a reader saved."""
    folder = tmp_path_factory.mktemp("world")
    shutil.copytree(ROOT / "data", folder / "data", ignore=shutil.ignore_patterns("store"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADDEND_DATA", str(folder / "data"))
        patch.setenv("ADDEND_STORE", str(folder / "data/store/addend.duckdb"))
        patch.setenv("ADDEND_TOKEN", SECRET)
        text_probe.save(text_probe.TermsRequest(model="all-MiniLM-L6-v2", text=SECRET).run())
        store_build.refresh()
        yield folder


def everything(folder: Path) -> dict[str, int]:
    paths = (f"{root}/{name}" for root, folders, names in os.walk(folder) for name in (*folders, *names))
    return {path: os.stat(path).st_size for path in paths}


def children() -> list[str]:
    """Processes of ours that run the child's code."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            found += [line for line in process.cmdline() if line.endswith("child.py")]
        except psutil.Error:
            continue
    return found


# What is answered


def test_a_query_gives_what_duckdb_gives(world):
    sql = "SELECT term, avg(share) AS share, count(*) AS n FROM term_stats WHERE isfinite(share) GROUP BY 1 ORDER BY 1"
    with duckdb.connect(str(store_path()), read_only=True) as connection:
        expected = connection.execute(sql).fetchall()
    terms, shares, counts = zip(*expected, strict=True)
    found = ask(sql).frame
    assert (found.term.tolist(), found.n.tolist()) == (list(terms), list(counts))
    assert found.share.tolist() == pytest.approx(list(shares), rel=1e-12)
    assert len(expected) > 16


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_an_answer(world, name):
    if name == "What shuffling positions does":
        assert "shuffle" in str(ask(EXAMPLES[name]).frame.intervention.tolist())
    assert len(ask(EXAMPLES[name]).frame), "an example without rows teaches nothing"


def test_every_stable_view_can_be_read(world):
    sql = " UNION ALL ".join(f"SELECT '{view}' AS view, count(*) AS n FROM {view}" for view in VIEWS)
    with duckdb.connect(str(store_path()), read_only=True) as connection:
        expected = dict(connection.execute(sql).fetchall())
    found = ask(sql).frame
    assert dict(zip(found["view"], found.n, strict=True)) == expected
    assert set(expected) == set(VIEWS)


def test_the_order_of_the_query_is_kept(world):
    sql = "SELECT range AS a FROM range(5000) ORDER BY hash(range)"
    assert ask(sql).frame.a.tolist() == [a for (a,) in duckdb.execute(sql).fetchall()]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1 AS a, 2 AS a, 3 AS a", {"a": 1, "a_1": 2, "a_2": 3}),
        ("SELECT sum(i) AS s FROM range(10) t(i)", {"s": 45}),
        ("SELECT 1.5::DECIMAL(4, 1) AS d", {"d": 1.5}),
        ("SELECT ';--' AS text -- the end", {"text": ";--"}),
        ("SELECT 'é;' AS text;; -- the end; é\n /* of ; it */ ;", {"text": "é;"}),
        ("SELECT [1, 2] AS l, {'a': 'x'} AS s, MAP {'k': 1} AS m, 'e'::ENUM('e') AS e, 3 AS \"q\"\"\", 4 AS l",
         {"l": "[1, 2]", "s": "{'a': x}", "m": "{k=1}", "e": "e", 'q"': 3, "l_1": 4}),
        ("SELECT union_value(a := 1) AS u, [1, 2]::INTEGER[2] AS a, 1::VARIANT AS v, '101'::BIT AS b",
         {"u": "1", "a": "[1, 2]", "v": "1", "b": "101"}),
        ("WITH t AS (SELECT 2 AS i) SELECT i FROM T;", {"i": 2}),
        ("WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 9) SELECT max(i) AS m FROM t",
         {"m": 9}),
        ("SELECT max(i) AS m FROM unnest([1, 5]) AS t(i)", {"m": 5}),
        ("SELECT count(*) AS n FROM main.papers WHERE false", {"n": 0}),
        ("SELECT '日本語 🙂 \u202e' AS text", {"text": "日本語 🙂 \u202e"}),
    ],
)  # fmt: skip
def test_what_is_harmless_is_answered(world, sql, expected):
    assert ask(sql).frame.iloc[0].to_dict() == expected


def test_a_long_result_is_cut_and_says_so(world):
    many = ask("SELECT range AS i FROM range(100000000)")
    assert (many.cut, many.frame.i.tolist()) == ("rows", list(range(LIMITS.rows)))
    large = ask("SELECT repeat('x', 100000) AS x FROM range(5000)")
    assert large.cut == "size"
    assert 0 < len(large.frame) < 5000
    assert large.table.nbytes <= LIMITS.result_mib << 20


WIDE = "WITH t0 AS (SELECT {'a': true} x FROM range(10000))" + "".join(
    f", t{i} AS (SELECT *, * FROM t{i - 1})" for i in range(1, 10)
)
"""A struct of one bit, doubled in every step: 0.6 MB of Arrow that were a gigabyte of Python."""


def test_a_wide_result_of_structs_costs_the_server_nothing(world):
    with pytest.raises(QueryError, match="The result has 512 columns; at most 100 are accepted"):
        ask(f"{WIDE} SELECT * FROM t9")
    many = ask(f"{WIDE} SELECT * FROM t6")
    assert (many.cut, len(many.table)) == ("cells", LIMITS.cells // 64)
    assert set(many.table.schema.types) == {pa.string()}
    assert many.frame.iloc[-1].unique().tolist() == ["{'a': true}"]
    assert "frame" not in vars(many), "what an answer keeps is its table alone"


def test_a_long_text_of_an_enum_counts_in_every_row(world):
    """As Arrow has an ENUM, these ten thousand rows take 15 kB; as text, 50 MB."""
    text = "x" * 5_000
    found = ask(f"SELECT e FROM (SELECT x::ENUM('{text}') AS e FROM (SELECT repeat('x', 5000) AS x FROM range(10000)))")
    assert found.cut == "size"
    assert found.frame.e.unique().tolist() == [text]


def test_pivot_that_finds_its_own_columns_is_refused_with_another_way_to_write_it(world):
    for sql in ("PIVOT runs ON kind USING count(*)", "SELECT * FROM (PIVOT runs ON kind USING count(*))"):
        with pytest.raises(
            QueryError, match=r"PIVOT is not allowed without IN.*PIVOT runs ON kind IN \('curves', 'scores'\)"
        ):
            ask(sql)


def test_pivot_with_its_columns_named_is_one_select(world):
    counted = ask("SELECT kind, count(*) AS n FROM runs GROUP BY kind").frame.set_index("kind").n
    for sql in (
        "PIVOT runs ON kind IN ('curves', 'scores') USING count(*)",
        "SELECT * FROM (SELECT kind FROM runs) PIVOT (count(*) FOR kind IN ('curves', 'scores'))",
        "WITH x AS (PIVOT runs ON kind IN ('curves', 'scores') USING count(*)) SELECT * FROM x",
    ):
        found = ask(sql).frame
        assert found[["curves", "scores"]].sum().to_dict() == counted[["curves", "scores"]].to_dict()
    long = ask("UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b INTO NAME name VALUE value ORDER BY name").frame
    assert long.to_dict("list") == {"name": ["a", "b"], "value": [1, 2]}


def test_the_copy_follows_the_store(data):
    store_build.refresh()
    assert ask("SELECT count(*) AS n FROM runs").frame.n[0] == 0
    (data / "results").mkdir()
    shutil.copytree(ROOT / "data/results/curves", data / "results/curves")
    store_build.refresh()
    assert ask("SELECT count(*) AS n FROM runs").frame.n[0] == len(list((ROOT / "data/results/curves").iterdir()))


# What is refused


HOSTILE = [
    "COPY runs TO '{folder}/out.csv'",
    "COPY (SELECT 1) TO '{store}.tmp/out.csv'",
    "COPY runs TO 'out.parquet' (FORMAT parquet)",
    "COPY runs FROM '/etc/passwd'",
    "COPY FROM DATABASE store TO other",
    "EXPORT DATABASE '{folder}/all'",
    "IMPORT DATABASE '{folder}/all'",
    "ATTACH '{store}' AS original",
    "ATTACH ':memory:' AS m",
    "ATTACH 'https://example.org/x.duckdb' AS far",
    "DETACH store",
    "USE system",
    "INSTALL httpfs",
    "FORCE INSTALL httpfs FROM community",
    "LOAD httpfs",
    "LOAD '{folder}/evil.duckdb_extension'",
    "UPDATE EXTENSIONS",
    "PRAGMA database_list",
    "PRAGMA table_info('runs')",
    "PRAGMA enable_profiling",
    "PRAGMA profiling_output = '{folder}/profile.json'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET temp_directory = '{folder}'",
    "SET VARIABLE x = 1",
    "RESET memory_limit",
    "CHECKPOINT",
    "FORCE CHECKPOINT",
    "VACUUM",
    "ANALYZE",
    "CALL pragma_version()",
    "CALL enable_logging()",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
    "DESCRIBE runs",
    "SHOW TABLES",
    "SUMMARIZE runs",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "BEGIN",
    "COMMIT",
    "CREATE TABLE t AS SELECT 1",
    "CREATE TEMP TABLE t (i INTEGER)",
    "CREATE MACRO f() AS TABLE SELECT * FROM read_text('/etc/passwd')",
    "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'b')",
    "INSERT INTO problems VALUES ('a', 'b')",
    "UPDATE runs SET kind = 'x'",
    "DELETE FROM runs",
    "TRUNCATE runs",
    "DROP TABLE runs",
    "ALTER TABLE runs ADD COLUMN x INTEGER",
    "MERGE INTO runs USING papers ON true WHEN MATCHED THEN DELETE",
    "COMMENT ON TABLE runs IS 'x'",
    "PIVOT runs ON kind USING count(*)",
    "PIVOT probes ON text IN ('a') USING count(*)",
    "PIVOT '{folder}/data/probes/example-order.parquet' ON head IN (1) USING count(*)",
    "PIVOT read_text('/etc/passwd') ON content IN ('a') USING count(*)",
    "PIVOT runs ON kind IN ('a') USING first(getenv('ADDEND_TOKEN'))",
    "PIVOT runs ON kind IN (SELECT text FROM probes) USING count(*)",
    "PIVOT runs ON current_setting('home_directory') IN ('a') USING count(*)",
    "PIVOT duckdb_settings() ON name IN ('a') USING first(value)",
    "UNPIVOT (SELECT * FROM read_text('/etc/passwd')) ON COLUMNS(*) INTO NAME n VALUE v",
    "WITH x AS (INSERT INTO problems VALUES ('a', 'b') RETURNING *) SELECT * FROM x",
    "WITH x AS (DELETE FROM runs RETURNING *) SELECT count(*) FROM x",
    "WITH x AS (UPDATE runs SET kind = 'x' RETURNING *) SELECT count(*) FROM x",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE runs",
    "SELECT 1 --\n; DROP TABLE runs",
    "SELECT ''; COPY runs TO 'x.csv' --'",
    "/* SELECT 1 */ DROP TABLE runs",
    "SELECT /* ; */ 1; /* */ CHECKPOINT",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_csv_auto('/etc/passwd', sep=':')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM READ_TEXT('/etc/passwd')",
    'SELECT * FROM "read_text"(\'/etc/passwd\')',
    "SELECT * FROM system.main.read_text('/etc/passwd')",
    "SELECT * FROM read_blob('store.duckdb')",
    "SELECT * FROM read_blob('/proc/self/environ')",
    "SELECT * FROM read_json('/proc/self/status')",
    "SELECT * FROM read_parquet('{folder}/data/probes/*.parquet')",
    "SELECT * FROM parquet_metadata('{folder}/data/probes/x.parquet')",
    "SELECT * FROM read_duckdb('{store}')",
    "SELECT * FROM glob('/**')",
    "SELECT * FROM (SELECT * FROM (SELECT * FROM glob('/*')))",
    "SELECT (SELECT count(*) FROM glob('/*'))",
    "SELECT * FROM papers WHERE EXISTS (SELECT * FROM glob('/*'))",
    "SELECT * FROM papers p, LATERAL (SELECT * FROM read_text(p.url))",
    "SELECT 1 UNION ALL SELECT size FROM read_text('/etc/passwd')",
    "WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x",
    "SELECT 1 LIMIT (SELECT size FROM read_text('/etc/passwd'))",
    "SELECT 1 ORDER BY (SELECT size FROM read_text('/etc/passwd'))",
    "SELECT sum(1) OVER (ORDER BY (SELECT size FROM read_text('/etc/passwd')))",
    "SELECT list_transform([1], lambda x: (SELECT size FROM read_text('/etc/passwd')))",
    "VALUES ((SELECT size FROM read_text('/etc/passwd')))",
    "FROM '/etc/passwd'",
    "FROM '{store}'",
    "FROM 'store.duckdb'",
    "SELECT * FROM '{folder}/data/probes/example-order.parquet'",
    "SELECT * FROM 'https://example.org/x.csv'",
    "WITH \"/etc/passwd\" AS (SELECT 1) SELECT * FROM papers, '/etc/passwd'",
    "SELECT * FROM (WITH duckdb_settings AS (SELECT 1) SELECT 1), duckdb_settings",
    "SELECT * FROM query('SELECT * FROM duckdb_settings()')",
    "SELECT * FROM query_table('runs')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "SELECT * FROM sql_auto_complete('SEL')",
    "SELECT * FROM seq_scan('runs')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_settings",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM which_secret('s3://x', 's3')",
    "SELECT * FROM duckdb_databases()",
    "SELECT * FROM duckdb_extensions()",
    "SELECT * FROM duckdb_logs",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_storage_info('runs')",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM pg_catalog.pg_settings",
    "SELECT * FROM store.main.runs",
    "SELECT * FROM enable_logging()",
    "SELECT * FROM checkpoint()",
    "SELECT current_setting('secret_directory')",
    "SELECT CURRENT_SETTING('temp_directory')",
    "SELECT getenv('ADDEND_TOKEN')",
    "SELECT getvariable('x')",
    "SELECT write_log('x')",
    "SELECT nextval('s')",
    "SELECT * FROM probes",
    "SELECT * FROM probe_heads",
    'SELECT * FROM "PROBES"',
    "SELECT * FROM main.saved_probes",
    "SELECT * FROM ｐrobes",
    "SELECT * FROM world",
    "SELECT * FROM children",
    "SELECT * FROM python_scan",
    "SELECT ?",
    "SELECT $secret",
    "SELEC 1",
    "SELECT",
    "",
    " \n\t",
    "-- nothing",
    ";;;",
    "\0",
    "SELECT 1\0; DROP TABLE runs",
    "\ufeff; DROP TABLE runs",
    "SELECT \u2028 1; DROP TABLE runs",
    "x" * 7_000,
    "SELECT " + "(" * 2_000 + "1" + ")" * 2_000,
    "SELECT " + "[" * 2_500 + "]" * 2_500,
    "SELECT 1" + "+1" * 2_900,
    "SELECT 'unclosed",
    "SELECT error('x')",
    "SELECT date '290000-01-01'",
    "SELECT repeat('x', 2000000000)",
    "SELECT repeat(repeat('x', 100000), 100000)",
    "SELECT lpad('x', 2000000000, 'y')",
    "SELECT list(range) FROM range(1000000000)",
    "SELECT string_agg(repeat('x', 100000), ',') FROM range(1000000)",
    "SELECT range(2000000000)",
    "SELECT generate_series(1, 9000000000000)",
    "SELECT 9::HUGEINT ** 9e9::INTEGER",
]  # fmt: skip
ENDLESS = [
    "SELECT count(*) FROM range(10000000) a, range(10000000) b",
    "SELECT count(*) FROM terms a, terms b, terms c, terms d",
    "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT max(i) FROM x",
    "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT -i FROM x) SELECT count(*) FROM x",
    "SELECT sum(length(regexp_replace(repeat('a', 100000 + range), '(a*)*b', ''))) FROM range(1000000)",
    "SELECT max(levenshtein(repeat('a', 30000), repeat('b', 30000) || i)) FROM range(100000) t(i)",
    "SELECT sum(list_sum(list_transform(range(1000000 + range), lambda x: x % 7))) FROM range(100000)",
    "SELECT * FROM range(100000000) ORDER BY hash(range) LIMIT 1 OFFSET 99999999",
    "SELECT count(*) FROM (PIVOT (SELECT range AS a, range AS b, range AS c, range AS d FROM range(9)) ON "
    + ", ".join(f"{name} IN ({', '.join(map(str, range(17)))})" for name in "abcd")
    + " USING count(*), sum(a))",
]


def is_one_sentence(text: str, world: Path) -> None:
    assert "\n" not in text
    assert text.endswith((".", "...", "!")) or ":" in text
    assert len(text) < 900
    assert SECRET not in text
    for folder in (str(world), str(ROOT), str(Path.home()), sys.prefix, str(public.folder())):
        assert folder not in text, text


def test_every_hostile_query_is_refused(world, tmp_path):
    """All of them in one process that is confined as the child is: a process each would take minutes."""
    loop = f"""
import json, sys
sys.path.insert(0, {str(ROOT / "analysis/sql")!r})
import child
limits = {{"memory_mib": 1024, "cpu_seconds": 300, "seconds": 300, "rows": 100, "result_mib": 8}}
limits |= {{"columns": 100, "cells": 9999}}
child.confine(limits)
for sql in json.load(sys.stdin):
    try:
        child.answer("store.duckdb", sql, limits)
        print(json.dumps("answered"))
    except BaseException as refused:
        print(json.dumps(child.error_message(refused, {str(public.folder())!r})))
"""
    before = everything(world), everything(public.folder())
    sent = [filled(sql, world) for sql in PARSED]
    done = subprocess.run(
        [sys.executable, "-c", loop],
        input=json.dumps(sent),
        capture_output=True,
        text=True,
        cwd=public.folder(),
        env=ENVIRONMENT,
        check=False,
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == len(sent), done.stderr
    for sql, text in zip(sent, said, strict=True):
        assert text != "answered", sql
        is_one_sentence(text.replace(str(world), ""), world)
    assert (everything(world), everything(public.folder())) == before


def filled(sql: str, world: Path) -> str:
    return sql.replace("{folder}", str(world)).replace("{store}", str(store_path()))


PARSED = [sql for sql in HOSTILE if len(sql) < 1_000 and "0000" not in sql and "9e9" not in sql]
"""Those that the rules or DuckDB refuse before anything large is made."""
ALONE = [sql for sql in HOSTILE if sql not in PARSED] + PARSED[::8]


@pytest.mark.parametrize("sql", ALONE, ids=lambda sql: " ".join(sql.split())[:60])
def test_a_hostile_query_is_refused_as_a_reader_sends_it(world, tmp_path, monkeypatch, sql):
    monkeypatch.chdir(tmp_path)
    before = everything(world), everything(public.folder())
    with pytest.raises(QueryError) as said:
        ask(filled(sql, world), SHORT).frame  # noqa: B018
    is_one_sentence(str(said.value).replace(str(world), ""), world)
    assert (everything(world), everything(public.folder())) == before
    assert everything(tmp_path) == {}
    assert children() == []


def test_there_are_many_hostile_queries():
    assert len(set(HOSTILE)) > 120


@pytest.mark.parametrize("sql", ENDLESS, ids=lambda sql: sql[:50])
def test_an_endless_query_is_ended(world, sql):
    started = time.monotonic()
    with pytest.raises(QueryError, match=r"and was ended|needs more than") as said:
        ask(sql, replace(SHORT, cpu_seconds=1))
    assert time.monotonic() - started < SHORT.seconds + 2
    is_one_sentence(str(said.value), world)
    assert children() == []


def test_the_copy_holds_nothing_of_a_saved_probe(world):
    """Read byte for byte: what is not there cannot be asked for."""
    assert SECRET.encode() in store_path().read_bytes(), "the test is void: the store does not hold the text"
    held = (public.folder() / public.NAME).read_bytes()
    names = [path.stem for path in (world / "data/probes").glob("*.parquet")]
    assert len(names) == 6
    for secret in (SECRET, *names):
        assert secret.encode() not in held
    assert ask("SELECT count(*) AS n FROM runs WHERE kind = 'probe'").frame.n.tolist() == [0]


# The limits are the operating system's


def test_the_child_can_write_no_file_and_outlives_nothing(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {str(ROOT / "analysis/sql")!r})
import child
child.confine({{"memory_mib": 512, "cpu_seconds": 1, "seconds": -1}})
try:
    open({str(tmp_path / "out")!r}, "w").write("x" * 100_000)
    print("wrote")
except OSError as refused:
    print("refused", refused.errno)
try:
    bytearray(1 << 30)
    print("took")
except MemoryError:
    print("memory")
sys.stdout.flush()
import time
time.sleep(60)
"""
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["refused", "27", "memory"]
    assert done.returncode == -14, "SIGALRM must end it: nobody else does"
    assert time.monotonic() - started < 10
    assert (tmp_path / "out").stat().st_size == 0


def test_the_child_gets_nothing_of_our_environment(world, monkeypatch):
    seen = {}
    original = subprocess.Popen

    def watched(command, **more):
        seen.update(more, command=command)
        return original(command, **more)

    monkeypatch.setattr(module.subprocess, "Popen", watched)
    ask("SELECT 'environment' AS x")
    assert seen["env"] == module.ENVIRONMENT
    assert not set(seen["env"]) & (set(os.environ) - {"LANG", "TZ", "MALLOC_ARENA_MAX", "OMP_NUM_THREADS"})
    assert "-I" in seen["command"]
    assert not any("environment" in part for part in seen["command"]), "other users of a machine can read command lines"


def test_only_so_many_run_at_once(world):
    said, most = [], []

    def one(i: int) -> None:
        try:
            ask(f"SELECT {i}, count(*) FROM range(10000000) a, range(10000000) b", Limits(seconds=2, wait_seconds=1))
        except QueryError as problem:
            said.append(str(problem))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(5)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        most.append(len(children()))
        time.sleep(0.05)
    assert max(most) <= LIMITS.at_once
    assert sum("Try again in a moment" in text for text in said) == 5 - LIMITS.at_once
    assert sum("longer than 2 s" in text for text in said) == LIMITS.at_once
    assert len(ask("SELECT 1 AS one").frame) == 1


def test_an_answer_is_kept_and_a_refusal_is_not(world, monkeypatch):
    first = ask("SELECT 41 AS x")
    monkeypatch.setattr(module, "_run_child", None)
    assert ask("SELECT 41 AS x") is first


# What is drawn


def built(**changed):
    return FIGURES["sql_chart"].of({**links.VIEWS["sql"].defaults(), **changed})


def test_a_chart_is_of_the_columns_asked_for(world):
    made = built(query="SELECT range AS a, -range AS b, 2 * range AS c FROM range(3)", x="a", y="b", mark="point")
    assert drawn_rows(made).y.tolist() == [0, -1, -2]
    assert drawn_columns(made) == ("a", "b", "")
    assert made.frame().c.tolist() == [0, 2, 4]


SHARE = "share of the key-centred scores"
"""The column of numbers of the first example."""


def test_a_chart_finds_its_columns_by_itself(world):
    made = built()
    assert drawn_columns(made) == ("layer", SHARE, ""), "lines are named at their ends"
    assert drawn_columns(built(mark="point")) == ("layer", SHARE, "term")


def test_the_heading_of_a_few_lines_names_the_highest_at_both_ends(world):
    frame = built().frame()
    for layer in (frame.layer.min(), frame.layer.max()):
        top = frame[frame.layer == layer].set_index("term")[SHARE]
        assert f"layer {layer}, {term_label(str(top.idxmax()))}" in built().finding
        assert f"({top.max():.2g})" in built().finding
    flat = built(query="SELECT i AS x, 'line ' || j AS line, j AS y FROM range(5) a(i), range(3) b(j)")
    assert flat.finding == "Line 2 is the highest at both ends of x: 2 and 2"
    grow = "SELECT i * 1000 AS x, 'line ' || j AS line, i * (2 - j) AS y FROM range(5) a(i), range(2) b(j)"
    assert built(query=grow).finding == "At x 4,000, line 0 is the highest (8)", "they begin together"
    assert not built(mark="bar").finding


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("SELECT i AS x, 'line ' || j AS line, i * j AS y FROM range(5) a(i), range(6) b(j)", True),
        ("SELECT i AS x, 'line ' || j AS line, i * j AS y FROM range(5) a(i), range(7) b(j)", False),
        (
            "SELECT i AS x, 'line ' || j AS line, i * j AS y FROM range(5) a(i), range(3) b(j) WHERE i < 4 OR j < 2",
            False,
        ),
        ("SELECT i % 5 AS x, 'line ' || j AS line, i * j AS y FROM range(10) a(i), range(3) b(j)", False),
    ],
)
def test_few_lines_that_end_together_are_named_at_their_ends(world, query, named):
    """Others have a legend: seven lines, one that ends earlier, one with two values at its end."""
    made = built(query=query, x="x", y="y", colour="line")
    assert (drawn_columns(made)[2] == "") == named
    (panel,) = valid_panels(made)
    names = {name for frame in panel["datasets"] if "place" in frame for name in frame.name}
    assert names == ({f"line {number}" for number in range(6)} if named else set())


def test_no_line_runs_through_names(world):
    """Names have no order: what is one row a seed is points above each name, and every name is written."""
    query = "SELECT 'way ' || i % 12 AS way, j AS seed, 1 + i * j AS loss FROM range(12) a(i), range(3) b(j)"
    made, asked = built(query=query), built(query=query, mark="bar")
    assert {layer["mark"]["type"] for layer in drawn_layers(made)} & {"line"} == set()
    assert "no order that a line could follow" in made.caption
    assert "no order" not in asked.caption
    assert drawn_layers(made)[0]["encoding"]["x"]["axis"]["labelOverlap"] is False


def test_lines_that_colours_cannot_tell_apart_are_still_apart(world):
    """Twenty names, of which each has its own line: a colour for each would be too many."""
    series = (
        "SELECT i AS step, 'series ' || j AS name, 100 * j + i AS loss FROM range(5) a(i), range(20) b(j) ORDER BY ALL"
    )
    made = built(query=series)
    assert drawn_columns(made)[2] == ""
    for name, rows in drawn_rows(made).groupby("line"):
        assert rows.x.tolist() == [0, 1, 2, 3, 4], name
        assert rows.y.diff().dropna().eq(1).all()
    line = next(layer for layer in drawn_layers(made) if layer["mark"]["type"] == "line")
    assert line["encoding"]["detail"]["field"] == "line"
    assert set(drawn_rows(built(query="SELECT i AS a, 'text ' || i AS b, i AS c FROM range(30) t(i)")).line) == {""}


def drawn_layers(made):
    layers = drawing.panels(made)[0].to_dict()["layer"]
    return layers[0].get("layer", layers)


def drawn_rows(made):
    (panel,) = drawing.panels(made)
    # Layers that share their rows leave them to the panel.
    drawn = panel.layer[0] if isinstance(panel.layer[0], alt.LayerChart) else panel
    return drawn.data if isinstance(drawn.data, pd.DataFrame) else drawn.layer[0].data


def drawn_columns(made):
    """The titles of x and y, and of the legend of colours; empty where there is no legend."""
    encoding = drawn_layers(made)[0]["encoding"]
    key = encoding["color"].get("legend") or {}
    return encoding["x"]["title"], encoding["y"]["title"], key.get("title", "")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"x": "nope"}, "The result has no column 'nope' for x; it has: layer, term, " + SHARE + "."),
        ({"y": "term"}, "The column 'term' holds no numbers; y can be: layer, " + SHARE + "."),
        ({"mark": "pie"}, "There is no chart of the kind 'pie'; there are: line, point, bar."),
        ({"query": "SELECT 'a' AS a"}, "no column of numbers"),
        ({"query": "SELECT 1 AS a WHERE false"}, "nothing to draw"),
        ({"query": "SELECT range AS a, range AS b, 'c' || range AS c FROM range(40)", "colour": "c"}, "40 values"),
        ({"query": "SELECT 'n' || range AS a, range AS b FROM range(101)"}, "has 101 names of up to 4 characters"),
        ({"query": "SELECT repeat('W', 61) AS a, 1 AS b"}, "has 1 names of up to 61 characters"),
        ({"query": "SELECT 1 AS a, 1 AS b, repeat('W', 61) AS c", "colour": "c"}, "names of 61 characters"),
    ],
)
def test_what_cannot_be_drawn_is_said(world, changed, said):
    with pytest.raises(AddendError) as problem:
        built(**changed)
    assert said in str(problem.value)


@pytest.mark.parametrize("mark", ["line", "point", "bar"])
@pytest.mark.parametrize("x", ["range", "range::VARCHAR", "TIMESTAMP '2026-01-01' + to_days(range::INTEGER)"])
def test_every_kind_of_chart_is_drawn(world, mark, x):
    made = built(
        query=f'SELECT {x} AS "a.b[0]:Q", range / 2 AS "<b>", range % 2 || \'x\' AS c FROM range(9)', mark=mark
    )
    (panel,) = drawing.panels(made)
    drawn = panel.to_dict()["layer"][0]
    assert drawn["encoding"]["x"]["title"] == "a.b[0]:Q"
    assert drawn["encoding"]["y"]["title"] == "<b>"
    assert pa.Table.from_pandas(drawn_rows(made)).num_rows == 9


def test_terms_have_the_colours_of_look_inside_and_other_names_those_of_series(world):
    for dark in (False, True):
        theme = drawing.Theme(dark=dark)
        (panel,) = built(mark="point").draw(theme)
        scale = panel.to_dict()["layer"][0]["encoding"]["color"]["scale"]
        assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
            term_label(term): theme.colour(COLOURS[term_label(term)]) for term in FOUR
        }
        (panel,) = built(query="SELECT range % 3 AS x, 'v' || range % 2 AS v, range AS y FROM range(6)").draw(theme)
        assert theme.colour(of_term("position")) not in json.dumps(panel.to_dict())


def test_copies_of_killed_processes_are_cleared(tmp_path):
    gone, ours = tmp_path / "addend-sql-999999999-x", tmp_path / f"addend-sql-{os.getpid()}-x"
    other = tmp_path / "something-else"
    for folder in (gone, ours, other):
        folder.mkdir()
    public._remove_stale(tmp_path)
    assert not gone.exists()
    assert ours.exists()
    assert other.exists()
