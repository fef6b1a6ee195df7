"""Two variants of our own trainings compared with each other by the frozen rules: `analysis/rules/trainings.toml`.

One function, `standing`, says how a variant stands against another; the ledger and every page that says so ask it.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.claims.statements.judgement import Ask
from analysis.rules import Contest, TrainingRules, rules_for, training_rules
from analysis.statistics import Difference, difference, equivalence, holm, seeds_needed, unresolved_reason
from analysis.statistics.paired import mean_interval
from analysis.statistics.seeds import Runs

BETTER, WORSE, SAME, NOT_RESOLVED = "better", "worse", "the same", "open"
EARLIER, NOT_EARLIER = "earlier", "not earlier"
ALLOWED = {
    "better": {BETTER},
    "worse": {WORSE},
    "the same": {SAME},
    "not better": {SAME, WORSE},
    "not worse": {SAME, BETTER},
    "earlier": {EARLIER},
    "not earlier": {NOT_EARLIER},
}
"""The expectation of a statement -> the standings that support it; any other resolved standing contradicts it."""

PRETRAININGS = (
    "SELECT p.run_id, p.variant, p.seed, p.final_loss, p.diverged, p.config, p.rules_sha, c.value AS loss_4x "
    "FROM pretrainings p LEFT JOIN curves c ON c.run_id = p.run_id AND c.metric = 'final_loss_4x' "
    "WHERE p.preset = '{preset}' ORDER BY p.variant, p.seed, p.created"
)
PLATEAU_STEPS = (
    'SELECT c.run_id, min(c.step) FILTER (c.value < {plateau}) AS "left", max(c.step) AS last, '
    "min(c.step) FILTER (c.step > 0) AS every FROM curves c "
    "WHERE c.preset = '{preset}' AND c.metric = 'validation_loss' GROUP BY c.run_id"
)


@dataclass(frozen=True, kw_only=True)
class CandidateTraining:
    """One pre-training that the rules may judge.

    Losses in nats, loss_4x at four times the training length; plateau_exit: the step of leaving the plateau, or None.
    """

    run_id: str
    variant: str
    seed: int
    final_loss: float | None
    diverged: bool
    plateau_exit: int | None
    steps: int
    every: int
    loss_4x: float | None = None

    def loss(self, kind: str) -> float | None:
        """The loss that a contest of this kind is about."""
        return self.loss_4x if kind == "loss_4x" else self.final_loss

    @property
    def censored(self) -> int:
        """Steps to leave the plateau; one evaluation more than there were for a run that never did."""
        return self.steps + self.every if self.plateau_exit is None else self.plateau_exit


@dataclass(frozen=True, kw_only=True)
class JudgedRuns:
    """The runs of the frozen recipe: variant -> seed -> run; and those that are left out, each with the reason."""

    runs: Mapping[str, Mapping[int, CandidateTraining]]
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The standing of a variant against a baseline at one end point.

    word: one of the standings above. found: the difference in final loss (nats), or the difference of the logarithms
    of steps. reason: why it is open, in words; needed: seeds that would resolve it with a chance of 80 %, by
    the spread seen so far, None where that cannot be said. too_wide: whether a side's losses spread by more than the
    rules allow, which more seeds do not change. on_plateau: whether a side left the plateau too late.
    """

    word: str
    found: Difference | None
    reason: str = ""
    needed: int | None = None
    missing: int = 0
    too_wide: bool = False
    on_plateau: bool = False


def judged_runs(
    rows: Sequence[Mapping[str, Any]], exits: Sequence[Mapping[str, Any]], rules: TrainingRules
) -> JudgedRuns:
    """The newest run of each seed that the rules may judge, from the rows of `PRETRAININGS` and `PLATEAU_STEPS`."""
    exit_rows = {row["run_id"]: row for row in exits}
    runs: dict[str, dict[int, CandidateTraining]] = {}
    refused: dict[str, str] = {}
    variants = {row["variant"] for row in rows}
    judged = {variant for variant in variants if rules_for(variant).sha256 == rules.sha256} | {*rules.begun_under}
    for row in rows:
        if row["variant"] not in judged:
            continue
        if reason := rules.refusal(json.loads(row["config"] or "{}")):
            refused[f"{row['variant']}, seed {row['seed']} ({row['run_id']})"] = reason
            continue
        curve = exit_rows.get(row["run_id"], {})
        runs.setdefault(row["variant"], {})[row["seed"]] = CandidateTraining(
            run_id=row["run_id"],
            variant=row["variant"],
            seed=row["seed"],
            final_loss=row["final_loss"],
            diverged=bool(row["diverged"]),
            plateau_exit=curve.get("left"),
            steps=rules.steps_of.get(row["variant"], rules.steps),
            every=int(curve.get("every") or 0),
            loss_4x=row.get("loss_4x"),
        )
    return JudgedRuns(runs=runs, refused=refused)


def load_runs(ask: Ask, rules: TrainingRules) -> JudgedRuns:
    """The runs of a store that the rules may judge."""
    return judged_runs(
        ask(PRETRAININGS.format(preset=rules.preset)),
        ask(PLATEAU_STEPS.format(preset=rules.preset, plateau=rules.plateau)),
        rules,
    )


def standing(contest: Contest, runs: JudgedRuns, rules: TrainingRules, p: float | None = None) -> Standing:
    """The standing of a contest's variant against its baseline. p: its p-value corrected over its family."""
    sides = [
        {seed: run for seed, run in runs.runs.get(name, {}).items() if seed in contest.seeds}
        for name in (contest.variant, contest.baseline)
    ]
    missing = sum(seed not in side for side in sides for seed in contest.seeds)
    result = difference(*(_values(side, contest.kind) for side in sides))
    if missing:
        return Standing(
            word=NOT_RESOLVED,
            found=result if result.n else None,
            reason=f"{missing} of {2 * len(contest.seeds)} trainings are still to be run",
            missing=missing,
        )
    if contest.kind == "steps_to_leave":
        return _compare_steps(sides, result, rules)
    return _compare_losses(contest, sides, result, rules, p)


