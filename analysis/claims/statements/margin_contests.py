"""Two sides of trainings compared by version 3's tests against a margin; one comparison per statement."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from analysis.ablation.variants import named
from analysis.claims.statements.judgement import (
    CORRECTED,
    MISSING,
    OPEN,
    REFUSED,
    UNEVEN,
    UNSETTLED,
    Judgement,
    NextExperiment,
    Reading,
    runs_to_come,
)
from analysis.core.formatting import capitalised, interval_text, plural
from analysis.statistics import Difference, difference
from analysis.statistics.margins import NOT_TESTED, MarginTest, margin_test, outcomes, seeds_to_decide

STEPS = "steps_to_leave"
"""The kind of a statement about the steps to leave the plateau; the others are about losses in nats."""

EXITS = """
WITH points AS (
    SELECT run_id, step, value, lag(step) OVER by_step AS step_before, lag(value) OVER by_step AS value_before
    FROM curves WHERE preset = '{preset}' AND metric = 'validation_loss'
    WINDOW by_step AS (PARTITION BY run_id ORDER BY step)
)
SELECT run_id, min_by(
    CASE WHEN value_before IS NULL OR value_before < {plateau} THEN step
    ELSE step_before + (step - step_before) * (value_before - {plateau}) / (value_before - value) END, step
) AS "left"
FROM points WHERE value < {plateau} GROUP BY run_id
"""
"""The first crossing of the plateau by the validation loss of every run, interpolated between two evaluations."""


@dataclass(frozen=True, kw_only=True)
class TrainedRun:
    """One training: its loss in nats at the end point of a statement, and the step at which it left the plateau."""

    run_id: str
    loss: float | None
    diverged: bool
    plateau_exit: float | None


Side = Mapping[int, TrainedRun]
"""Seed -> the training of a variant."""


@dataclass(frozen=True, kw_only=True)
class ComparabilityLimits:
    """Conditions under which two complete sides cannot be compared.

    half: the step by which every run must have left the plateau, where losses are compared; None for trainings without
    a plateau. paired_spread: the standard deviation of paired differences of losses must be below it, in nats; None for
    no limit. earlier: the ratio of steps that counts as earlier.
    """

    half: float | None
    paired_spread: float | None
    earlier: float


@dataclass(frozen=True, kw_only=True)
class MarginComparison:
    """The finding on one statement.

    missing: trainings still to be run. reason: why it cannot be tested. uneven: whether it cannot since the differences
    of paired seeds lie too far apart.
    """

    found: Difference | None
    test: MarginTest
    missing: int = 0
    reason: str = ""
    uneven: bool = False


def compare_sides(
    names: tuple[str, str],
    sides: tuple[Side, Side],
    seeds: Sequence[int],
    *,
    kind: str,
    expect: str,
    margin: float,
    limits: ComparabilityLimits,
    problem: str = "",
) -> MarginComparison:
    """The difference, variant less baseline, paired by seed, with the test of the statement's expectation.

    names: of the two variants. margin: in nats; statements about steps take `limits.earlier` instead. problem: a
    reason that keeps every comparison of these runs open; empty for none.
    """
    chosen = tuple({seed: run for seed, run in side.items() if seed in seeds} for side in sides)
    values: list[dict[Hashable, float]] = [
        {
            seed: math.log(value) if kind == STEPS else value
            for seed, run in side.items()
            if (value := run.plateau_exit if kind == STEPS else run.loss) is not None
        }
        for side in chosen
    ]
    result = difference(values[0], values[1])
    found = result if result.n else None
    if missing := sum(seed not in side for side in chosen for seed in seeds):
        return MarginComparison(found=found, test=NOT_TESTED, missing=missing)
    if reason := problem or _refusal(names, chosen, kind, limits):
        return MarginComparison(found=found, test=NOT_TESTED, reason=reason)
    if kind != STEPS and limits.paired_spread is not None and result.sd >= limits.paired_spread:
        reason = (
            f"the differences of paired seeds spread by {result.sd:.3f} nats, and the rule allows less than "
            f"{limits.paired_spread:g}"
        )
        return MarginComparison(found=found, test=NOT_TESTED, reason=reason, uneven=True)
    return MarginComparison(found=found, test=margin_test(result, expect, line_of(kind, margin, limits.earlier)))


def line_of(kind: str, margin: float, earlier: float) -> float:
    """The line of a test: the margin in nats or, of steps, the logarithm of the ratio from which one is earlier."""
    return -math.log(earlier) if kind == STEPS else margin


def _refusal(names: tuple[str, str], sides: Sequence[Side], kind: str, limits: ComparabilityLimits) -> str:
    """The reason why the runs of two complete sides cannot be compared; empty if they can."""
    for name, side in zip(names, sides, strict=True):
        seeds = plural(len(side), "seed")
        if diverged := sum(run.diverged for run in side.values()):
            return f"{diverged} of {seeds} of {named(name)} diverged"
        if limits.half is None:
            continue
        late = sum(run.plateau_exit is None or run.plateau_exit > limits.half for run in side.values())
        if late and kind != STEPS:
            return f"{capitalised(named(name))} was still on the plateau after half of the steps in {late} of {seeds}"
        if never := sum(run.plateau_exit is None for run in side.values()):
            return f"{capitalised(named(name))} never left the plateau in {never} of {seeds}"
    return ""


Numbers = tuple[float | None, float | None, float | None]
"""The effect and the ends of its interval: a difference in nats, or a ratio of steps."""


def numbers(found: Difference | None, *, logarithm: bool) -> Numbers:
    """The effect of a difference, or of one of logarithms, with its 95 % interval; None where there is no number."""
    if found is None:
        return None, None, None
    effect, low, high = (
        None if math.isnan(number) else math.exp(number) if logarithm else number
        for number in (found.mean, found.low, found.high)
    )
    return effect, low, high


def finding(names: tuple[str, str], kind: str, values: Numbers, seeds: int) -> str:
    """The finding on two variants, in words; empty if no effect was measured."""
    effect, low, high = values
    if effect is None:
        return ""
    first, second = capitalised(named(names[0])), named(names[1])
    if kind == STEPS:
        text = f"{first} leaves the plateau after {effect:.2f} times the steps of {second}"
        return f"{text}{interval_text(low, high)}, {plural(seeds, 'seed')}"
    where = " at four times the training length" if kind == "loss_4x" else ""
    text = f"{first} ends {abs(effect):.3f} nats {'higher' if effect > 0 else 'lower'} than {second}"
    return f"{text}{where}{interval_text(low, high, '+.3f')}, {plural(seeds, 'seed')}"


def decided_alone(comparison: MarginComparison) -> bool:
    """True where a comparison would be decided if its test stood alone, without a correction for others."""
    return not comparison.missing and outcomes([comparison.test])[0] != OPEN


def new_seeds(
    found: Difference | None, names: tuple[str, str], *, expect: str, line: float, each: float | None
) -> NextExperiment:
    """The new trainings that would decide a statement whose own are all stored, with their hours.

    line: the margin, or the logarithm of a ratio of steps. each: hours of one training, where any is stored.
    """
    sides = f"{named(names[0])} and {named(names[1])}, under a next version of the rules"
    if found is None or math.isnan(found.sd):
        return NextExperiment(f"new seeds of {sides}")
    seeds = seeds_to_decide(found, expect, line)
    if seeds is None:
        words = f"more than a thousand new seeds of {sides}: the difference so far lies too close to the rule's line"
        return NextExperiment(words)
    trainings = f"{plural(seeds, 'new seed')} of {sides}: {plural(2 * seeds, 'training')}"
    experiment = runs_to_come(trainings, 2 * seeds, each)
    return replace(experiment, words=f"{experiment.words}, if the difference and its spread stay what they are")


def sentence(found: str, comparison: MarginComparison, verdict: str, waiting: int) -> str:
    """A finding as the sentence of a verdict, with the reason where that is open.

    waiting: the statements of its family whose trainings are not complete.
    """
    if verdict != OPEN:
        return f"{found[:1].upper()}{found[1:]}."
    return f"Open: {open_reason(comparison, waiting)}.{f' So far, {found}.' if found else ''}"


def open_reason(comparison: MarginComparison, waiting: int) -> str:
    """The reason why a statement is open; `waiting` is as in `sentence`."""
    if comparison.missing:
        return f"{plural(comparison.missing, 'training')} still to be run"
    failed = "; those that are not trained yet count as failed" if waiting else ""
    return comparison.reason or (
        f"its test holds by itself, but not once it is corrected for the other statements of its family{failed}"
        if decided_alone(comparison)
        else "the interval does not settle it"
    )


def open_by(comparison: MarginComparison) -> str:
    """The reason why a statement is open, in a word."""
    if comparison.missing:
        return MISSING
    if comparison.reason:
        return UNEVEN if comparison.uneven else REFUSED
    return CORRECTED if decided_alone(comparison) else UNSETTLED


@dataclass(frozen=True, kw_only=True)
class FamilyVerdict:
    """A comparison with its verdict, corrected over its family.

    waiting: the statements of the family whose trainings are not complete.
    """

    comparison: MarginComparison
    verdict: str
    waiting: int


def family_verdicts(
    families: Mapping[str, str], comparisons: Mapping[str, MarginComparison]
) -> dict[str, FamilyVerdict]:
    """Statement -> its verdict. families: statement -> the family over which its test is corrected."""
    verdicts: dict[str, FamilyVerdict] = {}
    for family in dict.fromkeys(families.values()):
        members = {id: comparisons[id] for id, name in families.items() if name == family}
        waiting = sum(bool(comparison.missing) for comparison in members.values())
        found = outcomes([comparison.test for comparison in members.values()])
        for (id, comparison), verdict in zip(members.items(), found, strict=True):
            verdicts[id] = FamilyVerdict(comparison=comparison, verdict=verdict, waiting=waiting)
    return verdicts


def judgement(kind: str, decided: FamilyVerdict, found: str) -> partial[Judgement]:
    """A judgement with everything that follows from a comparison. found: the finding in words."""
    comparison = decided.comparison
    effect, low, high = numbers(comparison.found, logarithm=kind == STEPS)
    return partial(
        Judgement,
        kind=kind,
        verdict=decided.verdict,
        sentence=sentence(found, comparison, decided.verdict, decided.waiting),
        reason=open_reason(comparison, decided.waiting) if decided.verdict == OPEN else "",
        open_by=open_by(comparison) if decided.verdict == OPEN else "",
        unit="times the baseline's steps" if kind == STEPS else "nats per predicted token",
        effect=effect,
        low=low,
        high=high,
        seeds=comparison.found.n if comparison.found else 0,
        missing=comparison.missing,
        page="training",
    )


def reading(source: str, family: str, run: TrainedRun, kind: str) -> Reading:
    """One training as a reading of a statement of this kind."""
    value = run.plateau_exit if kind == STEPS else run.loss
    return Reading(source=source, family=family, standing="stored", value=value, note=run.run_id)
