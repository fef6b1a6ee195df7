"""Scores of fine-tuned surgery reach the store, the ledger and the GLUE page under preset `surgery`."""

from pathlib import Path

import numpy as np
import pytest
from judged import fine_tuned

from analysis import links, store_build
from analysis.ablation.glue.finetune import Outcome
from analysis.ablation.glue.tasks import TASKS
from analysis.figures import FIGURES, drawing
from analysis.figures.glue.headline import headline
from analysis.figures.glue.study_rows import GlueParameters, study_and_table
from analysis.measurements.surgery.finetuned import PRESET, SurgeryJob, TaskResult
from analysis.rules import surgery_rules
from analysis.store import read

INTACT = {"cola": 0.4, "sst2": 0.89, "mrpc": 0.87, "stsb": 0.87}
LESS = {"minilm_intact": 0.0, "minilm_separated": 0.002, "minilm_no_position": 0.05}


def result(job: SurgeryJob, task: str, value: float) -> TaskResult:
    """What a fine-tuning of a task leaves behind."""
    outcome = Outcome(
        task=task,
        predictions={task: np.zeros(100)},
        metrics={task: dict.fromkeys(TASKS[task].metrics, value)},
        replicates={task: np.full(20, value)},
        seconds=1.0,
        steps=1,
        train_examples=4_000,
        dev_examples={task: 100},
        truncated={},
        data="official",
        settings={},
        seed=job.seed,
    )
    return {"began": "2999-01-01T00:00:00Z", "seconds": 1.0, "rows": outcome.rows(job.shared)}


@pytest.fixture
def tuned(data: Path) -> Path:
    """Three arms, three seeds, four tasks; differences between arms vary a little from seed to seed."""
    for arm, less in LESS.items():
        for seed in surgery_rules().seeds:
            job = SurgeryJob(arm=arm, seed=seed, glue=data, out=data)
            spread = 0.0005 * list(LESS).index(arm) * seed
            lost = less + 0.0025 * seed + spread
            job._store([result(job, task, INTACT[task] - lost) for task in surgery_rules().tasks])
            assert job.finished
    assert store_build.refresh().problems == []
    return data


def test_every_score_is_in_the_views_with_the_rules_it_was_made_under(tuned: Path) -> None:
    found = read.query("SELECT * FROM own_scores WHERE preset = 'surgery'")
    per_run = sum(len(TASKS[task].metrics) for task in surgery_rules().tasks)
    assert len(found) == len(LESS) * len(surgery_rules().seeds) * per_run
    assert set(found.rules_sha) == {surgery_rules().sha256}
    own = found[(found.variant == "minilm_no_position") & (found.task == "sst2") & (found.seed == 0)]
    assert own.value.tolist() == pytest.approx([0.84])


def test_the_ledger_and_the_page_say_the_same(tuned: Path) -> None:
    same, worse, waits = (fine_tuned(id) for id in ("C10f", "C16e", "C09d"))
    assert same.verdict == "supported"
    assert worse.verdict == "contradicted"
    assert worse.effect == pytest.approx(-5, abs=0.2)
    assert waits.verdict == "open"
    assert "3 of 6 fine-tunings are still to be run" in waits.sentence
    study, _ = study_and_table(GlueParameters(preset=PRESET, table=""))
    assert study.baseline == "minilm_intact"
    said = headline(study)
    log = read.query("SELECT id, sentence FROM superseded WHERE replaced_by = 'withdrawn'").set_index("id").sentence
    assert [log[one.id] for one in (same, worse, waits)] == [same.sentence, worse.sentence, waits.sentence]
    assert said[0] == "One model, fine-tuned after each operation: 0 of 1 statements about it are decided."
    assert not any(one.id in sentence for one in (same, worse, waits) for sentence in said)


@pytest.mark.parametrize("name", ["glue_average", "glue_difference", "glue_scores"])
def test_the_figures_of_glue_are_drawn_of_one_model(tuned: Path, name: str) -> None:
    figure = FIGURES[name].of(links.VIEWS["glue"].defaults() | {"preset": PRESET, "table": ""})
    assert "fine-tuning seeds of one model" in figure.caption
    assert "pre-training seeds" not in figure.caption
    assert np.isfinite(figure.frame().value.dropna()).all()
    drawing.compose(figure).to_dict()
