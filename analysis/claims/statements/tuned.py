"""Two arms of fine-tuned surgery compared with each other by the frozen rules: `analysis/rules/surgeries.toml`."""

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from analysis.claims.statements.contests import ALLOWED, BETTER, SAME, WORSE
from analysis.claims.statements.hours import FINE_TUNINGS, hours_by_preset
from analysis.claims.statements.judgement import (
    CONTRADICTED,
    DECIDED,
    OPEN,
    SUPPORTED,
    Ask,
    Judgement,
    NextExperiment,
    Reading,
    runs_to_come,
)
from analysis.core.formatting import plural, signed
from analysis.rules import SurgeryRules, TunedStatement, surgery_rules, training_rules
from analysis.statistics import Difference, difference, equivalence, holm, seeds_needed, unresolved_reason

PRESET = "surgery"
SCORES = (
    "SELECT s.variant, s.seed, s.task, s.value, s.run_id, r.config FROM scores s JOIN runs r USING (run_id) "
    f"JOIN tasks t ON t.task = s.task AND t.metric = s.metric WHERE s.preset = '{PRESET}' "
    "ORDER BY s.variant, s.seed, s.task, r.created"
)
POINTS = 100

Values = Mapping[str, Mapping[int, Mapping[str, float]]]
"""Arm -> seed -> task -> the main metric, as a fraction; seeds and runs that the rules count alone."""


def refusal(config: Mapping[str, object], rules: SurgeryRules) -> str:
    """The reason why a run with this manifest decides nothing under these rules; empty if it may."""
    run_rules, began = config.get("rules"), str(config.get("began") or "")
    if not isinstance(run_rules, Mapping) or run_rules.get("sha256") != rules.sha256:
        return "it was not begun under these rules"
    if began < rules.frozen:
        return f"it began at {began or 'a time that it does not name'}, before the rules were frozen at {rules.frozen}"
    return ""


def counted_runs(rows: Sequence[Mapping[str, Any]], rules: SurgeryRules) -> Values:
    """The scores among the rows of `SCORES` that the rules count; if a seed was run twice, those of the newer run."""
    scores: dict[str, dict[int, dict[str, float]]] = {}
    for row in rows:
        config = json.loads(row["config"] or "{}")
        if row["seed"] in rules.seeds and row["task"] in rules.tasks and not refusal(config, rules):
            value = math.nan if row["value"] is None else float(row["value"])
            task_scores = scores.setdefault(row["variant"], {}).setdefault(row["seed"], {})
            task_scores[row["task"]] = 0.0 if math.isnan(value) else value
    return {
        arm: {seed: tasks for seed, tasks in seeds.items() if len(tasks) == len(rules.tasks)}
        for arm, seeds in scores.items()
    }


def averages(values: Values, arm: str) -> dict[Hashable, float]:
    """Seed -> the average over the tasks, in points."""
    return {seed: POINTS * sum(tasks.values()) / len(tasks) for seed, tasks in values.get(arm, {}).items()}


def unfit_reason(values: Values, rules: SurgeryRules) -> str:
    """The reason why the intact model's fine-tuning is too poor to decide anything; empty if it is good enough."""
    seeds = values.get("minilm_intact", {})
    for task, minimum in rules.able.items():
        mean = sum(tasks[task] for tasks in seeds.values()) / len(seeds) if seeds else 0.0
        if mean < minimum:
            return f"the intact model reaches {mean:.3f} on {task}, and the rule asks for at least {minimum:g}"
    return ""


def judge(ask: Ask, titles: Mapping[str, str]) -> list[Judgement]:
    """Every statement about fine-tuned surgery. titles: of arms, by name."""
    rules = surgery_rules()
    values = counted_runs(ask(SCORES), rules)
    results = [difference(averages(values, s.arm), averages(values, s.baseline)) for s in rules.statements]
    # An incomplete comparison counts as found nothing, so that none is judged more kindly for being early.
    p_values = [
        1.0 if _missing(statement, values, rules) or math.isnan(result.p) else result.p
        for statement, result in zip(rules.statements, results, strict=True)
    ]
    rows = zip(rules.statements, results, holm(p_values).adjusted, strict=True)
    each = hours_by_preset(ask, FINE_TUNINGS).get(PRESET)
    return [_judge_statement(*row, values, rules, titles, each) for row in rows]


