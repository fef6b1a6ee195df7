"""Statements: what the claims say, one thing at a time, and what version 2 of the rules makes of each.

The rules are files (`analysis/rules`): some judge trainings and were frozen before these, the others judge
measurements and published tables. `judged(ask)` puts every statement to a store; the tables `statements` and `readings`
and the view `claims` hold the outcome. `analysis.claims.statements.stored` reads it back.
"""

import math
from dataclasses import asdict
from functools import partial
from typing import Literal, NotRequired, TypedDict

from analysis.claims.statements import contests, published, rows, tuned
from analysis.claims.statements.base import CONTRADICTED, MIXED, OPEN, SUPPORTED, WORDS, Ask, Judgement, Reading
from analysis.core.formatting import interval_text, plural, significant
from analysis.measurements.surgery.arms import ARMS
from analysis.rules import Contest, TrainingRules, decoder_rules, rule_files, training_rules
from analysis.statistics import Difference

__all__ = ["CONTRADICTED", "MIXED", "OPEN", "SUPPORTED", "WORDS", "Judgement", "Reading", "judged", "tables"]

RUN_HOURS = 0.1
"""Hours of one core that a training of the preset cpu2 takes, about."""


class AnyStatement(TypedDict):
    """What `measurements.toml`, or a file beside it, says of a statement of any kind; its head explains the fields."""

    id: str
    statement: str
    scope: str
    unit: NotRequired[str]
    page: NotRequired[str]


class OpenStatement(AnyStatement):
    """One that nothing here can decide."""

    kind: Literal["open"]
    why: str
    would_decide: str


class CountedStatement(AnyStatement):
    """One that is decided by how many readings hold."""

    quantifier: str
    least: NotRequired[int]
    exhaustive: NotRequired[bool]
    when_empty: NotRequired[str]
    would_decide: NotRequired[str]


class PublishedStatement(CountedStatement):
    """One about pairs of variants in published tables."""

    kind: Literal["published"]
    pairs: list[list[str]]
    expect: str
    average: NotRequired[bool]


class RowsStatement(CountedStatement):
    """One about rows that a query gives, each with its own line."""

    kind: Literal["rows"]
    sql: str
    holds: str


Statement = OpenStatement | PublishedStatement | RowsStatement


def judged(ask: Ask) -> list[Judgement]:
    """Every statement with its verdict, in order of id."""
    results: list[Judgement] = []
    for rules in (training_rules(), decoder_rules()):
        runs = contests.of_store(ask, rules)
        corrected = contests.corrected(rules.statements, runs, rules)
        results += [_trained(one, runs, rules, corrected.get(one.id)) for one in rules.statements]
    results += tuned.judged(ask, {arm.name: arm.title for arm in ARMS.values()})
    for file in (file for file in rule_files() if file.measured):
        for one in file.content["statement"]:
            judgement = _judgement(one, int(file.content["version"]), file.sha256)
            try:
                results.append(_measured(one, judgement, ask))
            except (ArithmeticError, LookupError, TypeError, ValueError) as odd:
                # Data that a rule did not foresee must not stop the others, nor the store.
                why = f"Open: the rule could not be applied to what is stored ({type(odd).__name__}: {odd})."
                results.append(judgement(verdict=OPEN, sentence=why, would_decide="a look at the data named"))
    return sorted(results, key=lambda one: one.id)


def _trained(one: Contest, runs: contests.JudgedRuns, rules: TrainingRules, p: float | None) -> Judgement:
    from analysis.ablation.presets import ablate
    from analysis.ablation.variants import title

    result = contests.standing(one, runs, rules, p)
    names = title(one.variant), title(one.baseline)
    steps = one.kind == "steps_to_leave"
    verdict = OPEN if result.word == contests.NOT_RESOLVED else _verdict(result.word, one.expect)
    effect, low, high = _effect(result.found, ratio=steps)
    would = _would_decide(one, result, names) if verdict == OPEN else ""
    return Judgement(
        id=one.id,
        parent=one.parent,
        statement=one.statement,
        scope=f"our own {'causal models' if 'causal' in one.variant else 'encoders'}, preset {rules.preset}",
        kind=one.kind,
        verdict=verdict,
        sentence=_said(result, names, kind=one.kind, verdict=verdict),
        unit="times the baseline's steps" if steps else "nats per predicted token",
        effect=effect,
        low=low,
        high=high,
        line=rules.earlier if steps else rules.margin,
        seeds=result.found.n if result.found else 0,
        would_decide=would,
        command=ablate(rules.preset, dict.fromkeys([one.variant, one.baseline]), one.seeds),
        page="training",
        query=contests.PRETRAININGS.format(preset=rules.preset),
        rules_version=rules.version,
        rules_sha=rules.sha256,
        exploratory=False,
        readings=tuple(_seeds(one, runs)),
    )


def _verdict(word: str, expect: str) -> str:
    return SUPPORTED if word in contests.ALLOWED[expect] else CONTRADICTED


def _would_decide(one: Contest, result: contests.Standing, names: tuple[str, str]) -> str:
    """The trainings that would settle an open contest, with their seeds and hours."""
    if result.missing:
        return (
            f"{plural(len(one.seeds), 'seed')} of {names[0]} and {names[1]}: {result.missing} more "
            f"{'training' if result.missing == 1 else 'trainings'}, about {result.missing * RUN_HOURS:.1f} hours of "
            "one core"
        )
    if result.needed is None:
        return f"{plural(len(one.seeds), 'seed')} of {names[0]} and {names[1]} trained for longer"
    # The seeds that were looked at are not added to: nobody stops when a result pleases.
    limit = " whose limit on the spread fits this end point" if result.too_wide else ""
    return (
        f"{plural(result.needed, 'new seed')} each of {names[0]} and {names[1]}, under a next version of the rules"
        f"{limit}: "
        f"{plural(2 * result.needed, 'training')}, about {2 * result.needed * RUN_HOURS:.1f} hours of one core"
    )


