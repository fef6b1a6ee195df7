"""Proves that the store can be thrown away at will and that no reader is ever left without a sentence.

It is built from the files alone, again only when they change, whole or not at all, next to readers and other
builders; a file that cannot be taken in is named and costs nothing else; every row of every committed results
file is in it once, with its run; and whatever is wrong with the store, its folder or a query, one sentence
says what and how to put it right. Processes that hold, build, read or die are real ones.
"""

import dataclasses
import errno
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.core.errors import StoreError, StoreLocked
from analysis.store import files, fill, kinds, read, sync as module
from analysis.store.paths import store_path
from analysis.store.sync import fingerprint, stored_fingerprint, sync

ROOT = Path(__file__).resolve().parents[2]
ENCODING = {"encoding": "made_up", "title": "Made up", "summary": "", "enters": "input", "learned": False}
DIMENSIONS = {"encodings": [ENCODING]}


def scores(values: tuple[float, ...] = (0.5, 0.75), **more: Any) -> Path:
    """Writes a results file of made-up scores."""
    n = len(values)
    columns = {
        "pretraining": ["made-up"] * n,
        "variant": ["bert_a"] * n,
        "preset": ["debug"] * n,
        "task": ["rte"] * n,
        "metric": ["accuracy"] * n,
        "seed": list(range(n)),
        "finetune_seed": [0] * n,
        "learning_rate": [1e-4] * n,
        "data": ["official"] * n,
        "train_examples": [100] * n,
        "dev_examples": [100] * n,
        "seconds": [1.0] * n,
        "value": list(values),
    }
    name = more.pop("name", None)
    return files.write("scores", columns, files.Run(kind="scores", command="made up", **more), name=name)


def literature(data: Path) -> None:
    """The committed literature, of the figures those of one paper."""
    shutil.copytree(ROOT / "data/published", data / "published", ignore=lambda _, names: {*names} & {"figures"})
    (data / "published/figures").mkdir()
    for name in ("diet_glue", "haviv_nopos"):
        shutil.copy(ROOT / f"data/published/figures/{name}.csv", data / "published/figures")


def count(table: str) -> int:
    return int(read.query(f"SELECT count(*) AS n FROM {table}").n[0])


def snapshot() -> dict[str, list[str]]:
    """All that a store says, but for when it was built."""
    names = read.query("SELECT table_name FROM duckdb_tables() ORDER BY 1").table_name
    return {name: sorted(map(repr, read.query(f"FROM {name}").to_numpy().tolist())) for name in names if name != "meta"}


def stray(folder: Path) -> list[str]:
    """What lies in the store's folder besides the store and its lock."""
    return sorted(path.name for path in folder.iterdir() if path.name not in {"addend.duckdb", "addend.duckdb.lock"})


def python(code: str, **environment: str) -> subprocess.Popen[str]:
    """Another process that runs `code` with this process's settings."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


@contextmanager
def holding(code: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that has got to its line "held" and stays there."""
    process = python(f"import time, sys\n{code}\nprint('held', flush=True)\ntime.sleep(60)")
    assert process.stdout is not None
    said = process.stdout.readline()
    try:
        assert said == "held\n", said + process.stdout.read()
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


# Building


def test_it_is_built_from_the_files(data: Path) -> None:
    scores()
    report = sync(DIMENSIONS)
    assert report.rebuilt
    assert report.path == data / "store" / "addend.duckdb"
    assert report.counts()["scores"] == 2
    assert report.counts()["encodings"] == 1
    assert read.query("SELECT value FROM own_scores ORDER BY seed").value.tolist() == [0.5, 0.75]
    assert stray(report.path.parent) == []


def test_a_second_sync_does_nothing(data: Path) -> None:
    scores()
    first = sync(DIMENSIONS).path
    before, said = (first.stat().st_ino, first.stat().st_mtime_ns), stored_fingerprint(first)
    assert not sync(DIMENSIONS).rebuilt
    assert (first.stat().st_ino, first.stat().st_mtime_ns) == before
    assert stored_fingerprint(first) == said == fingerprint(DIMENSIONS)


def test_a_rebuild_gives_the_same_rows(data: Path) -> None:
    scores()
    literature(data)
    sync(DIMENSIONS)
    before = snapshot()
    store_path().unlink()
    assert sync(DIMENSIONS).rebuilt
    assert snapshot() == before


def _add(path: Path) -> None:
    scores((0.1, 0.2, 0.3))


def _change(path: Path) -> None:
    shutil.copy(scores((0.9,), name="other"), path)
    (path.parent / "other.parquet").unlink()


