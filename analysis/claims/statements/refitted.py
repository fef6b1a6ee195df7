"""Refitted encoders compared with each other by the frozen rules: `analysis/rules/refits.toml`."""

import itertools
import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from analysis.claims.statements import margin_contests
from analysis.claims.statements.hours import REFITS, hours_by_preset
from analysis.claims.statements.judgement import (
    DECIDED,
    OPEN,
    SUPPORTED,
    Ask,
    Judgement,
    NextExperiment,
    Reading,
    runs_to_come,
)
from analysis.claims.statements.margin_contests import FamilyVerdict, MarginComparison
from analysis.core.formatting import interval_text, plural
from analysis.rules.refit_rules import DOSE, JUDGED, EndStatement, RefitRules, refit_rules
from analysis.statistics import difference
from analysis.statistics.margins import NOT_TESTED, margin_test

PRESET = "refit"
NOT_RECOVERED = "it has not recovered yet"
MISSED, ORDER_ERROR, HALF_TOKENS = "missed", "order_error", "half_tokens"
"""The end points, which are the kinds of the statements, too."""

ROWS = f"""
SELECT x.arm, x.seed, x.measure, x.tokens, x.value, x.run_id, r.config
FROM refits x JOIN runs r USING (run_id) WHERE x.purpose = '{JUDGED}'
ORDER BY x.arm, x.seed, r.created, x.tokens
"""

UNITS = {
    MISSED: "share of what positions are worth",
    ORDER_ERROR: "points of exchanged words",
    HALF_TOKENS: "times the baseline's tokens",
}
"""The unit of each end point."""


@dataclass
class RefitRun:
    """One judged run. losses: tokens read -> the loss on held-out texts. last: the other measures at the end."""

    run_id: str
    losses: dict[int, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)

    @property
    def end(self) -> float:
        """The loss at the end."""
        return self.losses[max(self.losses)]


Runs = Mapping[str, Mapping[int, RefitRun]]
"""Arm -> seed -> run."""


def load_runs(rows: Sequence[Mapping[str, Any]], rules: RefitRules) -> Runs:
    """The runs among the rows of `ROWS` that the rules count; if a seed was run twice, the newer run."""
    runs: dict[str, dict[int, RefitRun]] = {}
    for row in rows:
        if row["seed"] not in rules.purposes[JUDGED].seeds or rules.refusal(json.loads(row["config"] or "{}")):
            continue
        of = runs.setdefault(row["arm"], {})
        if row["seed"] not in of or of[row["seed"]].run_id != row["run_id"]:
            of[row["seed"]] = RefitRun(row["run_id"])
        if row["measure"] == "loss":
            of[row["seed"]].losses[row["tokens"]] = row["value"]
        else:
            of[row["seed"]].last[row["measure"]] = row["value"]
    return runs


def missed(run: RefitRun, control: RefitRun, floor: RefitRun) -> float:
    """The share of what positions are worth that a run has not recovered; the three are of one seed."""
    return (run.end - control.end) / (floor.end - control.end)


def half_tokens(run: RefitRun, control: RefitRun, floor: RefitRun) -> float | None:
    """The tokens until a run's loss is half-way between the ends of the others, on a line between two evaluations.

    None for a run that never gets there, or that begins below it.
    """
    half = (control.end + floor.end) / 2
    points = sorted(run.losses.items())
    for (before, high), (after, low) in itertools.pairwise(points):
        if high > half >= low:
            return before + (after - before) * (high - half) / (high - low)
    return None


def values(end: str, arm: str, runs: Runs, rules: RefitRules) -> dict[Hashable, float]:
    """Seed -> the number of an end point, less being better; half_tokens as its logarithm."""
    result: dict[Hashable, float] = {}
    for seed, run in runs.get(arm, {}).items():
        control, floor = (runs.get(name, {}).get(seed) for name in (rules.control, rules.floor))
        if end == ORDER_ERROR:
            result[seed] = 100 * (1 - run.last["order"])
        elif control is not None and floor is not None:
            if end == MISSED:
                result[seed] = missed(run, control, floor)
            elif tokens := half_tokens(run, control, floor):
                result[seed] = math.log(tokens)
    return result


