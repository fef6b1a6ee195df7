"""Proves that a full disk, a folder that cannot be written, spoilt files and a wrong clock each end in a sentence.

What was stored before is served all the same. The disk is a small one of its own where the system lets us mount it.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.core.errors import StoreError
from analysis.figures.runs import all_runs as runs
from analysis.imports.plan import execute, plan
from analysis.store import files, read
from analysis.store.sync import sync
from tests.durability import worker

ROOT = Path(__file__).resolve().parents[2]
TABLE = "variant,task,metric,seed,learning_rate,value\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "store/addend.duckdb"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def disk(data: Path) -> Iterator[Path]:
    """The data folder on a disk of 256 KiB."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(data)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except OSError:
        pytest.skip("there is no mount command here, so no disk of a test's own can be made")
    if done.returncode:
        pytest.skip("mounting a disk of a test's own needs rights that this user has not")
    yield data
    subprocess.run(["umount", "--lazy", str(data)], check=True)


def brought(count: int, start: int = 0) -> dict[str, bytes]:
    rows = [f"mine,rte,accuracy,{start + row},1e-4,0.5" for row in range(count)]
    return {"mine.csv": (TABLE + "\n".join(rows)).encode()}


def rows() -> int:
    return int(read.query("SELECT count(*) AS n FROM scores").n[0])


def test_a_full_disk_is_said_and_the_rest_is_served(disk: Path) -> None:
    worker.scores(1, 4)
    execute(plan(brought(2)))
    sync({})
    assert rows() == 7
    with pytest.raises(OSError, match="No space left"):
        (disk / "filler").write_bytes(b"x" * (1 << 20))
    before = sorted(path for path in disk.rglob("*"))
    with pytest.raises(StoreError, match=r"could not be written \(.*No space left on device\)\. Free space"):
        worker.scores(1, 5)
    with pytest.raises(StoreError, match=r"could not be written \(.*No space left on device\)\. Free space"):
        execute(plan(brought(20, 100)))
    assert sorted(path for path in disk.rglob("*")) == before, "nothing half-written may be left"
    assert rows() == 7
    (disk / "filler").unlink()
    worker.scores(1, 5)
    assert sync({}).problems == []
    assert rows() == 8


def test_a_read_only_data_folder_is_said_and_still_served(disk: Path) -> None:
    worker.scores(1, 4)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    assert sync({}).rebuilt, "the store lies elsewhere"
    assert rows() == 5
    for act in (lambda: worker.scores(1, 5), lambda: worker.probe(1, 5), lambda: execute(plan(brought(2)))):
        with pytest.raises(StoreError, match=r"could not be written \(Read-only file system\)\. Free space or make"):
            act()
    assert rows() == 5


def test_files_may_not_grow_where_no_disk_can_be_made(data: Path) -> None:
    """The same by a limit of the system's on the size of files, which needs no rights."""
    execute(plan(brought(2)))
    code = f"""
import resource, sys
sys.path.insert(0, {str(ROOT)!r})
from analysis.core.errors import StoreError
from analysis.imports.plan import execute, plan
from tests.durability import worker
resource.setrlimit(resource.RLIMIT_FSIZE, (100, -1))
for act in (lambda: worker.scores(1, 5), lambda: execute(plan({brought(9, 50)!r}))):
    try:
        act()
        print("written")
    except StoreError as said:
        print(said)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    said = done.stdout.splitlines()
    assert len(said) == 2, done.stderr
    assert all("could not be written (" in line and "File too large). Free space" in line for line in said)
    assert len(files.results_files()) == 2
    assert not [path for path in data.rglob("*") if ".partial" in path.name]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), "is not a readable Parquet file"),
        (lambda path: path.write_bytes(b""), "is not a readable Parquet file"),
        (lambda path: pq.write_table(pa.table({"x": [1]}), path), "is not a results file of ours"),
    ],
    ids=["truncated", "empty", "alien"],
)
def test_a_spoilt_import_is_named_and_the_rest_served(data: Path, spoil, said) -> None:
    worker.scores(1, 4)
    folder = execute(plan(brought(3)))
    assert folder
    first = sorted(folder.iterdir())[0]
    spoil(first)
    report = sync({})
    assert [(file, said in problem) for file, problem in report.problems] == [(str(first.relative_to(data)), True)]
    assert rows() == 7
    assert sorted(runs.all_runs().status).count("unreadable") == 1
    again = plan(brought(3))
    assert (again.rows, again.known) == (1, 2), "what was spoilt can be brought again"


def test_a_clock_that_goes_back_hides_nothing(data: Path) -> None:
    """A file from the future is said; one whose date of change goes back is read anew all the same."""
    path = data / "results/scores" / "cpu-run-1-4.parquet"
    worker.scores(1, 4)
    sync({})
    now = path.stat().st_mtime
    other = data / "results/scores/later.parquet"
    columns = {name: [None] for name in files.KINDS["scores"].schema.names} | {"variant": ["bert_a"], "value": [0.25]}
    run = files.Run(kind="scores", command="x", run_id="later", created="2199-01-01T00:00:00Z")
    files.write("scores", columns, run, name="later")
    os.utime(other, (now - 1e8, now - 1e8))
    report = sync({})
    assert report.rebuilt
    assert rows() == 6
    assert report.problems == [
        (
            "results/scores/later.parquet",
            "later.parquet says that it was made at 2199-01-01T00:00:00Z, which is yet to come. It is taken in and "
            "counts as the newest. Check the clock of the machine that made it.",
        )
    ]
    assert "unreadable" not in set(runs.all_runs().status)
    os.utime(path, (now - 2e8, now - 2e8))
    assert sync({}).rebuilt
    assert rows() == 6


def test_two_writers_and_eight_readers_at_once(data: Path) -> None:
    """Each writer brings results and syncs; readers never see less than before, and never half an import."""
    worker.scores(9, 4)
    sync({})
    code = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from analysis.store.sync import sync
from tests.durability import worker
seed = int(sys.argv[1])
for place in range(3):
    worker.scores(seed, place)
    worker.imported(seed, place)
    worker.imported(7, place)
    sync({{}})
"""
    writers = [subprocess.Popen([sys.executable, "-c", code, str(seed)]) for seed in (1, 2)]
    wrong: list[BaseException] = []
    counts: list[list[int]] = [[] for _ in range(8)]

    def reader(seen: list[int]) -> None:
        try:
            while any(writer.poll() is None for writer in writers):
                found = read.query("SELECT count(*) AS n, count(DISTINCT variant) AS v FROM scores")
                seen.append(int(found.n[0]))
                assert found.v[0] % 2 == 1, "one variant of ours and two of every import"
                time.sleep(0.02)
        except BaseException as problem:
            wrong.append(problem)
            raise

    threads = [threading.Thread(target=reader, args=(seen,)) for seen in counts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [writer.wait() for writer in writers] == [0, 0]
    assert wrong == []
    assert all(seen == sorted(seen) for seen in counts)
    assert sync({}).problems == []
    each = sum(1 + place % 5 for place in range(3))
    assert rows() == 5 + 2 * each + 3 * 2 * each
