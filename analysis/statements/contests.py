"""Two variants of our own trainings held against each other by the frozen rules: `analysis/rules/trainings.toml`.

One function, `standing`, says how a variant stands against another; the ledger and every page that says so ask it.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.rules import Contest, TrainingRules, training_rules
from analysis.statistics import Difference, difference, equivalence, holm, power_of
from analysis.statistics.paired import mean_interval
from analysis.statistics.seeds import Runs

BETTER, WORSE, SAME, NOT_RESOLVED = "better", "worse", "the same", "not resolved"
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
"""What a statement expects -> the standings that support it; any other that is resolved contradicts it."""

PRETRAININGS = (
    "SELECT p.run_id, p.variant, p.seed, p.final_loss, p.diverged, p.config, p.rules_sha FROM pretrainings p "
    "WHERE p.preset = '{preset}' ORDER BY p.variant, p.seed, p.created"
)
LEFT = (
    'SELECT c.run_id, min(c.step) FILTER (c.value < {plateau}) AS "left", max(c.step) AS last, '
    "min(c.step) FILTER (c.step > 0) AS every FROM curves c "
    "WHERE c.preset = '{preset}' AND c.metric = 'validation_loss' GROUP BY c.run_id"
)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One pre-training that the rules may judge. Losses in nats; left: the step of leaving the plateau, or None."""

    run_id: str
    variant: str
    seed: int
    final_loss: float | None
    diverged: bool
    left: int | None
    steps: int
    every: int

    @property
    def censored(self) -> int:
        """Steps to leave the plateau; one evaluation more than there were for a run that never did."""
        return self.steps + self.every if self.left is None else self.left


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The runs of the frozen recipe: variant -> seed -> run; and those that are left out, each with the reason."""

    runs: Mapping[str, Mapping[int, Run]]
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How a variant stands against a baseline at one end point.

    word: one of the standings above. found: the difference in final loss (nats), or the difference of the logarithms
    of steps. reason: why it is not resolved, in words; needed: seeds that would resolve it with a chance of 80 %, by
    the spread seen so far, None where that cannot be said.
    """

    word: str
    found: Difference | None
    reason: str = ""
    needed: int | None = None
    missing: int = 0


def stored(rows: Sequence[Mapping[str, Any]], left: Sequence[Mapping[str, Any]], rules: TrainingRules) -> Stored:
    """The runs that the rules may judge, from the rows of `PRETRAININGS` and `LEFT`; the newest of each seed."""
    when = {row["run_id"]: row for row in left}
    runs: dict[str, dict[int, Run]] = {}
    refused: dict[str, str] = {}
    for row in rows:
        if reason := rules.refusal(json.loads(row["config"] or "{}")):
            refused[f"{row['variant']}, seed {row['seed']} ({row['run_id']})"] = reason
            continue
        curve = when.get(row["run_id"], {})
        runs.setdefault(row["variant"], {})[row["seed"]] = Run(
            run_id=row["run_id"],
            variant=row["variant"],
            seed=row["seed"],
            final_loss=row["final_loss"],
            diverged=bool(row["diverged"]),
            left=curve.get("left"),
            steps=rules.steps,
            every=int(curve.get("every") or 0),
        )
    return Stored(runs=runs, refused=refused)


def standing(contest: Contest, found: Stored, rules: TrainingRules | None = None, p: float | None = None) -> Standing:
    """How the variant of a contest stands against its baseline. p: its p-value corrected over its family."""
    rules = rules or training_rules()
    sides = [
        {seed: run for seed, run in found.runs.get(name, {}).items() if seed in contest.seeds}
        for name in (contest.variant, contest.baseline)
    ]
    lacking = sum(seed not in side for side in sides for seed in contest.seeds)
    measured = _log_steps(sides) if contest.kind == "steps_to_leave" else _losses(sides)
    if lacking:
        return Standing(
            word=NOT_RESOLVED,
            found=measured if measured.n else None,
            reason=f"{lacking} of {2 * len(contest.seeds)} trainings are still to be run",
            missing=lacking,
        )
    if contest.kind == "steps_to_leave":
        return _earlier(sides, measured, rules)
    return _final(contest, sides, measured, rules, p)


Side = Mapping[int, Run]


def _losses(sides: Sequence[Side]) -> Difference:
    values: list[Runs] = [
        {seed: run.final_loss for seed, run in side.items() if run.final_loss is not None} for side in sides
    ]
    return difference(*values)


def _log_steps(sides: Sequence[Side]) -> Difference:
    values: list[Runs] = [{seed: math.log(run.censored) for seed, run in side.items()} for side in sides]
    return difference(*values)


