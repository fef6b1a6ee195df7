"""Refitted encoders judged by their frozen rules, on made-up runs whose verdict can be worked out by hand."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from judged import ask, statement
from scipy import stats

from analysis.claims.statements import refitted
from analysis.claims.statements.judgement import CONTRADICTED, OPEN, SUPPORTED
from analysis.rules.refit_rules import refit_rules

RULES = refit_rules()
GOOD = {"rules": {"sha256": RULES.sha256}, "began": "2999-01-01T00:00:00Z"}
SEEDS = RULES.purposes["judged"].seeds
TIMED = [{"preset": "refit", "hours": 0.2}]
"""The hours of a refit, as the store would give them."""
TOKENS = [int(1_000_000 * share) for share in RULES.purposes["judged"].evaluations]


def noise(arm: str, seed: int) -> float:
    """A small number of its own for every run."""
    return (crc32(f"{arm} {seed}".encode()) % 9 - 4) / 4_000


def rows(arm: str, end: float, *, order: float = 0.9, start: float = 1.0, config: Any = GOOD, flat: bool = True) -> Any:
    """An arm whose loss falls from `start` to `end`: on a line until 0.7 of the tokens, or if not `flat` to the end."""
    last = 0.7 if flat else 1.0
    for seed in SEEDS:
        about = {"arm": arm, "seed": seed, "run_id": f"{arm}-{seed}", "config": json.dumps(config)}
        for tokens in TOKENS:
            done = min(tokens / 1_000_000 / last, 1)
            yield about | {
                "measure": "loss",
                "tokens": tokens,
                "value": start + (end + noise(arm, seed) - start) * done,
            }
        yield about | {"measure": "order", "tokens": TOKENS[-1], "value": order + noise(arm, seed)}


CONTROL = list(rows(RULES.control, 0.05, start=0.0))
FLOOR = list(rows(RULES.floor, 0.25, order=0.5))


def judged(*given: Any) -> dict[str, Any]:
    stored = [row for some in (CONTROL, FLOOR, *given) for row in some]
    return {one.id: one for one in refitted.judge(lambda sql: stored if sql == refitted.ROWS else TIMED, {})}


def of(arm: str, end: str = "missed") -> str:
    return next(one.id for one in RULES.statements if (one.arm, one.end) == (arm, end))


ROTARY = of("minilm_rotary")


def missed(end: float, factor: Any = lambda seed: 1) -> list[float]:
    """The share of each seed that rotary misses."""
    result = []
    for seed in SEEDS:
        arm, control, floor = (
            value + noise(name, seed)
            for name, value in (("minilm_rotary", end), (RULES.control, 0.05), (RULES.floor, 0.25))
        )
        result.append((arm * factor(seed) - control) / (floor - control))
    return result


@pytest.mark.parametrize(
    ("end", "verdict"),
    [(0.055, SUPPORTED), (0.07 - 0.01, SUPPORTED), (0.07, OPEN), (0.10, CONTRADICTED), (0.24, CONTRADICTED)],
)
def test_what_is_missed_is_a_share_of_what_positions_are_worth(end: float, verdict: str) -> None:
    found = judged(rows("minilm_rotary", end))[ROTARY]
    assert found.effect == pytest.approx(np.mean(missed(end)))
    assert found.verdict == verdict
    assert found.line == 0.1
    assert bool(found.answer) == (verdict != OPEN)


def test_the_interval_is_students(monkeypatch: pytest.MonkeyPatch) -> None:
    spread = [row | {"value": row["value"] * (1 + 0.02 * row["seed"])} for row in rows("minilm_rotary", 0.08)]
    found = judged(spread)[ROTARY]
    shares = missed(0.08, lambda seed: 1 + 0.02 * seed)
    low, high = stats.t.interval(0.95, len(SEEDS) - 1, np.mean(shares), stats.sem(shares))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_an_arm_that_still_learns_is_not_said_to_have_failed() -> None:
    found = judged(rows("minilm_rotary", 0.10, flat=False))[ROTARY]
    assert found.verdict == OPEN
    assert "it has not recovered yet" in found.sentence
    assert "4,000,000 tokens for each of 3 encoders, with 3 seeds each" in found.would_decide
    assert "9 trainings, about 7.2 hours" in found.would_decide, "four times as long as those of a million"
    recovered = {flat: judged(rows("minilm_rotary", 0.055, flat=flat))[ROTARY] for flat in (False, True)}
    assert {one.verdict for one in recovered.values()} == {SUPPORTED}, "it has already recovered"
    assert {flat: "still falling" in one.sentence for flat, one in recovered.items()} == {False: True, True: False}


def test_half_the_way_is_read_from_a_line_between_evaluations() -> None:
    arms = [*rows("minilm_rotary", 0.05, flat=False), *rows("minilm_permuted", 0.05, flat=True)]
    runs = refitted.load_runs([*CONTROL, *FLOOR, *arms], RULES)
    for arm, last in (("minilm_rotary", 1_000_000), ("minilm_permuted", 700_000)):
        logarithms = refitted.values("half_tokens", arm, runs, RULES)
        for seed in SEEDS:
            ends = [value + noise(name, seed) for name, value in ((RULES.control, 0.05), (RULES.floor, 0.25))]
            expected = last * (1 - np.mean(ends)) / (1 - 0.05 - noise(arm, seed))
            assert math.exp(logarithms[seed]) == pytest.approx(expected)
    found = judged(arms)[of("minilm_rotary", "half_tokens")]
    assert found.effect == pytest.approx(1 / 0.7, rel=0.01)
    assert found.verdict == CONTRADICTED
    nearer = [*arms[: len(arms) // 2], *rows("minilm_permuted", 0.05, start=0.1)]
    assert judged(nearer)[of("minilm_rotary", "half_tokens")].verdict == OPEN


def test_order_is_judged_only_if_the_probe_finds_it_in_the_intact_encoder() -> None:
    id = of("minilm_no_position", "order_error")
    assert judged()[id].verdict == SUPPORTED
    assert judged()[id].effect == pytest.approx(40, abs=0.2)
    weak = [row | ({"value": 0.53} if row["measure"] == "order" else {}) for row in CONTROL]
    stored = [*weak, *FLOOR]
    found = {one.id: one for one in refitted.judge(lambda sql: stored if sql == refitted.ROWS else TIMED, {})}[id]
    assert found.verdict == OPEN
    assert "does not tell an encoder without positions from the intact one" in found.sentence


def test_it_is_open_until_every_run_is_there_and_other_rules_do_not_count() -> None:
    arms = list(rows("minilm_rotary", 0.055))
    found = judged([row for row in arms if row["seed"] != 3])[ROTARY]
    assert found.verdict == OPEN
    assert "1 training still to be run" in found.sentence
    assert "1 training more, about 0.2 hours" in found.would_decide
    elsewhere = rows("minilm_rotary", 0.055, config=GOOD | {"rules": {"sha256": "other"}})
    early = rows("minilm_rotary", 0.055, config=GOOD | {"began": "2020-01-01T00:00:00Z"})
    for others in (elsewhere, early):
        assert "5 trainings still to be run" in judged(others)[ROTARY].sentence


def test_every_statement_says_something_in_both_cases() -> None:
    for one in RULES.statements:
        for text in (one.supported, one.contradicted):
            assert text.format(size="7 %").endswith(".")
    with pytest.raises(TypeError):
        replace(RULES.statements[0], home="")


def test_the_tokens_until_half_way_are_bounded_where_an_arm_never_gets_there(store: Path) -> None:
    """The bound is above the ratio of the rotary encoder's own point to all that the other one read, and is close."""
    runs = refitted.load_runs(ask(refitted.ROWS), RULES)
    readings = {reading.source: reading for reading in statement("C35d").readings}
    assert len(readings) == len(SEEDS)
    for seed in SEEDS:
        control, floor = (runs[name][seed] for name in (RULES.control, RULES.floor))
        turned, exchanged = runs["minilm_rotary"][seed], runs["minilm_permuted"][seed]
        assert refitted.half_tokens(exchanged, control, floor) is None
        exact = refitted.half_tokens(turned, control, floor)
        assert exact is not None
        value = readings[f"all-MiniLM-L6-v2, seed {seed}"].value
        assert value is not None
        assert 0 < value - exact / max(exchanged.losses) < 0.1, "an evaluation is a tenth of the tokens"
    assert statement("C35d").verdict == SUPPORTED
