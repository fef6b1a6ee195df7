"""A store of a million scores and ten thousand runs: how long building it takes, its pages, its queries, one search.

    python -m tests.benchmarks.large_store [--scores 1000000] [--runs 10000] [--times 15] [--write]

A script, not a test. Made-up pre-trainings and fine-tunings of every variant and preset are written as a sweep writes
them, one results file a run, into a data folder of their own beside today's published figures; the product's own sync
builds the store. Then, from a running app and by a reader without a browser (reader.py): the pages GLUE ablations,
Training and Runs, the first time they are opened after each of several starts, and later ones; and every query that
these pages put to the store, anew each time. Budgets: a page within 1 s, 95 of 100 queries under 100 ms.

Beside it the same search over the same ten thousand runs in MLflow: runs of one variant whose value is above a bound,
the best first, a hundred of them. In its SQLite store and in its file store, written through MLflow's own store
classes, where it is installed (tests/benchmarks/requirements.txt, an environment of its own); where it is not, this
says so and goes on. --file-runs: how many runs its file store is given, since it reads a folder a run.
"""

import argparse
import asyncio
import logging
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.benchmarks.machine import ROOT, Table, against, percentile, served, synced
from tests.benchmarks.reader import Reader
from tests.benchmarks.store import asked_by, milliseconds

PAGES = {"glue": "GLUE ablations", "training": "Training", "runs": "Runs"}
PRESETS = ("cpu", "gpu", "debug")
PAGE_SECONDS, QUERY_MS = 1.0, 100.0
STARTS = 5
"""Servers started, each to be opened a first time: one first time is one draw on a machine that others use too."""
RATES = (1e-4, 2e-4, 3e-4, 4e-4)
SHOWN = 76
SEARCHED = "tupe_a"
BOUND = 0.7
FOUND = 100


@dataclass(frozen=True)
class Trained:
    """One made-up run, as both stores are given it."""

    name: str
    variant: str
    preset: str
    seed: int
    score: float


