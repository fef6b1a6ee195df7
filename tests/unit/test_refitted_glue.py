"""Refitted encoders fine-tuned on GLUE: rows, rates and weights that they start from, and verdicts by their rules."""

import json
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from judged import statement
from scipy import stats

from analysis.ablation.glue import metrics
from analysis.ablation.glue.examples import Split, TaskData
from analysis.claims.statements import refitted, refitted_glue
from analysis.claims.statements.judgement import CONTRADICTED, OPEN, SUPPORTED
from analysis.core import frames
from analysis.core.errors import AddendError
from analysis.measurements.refit.glue import RefittedGlueJob, best_rates, held_out_of_train, jobs
from analysis.rules.refit_rules import refit_rules
from analysis.rules.refitted_glue_rules import refitted_glue_rules
from analysis.store.read import query

RULES = refitted_glue_rules()
SEEDS = RULES.purposes["judged"].seeds
GOOD = {"rules": {"sha256": RULES.sha256}, "began": "9999-01-01T00:00:00Z"}
REFIT = {"rules": {"sha256": refit_rules().sha256}, "began": "9999-01-01T00:00:00Z"}


def job(**changes: Any) -> RefittedGlueJob:
    about: dict[str, Any] = {
        "arm": "minilm_rotary",
        "seed": 1,
        "purpose": "judged",
        "learning_rate": 1e-4,
        "refit": "r1",
    }
    paths: dict[str, Any] = {"glue": Path("g"), "out": Path("o"), "weights": Path("w")}
    return RefittedGlueJob(**about | paths | changes)


# What is trained -------------------------------------------------------------------------------------


def test_a_pilot_is_scored_on_rows_of_train_that_it_is_not_trained_on() -> None:
    def split(name: str, rows: int) -> Split:
        return Split(texts=[f"{name} {row}" for row in range(rows)], pairs=None, labels=np.arange(rows) % 2)

    data = TaskData(task="cola", train=split("train", 95), dev={"cola": split("dev", 20)}, data="official")
    pilot = held_out_of_train(data)
    assert pilot.dev["cola"].texts == [f"train {row}" for row in range(0, 95, 10)]
    assert sorted([*pilot.train.texts, *pilot.dev["cola"].texts]) == sorted(data.train.texts)
    assert pilot.shared() == {"cola": 0}
    assert pilot.data != data.data, "its scores are not those of the official dev set"


def test_the_name_of_a_run_follows_from_what_its_numbers_depend_on() -> None:
    names = {job(**change).run_id for change in ({}, {"refit": "r2"}, {"learning_rate": 2e-4}, {"purpose": "pilot"})}
    assert len(names) == 4
    assert job().run_id == job(glue=Path("elsewhere"), weights=Path("elsewhere")).run_id
    assert set(job().tasks) == {"cola", "mrpc", "rte", "stsb"}
    assert set(job(purpose="pilot").tasks) == {"cola", "stsb"}


def test_a_pilot_starts_from_the_newest_judged_refit_of_seed_0(store: Any, tmp_path: Path) -> None:
    newest = {
        (row["arm"], row["seed"]): row["run_id"]
        for row in frames.records(query("SELECT f.*, r.created FROM refits f JOIN runs r USING (run_id)"))
        if row["purpose"] == "judged"
    }
    arms = ["minilm_rotary", "minilm_intact"]
    for arm in arms:
        (tmp_path / newest[arm, 0]).mkdir()
        (tmp_path / newest[arm, 0] / "weights.pt").touch()
    made = jobs("pilot", arms, [100], glue=tmp_path, refits=tmp_path, out=tmp_path)
    assert [(one.arm, one.learning_rate, one.refit) for one in made] == [
        (arm, rate, newest[arm, 0]) for arm in arms for rate in RULES.rates
    ]
    assert all(one.seed == 100 and one.weights and one.weights.is_file() for one in made)
    with pytest.raises(AddendError, match=r"no_cross, seed 0 .* --weights --arms minilm_no_cross --seeds 0"):
        jobs("pilot", ["minilm_no_cross"], [100], glue=tmp_path, refits=tmp_path, out=tmp_path)


def pilot_rows(arm: str, scores: dict[float, tuple[float, float]], config: Any = GOOD) -> list[dict[str, Any]]:
    return [
        {
            "variant": arm, "learning_rate": rate, "task": task, "metric": metric, "value": value,
            "config": json.dumps(config),
        }
        for rate, (cola, stsb) in scores.items()
        for task, metric, value in (
            ("cola", "roc_auc", cola), ("stsb", "pearson", stsb), ("cola", "matthews_correlation", rate)
        )
    ]  # fmt: skip