def insensitive(end: str, runs: Runs, rules: RefitRules) -> str:
    """The reason why an end point does not tell the floor from the control; empty if it does."""
    sides: list[dict[Hashable, float]] = []
    for name in (rules.floor, rules.control):
        losses: dict[Hashable, float] = {seed: run.end for seed, run in runs.get(name, {}).items()}
        sides.append(values(end, name, runs, rules) if end == ORDER_ERROR else losses)
    least = rules.sensitive * rules.margins[ORDER_ERROR] if end == ORDER_ERROR else 0.0
    found = difference(sides[0], sides[1])
    wide = end != ORDER_ERROR and found.mean < rules.sensitive * (found.high - found.low) / 2
    if math.isnan(found.low) or found.low < least or wide:
        return "the end point does not tell an encoder without positions from the intact one"
    return ""


def fall_at_the_end(arm: str, runs: Runs, rules: RefitRules) -> float:
    """The fall of an arm's loss over the last fifth of its tokens, as a share of what positions are worth."""
    falls = []
    for seed, run in runs[arm].items():
        last = max(run.losses)
        before = max(tokens for tokens in run.losses if tokens <= 0.81 * last)
        range_ = runs[rules.floor][seed].end - runs[rules.control][seed].end
        falls.append((run.losses[before] - run.end) / range_)
    return fmean(falls)


def still_falling(arm: str, runs: Runs, rules: RefitRules) -> bool:
    """True if an arm's loss still fell at the end by more than the rules allow one that has not recovered."""
    return fall_at_the_end(arm, runs, rules) >= rules.levelled


def compare(statement: EndStatement, runs: Runs, rules: RefitRules) -> MarginComparison:
    """The comparison that a statement makes, with its test where every run is there and none speaks against it."""
    needed = {statement.arm, statement.baseline, rules.control, rules.floor}
    seeds = rules.purposes[JUDGED].seeds
    sides = [values(statement.end, name, runs, rules) for name in statement.arms]
    found = difference(*sides)
    result = found if found.n else None
    if missing := sum(seed not in runs.get(name, {}) for name in needed for seed in seeds):
        return MarginComparison(found=result, test=NOT_TESTED, missing=missing)
    if reason := insensitive(statement.end, runs, rules):
        return MarginComparison(found=result, test=NOT_TESTED, reason=reason)
    if any(len(side) < len(seeds) for side in sides):
        return MarginComparison(
            found=result, test=NOT_TESTED, reason="a run begins nearer than half-way, or never gets there"
        )
    margin = rules.margins[statement.end]
    test = margin_test(found, statement.expect, math.log(margin) if statement.end == HALF_TOKENS else margin)
    return MarginComparison(found=result, test=test)


def judge(ask: Ask, titles: Mapping[str, str]) -> list[Judgement]:
    """Every statement of `refits.toml` with its verdict. titles: of arms, by name."""
    rules = refit_rules()
    runs = load_runs(ask(ROWS), rules)
    comparisons = {statement.id: compare(statement, runs, rules) for statement in rules.statements}
    families = {statement.id: statement.family for statement in rules.statements}
    decided = margin_contests.family_verdicts(families, comparisons)
    each = hours_by_preset(ask, REFITS).get(PRESET)
    return [_judgement(one, decided[one.id], runs, rules, titles, each) for one in rules.statements]