def _effect(result: Difference | None, *, ratio: bool) -> tuple[float | None, float | None, float | None]:
    if result is None or math.isnan(result.mean):
        return None, None, None
    values = [math.exp(x) if ratio else x for x in (result.mean, result.low, result.high)]
    effect, low, high = (None if math.isnan(x) else x for x in values)
    return effect, low, high


def _said(result: contests.Standing, names: tuple[str, str], *, kind: str, verdict: str) -> str:
    variant, baseline = names
    steps = kind == "steps_to_leave"
    effect, low, high = _effect(result.found, ratio=steps)
    text = ""
    if effect is not None and result.found is not None:
        over = plural(result.found.n, "seed")
        if steps:
            text = f"{variant} leaves the plateau after {effect:.2f} times the steps of {baseline}"
            text += f"{interval_text(low, high)}, {over}"
        else:
            text = (
                f"{variant} ends with a loss {abs(effect):.2f} nats {'higher' if effect > 0 else 'lower'} than "
                f"{baseline}"
            )
            text += " at four times the training length" if kind == "loss_4x" else ""
            text += f"{interval_text(low, high, '+.2f')}, {over}"
    if verdict == OPEN:
        reason = f"Open: {result.reason}."
        return f"{reason} So far, {text}." if text else reason
    return f"{text or result.reason}: {result.word}."


def _seeds(one: Contest, judged: contests.JudgedRuns) -> list[Reading]:
    """One reading a seed and side."""
    return [
        Reading(
            source=f"{run.variant}, seed {seed}",
            family=run.variant,
            standing="stored",
            value=float(run.censored) if one.kind == "steps_to_leave" else run.loss(one.kind),
            note=run.run_id,
        )
        for name in (one.variant, one.baseline)
        for seed, run in sorted(judged.runs.get(name, {}).items())
        if seed in one.seeds
    ]


def _judgement(one: Statement, version: int, sha: str) -> partial[Judgement]:
    """A judgement with what it says whatever the data."""
    return partial(
        Judgement,
        id=one["id"],
        parent=one["id"][:3],
        statement=one["statement"],
        scope=one["scope"],
        kind=one["kind"],
        unit=one.get("unit", ""),
        page=one.get("page", ""),
        rules_version=version,
        rules_sha=sha,
        exploratory=True,
    )


def _measured(one: Statement, judgement: partial[Judgement], ask: Ask) -> Judgement:
    if one["kind"] == "open":
        return judgement(verdict=OPEN, sentence=f"Open: {one['why']}", would_decide=one["would_decide"])
    if one["kind"] == "published":
        read = published.readings(ask, one["pairs"], one["expect"], mean=one.get("average", False))
        query, side = published.query(one["pairs"]), "above"
        strongest = max(read, key=lambda row: abs(row.value or 0.0), default=None)
        judgement = partial(judgement, unit="as printed: points, BLEU or nats")
    else:
        query, side = one["sql"].strip(), one["holds"]
        # A store that is built again must say the same, and number its readings alike, in whatever order rows come.
        found = sorted(ask(query), key=lambda row: (str(row["family"]), str(row["source"]), str(row)))
        read = rows.readings(found, side)
        strongest = rows.deciding(read, side, one["quantifier"])
    verdict = rows.decide(read, one["quantifier"], one.get("least", 1), exhaustive=one.get("exhaustive", False))
    return judgement(
        verdict=verdict,
        sentence=_counted(read, strongest, one, verdict),
        effect=strongest.value if strongest else None,
        low=strongest.low if strongest else None,
        high=strongest.high if strongest else None,
        line=strongest.line if strongest else None,
        would_decide=one.get("would_decide", _lacking(read, one)) if verdict == OPEN else "",
        query=query,
        readings=tuple(read),
    )


def _lacking(read: list[Reading], one: PublishedStatement | RowsStatement) -> str:
    """What an open statement waits for."""
    held = rows.families(read)
    if (lacking := one.get("least", 1) - len(held)) > 0:
        return (
            f"the same measurement of {plural(lacking, 'more model')}: one command per model folder, minutes of one "
            "core"
        )
    return "a larger sample of the same measurements, until the interval of each excludes its line"


def _counted(
    read: list[Reading], extreme: Reading | None, one: PublishedStatement | RowsStatement, verdict: str
) -> str:
    if not read:
        return f"Open: {one.get('when_empty', 'the store holds nothing of it yet')}."
    text = f"{rows.lean(read)}."
    if extreme is not None and extreme.value is not None and extreme.line is not None:
        if one["kind"] == "published":
            return f"{text} The largest difference: {extreme.source}, {extreme.note}."
        text += f" The {rows.deciding_word(one['quantifier'])} case is {extreme.source}: {significant(extreme.value)}"
        text += (
            f"{interval_text(extreme.low, extreme.high, '.3g')}, compared with a line at {significant(extreme.line)}."
        )
    return text


def tables(results: list[Judgement]) -> dict[str, list[dict[str, object]]]:
    """Rows of the tables `statements` and `readings`."""
    statements = []
    for one in results:
        row = asdict(one)
        del row["readings"]
        statements.append(row)
    return {
        "statements": statements,
        "readings": [
            {"id": one.id, "number": at, **asdict(reading)}
            for one in results
            for at, reading in enumerate(one.readings)
        ],
    }
