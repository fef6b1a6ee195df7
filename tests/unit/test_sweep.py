"""Proves that a sweep killed with SIGKILL and started again gives the results of one that was left alone: nothing is
lost, nothing is trained or counted twice. Likewise over two Ray workers of which one is killed.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import duckdb
import pandas as pd
import psutil
import pytest
import torch
from laboratory import write_glue, write_text
from safetensors.torch import load_file
from typer.testing import CliRunner

from analysis.ablation import corpus as corpora
from analysis.ablation.job import Job, SweepSettings, run, sweep_jobs
from analysis.ablation.majority import store_majority
from analysis.ablation.plan import FINETUNING, Finetuning, jobs, scores_id
from analysis.ablation.presets import preset
from analysis.commands import app
from analysis.core.errors import AddendError, UnknownName
from analysis.engine import local, run_all
from analysis.engine.task import ready
from analysis.models.load import load
from analysis.models.source import resolve
from analysis.store import files

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    write_text(folder / "train.txt", 300, 0)
    write_text(folder / "valid.txt", 150, 1)
    write_glue(folder / "glue")
    corpora.prepare(folder / "train.txt", folder / "valid.txt", folder / "out" / "corpus-256", vocabulary=256)
    return folder


def command(texts: Path, data: Path, out: Path, *more: str) -> tuple[list[str], dict[str, str]]:
    # One tokenizer for all: training one is not repeatable to the last piece.
    (out).mkdir(parents=True, exist_ok=True)
    if not (out / "corpus-256").exists():
        (out / "corpus-256").symlink_to(texts / "out" / "corpus-256")
    arguments = [
        *("--preset", "debug", "--variants", "frozen_word", "--seeds", "0,1"),
        *("--valid", str(texts / "valid.txt"), "--glue-dir", str(texts / "glue"), "--out", str(out), *more),
    ]
    environment = {
        **os.environ,
        "ADDEND_DATA": str(data),
        "ADDEND_STORE": str(data / "s.duckdb"),
        "OMP_NUM_THREADS": "1",
    }
    return [sys.executable, "-m", "analysis", "ablate", *arguments], environment


class WorkersHere(ThreadPoolExecutor):
    """Workers that are threads of this process, which has imported torch: a process of their own takes six seconds."""

    def __init__(self, workers: int, *, mp_context: object, **options: Any) -> None:
        super().__init__(workers, **options)


def sweep_here(asked: tuple[list[str], dict[str, str]]) -> str:
    """A sweep in this process; what it prints."""
    line, environment = asked
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(local, "ProcessPoolExecutor", WorkersHere)
        for name in ("ADDEND_DATA", "ADDEND_STORE"):
            patch.setenv(name, environment[name])
        said = CliRunner().invoke(app, line[line.index("ablate") :], catch_exceptions=False)
    assert said.exit_code == 0, said.output
    return said.output


def results(data: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Everything stored, but for what time it took."""

    def rows(folder: str, drop: str) -> pd.DataFrame:
        query = f"SELECT * EXCLUDE ({drop}) FROM '{data}/results/{folder}/*.parquet' ORDER BY ALL"
        return duckdb.sql(query).df()

    return rows("curves", "seconds"), rows("scores", "seconds"), rows("predictions", "prediction")


