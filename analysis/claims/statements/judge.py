"""Every statement judged by its rule, while the store is built; nothing is judged when a page opens."""

import math
from dataclasses import replace
from functools import partial
from typing import Literal, NotRequired, TypedDict

from analysis.claims.statements import (
    changes,
    comparison,
    contests,
    corrections,
    encoders,
    published,
    refitted,
    refitted_glue,
    rows,
    tuned,
)
from analysis.claims.statements.corrections import Ledger
from analysis.claims.statements.deciding import with_deciding
from analysis.claims.statements.hours import TRAININGS, hours_by_preset
from analysis.claims.statements.judgement import (
    CONTRADICTED,
    DECIDED,
    OPEN,
    SUPPORTED,
    Ask,
    Judgement,
    NextExperiment,
    Reading,
    StandingRow,
    runs_to_come,
)
from analysis.core.formatting import interval_text, plural, significant, with_interval
from analysis.measurements.surgery.arms import ARMS
from analysis.rules import Contest, TrainingRules, claim_of, rule_files, version_2_rules
from analysis.statistics import Difference


class AnyStatement(TypedDict):
    """Fields of every kind of statement in `measurements.toml` and the files beside it; its head explains them."""

    id: str
    statement: str
    scope: str
    unit: NotRequired[str]
    page: NotRequired[str]


class OpenStatement(AnyStatement):
    """A statement that nothing here can decide."""

    kind: Literal["open"]
    why: str
    would_decide: str


class CountedStatement(AnyStatement):
    """A statement that is decided by the number of readings that hold."""

    quantifier: str
    least: NotRequired[int]
    exhaustive: NotRequired[bool]
    when_empty: NotRequired[str]
    would_decide: NotRequired[str]


class PublishedStatement(CountedStatement):
    """A statement about pairs of variants in published tables."""

    kind: Literal["published"]
    pairs: list[list[str]]
    expect: str
    average: NotRequired[bool]


class RowsStatement(CountedStatement):
    """A statement about the rows of a query, each of which is compared with its own line."""

    kind: Literal["rows"]
    sql: str
    holds: str


Statement = OpenStatement | PublishedStatement | RowsStatement


def judge(ask: Ask) -> Ledger:
    """Every statement with its verdict, and those that were corrected since with the verdict that they had."""
    judgements: list[Judgement] = []
    standings: list[StandingRow] = []
    hours = hours_by_preset(ask, TRAININGS)
    for rules in version_2_rules():
        runs = contests.load_runs(ask, rules)
        p_values = contests.corrected_p_values(rules.statements, runs, rules)
        for contest in rules.statements:
            standing = contests.standing(contest, runs, rules, p_values.get(contest.id))
            judgements.append(_judge_trained(contest, standing, runs, rules, hours.get(rules.preset)))
            if contest.kind == "final_loss" and not contest.asks_again:
                standings.append(_standing_row(contest, standing))
    arms = {arm.name: arm.title for arm in ARMS.values()}
    judgements += tuned.judge(ask, arms)
    judgements += refitted.judge(ask, arms)
    judgements += refitted_glue.judge(ask, arms)
    judgements += encoders.judge(ask)
    for file in (file for file in rule_files() if file.measured):
        for statement in file.content["statement"]:
            judgement = _partial_judgement(statement, file.version, file.sha256)
            try:
                judgements.append(_judge_measured(statement, judgement, ask))
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                # Data that a rule did not foresee must not stop the others, nor the store.
                reason = f"Open: the rule could not be applied to what is stored ({type(error).__name__}: {error})."
                judgements.append(judgement(verdict=OPEN, sentence=reason, would_decide="a look at the data named"))
    ledger = corrections.apply(judgements, ask)
    book = comparison.rulebook()
    current = with_deciding([comparison.described(judgement, book) for judgement in ledger.current])
    ledger = replace(ledger, current=current, standings=tuple(standings))
    return replace(ledger, changes=changes.log(ledger, ask))


def _standing_row(contest: Contest, standing: contests.Standing) -> StandingRow:
    return StandingRow(
        variant=contest.variant,
        baseline=contest.baseline,
        word=standing.word,
        reason=standing.reason,
        on_plateau=standing.on_plateau,
        missing=standing.missing,
        effect=None if standing.found is None else standing.found.mean,
    )