def _remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    ("act", "expected"),
    [(_add, [0.1, 0.2, 0.3, 0.5, 0.75]), (_change, [0.9]), (_remove, [])],
    ids=["add", "change", "remove"],
)
def test_it_follows_its_files(data: Path, act: Callable[[Path], None], expected: list[float]) -> None:
    path = scores()
    sync(DIMENSIONS)
    act(path)
    assert fingerprint(DIMENSIONS) != stored_fingerprint(store_path())
    assert sync(DIMENSIONS).rebuilt
    assert sorted(read.query("SELECT value FROM own_scores").value) == expected


@pytest.mark.parametrize("name", ["published/papers.csv", "published/figures/diet_glue.csv", "probe_set/pairs.csv"])
def test_it_follows_the_text_files(data: Path, name: str) -> None:
    literature(data)
    shutil.copytree(ROOT / "data" / "probe_set", data / "probe_set")
    sync(DIMENSIONS)
    lines = (data / name).read_text().splitlines(keepends=True)
    (data / name).write_text("".join(lines[:-1]))
    table = {"papers.csv": "papers", "diet_glue.csv": "published", "pairs.csv": "corpora"}[Path(name).name]
    before = count(table)
    assert sync(DIMENSIONS).rebuilt
    assert count(table) < before


def test_it_follows_the_registries(data: Path) -> None:
    sync(DIMENSIONS)
    assert sync({"encodings": [ENCODING, {**ENCODING, "encoding": "another"}]}).rebuilt
    assert count("encodings") == 2


def test_a_saved_probe_of_a_reader_is_in_the_next_store(data: Path) -> None:
    (data / "probes").mkdir()
    shutil.copy(ROOT / "data/probes/example-order.parquet", data / "probes")
    assert sync(DIMENSIONS).counts()["saved_probes"] == 1


# Whole or not at all


@pytest.mark.parametrize(
    ("where", "failure"), [("published", RuntimeError("a defect")), ("results", KeyboardInterrupt())], ids=str
)
def test_a_build_that_fails_leaves_the_old_store(
    data: Path, monkeypatch: pytest.MonkeyPatch, where: str, failure: BaseException
) -> None:
    scores()
    sync(DIMENSIONS)
    before = store_path().read_bytes()
    scores((0.1,))

    def fail(*_: object) -> None:
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(fill, where, fail)
        with pytest.raises(type(failure)):
            sync(DIMENSIONS)
    assert store_path().read_bytes() == before
    assert stray(store_path().parent) == []
    assert sync(DIMENSIONS).rebuilt, "the failed build must not have left its lock"
    assert count("scores") == 3


def test_a_build_that_is_killed_leaves_the_old_store_and_is_cleared_away(data: Path) -> None:
    scores()
    sync({})
    before = store_path().read_bytes()
    scores((0.1,))
    killed = python(
        "import os, signal\nfrom analysis.store import fill, sync\n"
        "fill.probe_set = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\nsync.sync({})"
    )
    assert killed.wait() == -9
    assert store_path().read_bytes() == before
    assert count("scores") == 2
    assert stray(store_path().parent), "the test is void: the kill came before the build began"
    assert sync({}).rebuilt
    assert count("scores") == 3
    assert stray(store_path().parent) == []


def test_a_replaced_store_is_seen_by_new_reads(data: Path) -> None:
    """DuckDB keeps a database alive in a process while any connection is; ours must not outlive a read."""
    scores()
    sync({})
    assert count("scores") == 2
    scores((0.1,))
    other = python("from analysis.store import sync\nsync.sync({})")
    assert other.wait() == 0, other.communicate()
    assert count("scores") == 3
    scores((0.2,))
    sync({})
    assert count("scores") == 4


def test_reads_in_threads_see_each_replacement(data: Path) -> None:
    scores()
    sync({})
    seen: list[int] = []
    stop, wrong = threading.Event(), []

    def reader() -> None:
        while not stop.is_set():
            try:
                seen.append(count("scores"))
            except BaseException as problem:
                wrong.append(problem)
                raise

    threads = [threading.Thread(target=reader) for _ in range(2)]
    for thread in threads:
        thread.start()
    for expected in (3, 4):
        scores((0.1,))
        sync({})
        assert count("scores") == expected
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert seen
    assert set(seen) <= {2, 3, 4}


def test_two_builders_and_eight_readers_at_once_end_well(data: Path) -> None:
    """Two processes of four threads each read again and again while two others build."""
    scores()
    sync({})
    done = data / "done"
    reader = f"""
import pathlib, threading, time
from analysis.store import read
reads = []
def go():
    n = 0
    while n < 3 or not pathlib.Path({str(done)!r}).exists():
        assert read.query("SELECT count(*) AS n FROM scores").n[0] == 2
        n += 1
        time.sleep(0.005)
    reads.append(n)
threads = [threading.Thread(target=go) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(reads), "readers ended well")
"""
    builder = "from analysis.store import sync\nfor _ in range(2):\n    assert sync.sync({}, rebuild=True).rebuilt"
    builders, readers = [python(builder) for _ in range(2)], [python(reader) for _ in range(2)]
    try:
        for process in builders:
            output, _ = process.communicate(timeout=60)
            assert process.returncode == 0, output
        done.touch()
        for process in readers:
            output, _ = process.communicate(timeout=60)
            assert process.returncode == 0, output
            assert output == "4 readers ended well\n"
    finally:
        for process in (*builders, *readers):
            process.kill()
    assert count("scores") == 2
    assert stray(store_path().parent) == []