@pytest.fixture(scope="module")
def alone(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a sweep that nobody disturbed."""
    folder = tmp_path_factory.mktemp("alone")
    sweep_here(command(texts, folder / "data", folder / "out", "--jobs", "1"))
    return folder / "data"


def test_a_sweep_stores_every_run_once(alone: Path) -> None:
    curves, scores, predictions = results(alone)
    # frozen_word brings no_position along, whose words it takes.
    assert sorted(curves.groupby(["variant", "seed"]).ngroups * [1]) == [1] * 4
    own = scores[scores.variant != "majority"]
    assert own.groupby(["variant", "seed", "task", "metric"]).size().eq(1).all()
    assert set(own.task) == {"rte", "swapped_neighbours"}
    assert set(scores[scores.variant == "majority"].task) == {"rte", "swapped_neighbours"}
    assert set(curves.metric) >= {"validation_loss", "training_loss", "final_loss_1x", "final_loss_4x"}
    assert len(predictions) == 8
    for kind in ("curves", "scores"):
        for path in (alone / "results" / kind).glob("*.parquet"):
            about = files.read(path)[2]
            assert about["config"]
            assert about["command"].startswith("python -m analysis ablate --preset debug")


def test_the_command_of_a_run_says_what_is_not_the_presets() -> None:
    place = SweepSettings(corpus=Path("corpus"), out=Path("out"))

    def command(**changes: object) -> str:
        settings = preset("cpu", variant="tupe_a", **changes)
        return Job(pretraining=settings, finetuning=None, sweep=place, corpus_digest="").command

    whole = "python -m analysis ablate --preset cpu --variants tupe_a --seeds 0"
    assert command() == whole
    assert command(learning_rate=5e-4) == f"{whole} --learning-rate 0.0005"
    assert command(norm="pre", steps=20_000) == f"{whole} --norm pre --steps 20000"


def same(one: Path, two: Path) -> None:
    for a, b in zip(results(one), results(two), strict=True):
        pd.testing.assert_frame_equal(a, b)


def kill(process: subprocess.Popen[str]) -> None:
    """Kills the command alone: its workers end by themselves."""
    workers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _, left = psutil.wait_procs(workers, timeout=5)
    assert not left, "a worker goes on without the command that started it"


def wait_for(there: Callable[[], bool], ended: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 240
    while not there():
        assert not ended(), "the sweep ended before it could be killed"
        assert time.monotonic() < deadline, "the sweep never got so far"
        time.sleep(0.02)


def test_a_killed_sweep_goes_on_to_the_same_results(alone: Path, texts: Path, tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    line, environment = command(texts, data, out, "--jobs", "2")
    process = subprocess.Popen(line, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    curves = data / "results" / "curves"
    wait_for(lambda: len(list(curves.glob("*.parquet"))) >= 2, lambda: process.poll() is not None)
    kill(process)
    before = {path: path.stat().st_mtime_ns for path in curves.glob("*.parquet")}
    assert 2 <= len(before) < 4
    once = command(texts, data, out, "--jobs", "1")
    sweep_here(once)
    same(alone, data)
    assert all(path.stat().st_mtime_ns == when for path, when in before.items()), "a finished run was trained again"
    assert "4 of 4 runs are finished, 0 to go" in sweep_here(once)


def test_two_ray_workers_one_of_them_killed(alone: Path, texts: Path, tmp_path: Path) -> None:
    """The sweep runs in this process, its workers are processes of Ray's."""
    pytest.importorskip("ray", reason="Ray is optional; tests/requirements.txt brings it where it exists")
    data, ended = tmp_path / "data", Event()

    def workers() -> list[psutil.Process]:
        found = []
        for child in psutil.Process().children(recursive=True):
            try:
                if "ray::run" in " ".join(child.cmdline()):
                    found.append(child)
            except (psutil.NoSuchProcess, psutil.ZombieProcess):
                continue
        return found

    def kill_one() -> None:
        wait_for(lambda: any((data / "results" / "curves").glob("*.parquet")) and bool(workers()), ended.is_set)
        workers()[0].kill()

    with ThreadPoolExecutor(1) as beside:
        killed = beside.submit(kill_one)
        try:
            sweep_here(command(texts, data, tmp_path / "out", "--ray", "local"))
        finally:
            ended.set()
        killed.result()
    same(alone, data)


def test_a_job_waits_for_what_it_needs(tmp_path: Path) -> None:
    place = SweepSettings(corpus=tmp_path, out=tmp_path)
    planned = sweep_jobs(jobs("debug", ["frozen_word", "bert_a"], [0, 1]), None, sweep=place, corpus_digest="x")
    names = [(job.pretraining.variant, job.pretraining.seed) for job in planned]
    assert names == [(v, s) for s in (0, 1) for v in ("no_position", "frozen_word", "bert_a")]
    assert [j.pretraining.variant for j in ready(planned, planned, set())] == ["no_position", "bert_a"] * 2
    done = {planned[0].run_id}
    assert [j.pretraining.seed for j in ready(planned, planned, done) if j.pretraining.variant == "frozen_word"] == [0]


def test_what_cannot_be_planned_is_said() -> None:
    with pytest.raises(UnknownName, match="There is no variant named 'bert_b'"):
        jobs("debug", ["bert_b"], [0])
    with pytest.raises(AddendError, match="nothing to run"):
        jobs("debug", [], [0])
    everything = jobs("debug", ["all"], [0])
    assert len(everything) == len({p.variant for p in everything}) >= 26


def test_every_setting_of_the_fine_tuning_names_its_scores() -> None:
    plan = FINETUNING["debug"]
    other = Finetuning(tasks=plan.tasks, learning_rates=(2e-3,), settings=plan.settings, predicted=plan.predicted)
    assert scores_id("a", plan, "x") == scores_id("a", plan, "x")
    assert len({scores_id("a", plan, "x"), scores_id("b", plan, "x"), scores_id("a", other, "x")}) == 3


def test_next_token_models_are_not_fine_tuned(tmp_path: Path) -> None:
    place = SweepSettings(corpus=tmp_path, out=tmp_path)
    planned = sweep_jobs(
        jobs("debug", ["causal_bert_a", "bert_a"], [0]), FINETUNING["debug"], sweep=place, corpus_digest="x"
    )
    assert [job.finetuning is None for job in planned] == [True, False]


def test_a_failed_run_is_named_and_the_others_go_on(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(local, "ProcessPoolExecutor", WorkersHere)
    place = SweepSettings(corpus=texts / "out" / "corpus-256", out=tmp_path / "out", glue=texts / "nowhere")
    digest = corpora.load(place.corpus).digest
    broken = sweep_jobs(
        [preset("debug", variant="bert_a", steps=2)], FINETUNING["debug"], sweep=place, corpus_digest=digest
    )
    good = sweep_jobs([preset("debug", variant="no_position", steps=2)], None, sweep=place, corpus_digest=digest)
    failed = run_all([*broken, *good], workers=1)
    assert [(job.pretraining.variant, "is no folder" in reason) for job, reason in failed] == [("bert_a", True)]
    assert good[0].finished
    assert not broken[0].finished


def test_a_run_that_diverges_is_a_result(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its curve is stored with the loss that was lost, and it is neither trained again nor fine-tuned."""
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    place = SweepSettings(corpus=texts / "out" / "corpus-256", out=tmp_path / "out", glue=texts / "glue")
    digest = corpora.load(place.corpus).digest
    settings = preset("debug", variant="no_position", learning_rate=1e30)
    (job,) = sweep_jobs([settings], FINETUNING["debug"], sweep=place, corpus_digest=digest)
    with pytest.raises(
        AddendError, match=r"is nan at step 10; lower the learning rate \(1e\+30\)\. The curve is stored"
    ):
        run(job)
    assert job.finished
    _, table, _ = files.read(next((tmp_path / "data" / "results" / "curves").glob("*.parquet")))
    losses = [row["value"] for row in table.to_pylist() if row["metric"] == "training_loss"]
    assert len(losses) == 1
    assert losses[0] != losses[0]
    run(job)


def test_a_fine_tuning_that_diverges_takes_no_other_with_it(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    place = SweepSettings(
        corpus=texts / "out" / "corpus-256", out=tmp_path / "out", glue=texts / "glue", valid_text=texts / "valid.txt"
    )
    plan = replace(FINETUNING["debug"], learning_rates=(1e-3, 1e30))
    digest = corpora.load(place.corpus).digest
    (job,) = sweep_jobs([preset("debug", variant="no_position", steps=2)], plan, sweep=place, corpus_digest=digest)
    run(job)
    assert job.finished
    (path,) = (tmp_path / "data/results/scores").glob("*.parquet")
    _, table, about = files.read(path)
    rows = table.to_pylist()
    assert {(row["task"], row["learning_rate"]) for row in rows} == {("rte", 1e-3), ("swapped_neighbours", 1e-3)}
    assert about["config"]["diverged"] == ["rte at 1e+30, seed 0", "swapped_neighbours at 1e+30, seed 0"]


def test_majority_scores_are_stored_once(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    place = SweepSettings(corpus=tmp_path, out=tmp_path, glue=texts / "glue", valid_text=texts / "valid.txt")
    for _ in range(2):
        store_majority("debug", FINETUNING["debug"], place)
    (path,) = (tmp_path / "results" / "scores").glob("*.parquet")
    _, table, _ = files.read(path)
    rows = {row["task"]: row for row in table.to_pylist()}
    dev = [line.split("\t")[0] for line in (texts / "glue/RTE/dev.tsv").read_text().splitlines()[1:]]
    assert rows["rte"]["dev_examples"] == 32
    assert 0.3 <= rows["rte"]["value"] <= 0.7
    assert len(dev) == 40


def test_a_job_that_is_finished_is_left_alone(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    place = SweepSettings(corpus=texts / "out" / "corpus-256", out=tmp_path / "out")
    digest = corpora.load(place.corpus).digest
    job = Job(pretraining=preset("debug", steps=2), finetuning=None, sweep=place, corpus_digest=digest)
    run(job)
    said: list[str] = []
    run(job, lambda what, done: said.append(what))
    assert said == []


def test_a_causal_checkpoint_is_kept_with_its_head(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from analysis.commands.keep_checkpoint import keep_checkpoint

    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "store.duckdb"))
    place = SweepSettings(out=tmp_path / "out", corpus=texts / "out" / "corpus-256", valid_text=texts / "valid.txt")
    job = Job(
        pretraining=preset("debug", variant="causal_no_position", steps=2),
        finetuning=None,
        sweep=place,
        corpus_digest=corpora.load(place.corpus).digest,
    )
    run(job)
    keep_checkpoint(job.folder, corpus="made", licence="ours")
    folder = tmp_path / "data/checkpoints/debug-causal_no_position-0"
    assert json.loads((folder / "config.json").read_text())["architectures"] == ["AddendForCausalLM"]
    assert "Next-token prediction" in (folder / "README.md").read_text(encoding="utf-8")
    head = load(resolve(str(folder)), head=True).model.get_output_embeddings()
    assert torch.equal(head.weight, load_file(folder / "model.safetensors")["addend.embeddings.word_embeddings.weight"])


def test_a_kept_checkpoint_is_not_trained_again(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its fine-tunings start from the stored weights, and the results say in which precision those are."""
    from analysis.commands.keep_checkpoint import keep_checkpoint

    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "store.duckdb"))
    monkeypatch.chdir(ROOT)
    shared = {"corpus": texts / "out" / "corpus-256", "glue": texts / "glue", "valid_text": texts / "valid.txt"}
    digest = corpora.load(shared["corpus"]).digest
    settings = preset("debug", variant="no_position", steps=2)
    first = Job(
        pretraining=settings, finetuning=None, sweep=SweepSettings(out=tmp_path / "one", **shared), corpus_digest=digest
    )
    run(first)
    keep_checkpoint(first.folder, corpus="made", licence="ours")
    (curve,) = (tmp_path / "data/results/curves").glob("*.parquet")
    before = curve.stat().st_mtime_ns
    later = Job(
        pretraining=settings,
        finetuning=FINETUNING["debug"],
        sweep=SweepSettings(out=tmp_path / "two", **shared),
        corpus_digest=digest,
    )
    said: list[str] = []
    run(later, lambda what, done: said.append(what))
    assert later.finished
    assert "pre-training" not in said
    assert curve.stat().st_mtime_ns == before
    (path,) = (tmp_path / "data/results/scores").glob("*.parquet")
    assert files.read(path)[2]["config"]["weights"] == "float16, as kept in data/checkpoints"
    needs = Job(
        pretraining=preset("debug", variant="frozen_word", steps=2),
        finetuning=None,
        sweep=later.sweep,
        corpus_digest=digest,
    )
    run(needs)
    assert needs.finished