def _judge_trained(
    contest: Contest,
    standing: contests.Standing,
    runs: contests.JudgedRuns,
    rules: TrainingRules,
    each: float | None,
) -> Judgement:
    from analysis.ablation.presets import ablate
    from analysis.ablation.variants import named

    names = named(contest.variant), named(contest.baseline)
    steps = contest.kind == "steps_to_leave"
    verdict = SUPPORTED if standing.word in contests.ALLOWED[contest.expect] else CONTRADICTED
    if standing.word == contests.NOT_RESOLVED:
        verdict = OPEN
    effect, low, high = _effect(standing.found, ratio=steps)
    experiment = _next_experiment(contest, standing, names, each) if verdict == OPEN else DECIDED
    return Judgement(
        id=contest.id,
        parent=contest.parent,
        statement=contest.statement,
        scope=f"our own {'causal models' if 'causal' in contest.variant else 'encoders'}, preset {rules.preset}",
        kind=contest.kind,
        verdict=verdict,
        sentence=_training_sentence(standing, names, kind=contest.kind, verdict=verdict),
        unit="times the baseline's steps" if steps else "nats per predicted token",
        effect=effect,
        low=low,
        high=high,
        line=rules.earlier if steps else rules.margin,
        seeds=standing.found.n if standing.found else 0,
        would_decide=experiment.words,
        hours=experiment.hours,
        missing=standing.missing,
        command=ablate(rules.preset, dict.fromkeys([contest.variant, contest.baseline]), contest.seeds),
        page="training",
        query=contests.PRETRAININGS.format(preset=rules.preset),
        rules_version=rules.version,
        rules_sha=rules.sha256,
        exploratory=False,
        readings=tuple(_seed_readings(contest, runs)),
    )


def _next_experiment(
    contest: Contest, standing: contests.Standing, names: tuple[str, str], each: float | None
) -> NextExperiment:
    """The trainings that would settle an open contest, with their seeds. each: hours of one, where any is stored."""
    if standing.missing:
        runs = f"{plural(len(contest.seeds), 'seed')} of {names[0]} and {names[1]}"
        return runs_to_come(f"{runs}: {plural(standing.missing, 'training')} more", standing.missing, each)
    if standing.needed is None:
        runs = f"{plural(len(contest.seeds), 'seed')} of {names[0]} and {names[1]}"
        return NextExperiment(f"{runs} trained for longer")
    # The seeds that were looked at are not added to: nobody stops when a result pleases.
    limit = " whose limit on the spread fits this end point" if standing.too_wide else ""
    return runs_to_come(
        f"{plural(standing.needed, 'new seed')} each of {names[0]} and {names[1]}, under a next version of the rules"
        f"{limit}: {plural(2 * standing.needed, 'training')}",
        2 * standing.needed,
        each,
    )


def _effect(difference: Difference | None, *, ratio: bool) -> tuple[float | None, float | None, float | None]:
    if difference is None or math.isnan(difference.mean):
        return None, None, None
    values = [math.exp(x) if ratio else x for x in (difference.mean, difference.low, difference.high)]
    effect, low, high = (None if math.isnan(x) else x for x in values)
    return effect, low, high


def _training_sentence(standing: contests.Standing, names: tuple[str, str], *, kind: str, verdict: str) -> str:
    variant, baseline = names
    steps = kind == "steps_to_leave"
    effect, low, high = _effect(standing.found, ratio=steps)
    finding = ""
    if effect is not None and standing.found is not None:
        seeds = plural(standing.found.n, "seed")
        if steps:
            finding = f"{variant} leaves the plateau after {effect:.2f} times the steps of {baseline}"
            finding += f"{interval_text(low, high)}, {seeds}"
        else:
            finding = (
                f"{variant} ends with a loss {abs(effect):.2f} nats {'higher' if effect > 0 else 'lower'} than "
                f"{baseline}"
            )
            finding += " at four times the training length" if kind == "loss_4x" else ""
            finding += f"{interval_text(low, high, '+.2f')}, {seeds}"
    if verdict == OPEN:
        reason = f"Open: {standing.reason}."
        return f"{reason} So far, {finding}." if finding else reason
    return f"{finding or standing.reason}: {standing.word}."


def _seed_readings(contest: Contest, runs: contests.JudgedRuns) -> list[Reading]:
    """One reading a seed and side."""
    return [
        Reading(
            source=f"{run.variant}, seed {seed}",
            family=run.variant,
            standing="stored",
            value=float(run.censored) if contest.kind == "steps_to_leave" else run.loss(contest.kind),
            note=run.run_id,
        )
        for name in (contest.variant, contest.baseline)
        for seed, run in sorted(runs.runs.get(name, {}).items())
        if seed in contest.seeds
    ]


