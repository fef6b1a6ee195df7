"""Proves that every task is whole, is called what published tables call it, and that none drags torch in."""

import csv
import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.ablation.glue.tasks import METRICS, TASKS
from analysis.core.errors import UnknownName

ROOT = Path(__file__).resolve().parents[2]
GLUE = [name for name, task in TASKS.items() if task.glue]


def test_the_tasks_are_those_of_glue_and_our_own() -> None:
    assert set(GLUE) == {"cola", "sst2", "mrpc", "stsb", "qqp", "mnli", "mnli_mismatched", "qnli", "rte", "wnli"}
    assert set(TASKS) - set(GLUE) == {"swapped_neighbours"}
    with pytest.raises(UnknownName, match=r"^There is no task named 'snli'\. Known: cola, "):
        TASKS["snli"]


@pytest.mark.parametrize("name", TASKS)
def test_contract(name: str) -> None:
    task = TASKS[name]
    assert task.name == name
    for text in (task.title, task.summary, task.paper):
        assert text.strip() == text != ""
    assert task.metrics
    assert set(task.metrics) <= set(METRICS)
    assert 1 <= len(task.texts) <= 2
    assert task.regression == (task.bounds is not None) == (set(task.metrics) <= {"pearson", "spearmanr"})
    assert task.num_labels == (1 if task.regression else len(task.labels))
    assert len(set(task.labels)) == len(task.labels) != 1
    if "f1" in task.metrics:
        assert task.labels == ("0", "1"), "the second is the positive one"
    assert dataclasses.is_dataclass(task)
    with pytest.raises(dataclasses.FrozenInstanceError):
        task.title = "another"  # type: ignore[misc]
    with pytest.raises(ValueError, match=f"the task {name!r} is registered already"):
        TASKS.add(task.name, task)


@pytest.mark.parametrize("name", GLUE)
def test_a_glue_task_says_where_its_files_keep_what(name: str) -> None:
    task = TASKS[name]
    assert task.folder
    assert task.hub
    assert len(task.official_texts) == len(task.hub_texts) == len(task.texts)
    assert min(task.train_rows) > task.dev_rows > 0
    if task.official_columns:
        assert {task.official_label, *task.official_texts} <= set(task.official_columns)
    if task.trained_on:
        shared = TASKS[task.trained_on]
        for field in ("labels", "folder", "hub", "official_label", "official_texts", "train_rows", "trained_on"):
            assert field == "trained_on" or getattr(task, field) == getattr(shared, field)
        assert shared.trained_on is None
        assert (task.dev_file, task.hub_dev) != (shared.dev_file, shared.hub_dev)


@pytest.mark.parametrize("name", [name for name in GLUE if name != "wnli"])  # no paper we read prints WNLI
def test_names_and_metrics_are_those_of_the_published_tables(name: str) -> None:
    with open(ROOT / "data/published/metrics.csv", encoding="utf-8", newline="") as file:
        printed = [row for row in csv.DictReader(file) if row["task"] == name]
    assert {row["metric"] for row in printed} == set(TASKS[name].metrics)
    assert {row["task_title"] for row in printed} == {TASKS[name].title}


def test_tasks_files_and_metrics_need_no_torch() -> None:
    code = (
        "import sys; import analysis.ablation.glue, analysis.ablation.glue.metrics; "
        "import analysis.ablation.glue.swapped_neighbours; "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