# A store that cannot be read


def test_a_file_that_goes_while_it_is_read_is_named_and_the_rest_is_served(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process removes it after the folder was listed: before it is opened, and while its rows are read."""
    scores((0.5, 0.75), name="stays")
    for moment in ("before it is opened", "while it is read"):
        gone = scores((0.25,), name="goes")

        class Going(pq.ParquetFile):
            def __init__(self, path: Path, gone: Path = gone, moment: str = moment, **more: Any) -> None:
                self._gone = gone if path == gone else None
                if self._gone and moment == "before it is opened":
                    gone.unlink()
                super().__init__(path, **more)

            def read(self, **more: Any) -> pa.Table:
                table = super().read(**more)
                if self._gone:
                    self._gone.unlink()
                return table

        with monkeypatch.context() as patch:
            patch.setattr(files.pq, "ParquetFile", Going)
            report = sync(DIMENSIONS, rebuild=True)
        named = [file for file, _ in report.problems]
        assert named == (["results/scores/goes.parquet"] if moment == "before it is opened" else [])
        assert count("scores") == (2 if named else 3), moment
        assert sync(DIMENSIONS).rebuilt, "that it is gone is noticed at the next sync"
        assert count("scores") == 2


def test_a_missing_store_is_said(data: Path) -> None:
    with pytest.raises(StoreError, match=r"There is no store at .*addend\.duckdb\. Run: python -m analysis sync$"):
        read.query("SELECT 1")


def _garbage(whole: bytes) -> bytes:
    return b"not a database " * 1_000


def _nothing(whole: bytes) -> bytes:
    return b""


def _head(whole: bytes) -> bytes:
    return whole[:12_288]


def _half(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


def _scrambled(whole: bytes) -> bytes:
    """The three headers as they are, every block after them overwritten."""
    return whole[:12_288] + np.random.default_rng(0).bytes(len(whole) - 12_288)


@pytest.mark.parametrize("spoil", [_garbage, _nothing, _head, _half, _scrambled])
def test_a_damaged_store_is_said_and_rebuilt(
    data: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[bytes], bytes]
) -> None:
    """The folder's name holds "lock" and "locked", which must not be taken for DuckDB's word for a lock."""
    monkeypatch.setenv("ADDEND_STORE", str(data / "o'clock, blocked and locked" / "addend.duckdb"))
    scores(tuple(np.random.default_rng(0).random(30_000)))  # Large enough to be cut in the middle of its rows.
    path = sync(DIMENSIONS).path
    path.write_bytes(spoil(path.read_bytes()))
    started = time.monotonic()
    with pytest.raises(StoreError, match=r"is damaged or not a DuckDB file\. Run: python -m analysis sync --rebuild"):
        snapshot()
    assert time.monotonic() - started < read.LOCK_SECONDS, "a damaged store was waited for as if it were locked"
    assert sync(DIMENSIONS, rebuild=True).rebuilt
    assert count("scores") == 30_000


@pytest.mark.parametrize("spoil", [_garbage, _head])
def test_a_file_that_is_no_database_is_put_aside_not_lost(data: Path, spoil: Callable[[bytes], bytes]) -> None:
    path = sync(DIMENSIONS).path
    spoilt = spoil(path.read_bytes())
    path.write_bytes(spoilt)
    assert sync(DIMENSIONS).rebuilt
    assert count("encodings") == 1
    assert Path(f"{path}.unreadable").read_bytes() == spoilt


@pytest.mark.parametrize("rebuild", [False, True])
def test_somebody_elses_database_is_never_replaced(data: Path, monkeypatch: pytest.MonkeyPatch, rebuild: bool) -> None:
    theirs = data / "theirs.duckdb"
    monkeypatch.setenv("ADDEND_STORE", str(theirs))
    with duckdb.connect(str(theirs)) as connection:
        connection.execute("CREATE TABLE precious AS SELECT 42 AS answer")
    before = theirs.read_bytes()
    with pytest.raises(StoreError, match=r"theirs\.duckdb is a database but not a store of ours .*ADDEND_STORE"):
        sync(DIMENSIONS, rebuild=rebuild)
    assert theirs.read_bytes() == before


def _at_schema(version: int) -> None:
    sync(DIMENSIONS)
    with duckdb.connect(str(store_path())) as connection:
        connection.execute("UPDATE meta SET schema_version = ?, fingerprint = 'of other files'", [version])
        connection.execute("ALTER TABLE encodings DROP COLUMN note")


def test_an_older_store_is_rebuilt(data: Path) -> None:
    _at_schema(module.schema_version() - 1)
    with pytest.raises(StoreError, match=r"note.*"):
        read.query("SELECT note FROM encodings")
    assert sync(DIMENSIONS).rebuilt
    read.query("SELECT note FROM encodings")


def test_a_store_without_what_it_should_say_of_itself_is_rebuilt(data: Path) -> None:
    sync(DIMENSIONS)
    with duckdb.connect(str(store_path())) as connection:
        connection.execute("DELETE FROM meta")
    assert sync(DIMENSIONS).rebuilt


def test_a_newer_store_is_refused_but_can_be_rebuilt(data: Path) -> None:
    newer = module.schema_version() + 1
    _at_schema(newer)
    before = store_path().read_bytes()
    with pytest.raises(StoreError, match=rf"newer Addend \(schema {newer}, this one knows {newer - 1}\).*--rebuild"):
        sync(DIMENSIONS)
    assert store_path().read_bytes() == before
    assert sync(DIMENSIONS, rebuild=True).rebuilt
    read.query("SELECT note FROM encodings")


# Other processes


def test_a_store_that_another_process_writes_to_is_waited_for_and_then_said(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(DIMENSIONS)
    monkeypatch.setattr(read, "LOCK_SECONDS", 0.5)
    with holding(f"import duckdb\nheld = duckdb.connect({str(store_path())!r})"):
        started = time.monotonic()
        with pytest.raises(StoreLocked, match=r"is locked by another process that writes to it\. Try again"):
            read.query("SELECT 1")
        assert 0.5 <= time.monotonic() - started < 3
        for rebuild in (False, True):
            with pytest.raises(StoreLocked, match="is locked by another process"):
                sync(DIMENSIONS, rebuild=rebuild)
    assert count("encodings") == 1


def test_a_reader_gets_through_when_the_writer_is_done(data: Path) -> None:
    sync(DIMENSIONS)
    with holding(f"import duckdb\nheld = duckdb.connect({str(store_path())!r})") as writer:
        threading.Timer(0.5, writer.kill).start()
        assert count("encodings") == 1


def test_another_builder_is_waited_for_and_then_said(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores()
    sync(DIMENSIONS)
    scores((0.1,))
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.4)
    lock = f"{store_path()}.lock"
    with holding(f"from filelock import FileLock\nheld = FileLock({lock!r})\nheld.acquire()") as builder:
        with pytest.raises(StoreError, match=r"Another process has been building the store .* Wait, or end that"):
            sync(DIMENSIONS)
        assert count("scores") == 2, "the old store must still answer"
        monkeypatch.setattr(module, "LOCK_SECONDS", 20)
        threading.Timer(0.4, builder.kill).start()
        assert sync(DIMENSIONS).rebuilt
    assert count("scores") == 3


# Folders that cannot be written


@pytest.mark.parametrize(("call", "code"), [("mkdir", errno.EACCES), ("mkdir", errno.EROFS), ("replace", errno.ENOSPC)])
def test_a_store_folder_that_cannot_be_written_is_said(
    data: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    """Root may write anywhere, so the refusals of the operating system are made up."""
    scores()
    sync(DIMENSIONS)
    before = store_path().read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, call, _refusing(code))
        with pytest.raises(StoreError, match=rf"duckdb could not be written \({os.strerror(code)}\).*ADDEND_STORE"):
            sync(DIMENSIONS, rebuild=True)
    assert store_path().read_bytes() == before
    assert stray(store_path().parent) == []


@pytest.mark.parametrize(("call", "code"), [("mkdir", errno.EACCES), ("open", errno.EROFS), ("replace", errno.ENOSPC)])
def test_a_data_folder_that_cannot_be_written_is_said(
    data: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    if call != "mkdir":
        (data / "results/scores").mkdir(parents=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, _refusing(code))
        with pytest.raises(StoreError, match=rf"results/scores/.* could not be written \({os.strerror(code)}\).*DATA"):
            scores()
    assert [path for path in data.rglob("*") if path.is_file()] == []
    scores()


def _refusing(code: int) -> Callable[..., None]:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return refuse


def test_a_current_store_is_read_from_a_folder_that_cannot_be_written(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores()
    sync(DIMENSIONS)
    monkeypatch.setattr(module.FileLock, "acquire", _refusing(errno.EROFS))
    assert not sync(DIMENSIONS).rebuilt
    assert count("scores") == 2


def test_a_disk_that_fills_up_is_said(data: Path) -> None:
    """No file may grow beyond a part of the store: DuckDB's own writing fails, at once, or only at the end.

    The second is the worse one: closing a database that cannot be written out says nothing.
    """
    scores()
    sync({})
    before = store_path().read_bytes()
    limited = python(f"""
import resource
from analysis.core.errors import StoreError
from analysis.store import sync
for limit in {[len(before) * percent // 100 for percent in (1, 50)]}:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, -1))
    try:
        sync.sync({{}}, rebuild=True)
    except StoreError as said:
        print(said)
""")
    output, _ = limited.communicate()
    assert limited.returncode == 0, output
    first, second = output.splitlines()
    for said in (first, second):
        assert "addend.duckdb could not be written (" in said
        assert said.endswith("Free space or make the folder writable, or set ADDEND_STORE to a path that is.")
    assert store_path().read_bytes() == before
    assert stray(store_path().parent) == []


# Results files


def _about(path: Path, **changes: str | None) -> None:
    """Rewrites a results file with other metadata; None takes an entry away."""
    table = pq.read_table(path)
    about = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    about.pop("addend.check", None)  # as files were written before there was one
    for name, value in changes.items():
        about.pop(f"addend.{name}", None)
        if value is not None:
            about[f"addend.{name}"] = value
    pq.write_table(table.replace_schema_metadata(about), path)


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def _no_parquet(path: Path) -> None:
    path.write_text("variant,value\n")


def _no_metadata(path: Path) -> None:
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path)


def _alien(path: Path) -> None:
    pd.DataFrame({"a": [1]}).to_parquet(path)


def _lacking(path: Path) -> None:
    _about(path)
    pq.write_table(pq.read_table(path).drop_columns(["metric"]), path)


def _wrong_type(path: Path) -> None:
    _about(path)
    table = pq.read_table(path)
    at = table.column_names.index("value")
    pq.write_table(table.set_column(at, "value", pa.array(["high"] * len(table))), path)


def _twice_the_column(path: Path) -> None:
    _about(path)
    table = pq.read_table(path)
    pq.write_table(table.append_column("value", table["value"]), path)


def _of_kind(kind: str) -> Callable[[Path], None]:
    return lambda path: _about(path, kind=kind)


def _of_version(version: str | None) -> Callable[[Path], None]:
    return lambda path: _about(path, version=version)


def _with_run(run: str | None) -> Callable[[Path], None]:
    return lambda path: _about(path, run=run)


def _with_run_field(**more: Any) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        run = json.loads((pq.read_schema(path).metadata or {})[b"addend.run"])
        _about(path, run=json.dumps({**run, **more}))

    return spoil


BAD_FILES = {
    "truncated": (_truncated, "is not a readable Parquet file"),
    "no Parquet": (_no_parquet, "is not a readable Parquet file"),
    "no metadata": (_no_metadata, "names no known kind. Remove it"),
    "alien": (_alien, "names no known kind. Remove it"),
    "unknown kind": (_of_kind("recipes"), "names no known kind. Remove it"),
    "newer": (_of_version("7"), "is of version 7 and this Addend reads up to 1. Update Addend."),
    "older": (_of_version("0"), "is of version 0, which cannot be brought to 1. Measure it again"),
    "no version": (_of_version(None), "is of version ''; expected a whole number"),
    "odd version": (_of_version("one"), "is of version 'one'; expected a whole number"),
    "lacks a column": (_lacking, "lacks the column 'metric' of kind 'scores'. Restore or remove it."),
    "other type": (_wrong_type, "has a column of another type than expected"),
    "a column twice": (_twice_the_column, "Restore or remove it."),
    "no run": (_with_run(None), "does not describe its run; expected at least"),
    "a run that is no JSON": (_with_run("{"), "does not describe its run; expected at least"),
    "a run too deep to read": (_with_run("[" * 100_000), "does not describe its run; expected at least"),
    "a run that is a list": (_with_run("[1]"), "does not describe its run; expected at least"),
    "a run without a name": (_with_run('{"kind": "scores"}'), "does not describe its run; expected at least"),
    "a run that says more": (_with_run_field(colour="red"), "colour"),
    "a run with a wrong number": (_with_run_field(seed="many"), "could not be taken in"),
    "a probe without its text": (_of_kind("probe"), "lacks the column"),
}


def test_bad_results_files_are_named_and_cost_nothing_else(data: Path) -> None:
    scores((0.1, 0.2), name="a good one")
    scores((0.4,), name="z good one")
    before = {}
    for name, (spoil, _) in BAD_FILES.items():
        path = scores((0.3,), name=name)
        spoil(path)
        before[path] = path.read_bytes()
    report = sync(DIMENSIONS)
    problems = dict(report.problems)
    assert len(problems) == len(report.problems)
    assert set(problems) == {f"results/scores/{name}.parquet" for name in BAD_FILES}
    for name, (_, expected) in BAD_FILES.items():
        problem = problems[f"results/scores/{name}.parquet"]
        assert problem.startswith(f"{name}.parquet "), name
        assert expected in problem, name
        assert problem.endswith("."), name
        assert "\n" not in problem, name
    assert sorted(read.query("SELECT value FROM own_scores").value) == [0.1, 0.2, 0.4]
    assert count("runs") == 2, "of a file that is left out, its run is left out too"
    assert [tuple(row) for row in read.query("FROM problems").to_numpy().tolist()] == report.problems
    assert sync(DIMENSIONS).problems == report.problems, "a sync that does nothing must still say it"
    assert {path: path.read_bytes() for path in before} == before


def test_a_probe_whose_run_says_too_little_is_named(data: Path) -> None:
    (data / "probes").mkdir()
    for name in ("example-order", "example-code"):
        shutil.copy(ROOT / f"data/probes/{name}.parquet", data / "probes")
    _with_run_field(config={"title": "no tokens"})(data / "probes/example-code.parquet")
    report = sync(DIMENSIONS)
    assert report.problems == [
        ("probes/example-code.parquet", "example-code.parquet lacks 'tokens'. Restore or remove it.")
    ]
    assert read.query("SELECT probe_id FROM saved_probes").probe_id.tolist() == ["example-order"]
    assert count("runs") == 1


def test_of_two_files_with_one_run_the_first_is_served_and_the_other_named(data: Path) -> None:
    first = scores((0.1, 0.2), name="a", run_id="same")
    shutil.copy(first, first.parent / "b.parquet")
    scores((0.9,), name="c")
    report = sync(DIMENSIONS)
    assert report.problems == [
        ("results/scores/b.parquet", "b.parquet repeats the run same of another file. Remove one of them.")
    ]
    assert sorted(read.query("SELECT value FROM own_scores").value) == [0.1, 0.2, 0.9]
    assert read.query("SELECT file FROM runs WHERE run_id = 'same'").file.tolist() == ["results/scores/a.parquet"]


def test_a_file_that_lost_to_a_bad_one_of_the_same_run_is_served(data: Path) -> None:
    """The name of a run is taken by the file that is served, not by one that is left out."""
    scores((0.1,), name="a", run_id="same")
    scores((0.2,), name="b", run_id="same")
    _with_run_field(colour="red")(data / "results/scores/a.parquet")
    assert [file for file, _ in sync(DIMENSIONS).problems] == ["results/scores/a.parquet"]
    assert read.query("SELECT value FROM own_scores").value.tolist() == [0.2]


@pytest.fixture
def versioned(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes "scores" a kind whose third version is the newest, with the given upgrades."""

    def make(**upgrades: kinds.Upgrade) -> None:
        old = files.KINDS["scores"]
        steps = {int(name.removeprefix("from_")): upgrade for name, upgrade in upgrades.items()}
        new = dataclasses.replace(old, version=3, upgrades=steps)
        monkeypatch.setitem(files.KINDS, "scores", new)

    return make


def _percent_to_fraction(table: pa.Table) -> pa.Table:
    at = table.column_names.index("value")
    return table.set_column(at, "value", pa.array([value / 100 for value in table["value"].to_pylist()]))


def _named_since_three(table: pa.Table) -> pa.Table:
    return table.rename_columns(["variant" if name == "model_name" else name for name in table.column_names])


def test_older_files_are_upgraded_step_by_step_as_they_are_read(data: Path, versioned: Callable[..., None]) -> None:
    """A made-up past: version 1 had percentages, version 2 called the variant `model_name`."""
    oldest = scores((50.0, 75.0), name="oldest")
    table = pq.read_table(oldest)
    names = ["model_name" if name == "variant" else name for name in table.column_names]
    about = {key: value for key, value in table.schema.metadata.items() if key != b"addend.check"}
    pq.write_table(table.rename_columns(names).replace_schema_metadata(about), oldest)
    versioned(from_1=_percent_to_fraction, from_2=_named_since_three)
    scores((0.25,), name="newest")
    before = oldest.read_bytes()
    assert sync(DIMENSIONS).problems == []
    found = read.query("SELECT variant, value FROM own_scores ORDER BY value")
    assert found.to_numpy().tolist() == [["bert_a", 0.25], ["bert_a", 0.5], ["bert_a", 0.75]]
    assert oldest.read_bytes() == before, "a results file is never changed"


def test_an_upgrade_that_fails_or_is_missing_is_said(data: Path, versioned: Callable[..., None]) -> None:
    scores((50.0,), name="a")
    versioned(from_1=lambda table: table.select(["nowhere"]), from_2=_named_since_three)
    ((_, problem),) = sync(DIMENSIONS).problems
    assert problem.startswith("a.parquet could not be brought from version 1 to 2 (")
    versioned(from_1=_percent_to_fraction)
    ((_, problem),) = sync(DIMENSIONS, rebuild=True).problems
    assert problem.startswith("a.parquet is of version 2, which cannot be brought to 3.")


# Text files


BAD_TEXTS = {
    "papers.csv": ("paper,citation_key,short,url\nA,a,A,\nA,a,A,\n", "papers.csv could not be taken in (Constraint"),
    "caveats.csv": ("citation_key,table_name,variant,task,caveat\na,b\xff,c,d,e\n", "caveats.csv could not be taken"),
    "metrics.csv": ("printed_task,scale\nRTE,one\n", "metrics.csv could not be taken in (Conversion Error"),
    "citations.bib": ("@article{a,\n}\n\n@article{a,\n}\n", "citations.bib could not be taken in (Constraint"),
    "figures/x.csv": ("paper,value\nA,1\n", "x.csv lacks 'arxiv'"),
}


def test_bad_text_files_are_named_and_cost_nothing_else(data: Path) -> None:
    literature(data)
    scores()
    sync(DIMENSIONS)
    tables = ("published", "scores", "runs")
    before = [count(table) for table in tables]
    for name, (text, _) in BAD_TEXTS.items():
        (data / "published" / name).write_bytes(text.encode("latin-1"))
    problems = dict(sync(DIMENSIONS).problems)
    assert set(problems) == {f"published/{name}" for name in BAD_TEXTS}
    for name, (_, expected) in BAD_TEXTS.items():
        problem = problems[f"published/{name}"]
        assert problem.startswith(expected), name
        assert problem.endswith("Restore or remove it."), name
    assert [count(table) for table in tables] == before
    assert count("published_scores") == count("published"), "figures are shown even where their meaning is lost"


def test_a_published_figure_that_is_no_number_is_named_by_its_line(data: Path) -> None:
    literature(data)
    whole = sync(DIMENSIONS).counts()["published"]
    path = data / "published/figures/haviv_nopos.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table.loc[1, "value"] = "12,5"
    table.to_csv(path, index=False)
    report = sync(DIMENSIONS)
    assert report.counts()["published"] == whole - 1
    ((file, problem),) = report.problems
    assert file == "published/figures/haviv_nopos.csv"
    assert problem.startswith("line 3: ")
    assert "'12,5'" in problem
    assert read.query("SELECT row_number FROM published ORDER BY 1").row_number.tolist() == list(range(whole - 1))


def test_a_byte_order_mark_does_no_harm(data: Path) -> None:
    literature(data)
    path = data / "published/papers.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert sync(DIMENSIONS).problems == []
    assert count("papers") == len(pd.read_csv(path))


# Writing


def test_wrong_columns_are_refused_with_a_sentence(data: Path) -> None:
    run = files.Run(kind="encoding_measures", command="made up")
    good = {"encoding": ["a"], "length": [1], "dim": [1], "measure": ["m"], "value": [0.5]}
    lacking = {name: values for name, values in good.items() if name != "measure"}
    for columns, expected in (
        (lacking, r"'encoding_measures' file lacks the column 'measure'; expected: encoding, length, dim, measure"),
        ({**good, "colour": ["red"]}, r"'encoding_measures' file has no column 'colour'; expected: encoding"),
        ({**good, "dim": [1, 2]}, r"could not be taken \(.*\); expected equally many values"),
        ({**good, "value": ["high"]}, r"could not be taken \(.*\); expected equally many values"),
        ({**good, "length": [1.5]}, r"could not be taken \(.*\); expected equally many values"),
    ):
        with pytest.raises(StoreError, match=expected):
            files.write("encoding_measures", columns, run)
    assert not list(data.rglob("*.parquet"))


def test_writing_is_whole_or_not_at_all(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scores((0.5,), name="kept")
    before = path.read_bytes()

    def half(table: pa.Table, where: str, **_: object) -> None:
        Path(where).write_bytes(b"PAR1")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.pq, "write_table", half)
    with pytest.raises(StoreError, match="No space left on device"):
        scores((0.6,), name="kept")
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_what_is_written_is_what_is_read(data: Path) -> None:
    run = files.Run(kind="scores", command="made up", config={"steps": 3, "unicode": "α→β"}, seconds=1.5, seed=7)
    columns = {column.name: ["x"] if column.type == pa.string() else [1] for column in files.KINDS["scores"].schema}
    path = files.write("scores", {**columns, "finetune_seed": [None], "value": [float("nan")]}, run)
    kind, table, said = files.read(path)
    assert kind == "scores"
    assert table.schema.equals(files.KINDS["scores"].schema)
    assert table["finetune_seed"].to_pylist() == [None]
    assert np.isnan(table["value"].to_pylist()[0])
    assert said == {**run.__dict__, "config": dict(run.config)}
    assert oct(path.stat().st_mode & 0o777) == "0o644"


# Queries


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("", "The query is empty; expected one SELECT"),
        (" ; ", "The query is empty; expected one SELECT"),
        ("SELEC 1", 'The query failed: Parser Error: syntax error at or near "SELEC"'),
        ("SELECT nope FROM runs", 'The query failed: Binder Error: Referenced column "nope" not found'),
        ("SELECT * FROM encoding", 'Did you mean "encodings"? SHOW TABLES lists what there is.'),
        ("SELECT 'x'::INTEGER", "The query failed: Conversion Error"),
        ("SELECT 1 WHERE ?", "The query was refused: Invalid Input Error: Values were not provided"),
        ("INSERT INTO problems VALUES ('a', 'b')", "The query was refused: "),
        ("DROP VIEW claims", "The query was refused: "),
        ("COPY runs TO '{folder}/out.csv'", "The query was refused: "),
        ("ATTACH '{folder}/other.db'", "The query was refused: "),
        ("SELECT * FROM read_csv('/etc/passwd')", "The query was refused: "),
        ("SELECT * FROM read_text('/etc/passwd')", "The query was refused: "),
        ("SELECT * FROM glob('/*')", "The query was refused: "),
        ("SELECT * FROM '/etc/passwd'", "does not exist"),
        ("INSTALL httpfs", "The query was refused: "),
        ("SET enable_external_access = true", "The query was refused: "),
        ("EXPORT DATABASE '{folder}/all'", "The query was refused: "),
    ],
)
def test_a_query_that_cannot_be_answered_is_said_in_one_line(
    store: Path, tmp_path: Path, sql: str, expected: str
) -> None:
    before = store.read_bytes()
    with pytest.raises(StoreError) as said:
        read.query(sql.format(folder=tmp_path))
    assert expected in str(said.value)
    assert "\n" not in str(said.value)
    assert store.read_bytes() == before
    assert list(tmp_path.iterdir()) == [], "a query must write nothing"


def test_parameters_stand_for_the_question_marks(store: Path) -> None:
    evil = "sinusoidal'; DROP TABLE encodings; --"
    assert read.query("SELECT ? AS x", [evil]).x.tolist() == [evil]
    assert read.query("SELECT * FROM encodings WHERE encoding = ?", [evil]).empty


# The committed results


def _committed() -> list[Path]:
    found = [*(ROOT / "data/results").rglob("*.parquet"), *(ROOT / "data/probes").glob("example-*.parquet")]
    assert len(found) >= 6
    return sorted(found)


@pytest.mark.parametrize("path", _committed(), ids=lambda path: path.stem)
def test_every_committed_row_is_in_the_store_once_with_its_run(store: Path, path: Path) -> None:
    """Read here by pyarrow alone, and compared value for value."""
    table = pq.read_table(path)
    about = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    said = json.loads(about["addend.run"])
    runs = read.query("SELECT * FROM runs")  # which is kept for the next file
    run = runs[runs.run_id == said["run_id"]].reset_index(drop=True)
    assert len(run) == 1
    assert run.file[0] == str(path.relative_to(ROOT / "data"))
    assert json.loads(run.config[0]) == said["config"]
    kind = about["addend.kind"]
    needed = {"kind", "command", "device", "dtype", "created", "git_sha", "versions"}
    if kind in ("terms", "probe"):  # Encodings are measured without a model.
        needed |= {"model", "revision"}
    assert not [name for name in needed if not said[name]], "a committed run must say where it comes from"
    for name in (*sorted(needed), "model", "revision", "seed", "seconds", "variant", "preset"):
        assert (None if pd.isna(run.loc[0, name]) else run.loc[0, name]) == said[name]
    name, column = ("probe_heads", "probe_id") if kind == "probe" else (kind, "run_id")
    chosen = ", ".join(f'"{column}"' for column in table.column_names)
    with read.connect() as connection:
        found = connection.execute(f"SELECT {chosen} FROM {name} WHERE {column} = ?", [said["run_id"]]).fetchall()
    assert len(found) == table.num_rows > 0
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert sorted(map(repr, found)) == sorted(map(repr, rows))


def test_the_store_holds_no_row_that_no_file_has(store: Path) -> None:
    rows: dict[str, int] = {}
    committed = set(_committed())
    for path in files.results_files():
        if path in committed:
            kind = pq.read_schema(path).metadata[b"addend.kind"].decode()
            rows[kind] = rows.get(kind, 0) + pq.read_metadata(path).num_rows
    for kind in ("terms", "encoding_measures", "scores", "curves"):
        assert count(kind) == rows.get(kind, 0)
        assert count(f"{kind} LEFT JOIN runs USING (run_id) WHERE runs.run_id IS NULL") == 0


def test_what_a_live_run_reads_beside_itself_is_empty_without_a_store(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a store that does not take the query still says so."""
    assert len(read.query_if_stored("SELECT model FROM models", [], ["model"]))
    with pytest.raises(StoreError, match="no_such_table"):
        read.query_if_stored("SELECT model FROM no_such_table", [], ["model"])
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "none.duckdb"))
    nothing = read.query_if_stored("SELECT model FROM models", [], ["model"])
    assert nothing.empty
    assert list(nothing) == ["model"]