def test_the_rate_is_that_of_the_best_mean_over_the_pilots_tasks() -> None:
    scores = {5e-5: (0.70, 0.80), 1e-4: (0.72, 0.84), 2e-4: (0.75, 0.80)}
    assert best_rates(pilot_rows("minilm_rotary", scores)) == {"minilm_rotary": 1e-4}
    assert best_rates(pilot_rows("minilm_rotary", {rate: scores[rate] for rate in (5e-5, 1e-4)})) == {}
    assert best_rates(pilot_rows("minilm_rotary", scores, GOOD | {"rules": {"sha256": "another"}})) == {}


def test_the_area_under_the_curve_is_that_of_mann_and_whitney() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 200)
    outputs = np.round(labels + random.normal(size=200), 1)  # with ties
    found = metrics.area_under_curve(labels, outputs)
    u = stats.mannwhitneyu(outputs[labels == 1], outputs[labels == 0]).statistic
    assert found == pytest.approx(u / ((labels == 1).sum() * (labels == 0).sum()))
    assert metrics.area_under_curve(np.ones(5), np.arange(5.0)) == 0.5


@pytest.mark.torch
def test_a_classifier_starts_from_the_refitted_weights(tmp_path: Path) -> None:
    import torch

    from analysis.measurements.surgery.finetuned import build_classifier

    name = "encoder.layer.3.output.dense.weight"
    changed = build_classifier("minilm_no_position", 2).encoder
    with torch.no_grad():
        changed.get_parameter(name).add_(1.0)
    torch.save(changed.state_dict(), tmp_path / "weights.pt")
    found = build_classifier("minilm_no_position", 2, tmp_path / "weights.pt").encoder
    plain = build_classifier("minilm_no_position", 2).encoder
    for other, weight in found.state_dict().items():
        assert torch.equal(weight, changed.state_dict()[other])
    assert torch.equal(found.get_parameter(name), plain.get_parameter(name) + 1.0)
    trained = {name for name, weight in found.named_parameters() if weight.requires_grad}
    assert trained == {name for name, weight in plain.named_parameters() if weight.requires_grad}
    assert not any("embeddings.position" in name or "embeddings.word" in name for name in trained)


# Verdicts --------------------------------------------------------------------------------------------


def noise(arm: str, seed: int) -> float:
    """A small number of its own for every run."""
    return (crc32(f"{arm} {seed}".encode()) % 9 - 4) / 2_000


def scores(arm: str, auc: float, stsb: float = 0.85, *, mcc: float = 0.3, config: Any = GOOD, wild: float = 1) -> Any:
    """The rows of an arm. wild: how many times the usual noise its scores have."""
    for seed in SEEDS:
        about = {"variant": arm, "seed": seed, "run_id": f"{arm}-{seed}", "config": json.dumps(config)}
        values = {"roc_auc": auc + wild * noise(arm, seed), "matthews_correlation": mcc}
        for metric, value in values.items():
            yield about | {"task": "cola", "metric": metric, "value": value}
        yield about | {"task": "stsb", "metric": "pearson", "value": stsb + noise(arm, seed)}


def refits(arm: str, *, flat: bool) -> Any:
    """The judged refits of an arm that levelled off, or did not."""
    ends = {RULES.control: (0.05, 0.05), RULES.floor: (0.25, 0.25)}
    before, end = ends.get(arm, (0.1 if flat else 0.15, 0.1))
    for seed in SEEDS:
        about: dict[str, Any] = {
            "arm": arm,
            "seed": seed,
            "run_id": f"{arm}-{seed}",
            "config": json.dumps(REFIT),
            "measure": "loss",
        }
        for tokens, value in ((800_000, before), (1_000_000, end)):
            yield about | {"tokens": tokens, "value": value}


CONTROL, FLOOR = list(scores(RULES.control, 0.75)), list(scores(RULES.floor, 0.65))


def judged(*given: Any, control: Any = CONTROL, floor: Any = FLOOR, flat: bool = True) -> dict[str, Any]:
    stored = [row for some in (control, floor, *given) for row in some]
    trained = [row for arm in {row["variant"] for row in stored} for row in refits(arm, flat=flat)]

    def ask(sql: str) -> Any:
        hours = [{"preset": refitted.PRESET, "hours": 0.2}, {"preset": refitted_glue.PRESET, "hours": 0.5}]
        return stored if sql == refitted_glue.SCORES else trained if sql == refitted.ROWS else hours

    return {one.id: one for one in refitted_glue.judge(ask, {})}


def of(arm: str, task: str = "cola") -> str:
    return next(one.id for one in RULES.statements if (one.arm, one.task) == (arm, task))


ROTARY = of("minilm_rotary")