def _judgement(
    statement: EndStatement,
    decided: FamilyVerdict,
    runs: Runs,
    rules: RefitRules,
    titles: Mapping[str, str],
    each: float | None,
) -> Judgement:
    comparison, verdict = decided.comparison, decided.verdict
    recovered = verdict == SUPPORTED or statement.expect not in ("not worse", "the same")
    if verdict != OPEN and not recovered and statement.end == MISSED and still_falling(statement.arm, runs, rules):
        verdict = OPEN
        comparison = MarginComparison(found=comparison.found, test=NOT_TESTED, reason=NOT_RECOVERED)
    effect, low, high = margin_contests.numbers(comparison.found, logarithm=statement.end == HALF_TOKENS)
    names = [titles.get(name, name) for name in statement.arms]
    found = _finding(statement.end, names, (effect, low, high), comparison.found.n if comparison.found else 0)
    experiment = _next_experiment(statement, comparison, rules, each) if verdict == OPEN else DECIDED
    sentence = margin_contests.sentence(found, comparison, verdict, decided.waiting)
    fall = fall_at_the_end(statement.arm, runs, rules) if verdict != OPEN and statement.end == MISSED else 0.0
    if fall >= rules.levelled:
        sentence += (
            f" The loss of the first was still falling: over the last fifth of the tokens by {100 * fall:.1f} % of "
            "what positions are worth."
        )
    return Judgement(
        id=statement.id,
        parent=statement.parent,
        statement=statement.statement,
        scope=f"all-MiniLM-L6-v2, trained on with {rules.purposes[JUDGED].tokens:,} tokens",
        kind=statement.end,
        verdict=verdict,
        sentence=sentence,
        unit=UNITS[statement.end],
        effect=effect,
        low=low,
        high=high,
        line=rules.margins[statement.end],
        seeds=comparison.found.n if comparison.found else 0,
        would_decide=experiment.words,
        hours=experiment.hours,
        missing=comparison.missing,
        command="python -m analysis refit --texts TEXT --held-out TEXT --stsb TSV "
        f"--arms {','.join(dict.fromkeys([*statement.arms, rules.control, rules.floor]))}",
        page="experiments",
        query=ROWS.strip(),
        rules_version=rules.version,
        rules_sha=rules.sha256,
        exploratory=False,
        answer="" if effect is None else statement.told(verdict, _size(statement.end, effect)),
        readings=tuple(
            Reading(
                source=f"{titles.get(arm, arm)}, seed {seed}",
                family=arm,
                standing="stored",
                value=math.exp(value) if statement.end == HALF_TOKENS else value,
                note=run.run_id,
            )
            for arm in statement.arms
            for seed, run in sorted(runs.get(arm, {}).items())
            if (value := values(statement.end, arm, runs, rules).get(seed)) is not None
        ),
    )


def _size(end: str, effect: float) -> str:
    if end == HALF_TOKENS:
        return f"{effect:.2f}"
    return f"{100 * abs(effect):.0f} %" if end == MISSED else f"{abs(effect):.0f}"


def _finding(end: str, names: Sequence[str], numbers: margin_contests.Numbers, seeds: int) -> str:
    """The finding on two arms, in words; empty if no effect was measured."""
    effect, low, high = numbers
    if effect is None:
        return ""
    first, second = names
    if end == HALF_TOKENS:
        text = f"{first} is half-way after {effect:.2f} times the tokens of {second}"
        return f"{text}{interval_text(low, high)}, {plural(seeds, 'seed')}"
    more = "more" if effect > 0 else "less"
    if end == ORDER_ERROR:
        text = f"{first} misses {abs(effect):.1f} points {more} of the exchanged words than {second}"
        return f"{text}{interval_text(low, high, '+.1f')}, {plural(seeds, 'seed')}"
    share = f"{100 * abs(effect):.1f} %"
    text = f"{first} misses {more} of what positions are worth than {second}, by {share} of it"
    percent_low, percent_high = (None if end is None else 100 * end for end in (low, high))
    return f"{text}{interval_text(percent_low, percent_high, '+.1f')}, {plural(seeds, 'seed')}"


def _next_experiment(
    statement: EndStatement, comparison: MarginComparison, rules: RefitRules, each: float | None
) -> NextExperiment:
    """The runs that would settle an open statement. each: hours of one, where any is stored."""
    if comparison.missing:
        return runs_to_come(f"{plural(comparison.missing, 'training')} more", comparison.missing, each)
    if comparison.reason == NOT_RECOVERED:
        longer, arms = rules.purposes[DOSE], {*statement.arms, rules.control, rules.floor}
        count, times = len(arms) * len(longer.seeds), longer.tokens / rules.purposes[JUDGED].tokens
        encoders, seeds = plural(len(arms), "encoder"), plural(len(longer.seeds), "seed")
        runs = (
            f"{longer.tokens:,} tokens for each of {encoders}, with {seeds} each, under a next version of the rules: "
            f"{plural(count, 'training')}"
        )
        return runs_to_come(runs, count, None if each is None else times * each)
    return NextExperiment("a longer training of both arms, under a next version of the rules")
