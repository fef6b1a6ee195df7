"""Fine-tuned surgery judged by its frozen rules, on made-up scores whose verdict can be worked out by hand."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from analysis.claims.statements import tuned
from analysis.claims.statements.judgement import CONTRADICTED, OPEN, SUPPORTED
from analysis.rules import surgery_rules
from analysis.statistics import difference, unresolved_reason

RULES = surgery_rules()
GOOD = {"rules": {"sha256": RULES.sha256}, "began": "2999-01-01T00:00:00Z"}
INTACT = {"cola": 0.45, "sst2": 0.90, "mrpc": 0.88, "stsb": 0.87}


def rows(arm: str, less: Callable[[int], float], config: Any = GOOD, seeds: tuple[int, ...] = RULES.seeds) -> list[Any]:
    """Every task of every seed at the intact model's value less so many points."""
    return [
        {
            "variant": arm,
            "seed": seed,
            "task": task,
            "value": INTACT[task] - less(seed) / 100,
            "run_id": f"{arm}-{seed}",
            "config": json.dumps(config),
        }
        for seed in seeds
        for task in RULES.tasks
    ]


def judged(*given: list[Any]) -> dict[str, Any]:
    stored = [row for some in given for row in some]
    return {one.id: one for one in tuned.judge(lambda sql: stored if sql == tuned.SCORES else [], {})}


def of(arm: str, baseline: str) -> str:
    return next(one.id for one in RULES.statements if (one.arm, one.baseline) == (arm, baseline))


APART = of("minilm_separated", "minilm_intact")
GONE = of("minilm_no_position", "minilm_intact")
intact = rows("minilm_intact", lambda seed: 0.1 * seed)


def test_a_difference_within_the_margin_by_both_tests_is_the_same() -> None:
    found = judged(intact, rows("minilm_separated", lambda seed: 0.1 * seed + [0.1, 0.2, 0.15][seed]))[APART]
    assert found.verdict == SUPPORTED
    assert found.effect == pytest.approx(-0.15)
    expected = stats.t.interval(0.95, 2, -0.15, stats.sem([-0.1, -0.2, -0.15]))
    assert (found.low, found.high) == pytest.approx(expected)


def test_a_large_difference_contradicts_that_it_is_the_same_and_a_noisy_one_is_open() -> None:
    assert judged(intact, rows("minilm_no_position", lambda seed: 5 + 0.3 * seed))[GONE].verdict == CONTRADICTED
    noisy = judged(intact, rows("minilm_no_position", lambda seed: [0.0, 6.0, 1.0][seed]))[GONE]
    assert noisy.verdict == OPEN
    assert "contains zero" in noisy.sentence
    assert "new seeds of each arm" in noisy.would_decide, "seeds that were looked at are not added to"


def test_an_interval_that_excludes_zero_is_kept_open_by_holm_alone() -> None:
    none = dict.fromkeys(range(3), 0.0)
    far, near = difference({0: 5.0, 1: 5.5, 2: 6.0}, none), difference({0: -1.0, 1: 2.0, 2: 3.0}, none)
    assert far.low > 0 > near.low
    assert "Holm" in unresolved_reason(far)
    assert "contains zero" in unresolved_reason(near)


def test_it_is_open_until_every_seed_of_both_is_stored() -> None:
    found = judged(intact, rows("minilm_separated", lambda seed: 0.1, seeds=RULES.seeds[:2]))[APART]
    assert found.verdict == OPEN
    assert "1 of 6 fine-tunings are still to be run" in found.sentence
    partly = rows("minilm_separated", lambda seed: 0.1)[:-1]  # the last task of the last seed
    assert "1 of 6" in judged(intact, partly)[APART].sentence


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"rules": {"sha256": "0" * 64}, "began": GOOD["began"]},
        {"rules": GOOD["rules"], "began": "2020-01-01T00:00:00Z"},
        {"rules": GOOD["rules"]},
    ],
)
def test_runs_of_other_rules_or_begun_before_them_decide_nothing(config: Any) -> None:
    found = judged(intact, rows("minilm_separated", lambda seed: 0.1, config))[APART]
    assert "3 of 6" in found.sentence
    assert tuned.refusal(config, RULES)


def test_an_intact_model_that_is_not_good_enough_decides_nothing() -> None:
    weak = rows("minilm_intact", lambda seed: 4.0)
    found = judged(weak, rows("minilm_separated", lambda seed: 4.1))[APART]
    assert found.verdict == OPEN
    assert "0.830 on stsb, and the rule asks for at least 0.85" in found.sentence


def test_a_run_that_diverged_counts_as_nothing_right() -> None:
    lost = [
        row | {"value": float("nan")} if row["task"] == "cola" else row
        for row in rows("minilm_separated", lambda seed: 0.0)
    ]
    found = judged(intact, lost)[APART]
    assert found.effect == pytest.approx(-45 / 4 + np.mean([0.0, 0.1, 0.2]))


def test_the_correction_counts_statements_that_are_not_there_yet() -> None:
    """Six statements: a p-value of 0.02 alone is 0.12 after Holm's correction."""
    less = [2.0, 3.2, 2.6]
    found = judged(intact, rows("minilm_no_position", lambda seed: 0.1 * seed + less[seed]))[GONE]
    p = stats.ttest_1samp(less, 0).pvalue
    assert p < 0.05 < len(RULES.statements) * p
    assert found.verdict == OPEN
    assert replace(found, verdict=CONTRADICTED).effect == pytest.approx(-2.6)
