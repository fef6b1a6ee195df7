"""Refitted encoders, fine-tuned and compared with each other by the rules of `analysis/rules/refitted_glue.toml`."""

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from statistics import stdev
from typing import Any, NamedTuple

from analysis.ablation.glue.tasks import TASKS
from analysis.ablation.variants import quote
from analysis.claims.statements import margin_contests, refitted
from analysis.claims.statements.hours import FINE_TUNINGS, REFITS, hours_by_preset
from analysis.claims.statements.judgement import DECIDED, OPEN, Ask, Judgement, NextExperiment, Reading, runs_to_come
from analysis.claims.statements.margin_contests import FamilyVerdict, MarginComparison
from analysis.core.formatting import interval_text, plural
from analysis.rules.refit_rules import refit_rules
from analysis.rules.refitted_glue_rules import RefittedGlueRules, TaskStatement, refitted_glue_rules
from analysis.statistics import Difference, difference
from analysis.statistics.margins import NOT_TESTED, margin_test, seeds_to_decide

KIND = "refitted_glue"

PRESET = "refitted"
POINTS = 100

SCORES = f"""
SELECT s.variant, s.seed, s.task, s.metric, s.value, s.run_id, r.config
FROM scores s JOIN runs r USING (run_id) WHERE s.preset = '{PRESET}'
ORDER BY s.variant, s.seed, s.task, s.metric, r.created
"""

Scores = Mapping[str, Mapping[int, Mapping[tuple[str, str], float]]]
"""Arm -> seed -> (task, metric) -> the score as a fraction; seeds and runs that the rules count alone."""


class RunHours(NamedTuple):
    """The hours of one fine-tuning on all tasks, and of the refitting before it."""

    tuning: float
    refitting: float


def load_scores(rows: Sequence[Mapping[str, Any]], rules: RefittedGlueRules) -> Scores:
    """The scores among the rows of `SCORES` that the rules count; if a seed was run twice, those of the newer run.

    A fine-tuning that diverged counts as 0.
    """
    scores: dict[str, dict[int, dict[tuple[str, str], float]]] = {}
    plan = rules.purposes["judged"]
    for row in rows:
        if row["seed"] in plan.seeds and not rules.refusal(json.loads(row["config"] or "{}")):
            value = math.nan if row["value"] is None else float(row["value"])
            of_seed = scores.setdefault(row["variant"], {}).setdefault(row["seed"], {})
            of_seed[row["task"], row["metric"]] = 0.0 if math.isnan(value) else value
    return scores


def points_missed(task: str, arm: str, scores: Scores, rules: RefittedGlueRules) -> dict[Hashable, float]:
    """Seed -> 100 less the score of a task in points."""
    key = task, rules.metric[task]
    return {seed: POINTS * (1 - of[key]) for seed, of in scores.get(arm, {}).items() if key in of}


def compare(
    statement: TaskStatement, scores: Scores, runs: refitted.Runs, rules: RefittedGlueRules
) -> MarginComparison:
    """The comparison that a statement makes, with its test where every run is there and no gate is shut."""
    sides = {
        name: points_missed(statement.task, name, scores, rules)
        for name in (statement.arm, statement.baseline, rules.floor, rules.control)
    }
    found = difference(sides[statement.arm], sides[statement.baseline])
    result = found if found.n else None
    seeds = rules.purposes["judged"].seeds
    if missing := sum(seed not in side for side in sides.values() for seed in seeds):
        return MarginComparison(found=result, test=NOT_TESTED, missing=missing)
    if any(stdev(sides[name].values()) > rules.spread for name in statement.arms):
        reason = f"the scores of a side spread by more than {rules.spread:g} points over seeds"
        return MarginComparison(found=result, test=NOT_TESTED, reason=reason, uneven=True)
    if reason := _closed_gate(statement, sides, scores, rules):
        return MarginComparison(found=result, test=NOT_TESTED, reason=reason)
    test = margin_test(found, statement.expect, rules.margin[statement.task])
    if _not_recovered(statement, found, runs, rules):
        return MarginComparison(
            found=result, test=NOT_TESTED, reason="its arm had not levelled off when it was refitted"
        )
    return MarginComparison(found=result, test=test)


def _closed_gate(
    statement: TaskStatement,
    sides: Mapping[str, Mapping[Hashable, float]],
    scores: Scores,
    rules: RefittedGlueRules,
) -> str:
    """The reason why a comparison of even sides with every run there decides nothing; empty if it may."""
    for name in statement.arms:
        if statement.task == "cola" and any(of["cola", "matthews_correlation"] == 0 for of in scores[name].values()):
            return "a fine-tuning gave the same answer to every sentence"
    if statement.expect == "not worse" and statement.arm != rules.floor:
        floor = difference(dict(sides[rules.floor]), dict(sides[rules.control]))
        if not floor.low > rules.sensitive * rules.margin[statement.task]:
            return "the task does not tell the encoder without positions from the one with its own"
    return ""