Side = Mapping[int, CandidateTraining]


def _values(side: Side, kind: str) -> Runs:
    """Seed -> the loss of its run, or the logarithm of its steps."""
    if kind == "steps_to_leave":
        return {seed: math.log(run.censored) for seed, run in side.items()}
    return {seed: loss for seed, run in side.items() if (loss := run.loss(kind)) is not None}


def _compare_steps(sides: Sequence[Side], result: Difference, rules: TrainingRules) -> Standing:
    has_left = [[run.plateau_exit is not None for run in side.values()] for side in sides]
    if not any(has_left[0]) and all(has_left[1]):
        return Standing(word=NOT_EARLIER, found=result, reason="the variant never leaves the plateau")
    if all(has_left[0]) and not any(has_left[1]):
        return Standing(word=EARLIER, found=result, reason="the baseline never leaves the plateau")
    line = math.log(rules.earlier)
    # Without an interval, every seed gives the same ratio, to within the distance of two evaluations.
    same_ratio = math.isnan(result.low)
    if result.mean <= line and (same_ratio or result.high < 0):
        return Standing(word=EARLIER, found=result)
    if same_ratio or result.low > line:
        return Standing(word=NOT_EARLIER, found=result)
    reason = "the interval of the ratio of steps does not settle it"
    return Standing(word=NOT_RESOLVED, found=result, reason=reason, needed=seeds_needed(-line, result.sd))


def _compare_losses(
    contest: Contest, sides: Sequence[Side], result: Difference, rules: TrainingRules, p: float | None
) -> Standing:
    diverged = [[run.diverged for run in side.values()] for side in sides]
    if any(map(any, diverged)):
        if all(diverged[0]) and not any(diverged[1]):
            return Standing(word=WORSE, found=None, reason="every seed of the variant diverged")
        if all(diverged[1]) and not any(diverged[0]):
            return Standing(word=BETTER, found=None, reason="every seed of the baseline diverged")
        return Standing(word=NOT_RESOLVED, found=result, reason="some seeds diverged and others did not")
    if reason := _plateau_reason(contest, sides, rules):
        return Standing(word=NOT_RESOLVED, found=result, reason=reason, on_plateau=True)
    for side in sides:
        spread = mean_interval(_values(side, contest.kind)).sd
        if spread >= rules.spread:
            name = next(iter(side.values())).variant
            return Standing(
                word=NOT_RESOLVED,
                found=result,
                reason=f"the final losses of {name} spread by {spread:.3f} nats over seeds, and the rule allows "
                f"{rules.spread:g} at most",
                needed=_seeds_to_resolve(contest, result, rules.margin),
                too_wide=True,
            )
    test = equivalence(result, rules.margin, p=p)
    if test.within_margin:
        return Standing(word=SAME, found=result)
    if test.verdict == "different":
        return Standing(word=BETTER if result.mean < 0 else WORSE, found=result)
    needed = _seeds_to_resolve(contest, result, rules.margin)
    return Standing(word=NOT_RESOLVED, found=result, reason=unresolved_reason(result), needed=needed)


def _plateau_reason(contest: Contest, sides: Sequence[Side], rules: TrainingRules) -> str:
    """A sentence naming the side that was still on the plateau after half of the steps; empty if neither was."""
    if not contest.plateau:
        return ""
    for side in sides:
        name = next(iter(side.values())).variant
        if name not in rules.orderless and (
            reason := on_plateau([run.plateau_exit for run in side.values()], rules.steps, rules)
        ):
            return f"{name} {reason}"
    return ""


def on_plateau(exits: Sequence[int | None], steps: int, rules: TrainingRules | None = None) -> str:
    """The reason why the final losses of a variant's runs cannot be compared; empty if they can.

    exits: of every seed, the step of the first evaluation below the plateau; None where there was none.
    """
    rules = rules or training_rules()
    late_exits = [step for step in exits if step is None or step > rules.by_half * steps]
    if not late_exits:
        return ""
    finite_exits = [step for step in late_exits if step is not None]
    left = f"left by step {max(finite_exits):,}" if finite_exits else "never left"
    some = f" in {len(finite_exits)} of them" if 0 < len(finite_exits) < len(late_exits) else ""
    return (
        f"was still on the plateau after half of the steps in {len(late_exits)} of {len(exits)} seeds (it {left}{some})"
    )


def _seeds_to_resolve(contest: Contest, result: Difference, margin: float) -> int | None:
    """Seeds for the least difference that the interval so far leaves possible, but for none that would not matter."""
    seeds = seeds_needed(max(result.low, -result.high, margin), result.sd)
    return None if seeds is None else max(seeds, len(contest.seeds))


def corrected_p_values(contests: Sequence[Contest], runs: JudgedRuns, rules: TrainingRules) -> dict[str, float]:
    """Statement -> its p-value after Holm's correction over its family, for the statements that have a family."""
    corrected: dict[str, float] = {}
    for family in dict.fromkeys(contest.family for contest in contests if contest.family):
        members = [contest for contest in contests if contest.family == family]
        p_values = []
        for contest in members:
            result = standing(contest, runs, rules)
            # One that is not there yet counts as found nothing, so that none is judged more kindly for being early.
            tested = result.found is not None and not result.missing and not math.isnan(result.found.p)
            p_values.append(result.found.p if tested and result.found else 1.0)
        corrected |= {contest.id: p for contest, p in zip(members, holm(p_values).adjusted, strict=True)}
    return corrected
