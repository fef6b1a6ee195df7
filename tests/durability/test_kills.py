"""Proves that nothing that was stored is lost, and nothing stored twice, whenever a process is killed.

A worker writes results, saves probes, imports and syncs; it is killed at a random moment (SIGKILL), many times. After
each kill the store must open and hold what was in it when its last sync ended; after the next sync it holds every row
that any process was told is written, once, and of what was being written all or nothing.

20 kills by default; the long run: ADDEND_KILLS=200 python -m pytest tests/durability
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analysis.store import files, read
from analysis.store.paths import store_path
from analysis.store.sync import sync
from tests.durability import worker

KILLS = int(os.environ.get("ADDEND_KILLS", "20"))
FOLDERS = max(1, KILLS // 10)
"""A new data folder each ten kills: a sync reads every file there is."""
ACTS, SECONDS = 4, 0.15
"""A worker is killed after at most so many things done, and so many seconds into the next."""


class Ledger:
    """What was told to be written (name -> values), and what of it was there at the last sync that ended."""

    def __init__(self) -> None:
        self.told: dict[str, list[float]] = {}
        self.synced: set[str] = set()

    def take(self, log: Path, seed: int) -> int:
        lines = log.read_text().splitlines() if log.exists() else []
        for line in lines:
            what, name, place = line.split()
            if what == "sync":
                self.synced = set(self.told)
            else:
                self.told[name] = worker.values(seed, int(place))
        return len(lines)


def held() -> dict[str, list[float]]:
    """What the store holds: name -> values; of an import both halves under one name."""
    found: dict[str, list[float]] = {}
    rows = read.query("SELECT run_id, variant, value FROM scores ORDER BY seed, finetune_seed")
    for run_id, variant, value in rows.itertuples(index=False, name=None):
        found.setdefault(variant if variant.startswith("mine") else run_id, []).append(value)
    halves = {name for name in found if name.startswith("mine")}
    for name in {half.rpartition("-")[0] for half in halves}:
        assert {f"{name}-a", f"{name}-b"} <= halves, f"half an import: {name}"
        assert found.pop(f"{name}-a") == found[f"{name}-b"]
        found[name] = found.pop(f"{name}-b")
    with read.connect() as connection:
        heads = connection.execute("SELECT probe_id, query FROM probe_heads ORDER BY probe_id, head").fetchall()
    for probe_id, query in heads:
        found.setdefault(probe_id, []).extend(query)
    return found


def same(name: str, found: list[float], expected: list[float]) -> bool:
    wanted = expected * 2 if name.startswith("probe") else expected
    return found == pytest.approx(wanted, abs=1e-6)


def wait_for(log: Path, lines: int) -> None:
    """Until a worker has said so much; a busy machine only takes longer."""
    deadline = time.monotonic() + 120
    while lines and (not log.exists() or log.read_bytes().count(b"\n") < lines):
        assert time.monotonic() < deadline, "the worker does nothing"
        time.sleep(0.002)


@pytest.mark.parametrize("number", range(FOLDERS))
def test_a_kill_at_any_moment_loses_nothing_and_doubles_nothing(tmp_path, monkeypatch, number):
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("ADDEND_STORE", raising=False)
    (tmp_path / "data").mkdir()
    chance, ledger, acts = random.Random(number), Ledger(), 0
    nursery = subprocess.Popen(
        [sys.executable, str(Path(worker.__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert nursery.stdin
    assert nursery.stdout
    try:
        for kill in range(KILLS // FOLDERS):
            seed, log = 1_000 * number + kill, tmp_path / f"{kill}.log"
            nursery.stdin.write(f"{seed} {log}\n")
            nursery.stdin.flush()
            pid = int(nursery.stdout.readline())
            wait_for(log, chance.randrange(ACTS + 1))
            time.sleep(chance.uniform(0, SECONDS))
            os.kill(pid, signal.SIGKILL)
            assert nursery.stdout.readline() == "ended\n"
            acts += ledger.take(log, seed)
            if store_path().is_file():
                before = held()
                assert ledger.synced <= set(before), "a row of the last sync is gone"
            report = sync({})
            assert report.problems == []
            after = held()
            for name, expected in ledger.told.items():
                assert same(name, after.get(name, []), expected), name
            # What was written though nobody was told yet: one thing at most, and whole.
            more = set(after) - set(ledger.told)
            for name in more:
                place = int(name.rpartition("-")[2])
                assert same(name, after[name], worker.values(int(name.split("-")[1]), place)), name
            assert len(more) <= kill + 1
            assert read.query("SELECT count(*) - count(DISTINCT run_id) AS n FROM runs").n[0] == 0
            ledger.synced = set(ledger.told)
    finally:
        nursery.kill()
        nursery.wait()
        nursery.stdin.close()
        nursery.stdout.close()
    assert acts > KILLS // FOLDERS, "the test is void: the workers did next to nothing before they were killed"
    partial = [path for path in (tmp_path / "data").rglob("*.partial") if path.parent.name != "store"]
    assert all(path not in files.results_files() for path in partial)