def _not_recovered(statement: TaskStatement, found: Difference, runs: refitted.Runs, rules: RefittedGlueRules) -> bool:
    """True of an arm that is not as good as the control and had not levelled off when it was refitted."""
    as_good = margin_test(found, "not worse", rules.margin[statement.task])
    if as_good.p_for <= as_good.level_for or statement.arm == rules.floor:
        return False
    return statement.arm not in runs or refitted.still_falling(statement.arm, runs, refit_rules())


def judge(ask: Ask, titles: Mapping[str, str]) -> list[Judgement]:
    """Every statement of `refitted_glue.toml` with its verdict. titles: of arms, by name."""
    rules = refitted_glue_rules()
    scores = load_scores(ask(SCORES), rules)
    runs = refitted.load_runs(ask(refitted.ROWS), refit_rules()) if scores else {}
    comparisons = {statement.id: compare(statement, scores, runs, rules) for statement in rules.statements}
    families = {statement.id: statement.family for statement in rules.statements}
    decided = margin_contests.family_verdicts(families, comparisons)
    tuning = hours_by_preset(ask, FINE_TUNINGS).get(PRESET)
    refitting = hours_by_preset(ask, REFITS).get(refitted.PRESET)
    each = None if tuning is None or refitting is None else RunHours(tuning, refitting)
    return [_judgement(one, decided[one.id], scores, rules, titles, each) for one in rules.statements]


def _judgement(
    statement: TaskStatement,
    decided: FamilyVerdict,
    scores: Scores,
    rules: RefittedGlueRules,
    titles: Mapping[str, str],
    each: RunHours | None,
) -> Judgement:
    comparison, verdict = decided.comparison, decided.verdict
    names = [titles.get(name, name) for name in statement.arms]
    effect, low, high = margin_contests.numbers(comparison.found, logarithm=False)
    needed = ",".join(dict.fromkeys([*statement.arms, rules.floor]))
    seeds = comparison.found.n if comparison.found else 0
    found = ""
    if effect is not None:
        found = (
            f"{names[0]} misses {abs(effect):.1f} points {'more' if effect > 0 else 'fewer'} than {names[1]}"
            f"{interval_text(low, high, '+.1f')}, {plural(seeds, 'seed')}"
        )
    margin = rules.margin[statement.task]
    experiment = _next_experiment(comparison, names, statement.expect, margin, each) if verdict == OPEN else DECIDED
    return Judgement(
        id=statement.id,
        parent=statement.parent,
        statement=statement.statement,
        scope="all-MiniLM-L6-v2, refitted and fine-tuned",
        kind=KIND,
        verdict=verdict,
        sentence=margin_contests.sentence(found, comparison, verdict, decided.waiting),
        reason=margin_contests.open_reason(comparison, decided.waiting) if verdict == OPEN else "",
        open_by=margin_contests.open_by(comparison) if verdict == OPEN else "",
        unit=f"points of {TASKS[statement.task].title}",
        effect=effect,
        low=low,
        high=high,
        line=margin,
        seeds=seeds,
        would_decide=experiment.words,
        hours=experiment.hours,
        missing=comparison.missing,
        command=f"python -m analysis finetune-refitted --glue DIR --arms {needed}",
        page="glue",
        query=SCORES.strip(),
        rules_version=rules.version,
        rules_sha=rules.sha256,
        exploratory=False,
        answer="" if effect is None else statement.told(verdict, f"{abs(effect):.1f}"),
        readings=tuple(
            Reading(
                source=f"{titles.get(arm, arm)}, seed {seed}",
                family=arm,
                standing="stored",
                value=value,
            )
            for arm in statement.arms
            for seed, value in sorted(points_missed(statement.task, arm, scores, rules).items(), key=str)
        ),
    )


def _next_experiment(
    comparison: MarginComparison, names: Sequence[str], expect: str, margin: float, each: RunHours | None
) -> NextExperiment:
    """The runs that would settle an open statement. names: of the arms. margin: in points."""
    if comparison.missing:
        runs = f"{plural(comparison.missing, 'fine-tuning')} more"
        return runs_to_come(runs, comparison.missing, each.tuning if each else None)
    seeds = None if comparison.found is None else seeds_to_decide(comparison.found, expect, margin)
    if seeds is None or (comparison.reason and not comparison.uneven):
        return NextExperiment("more seeds of both arms, under a next version of the rules")
    limit = " whose limit on the spread fits these scores" if comparison.uneven else ""
    arms = " and ".join(map(quote, names))
    runs = (
        f"{plural(seeds, 'new seed')} each of {arms}, under a next version of the rules{limit}: "
        f"{plural(2 * seeds, 'encoder')} to be refitted and fine-tuned"
    )
    return runs_to_come(runs, 2 * seeds, each.tuning + each.refitting if each else None)