def _partial_judgement(statement: Statement, version: int, sha: str) -> partial[Judgement]:
    """A judgement with those of its fields that do not depend on the data."""
    return partial(
        Judgement,
        id=statement["id"],
        parent=claim_of(statement["id"]),
        statement=statement["statement"],
        scope=statement["scope"],
        kind=statement["kind"],
        unit=statement.get("unit", ""),
        page=statement.get("page", ""),
        rules_version=version,
        rules_sha=sha,
        exploratory=True,
    )


def _judge_measured(statement: Statement, judgement: partial[Judgement], ask: Ask) -> Judgement:
    if statement["kind"] == "open":
        return judgement(verdict=OPEN, sentence=f"Open: {statement['why']}", would_decide=statement["would_decide"])
    if statement["kind"] == "published":
        readings = published.readings(
            ask, statement["pairs"], statement["expect"], mean=statement.get("average", False)
        )
        query, holds = published.query(statement["pairs"]), "above"
        # Points, BLEU and nats are compared as multiples of the difference that matters in each.
        strongest = max(readings, key=lambda row: abs((row.value or 0.0) / (row.line or 1.0)), default=None)
        judgement = partial(judgement, unit="as printed: points, BLEU or nats")
    else:
        query, holds = statement["sql"].strip(), statement["holds"]
        # A store that is built again must say the same, and number its readings alike, in whatever order rows come.
        found_rows = sorted(ask(query), key=lambda row: (str(row["family"]), str(row["source"]), str(row)))
        readings = rows.readings(found_rows, holds)
        strongest = rows.deciding(readings, holds, statement["quantifier"])
    verdict = rows.decide(
        readings, statement["quantifier"], statement.get("least", 1), exhaustive=statement.get("exhaustive", False)
    )
    return judgement(
        verdict=verdict,
        sentence=_count_sentence(readings, strongest, statement),
        effect=strongest.value if strongest else None,
        low=strongest.low if strongest else None,
        high=strongest.high if strongest else None,
        line=strongest.line if strongest else None,
        would_decide=_missing_evidence(readings, statement) if verdict == OPEN else "",
        query=query,
        readings=tuple(readings),
    )


def _missing_evidence(readings: list[Reading], statement: PublishedStatement | RowsStatement) -> str:
    """The evidence that an open statement still needs.

    The words of its file hold as long as it lacks models; after that, what is left are readings with the line in their
    interval.
    """
    families = rows.families(readings)
    missing = statement.get("least", 1) - len(families)
    if statement["kind"] == "rows" and missing <= 0 and (sharper := rows.sharper(readings, statement["quantifier"])):
        return sharper
    if own := statement.get("would_decide", ""):
        return own
    if missing > 0:
        return (
            f"the same measurement of {plural(missing, 'more model')}: one command per model folder, minutes of one "
            "core"
        )
    return "a larger sample of the same measurements, until the interval of each excludes its line"


def _count_sentence(
    readings: list[Reading], decider: Reading | None, statement: PublishedStatement | RowsStatement
) -> str:
    if not readings:
        return f"Open: {statement.get('when_empty', 'the store holds nothing of it yet')}."
    text = f"{rows.tally(readings)}."
    if decider is not None and decider.value is not None and decider.line is not None:
        if statement["kind"] == "published":
            return f"{text} The largest difference: {decider.source}, {decider.note}."
        value = with_interval(decider.value, decider.low, decider.high)
        words = "It is" if len(readings) == 1 else rows.deciding_words(decider, statement["quantifier"])
        text += f" {words} {rows.source_with_ties(decider, readings)}: {value}"
        text += f"; the line is at {significant(decider.line)}."
    return text


def tables(ledger: Ledger) -> dict[str, list[dict[str, object]]]:
    """Rows of the tables `statements`, `readings`, `superseded`, `standings` and `changes`."""
    return {
        "statements": [
            {name: value for name, value in vars(judgement).items() if name != "readings"}
            for judgement in ledger.current
        ],
        "readings": [
            {"id": judgement.id, "number": number, **vars(reading)}
            for judgement in ledger.current
            for number, reading in enumerate(judgement.readings)
        ],
        "superseded": corrections.superseded_rows(ledger),
        "standings": [vars(row) for row in ledger.standings],
        "changes": [vars(change) for change in ledger.changes],
    }