def _missing(statement: TunedStatement, values: Values, rules: SurgeryRules) -> int:
    return sum(seed not in values.get(arm, {}) for arm in (statement.arm, statement.baseline) for seed in rules.seeds)


def _judge_statement(
    statement: TunedStatement,
    result: Difference,
    p: float,
    values: Values,
    rules: SurgeryRules,
    titles: Mapping[str, str],
    each: float | None,
) -> Judgement:
    names = [titles.get(name, name) for name in (statement.arm, statement.baseline)]
    missing = _missing(statement, values, rules)
    word, reason = "", unfit_reason(values, rules)
    if missing:
        reason = f"{missing} of {2 * len(rules.seeds)} fine-tunings are still to be run"
    elif not reason:
        test = equivalence(result, rules.margin, p=p)
        if test.within_margin:
            word = SAME
        elif test.verdict == "different":
            word = BETTER if result.mean > 0 else WORSE
        else:
            reason = unresolved_reason(result)
    finding = ""
    if result.n:
        interval = "" if math.isnan(result.low) else f" ({signed(result.low, 1)} to {signed(result.high, 1)})"
        finding = (
            f"{names[0]} scores {signed(result.mean, 1)} points compared with {names[1]}{interval}, {result.n} seeds"
        )
    verdict = OPEN if not word else SUPPORTED if word in ALLOWED[statement.expect] else CONTRADICTED
    experiment = _next_experiment(missing, result, rules, each) if verdict == OPEN else DECIDED
    return Judgement(
        id=statement.id,
        parent=statement.parent,
        statement=statement.statement,
        scope=f"all-MiniLM-L6-v2, fine-tuned on {len(rules.tasks)} tasks, preset surgery",
        kind="tuned",
        verdict=verdict,
        sentence=f"{finding}: {word}." if word else f"Open: {reason}.{f' So far, {finding}.' if finding else ''}",
        unit="points of the average",
        effect=result.mean if result.n else None,
        low=None if math.isnan(result.low) else result.low,
        high=None if math.isnan(result.high) else result.high,
        line=rules.margin,
        seeds=result.n,
        would_decide=experiment.words,
        hours=experiment.hours,
        missing=missing,
        command=f"python -m analysis finetune-surgery --glue DIR --arms {statement.arm},{statement.baseline}",
        page="glue",
        query=SCORES,
        rules_version=training_rules().version,  # of the ledger; the file has a version of its own
        rules_sha=rules.sha256,
        exploratory=False,
        readings=tuple(
            Reading(source=f"{titles.get(arm, arm)}, seed {seed}", family=arm, standing="stored", value=value)
            for arm in (statement.arm, statement.baseline)
            for seed, value in sorted(averages(values, arm).items(), key=str)
        ),
    )


def _next_experiment(missing: int, result: Difference, rules: SurgeryRules, each: float | None) -> NextExperiment:
    """The fine-tunings that would settle an open statement. each: hours of one on all tasks, where any is stored."""
    if missing:
        return runs_to_come(f"{plural(missing, 'fine-tuning')} more", missing, each)
    # The least difference that the interval so far leaves possible, but none that would not matter.
    nearest = max(result.low, -result.high, 0.0)
    seeds = seeds_needed(max(nearest, rules.margin), result.sd, alpha=0.05 / len(rules.statements))
    if seeds is None:
        return NextExperiment("more than a thousand new seeds of each arm, under a next version of the rules")
    return runs_to_come(
        f"{plural(seeds, 'new seed')} of each arm, under a next version of the rules: {2 * seeds} fine-tunings",
        2 * seeds,
        each,
    )
