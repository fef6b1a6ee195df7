"""Corrections of statements, and the log of what they replaced.

`analysis/rules/corrections.toml` withdraws and rewords statements and judges trainings anew. A statement of any later
file takes the place of the one with its id, and of one about the same two variants once its own seeds are all trained.
The files `analysis/rules/fact_check*.toml` say of some what their readings are of.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from analysis.ablation.presets import ablate
from analysis.ablation.variants import title
from analysis.claims.statements import contests, margin_contests
from analysis.claims.statements.by_id import StatementsById
from analysis.claims.statements.encoders import repetition
from analysis.claims.statements.hours import TRAININGS, hours_by_preset
from analysis.claims.statements.judgement import DECIDED, OPEN, Ask, Change, Judgement, StandingRow, runs_to_come
from analysis.claims.statements.margin_contests import (
    EXITS,
    STEPS,
    ComparabilityLimits,
    FamilyVerdict,
    MarginComparison,
    TrainedRun,
)
from analysis.core.formatting import plural
from analysis.rules import (
    CORRECTIONS,
    RuleFile,
    TrainingRules,
    by_claim_and_letter,
    claim_of,
    encoder_contests,
    encoder_rules,
    fact_checks,
    repeating_contests,
    rule_files,
    rules_for,
    training_rules,
    version_2_rules,
)

WITHDRAWN = "withdrawn"


@dataclass(frozen=True, kw_only=True)
class Superseded:
    """A statement that is not judged any more, with its last verdict.

    by: the id of the statement that took its place, its own where its words or its rule changed; or `withdrawn`.
    changed: why; date: since when, as 2026-11-25.
    """

    judgement: Judgement
    by: str
    changed: str
    date: str


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Every statement as it is judged now, in order of id, those that were judged before, and how variants stand.

    changes: the dated log of all claims.
    """

    current: tuple[Judgement, ...]
    superseded: tuple[Superseded, ...]
    standings: tuple[StandingRow, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def by_id(self) -> StatementsById:
        """The statements that are judged now, also by the id of one that was asked again."""
        rows = ((one.judgement.id, one.by) for one in self.superseded)
        return StatementsById(self.current, {id: by for id, by in rows if by not in (WITHDRAWN, id)})


def corrections_file() -> RuleFile:
    """The file of corrections, read."""
    return next(file for file in rule_files() if file.path == CORRECTIONS)


def correcting_files() -> tuple[RuleFile, ...]:
    """The files that correct statements of others: the corrections, and what fact checkers found later."""
    return (corrections_file(), *fact_checks())


def apply(judgements: Sequence[Judgement], ask: Ask) -> Ledger:
    """The ledger after the corrections. judgements: of every file of rules; one that was corrected has several."""
    file = corrections_file()
    content, date = file.content, str(file.content["frozen"])[:10]
    newest: dict[str, Judgement] = {}
    superseded: list[Superseded] = []
    reasons = {
        (file.sha256, statement["id"]): (statement.get("changed", ""), str(file.content.get("frozen", ""))[:10])
        for file in rule_files()
        for statement in file.content.get("statement", ())
    }

    def supersede(judgement: Judgement, by: str, changed: str, since: str = date) -> None:
        superseded.append(Superseded(judgement=judgement, by=by, changed=changed, date=since))

    for judgement in sorted(judgements, key=lambda judgement: judgement.rules_version):
        if judgement.id in newest:
            supersede(newest[judgement.id], judgement.id, *reasons[judgement.rules_sha, judgement.id])
        newest[judgement.id] = judgement
    for entry in content["reworded"]:
        source = newest[entry.get("of", entry["id"])]
        newest[entry["id"]] = replace(
            source,
            id=entry["id"],
            parent=claim_of(entry["id"]),
            statement=entry["statement"],
            rules_version=file.version,
        )
        if "of" not in entry:
            supersede(source, entry["id"], entry["changed"])
    for checked in correcting_files():
        since = str(checked.content["frozen"])[:10]
        for entry, judgement in zip(checked.content.get("contest", ()), judge_contests(ask, checked), strict=True):
            if judgement.id in newest:
                supersede(newest[judgement.id], judgement.id, entry["changed"], since)
            newest[judgement.id] = judgement
    for checked in correcting_files():
        for entry in checked.content.get("withdrawn", ()):
            supersede(newest.pop(entry["id"]), WITHDRAWN, entry["changed"], str(checked.content["frozen"])[:10])
    created = run_days(ask)
    # The newest first: what is asked again by one may be asked again by the next.
    asked = sorted(_asked_again(newest).items(), key=lambda item: -item[1].judgement.rules_version)
    for name, again in asked:
        if not again.judgement.missing:
            changed = f"{again.words}, and takes its place."
            supersede(newest.pop(name), again.judgement.id, changed, max(training_days(again.judgement, created)))
        elif newest[name].verdict == OPEN and again.judgement.id in newest:
            # One question stands once: the later statement is how the first will be decided.
            del newest[again.judgement.id]
            trainings = f"{again.words}: {plural(again.judgement.missing, 'training')} more"
            each = None if again.judgement.hours is None else again.judgement.hours / again.judgement.missing
            experiment = runs_to_come(trainings, again.judgement.missing, each)
            newest[name] = replace(
                newest[name],
                would_decide=experiment.words,
                hours=experiment.hours,
                planned=again.judgement.missing,
                asked_again_by=again.judgement.id,
                command=again.judgement.command,
            )
    for checked, entry in ((file, entry) for file in fact_checks() for entry in file.content.get("scope", ())):
        one = newest.get(entry["id"])
        if one is not None and one.rules_version <= checked.version:
            newest[one.id] = replace(one, scope=entry["scope"])
    return Ledger(
        current=tuple(newest[id] for id in sorted(newest, key=by_claim_and_letter)),
        superseded=tuple(sorted(superseded, key=lambda one: by_claim_and_letter(one.judgement.id))),
    )


class AskedAgain(NamedTuple):
    """A later statement that repeats one with new seeds. words: what it does, without a full stop."""

    judgement: Judgement
    words: str


def _asked_again(judged: Mapping[str, Judgement]) -> dict[str, AskedAgain]:
    """Statement -> the later one that repeats it with new seeds, complete or not."""
    contests_by_id = encoder_contests()
    repeated = {
        name: (again[0].id, again[1].seeds, "")
        for name, (contest, rules) in contests_by_id.items()
        if (again := repetition(contest, rules))
    }
    for later in (one for one in repeating_contests() if one.id in judged):
        first = contests_by_id.get(later.asks_again)
        preset = first[0].preset if first else training_rules().preset
        recipe = "" if preset == later.preset else f" by recipe {later.preset},"
        repeated[later.asks_again] = later.id, later.seeds, recipe
    return {
        old: AskedAgain(judged[id], f"{id} compares the same two{recipe} on {plural(len(seeds), 'new seed')}")
        for old, (id, seeds, recipe) in repeated.items()
        if old in judged and id in judged
    }


def run_days(ask: Ask) -> dict[str, str]:
    """Run -> the day on which it was made, as 2026-11-25."""
    return {row["run_id"]: str(row["created"])[:10] for row in ask("SELECT run_id, created FROM runs")}


def training_days(judgement: Judgement, created: Mapping[str, str]) -> list[str]:
    """The day of each training that a statement rests on. created: as `run_days` returns it."""
    return [created[reading.note] for reading in judgement.readings if reading.note in created]


def judge_contests(ask: Ask, file: RuleFile) -> list[Judgement]:
    """Version 2's trainings judged by version 3's tests, in the order of the file."""
    entries: Sequence[Mapping[str, Any]] = file.content.get("contest", ())
    stored = {rules.sha256: (contests.load_runs(ask, rules), _exits(ask, rules)) for rules in version_2_rules()}
    sides = {entry["id"]: _sides(entry, *stored[rules_for(entry["variant"]).sha256]) for entry in entries}
    comparisons = {entry["id"]: _compare(entry, sides[entry["id"]]) for entry in entries}
    # A statement without a family is a family of its own.
    families = {entry["id"]: entry.get("family", entry["id"]) for entry in entries}
    decided = margin_contests.family_verdicts(families, comparisons)
    hours = hours_by_preset(ask, TRAININGS)
    return [_judgement(entry, decided[entry["id"]], sides[entry["id"]], file, hours) for entry in entries]


def _exits(ask: Ask, rules: TrainingRules) -> dict[str, float]:
    """Run -> the step at which it left the plateau of its rules."""
    return {row["run_id"]: row["left"] for row in ask(EXITS.format(preset=rules.preset, plateau=rules.plateau))}


def _sides(
    entry: Mapping[str, Any], judged: contests.JudgedRuns, exits: Mapping[str, float]
) -> dict[str, dict[int, TrainedRun]]:
    """The trainings of both variants of a contest with the seeds that it names, by variant and seed."""
    seeds = seeds_of(rules_for(entry["variant"]), entry["seeds"])
    return {
        name: {
            seed: TrainedRun(
                run_id=run.run_id,
                loss=run.loss(entry["kind"]),
                diverged=run.diverged,
                plateau_exit=exits.get(run.run_id),
            )
            for seed, run in judged.runs.get(name, {}).items()
            if seed in seeds
        }
        for name in (entry["variant"], entry["baseline"])
    }


def _compare(entry: Mapping[str, Any], sides: Mapping[str, Mapping[int, TrainedRun]]) -> MarginComparison:
    rules, limits = rules_for(entry["variant"]), encoder_rules()
    return margin_contests.compare_sides(
        (entry["variant"], entry["baseline"]),
        (sides[entry["variant"]], sides[entry["baseline"]]),
        seeds_of(rules, entry["seeds"]),
        kind=entry["kind"],
        expect=entry["expect"],
        margin=entry.get("margin", rules.margin),
        limits=ComparabilityLimits(
            half=None if entry.get("plateau") == "none" else rules.by_half * rules.steps,
            paired_spread=None if entry.get("spread") == "any" else limits.paired_spread,
            earlier=limits.earlier,
        ),
    )


def seeds_of(rules: TrainingRules, name: str) -> tuple[int, ...]:
    """The seeds that a file of version 2 calls by a name."""
    file = next(file for file in rule_files() if file.sha256 == rules.sha256)
    return tuple(file.content["seeds"][name])


def _judgement(
    entry: Mapping[str, Any],
    decided: FamilyVerdict,
    sides: Mapping[str, Mapping[int, TrainedRun]],
    file: RuleFile,
    hours: Mapping[str, float],
) -> Judgement:
    comparison = decided.comparison
    kind, names, rules = entry["kind"], (entry["variant"], entry["baseline"]), rules_for(entry["variant"])
    values = margin_contests.numbers(comparison.found, logarithm=kind == margin_contests.STEPS)
    found = margin_contests.finding(names, kind, values, comparison.found.n if comparison.found else 0)
    seeds = seeds_of(rules, entry["seeds"])
    margin = entry.get("margin", rules.margin)
    line = margin_contests.line_of(kind, margin, encoder_rules().earlier)
    experiment = DECIDED
    if decided.verdict == OPEN:
        experiment = margin_contests.new_seeds(
            comparison.found, names, expect=entry["expect"], line=line, each=hours.get(rules.preset)
        )
    return margin_contests.judgement(kind, decided, found)(
        id=entry["id"],
        parent=claim_of(entry["id"]),
        statement=entry["statement"],
        scope=f"our own {'causal models' if 'causal' in entry['variant'] else 'encoders'}, preset {rules.preset}",
        line=encoder_rules().earlier if kind == STEPS else margin,
        would_decide=experiment.words,
        hours=experiment.hours,
        command=ablate(rules.preset, names, seeds),
        query=contests.PRETRAININGS.format(preset=rules.preset),
        rules_version=file.version,
        rules_sha=file.sha256,
        exploratory=True,
        readings=tuple(
            margin_contests.reading(f"{title(name)}, seed {seed}", name, run, kind)
            for name in names
            for seed, run in sorted(sides[name].items())
        ),
    )


def superseded_rows(ledger: Ledger) -> list[dict[str, object]]:
    """Rows of the table `superseded`: statements with the verdict that they last had, and why they changed."""
    kept = (
        "id",
        "parent",
        "statement",
        "scope",
        "verdict",
        "sentence",
        "effect",
        "low",
        "high",
        "line",
        "rules_version",
    )
    return [
        {
            **{name: value for name, value in vars(one.judgement).items() if name in kept},
            "replaced_by": one.by,
            "changed": one.changed,
            "changed_on": one.date,
        }
        for one in ledger.superseded
    ]