@pytest.mark.parametrize(
    ("auc", "verdict"), [(0.76, SUPPORTED), (0.745, SUPPORTED), (0.73, OPEN), (0.70, CONTRADICTED)]
)
def test_what_is_missed_on_cola_is_in_points_paired_by_seed(auc: float, verdict: str) -> None:
    found = judged(scores("minilm_rotary", auc))[ROTARY]
    shares = [100 * (0.75 + noise(RULES.control, seed) - auc - noise("minilm_rotary", seed)) for seed in SEEDS]
    low, high = stats.t.interval(0.95, len(SEEDS) - 1, np.mean(shares), stats.sem(shares))
    assert (found.effect, found.low, found.high) == pytest.approx((np.mean(shares), low, high))
    assert found.verdict == verdict
    assert bool(found.answer) == (verdict != OPEN)


def test_the_floor_is_worse_on_cola_and_hardly_on_stsb() -> None:
    found = judged()
    assert found[of(RULES.floor)].verdict == SUPPORTED
    assert found[of(RULES.floor, "stsb")].verdict == SUPPORTED
    needs = judged(floor=list(scores(RULES.floor, 0.745, 0.80)))
    assert needs[of(RULES.floor)].verdict == CONTRADICTED
    assert needs[of(RULES.floor, "stsb")].verdict == CONTRADICTED


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"floor": list(scores(RULES.floor, 0.73))}, "does not tell the encoder without positions"),
        ({"arm": list(scores("minilm_rotary", 0.75, mcc=0.0))}, "the same answer to every sentence"),
        ({"arm": list(scores("minilm_rotary", 0.75, wild=50))}, "spread by more than 2 points"),
        ({"arm": list(scores("minilm_rotary", 0.70)), "flat": False}, "had not levelled off"),
        ({"arm": list(scores("minilm_rotary", 0.75))[3:]}, "1 training still to be run"),
        ({"arm": list(scores("minilm_rotary", 0.75, config={}))}, "5 trainings still to be run"),
    ],
)
def test_a_gate_keeps_a_statement_open_and_says_why(given: dict[str, Any], reason: str) -> None:
    arm = given.pop("arm", list(scores("minilm_rotary", 0.75)))
    found = judged(arm, **given)[ROTARY]
    assert found.verdict == OPEN
    assert reason in found.sentence
    assert found.answer == ""


def test_scores_that_spread_are_asked_for_as_many_seeds_as_their_spread_needs() -> None:
    """The larger the spread, the more seeds decide the same difference, each with its refitting."""
    found = {wild: judged(scores("minilm_rotary", 0.60, wild=wild))[ROTARY] for wild in (30, 60)}
    seeds = {wild: int(one.would_decide.split()[0]) for wild, one in found.items()}
    assert 2 <= seeds[30] < seeds[60]
    for wild, one in found.items():
        assert "whose limit on the spread fits these scores" in one.would_decide
        assert f"{2 * seeds[wild]} encoders to be refitted and fine-tuned, about" in one.would_decide
        assert one.hours == pytest.approx(2 * seeds[wild] * (0.2 + 0.5))


def test_an_arm_that_is_as_good_needs_not_have_levelled_off() -> None:
    assert judged(scores("minilm_rotary", 0.75), flat=False)[ROTARY].verdict == SUPPORTED


def test_every_statement_says_something_in_both_cases_and_names_arms_that_are_run() -> None:
    for one in RULES.statements:
        assert {one.arm, one.baseline} <= set(RULES.arms)
        for text in (one.supported, one.contradicted):
            assert text.format(size="7.0").endswith(".")


@pytest.mark.parametrize(
    ("id", "arm", "line", "verdict"),
    [("C19b", "minilm_no_cross", 1, CONTRADICTED), ("C10m", "minilm_separated_read", -1, SUPPORTED)],
)
def test_averages_over_glue_are_compared_as_scipy_compares_them(
    store: Any, id: str, arm: str, line: float, verdict: str
) -> None:
    scored = query(
        "SELECT s.variant, s.seed, s.task, s.value FROM scores s JOIN tasks t USING (task, metric) "
        "WHERE s.preset = 'refitted' AND s.variant IN (?, 'minilm_intact')",
        [arm],
    )
    points = 100 * scored.pivot(index="seed", columns=["variant", "task"], values="value")
    assert points.shape == (5, 8)
    differences = points[arm].mean(axis=1) - points["minilm_intact"].mean(axis=1)
    interval = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    one = statement(id)
    assert (one.effect, one.low, one.high) == pytest.approx((differences.mean(), *interval), abs=1e-3)
    assert (one.line, one.verdict) == (line, verdict)
