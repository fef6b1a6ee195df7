"""Statements: what the claims say, one thing at a time, and what version 2 of the rules makes of each.

The rules are files (`analysis/rules`): `trainings.toml`, frozen before the trainings that it judges, and
`measurements.toml`. `judged(ask)` puts every statement to a store; the tables `statements` and `readings` and the view
`claims` hold the outcome. `analysis.statements.stored` reads it back.
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from typing import Any

from analysis.claims.said import between, number, plural, signed
from analysis.rules import LITERATURE, MEASUREMENTS, Contest, TrainingRules, training_rules
from analysis.statements import contests, published, rows, tuned
from analysis.statements.base import (
    CONTRADICTED,
    MIXED,
    OPEN,
    SUPPORTED,
    WORDS,
    Ask,
    Judgement,
    Reading,
)
from analysis.surgery.arms import ARMS

__all__ = ["CONTRADICTED", "MIXED", "OPEN", "SUPPORTED", "WORDS", "Judgement", "Reading", "judged", "tables"]

RUN_HOURS = 0.1
"""Hours of one core that a training of the preset cpu2 takes, about."""


@cache
def measurement_rules() -> tuple[tuple[dict[str, Any], str], ...]:
    """The rules of `measurements.toml` and of `literature.toml`, each with the SHA-256 of its file."""
    texts = [file.read_bytes() for file in (MEASUREMENTS, LITERATURE)]
    return tuple((tomllib.loads(text.decode()), sha256(text).hexdigest()) for text in texts)


def headings() -> dict[str, tuple[str, str]]:
    """Claims that no document makes: id -> title and question (a key of QUESTIONS)."""
    every = [one for read, _ in measurement_rules() for one in read["heading"]]
    return {one["id"]: (one["title"], one["question"]) for one in every}


def judged(ask: Ask) -> list[Judgement]:
    """Every statement with its verdict, in order of id."""
    rules = training_rules()
    found = contests.stored(
        ask(contests.PRETRAININGS.format(preset=rules.preset)),
        ask(contests.LEFT.format(preset=rules.preset, plateau=rules.plateau)),
        rules,
    )
    corrected = contests.corrected(rules.statements, found, rules)
    made = [_trained(one, found, rules, corrected.get(one.id)) for one in rules.statements]
    made += tuned.judged(ask, {arm.name: arm.title for arm in ARMS.values()})
    for read, sha in measurement_rules():
        for one in read["statement"]:
            shared = _shared(one, int(read["version"]), sha)
            try:
                made.append(_measured(one, shared, ask))
            except (ArithmeticError, LookupError, TypeError, ValueError) as odd:
                # Data that a rule did not foresee must not stop the others, nor the store.
                why = f"Open: the rule could not be applied to what is stored ({type(odd).__name__}: {odd})."
                made.append(Judgement(**shared, verdict=OPEN, sentence=why, would_decide="a look at the data named"))
    return sorted(made, key=lambda one: one.id)


def _trained(one: Contest, found: contests.Stored, rules: TrainingRules, p: float | None) -> Judgement:
    from analysis.ablation.presets import ablate
    from analysis.ablation.variants import title

    made = contests.standing(one, found, rules, p)
    names = title(one.variant), title(one.baseline)
    steps = one.kind == "steps_to_leave"
    verdict = OPEN if made.word == contests.NOT_RESOLVED else _verdict(made.word, one.expect)
    effect, low, high = _effect(made.found, ratio=steps)
    would = ""
    if verdict == OPEN:
        seeds = max(made.needed or 0, len(one.seeds))
        missing = made.missing or 2 * (seeds - len(one.seeds))
        would = f"{plural(seeds, 'seed')} of {names[0]} and {names[1]}"
        if missing:
            would += f": {plural(missing, 'training')} more, about {missing * RUN_HOURS:.1f} hours of one core"
        else:
            would += " trained for longer"
    return Judgement(
        id=one.id,
        parent=one.parent,
        statement=one.statement,
        scope=f"our own {'causal models' if 'causal' in one.variant else 'encoders'}, preset {rules.preset}",
        kind=one.kind,
        verdict=verdict,
        sentence=_said(made, names, steps=steps, verdict=verdict),
        unit="times the baseline's steps" if steps else "nats a predicted token",
        effect=effect,
        low=low,
        high=high,
        line=rules.earlier if steps else rules.margin,
        seeds=made.found.n if made.found else 0,
        would_decide=would,
        command=ablate(rules.preset, dict.fromkeys([one.variant, one.baseline]), one.seeds),
        page="training",
        query=contests.PRETRAININGS.format(preset=rules.preset),
        rules_version=rules.version,
        rules_sha=rules.sha256,
        exploratory=False,
        readings=tuple(_seeds(one, found)),
    )


def _verdict(word: str, expect: str) -> str:
    return SUPPORTED if word in contests.ALLOWED[expect] else CONTRADICTED


def _effect(found: Any, *, ratio: bool) -> tuple[float | None, float | None, float | None]:
    if found is None or math.isnan(found.mean):
        return None, None, None
    values = [math.exp(x) if ratio else x for x in (found.mean, found.low, found.high)]
    effect, low, high = (None if math.isnan(x) else x for x in values)
    return effect, low, high


def _said(made: contests.Standing, names: tuple[str, str], *, steps: bool, verdict: str) -> str:
    variant, baseline = names
    effect, low, high = _effect(made.found, ratio=steps)
    told = ""
    if effect is not None and made.found is not None:
        over = plural(made.found.n, "seed")
        if steps:
            told = f"{variant} leaves the plateau after {effect:.2f} times the steps of {baseline}"
            told += f"{between(low, high)}, {over}"
        else:
            told = f"{variant} ends {signed(effect)} nats from {baseline}{between(low, high, '+.2f')}, {over}"
    if verdict == OPEN:
        reason = f"Open: {made.reason}."
        return f"{reason} So far, {told}." if told else reason
    return f"{told or made.reason}: {made.word}."


def _seeds(one: Contest, found: contests.Stored) -> list[Reading]:
    """One reading a seed and side."""
    return [
        Reading(
            source=f"{run.variant}, seed {seed}",
            family=run.variant,
            standing="stored",
            value=float(run.censored) if one.kind == "steps_to_leave" else run.final_loss,
            note=run.run_id,
        )
        for name in (one.variant, one.baseline)
        for seed, run in sorted(found.runs.get(name, {}).items())
        if seed in one.seeds
    ]


def _shared(one: Mapping[str, Any], version: int, sha: str) -> dict[str, Any]:
    """What a judgement says whatever the data."""
    return {
        "id": one["id"],
        "parent": one["id"][:3],
        "statement": one["statement"],
        "scope": one["scope"],
        "kind": one["kind"],
        "unit": one.get("unit", ""),
        "page": one.get("page", ""),
        "rules_version": version,
        "rules_sha": sha,
        "exploratory": True,
    }


def _measured(one: Mapping[str, Any], shared: dict[str, Any], ask: Ask) -> Judgement:
    if one["kind"] == "open":
        return Judgement(**shared, verdict=OPEN, sentence=f"Open: {one['why']}", would_decide=one["would_decide"])
    if one["kind"] == "published":
        read = published.readings(ask, one["pairs"], one["expect"], mean=one.get("average", False))
        query, side = published.query(one["pairs"]), "above"
        strongest = max(read, key=lambda row: abs(row.value or 0.0), default=None)
        shared = shared | {"unit": "as printed: points, BLEU or nats"}
    else:
        query, side = one["sql"].strip(), one["holds"]
        read = rows.readings(ask(query), side)
        strongest = rows.weakest(read, side)
    verdict = rows.decide(read, one["quantifier"], one.get("least", 1), exhaustive=one.get("exhaustive", False))
    return Judgement(
        **shared,
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


def _lacking(read: list[Reading], one: Mapping[str, Any]) -> str:
    """What an open statement waits for."""
    held = rows.families(read)
    if (lacking := one.get("least", 1) - len(held)) > 0:
        return f"the same measurement of {plural(lacking, 'model')} more"
    return "a larger sample of the same measurements, until the interval of each leaves its line"


def _counted(read: list[Reading], extreme: Reading | None, one: Mapping[str, Any], verdict: str) -> str:
    if not read:
        return f"Open: {one.get('when_empty', 'the store holds nothing of it yet')}."
    text = f"{rows.lean(read)}."
    if extreme is not None and extreme.value is not None and extreme.line is not None:
        if one["kind"] == "published":
            return f"{text} The largest difference: {extreme.source}, {extreme.note}."
        text += f" The hardest case is {extreme.source}: {number(extreme.value)}"
        text += f"{between(extreme.low, extreme.high, '.3g')} against a line of {number(extreme.line)}."
    return text


def tables(made: list[Judgement]) -> dict[str, list[dict[str, Any]]]:
    """Rows of the tables `statements` and `readings`."""
    statements = []
    for one in made:
        row = asdict(one)
        del row["readings"]
        statements.append(row)
    return {
        "statements": statements,
        "readings": [
            {"id": one.id, "number": at, **asdict(reading)} for one in made for at, reading in enumerate(one.readings)
        ],
    }