def _earlier(sides: Sequence[Side], found: Difference, rules: TrainingRules) -> Standing:
    left = [[run.left is not None for run in side.values()] for side in sides]
    if not any(left[0]) and all(left[1]):
        return Standing(word=NOT_EARLIER, found=found, reason="the variant never leaves the plateau")
    if all(left[0]) and not any(left[1]):
        return Standing(word=EARLIER, found=found, reason="the baseline never leaves the plateau")
    if math.isnan(found.low):
        # Every seed gives the same ratio: it is known as well as the evaluations are apart.
        word = EARLIER if found.mean <= math.log(rules.earlier) else NOT_EARLIER
        return Standing(word=word, found=found)
    if found.high < 0 and found.mean <= math.log(rules.earlier):
        return Standing(word=EARLIER, found=found)
    if found.low > math.log(rules.earlier):
        return Standing(word=NOT_EARLIER, found=found)
    return Standing(
        word=NOT_RESOLVED,
        found=found,
        reason="the interval of the ratio of steps does not settle it",
        needed=_needed(-math.log(rules.earlier), found.sd),
    )


def _final(
    contest: Contest, sides: Sequence[Side], found: Difference, rules: TrainingRules, p: float | None
) -> Standing:
    lost = [[run.diverged for run in side.values()] for side in sides]
    if any(map(any, lost)):
        if all(lost[0]) and not any(lost[1]):
            return Standing(word=WORSE, found=None, reason="every seed of the variant diverged")
        if all(lost[1]) and not any(lost[0]):
            return Standing(word=BETTER, found=None, reason="every seed of the baseline diverged")
        return Standing(word=NOT_RESOLVED, found=found, reason="some seeds diverged and others did not")
    if reason := _late(contest, sides, rules):
        return Standing(word=NOT_RESOLVED, found=found, reason=reason)
    for side in sides:
        spread = mean_interval({seed: run.final_loss for seed, run in side.items() if run.final_loss is not None}).sd
        if spread >= rules.spread:
            name = next(iter(side.values())).variant
            return Standing(
                word=NOT_RESOLVED,
                found=found,
                reason=f"the final losses of {name} spread by {spread:.3f} nats over seeds, "
                f"{rules.spread:g} at most is asked for",
                needed=_needed(rules.margin, found.sd),
            )
    held = equivalence(found, rules.margin, p=p)
    if held.within_margin:
        return Standing(word=SAME, found=found)
    if held.verdict == "different":
        return Standing(word=BETTER if found.mean < 0 else WORSE, found=found)
    return Standing(
        word=NOT_RESOLVED,
        found=found,
        reason="the interval excludes neither no difference nor one that matters",
        needed=_needed(rules.margin, found.sd),
    )


def _late(contest: Contest, sides: Sequence[Side], rules: TrainingRules) -> str:
    """Which side was still on the plateau after half of the steps; empty where neither was."""
    if not contest.plateau:
        return ""
    for side in sides:
        name = next(iter(side.values())).variant
        if name not in rules.orderless and (why := on_plateau([run.left for run in side.values()], rules.steps, rules)):
            return f"{name} {why}"
    return ""


def on_plateau(left: Sequence[int | None], steps: int, rules: TrainingRules | None = None) -> str:
    """Why a variant's runs are no ground for a contest of final losses; empty where they are.

    left: of every seed, the step of the first evaluation below the plateau; None where there was none.
    """
    rules = rules or training_rules()
    late = [step for step in left if step is None or step > rules.by_half * steps]
    if not late:
        return ""
    stepped = [step for step in late if step is not None]
    ended = f"it left by step {max(stepped):,}" if len(stepped) == len(late) else "it never left"
    return f"was still on the plateau after half of the steps in {len(late)} of {len(left)} seeds ({ended})"


def _needed(effect: float, sd: float) -> int | None:
    """Seeds with which a paired t test finds this effect with a chance of 80 %; None beyond 1,000."""
    if not sd > 0 or math.isnan(sd):
        return None
    return next((n for n in range(2, 1_000) if power_of(effect, sd, n) >= 0.8), None)


def corrected(contests: Sequence[Contest], found: Stored, rules: TrainingRules | None = None) -> dict[str, float]:
    """Statement -> its p-value after Holm's correction over its family, for the statements that have a family."""
    rules = rules or training_rules()
    adjusted: dict[str, float] = {}
    for family in dict.fromkeys(one.family for one in contests if one.family):
        members = [one for one in contests if one.family == family]
        raw = []
        for one in members:
            made = standing(one, found, rules)
            # One that is not there yet counts as found nothing, so that none is judged more kindly for being early.
            known = made.found is not None and not made.missing and not math.isnan(made.found.p)
            raw.append(made.found.p if known and made.found else 1.0)
        adjusted |= {one.id: p for one, p in zip(members, holm(raw).adjusted, strict=True)}
    return adjusted