def made_up(data: Path, runs: int, scores: int) -> list[Trained]:
    """Writes as many runs, half of them pre-trainings and half the fine-tunings of these, with as many scores."""
    os.environ["ADDEND_DATA"] = str(data)
    from analysis.ablation.glue.tasks import TASKS
    from analysis.ablation.variants import VARIANTS
    from analysis.store import files
    from tests import trainings

    chance, pairs, made = random.Random(0), runs // 2, []
    names = files.KINDS["scores"].schema.names
    each = [scores // pairs + (number < scores % pairs) for number in range(pairs)]
    for number in range(pairs):
        variant = list(VARIANTS)[number % len(VARIANTS)]
        preset = PRESETS[number // len(VARIANTS) % len(PRESETS)]
        seed = number // (len(VARIANTS) * len(PRESETS))
        rows = trainings.plausible(variant, seed, end=4.5 + chance.random(), steps=2_000)
        run_id = trainings.write(variant, seed, rows, preset=preset)
        level = chance.uniform(0.6, 0.9)
        table = []
        for row in range(each[number]):
            task, rest = list(TASKS)[row % len(TASKS)], row // len(TASKS)
            table.append(
                {
                    "pretraining": run_id, "variant": variant, "preset": preset, "task": task,
                    "metric": TASKS[task].metrics[0], "seed": seed, "finetune_seed": rest // len(RATES),
                    "learning_rate": RATES[rest % len(RATES)], "data": "official", "train_examples": 1_000,
                    "dev_examples": 1_000, "seconds": 1.0, "value": level + chance.gauss(0, 0.02),
                }
            )  # fmt: skip
        run = files.Run(kind="scores", command="made up", variant=variant, preset=preset, seed=seed)
        files.write("scores", {name: [one.get(name) for one in table] for name in names}, run)
        made.append(Trained(run_id, variant, preset, seed, level))
    return made


async def opened(address: str, times: int, cpu: Callable[[], float]) -> dict[str, list[tuple[float, float]]]:
    """Seconds, and the server's processor seconds, of each page: the first time, then more times."""
    found: dict[str, list[tuple[float, float]]] = {page: [] for page in PAGES}
    async with Reader(address) as reader:
        await reader.open("about")  # the server has imported what every page needs
        for page, seconds in found.items():
            for _ in range(times + 1):
                before = cpu()
                shown = await reader.open(page)
                if shown.problems:
                    raise SystemExit(f"{page}: {shown.problems[0]}")
                seconds.append((shown.seconds, cpu() - before))
    return found


def asked() -> dict[str, list[tuple[str, tuple[Any, ...]]]]:
    """The queries of each page as it first opens."""
    return {page: asked_by(page) for page in PAGES}


def search_ours() -> list[Any]:
    """The best runs of one variant above a bound, by their mean score."""
    from analysis.store import read

    return read.query(
        "SELECT pretraining, avg(value) AS value FROM scores WHERE variant = ? GROUP BY pretraining "
        "HAVING avg(value) > ? ORDER BY value DESC LIMIT ?",
        [SEARCHED, BOUND, FOUND],
    ).pretraining.tolist()


def search_filed(store: Any, experiment: str) -> list[Any]:
    """The same in a store of MLflow's."""
    from mlflow.entities import ViewType  # pyright: ignore[reportMissingImports]  an environment of its own

    return store.search_runs(
        [experiment], f"params.variant = '{SEARCHED}' and metrics.score > {BOUND}", ViewType.ACTIVE_ONLY, FOUND,
        ["metrics.score DESC"],
    )  # fmt: skip


def filled(store: Any, runs: list[Trained]) -> str:
    """Logs runs into a store of MLflow's, a batch each; the id of their experiment."""
    from mlflow.entities import Metric, Param  # pyright: ignore[reportMissingImports]

    experiment = store.create_experiment("addend")
    for number, run in enumerate(runs):
        logged = store.create_run(experiment, "benchmark", number, [], run.name)
        parameters = {"variant": run.variant, "preset": run.preset, "seed": str(run.seed)}
        store.log_batch(
            logged.info.run_id, [Metric("score", run.score, number, 0)],
            [Param(name, value) for name, value in parameters.items()], [],
        )  # fmt: skip
    return experiment


def mlflow_stores(folder: Path) -> dict[str, Any]:
    """Its SQLite and its file store, empty."""
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    from mlflow.store.tracking.file_store import FileStore  # pyright: ignore[reportMissingImports]
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore  # pyright: ignore[reportMissingImports]

    sqlite = SqlAlchemyStore(f"sqlite:///{folder / 'mlflow.db'}", str(folder / "artifacts"))
    return {"SQLite": sqlite, "files": FileStore(str(folder / "mlruns"))}


def beside(table: Table, folder: Path, runs: list[Trained], times: int, file_runs: int) -> None:
    """The same search in ours and in MLflow's."""
    ours = milliseconds(search_ours, times)
    table.say(f"search, {len(runs):,} pre-trainings and their scores, ours: median {statistics.median(ours):.1f} ms")
    if not find_spec("mlflow") or not find_spec("sqlalchemy"):
        table.say("MLflow is not installed (tests/benchmarks/requirements.txt), so that it is not searched beside.")
        return
    from mlflow.version import VERSION  # pyright: ignore[reportMissingImports]

    for name, store in mlflow_stores(folder).items():
        # As many runs as ours has in all: a pre-training and its fine-tuning are two.
        given = [run for run in runs for _ in range(2)][: file_runs if name == "files" else None]
        experiment = filled(store, given)
        taken = milliseconds(lambda store=store, experiment=experiment: search_filed(store, experiment), times)
        median = statistics.median(taken)
        table.say(
            f"search, {len(given):,} runs, MLflow {VERSION}, {name}: median {median:.1f} ms, "
            f"{median / statistics.median(ours):.1f} times ours"
        )


def main() -> None:
    """Prints what building, pages, queries and searches take."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("--file-runs", type=int, default=10_000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    logging.disable(logging.WARNING)  # Streamlit misses its server.
    with tempfile.TemporaryDirectory() as temporary:
        measure(Path(temporary), given)


def measure(folder: Path, given: argparse.Namespace) -> None:
    """All of it, in a folder."""
    table = Table("large-store", f"large_store --scores {given.scores} --runs {given.runs} --times {given.times}")
    data, store = folder / "data", folder / "store.duckdb"
    for name in ("published", "probe_set"):
        shutil.copytree(ROOT / "data" / name, data / name)
    started = time.perf_counter()
    runs = made_up(data, given.runs, given.scores)
    table.say(f"{given.runs:,} results files written in {time.perf_counter() - started:.0f} s")
    os.environ["ADDEND_STORE"] = str(store)
    table.say(f"sync that builds: {synced(store):.0f} s, {store.stat().st_size / 1e6:.0f} MB")
    from analysis.store import read

    count = read.query("SELECT (SELECT count(*) FROM scores) AS scores, (SELECT count(*) FROM runs) AS runs").iloc[0]
    table.say(f"store: {count.scores:,} scores, {count.runs:,} runs")
    again = synced(store)
    table.say(f"command that finds nothing to do: {again:.1f} s, Python's start and imports included")
    starts = []
    for _ in range(STARTS):
        with served("dashboard/app.py", {}) as server:
            starts.append(asyncio.run(opened(server.address, given.times, server.cpu_seconds)))
    for page, name in PAGES.items():
        firsts, costs = zip(*(start[page][0] for start in starts), strict=True)
        later = [seconds for start in starts for seconds, _ in start[page][1:]]
        first = statistics.median(firsts)
        table.say(
            f"page {name:16} first, median of {STARTS} starts, {first:5.2f} s ({min(firsts):.2f} to {max(firsts):.2f}; "
            f"{statistics.median(costs):.2f} s of processor; budget {PAGE_SECONDS:g} s: "
            f"{against(first, PAGE_SECONDS)}), later median {statistics.median(later):.2f} s"
        )
    every: list[float] = []
    for page, queries in asked().items():
        for sql, parameters in queries:
            taken = milliseconds(lambda sql=sql, parameters=parameters: read.query(sql, parameters), given.times)
            every += taken
            table.say(f"{page:>9} {statistics.median(taken):8.1f} ms  {' '.join(sql.split())[:SHOWN]}")
    worst = percentile(every, 95)
    table.say(
        f"queries: {len(every)}, p50 {percentile(every, 50):.1f} ms, p95 {worst:.1f} ms; budget {QUERY_MS:g} ms: "
        f"{against(worst, QUERY_MS)}"
    )
    beside(table, folder, runs, given.times, given.file_runs)
    table.close(given.write)


if __name__ == "__main__":
    main()
