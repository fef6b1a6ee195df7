"""One variant of our own against another, in loss and in GLUE, and when such a contest may decide a claim.

It may where both have been trained from at least three seeds that they share, and where the same recipe is shown to
train long enough for position to matter: BERT-A must end better than no position. Else a tie says nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.ablation.presets import ablate
from analysis.ablation.variants import title
from analysis.claims import views
from analysis.claims.base import INCONCLUSIVE, NEUTRAL, Evidence, QueryResults, Verdict, unmeasured
from analysis.claims.trainings import (
    BETTER,
    FEW,
    FEWEST,
    LOSS_MARGIN,
    OPEN,
    UNIT,
    LossComparison,
    at_other_settings,
    compare_losses,
    finals,
)
from analysis.claims.tunings import MAJORITY, Contrast, contrast, tunings
from analysis.core.formatting import interval_text, plural, signed

ORDERLESS = "no_position"
RULE = (
    f"A contest of our own trainings counts from {FEWEST} seeds that both sides share (a t interval of two is useless; "
    "imported runs count nowhere), and only if BERT-A ends better than no position under the same settings, or "
    "training was too short to tell. A run whose loss is no longer a number has diverged, which is worse than any "
    "loss: a side that diverges at every shared seed is worse; at some of them, the contest is open."
)
DIVERGED = (
    "2026-11-22: A run that diverges is stored, and is worse than any; it had left nothing, as if never tried.",
)
"""What was changed in `RULE` after verdicts by it were known."""
LOSS_RULE = (
    f"Losses are the same where two one-sided tests put the difference within {LOSS_MARGIN} nats (5 % of perplexity)."
)
OPEN_RULE = f"GLUE that is absent, or of fewer than {FEWEST} seeds, is open, as is what is not resolved."
GLUE_RULE = "GLUE averages are the same where two one-sided tests put the difference within 1 point."


def queries(*variants: str) -> dict[str, str]:
    """The queries of contests between these variants."""
    names = dict.fromkeys([*variants, "bert_a", ORDERLESS])
    return {"final_losses": finals(*names), "glue_scores": tunings(*variants), "majority": MAJORITY}


def step_times(*variants: str) -> str:
    """SQL: how long a step of these variants takes, in steps of BERT-A's."""
    names = ", ".join(f"'{name}'" for name in variants)
    return (
        "SELECT variant, preset, value FROM newest_costs WHERE measure = 'step_ratio' "
        f"AND variant IN ({names}) ORDER BY preset, variant"
    )


def costs(results: QueryResults) -> list[Evidence]:
    """What the query named costs, one of `step_times`, found; it decides nothing."""
    return [
        Evidence(
            side=NEUTRAL,
            description=f"Time of a step of {title(row['variant'])} against BERT-A, preset {row['preset']}",
            value=row["value"],
            unit="times BERT-A",
            query="costs",
            source=title(row["variant"]),
            view=views.training("costs"),
        )
        for row in results["costs"]
    ]


def training(*variants: str) -> str:
    """The command that trains what is lacking, from as many seeds as decide."""
    return ablate("cpu", variants, range(FEWEST))


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What is stored of a variant against a baseline. gate: BERT-A against no position, under the same settings.

    elsewhere: the same two at other settings, named in words; they decide nothing.
    """

    variant: str
    baseline: str
    loss: LossComparison | None
    glue: Contrast | None
    gate: LossComparison | None
    elsewhere: Sequence[tuple[str, LossComparison]] = ()

    @property
    def seeds(self) -> int:
        """Seeds that both sides share, in pre-training."""
        return self.loss.seeds if self.loss else 0

    @property
    def names(self) -> tuple[str, str]:
        """Both sides as they are shown."""
        return title(self.variant), title(self.baseline)

    @property
    def blocking_reason(self) -> str:
        """Why it may not decide; empty where it may."""
        if self.loss is None:
            return f"no pre-trainings of {self.names[0]} and {self.names[1]} with the same settings and seed"
        if self.loss.standing == FEW:
            return f"only {plural(self.seeds, 'seed')} of {self.names[0]} and {self.names[1]}, {FEWEST} are asked for"
        if self.gate is None or self.gate.standing == FEW:
            return f"BERT-A and no position have fewer than {FEWEST} seeds under these settings"
        if self.gate.standing != BETTER:
            return (
                "the recipe is not shown to train long enough: BERT-A does not end better than no position by more "
                f"than {LOSS_MARGIN} nats"
            )
        return ""

    @property
    def glue_blocking_reason(self) -> str:
        """Why its GLUE scores may not decide; empty where they may."""
        if self.blocking_reason:
            return self.blocking_reason
        if self.glue is None:
            return f"no fine-tunings of {self.names[0]} and {self.names[1]} on the same tasks"
        if self.glue.standing == FEW:
            return f"only {plural(self.glue.seeds, 'seed')} fine-tuned, {FEWEST} are asked for"
        return ""

    @property
    def glue_standing(self) -> str:
        """How GLUE stands; open where it is absent or of too few seeds."""
        return OPEN if self.glue is None or self.glue.standing == FEW else self.glue.standing

    @property
    def missing_glue(self) -> str:
        """A sentence on what GLUE lacks, with a space before it; empty where it lacks nothing."""
        needed = self.glue_blocking_reason and not self.blocking_reason
        return f" GLUE is open: {self.glue_blocking_reason}." if needed else ""

    @property
    def diverged(self) -> list[str]:
        """Which side diverged, and how often; nothing where none did."""
        lost = (self.loss.variant_lost, self.loss.baseline_lost) if self.loss else (0, 0)
        return [
            f"{name} diverged at {count} of {plural(self.seeds, 'seed')}"
            for name, count in zip(self.names, lost, strict=True)
            if count
        ]

    def summary(self) -> str:
        """Both differences in words."""
        parts = []
        if self.loss is not None:
            result = self.loss.found
            if result.n:
                parts.append(
                    f"{self.names[0]} ends {signed(result.mean)} {UNIT} from {self.names[1]}"
                    f"{interval_text(result.low, result.high, '+.2f')}, n = {plural(result.n, 'seed')}"
                )
            parts += self.diverged
        if self.glue is not None:
            parts.append(
                f"{signed(self.glue.value, 1)} points of the average over {plural(len(self.glue.tasks), 'GLUE task')}"
                f"{interval_text(self.glue.low, self.glue.high, '+.1f')}, n = {plural(self.glue.seeds, 'seed')}"
            )
        return "; ".join(parts)

    def evidence(self, sides: Mapping[str, str]) -> list[Evidence]:
        """Rows of evidence. sides: standing -> for, against or beside; beside where it may not decide."""
        items = []
        if self.loss is not None:
            loss = self.loss.found
            side = NEUTRAL if self.blocking_reason else sides.get(self.loss.standing, NEUTRAL)
            notes = [*self.diverged, loss.note if loss.note and loss.n >= FEWEST else ""]
            lost = "".join(f"; {one}" for one in notes if one)
            items.append(
                Evidence(
                    side=side,
                    description=f"Final loss of {self.names[0]} less {self.names[1]}, preset {self.loss.preset}, "
                    f"{plural(self.seeds, 'seed')}: {self.loss.standing}{lost}",
                    value=loss.mean,
                    low=loss.low,
                    high=loss.high,
                    unit=UNIT,
                    query="final_losses",
                    source=f"own trainings, {plural(self.seeds, 'seed')}",
                    view=views.training("gap", against=self.baseline),
                )
            )
        if self.glue is not None:
            glue = self.glue
            left = f"; left out, as no variant learnt them: {', '.join(glue.not_learnt)}" if glue.not_learnt else ""
            items.append(
                Evidence(
                    side=NEUTRAL if self.glue_blocking_reason else sides.get(glue.standing, NEUTRAL),
                    description=f"GLUE average of {self.names[0]} less {self.names[1]}, "
                    f"{plural(len(glue.tasks), 'task')}, "
                    f"{plural(glue.seeds, 'seed')}: {glue.standing}{left}",
                    value=glue.value,
                    low=glue.low,
                    high=glue.high,
                    unit="points",
                    query="glue_scores",
                    source=f"own fine-tunings, {plural(glue.seeds, 'seed')}",
                    view=views.glue(against=self.baseline),
                )
            )
        return [*items, *self.other_settings()]

    def other_settings(self) -> list[Evidence]:
        """Rows of evidence on the same two at other settings."""
        return [self._neutral_evidence(setting, other) for setting, other in self.elsewhere]

    def _neutral_evidence(self, setting: str, other: LossComparison) -> Evidence:
        """A row of evidence on the same two at another setting."""
        return Evidence(
            side=NEUTRAL,
            description=f"Final loss of {self.names[0]} less {self.names[1]} at other settings, {setting}, "
            f"{plural(other.seeds, 'seed')}: {other.standing}",
            value=other.found.mean,
            low=other.found.low,
            high=other.found.high,
            unit=UNIT,
            query="final_losses",
            source=f"own trainings, {plural(other.seeds, 'seed')}",
            view=views.training("settings", against=self.baseline),
        )


def contest(results: QueryResults, variant: str, baseline: str = "bert_a", *, only: tuple[str, ...] = ()) -> Contest:
    """What the rows of `queries` say. only: of these GLUE tasks."""
    loss = compare_losses(results["final_losses"], variant, baseline)
    return Contest(
        variant=variant,
        baseline=baseline,
        loss=loss,
        glue=contrast(results["glue_scores"], results["majority"], variant, baseline, runs=loss.runs, only=only)
        if loss
        else None,
        gate=compare_losses(results["final_losses"], "bert_a", ORDERLESS, group=loss.group) if loss else None,
        elsewhere=at_other_settings(results["final_losses"], loss) if loss else (),
    )


def decided(outcome: Contest, word: str, sentence: str, evidence: Sequence[Evidence], *, glue: bool = False) -> Verdict:
    """A verdict whose effect is that of the contest: in final loss, or in the GLUE average."""
    if glue and outcome.glue is not None:
        effect, low, high, samples = outcome.glue.value, outcome.glue.low, outcome.glue.high, outcome.glue.seeds
        unit, what, threshold = "points", "GLUE average", 1.0
    elif outcome.loss is not None:
        effect, low, high, samples = (
            outcome.loss.found.mean,
            outcome.loss.found.low,
            outcome.loss.found.high,
            outcome.seeds,
        )
        unit, what, threshold = UNIT, "final loss", LOSS_MARGIN
    else:
        raise ValueError(f"nothing is stored of {outcome.variant} against {outcome.baseline}; it decides nothing")
    return Verdict(
        word=word,
        sentence=sentence,
        effect=effect,
        low=low,
        high=high,
        unit=unit,
        measured=f"{what}, {outcome.names[0]} less {outcome.names[1]}",
        threshold=threshold if effect >= 0 else -threshold,
        models=outcome.names,
        samples=samples,
        sample_unit="seed",
        evidence=tuple(evidence),
    )


def undecided(outcome: Contest, evidence: Sequence[Evidence], *, also: str = "", why: str = "") -> Verdict:
    """Not yet measured where there is no training of one side at all, else inconclusive with the reason."""
    why = why or outcome.blocking_reason
    wanted = dict.fromkeys([outcome.variant, outcome.baseline, "bert_a", ORDERLESS])
    command = training(*wanted)
    if outcome.loss is None and not also:
        return unmeasured(
            f"trainings of {outcome.names[0]} and {outcome.names[1]} with a seed in common", command, evidence=evidence
        )
    loss = outcome.loss.found if outcome.loss else None
    sentence = f"Inconclusive: {why}."
    if text := outcome.summary():
        sentence += f" So far, {text}."
    return Verdict(
        word=INCONCLUSIVE,
        sentence=f"{sentence}{' ' if also else ''}{also}",
        effect=loss.mean if loss else None,
        low=loss.low if loss else None,
        high=loss.high if loss else None,
        unit=UNIT if loss else "",
        measured=f"final loss, {outcome.names[0]} less {outcome.names[1]}" if loss else "",
        threshold=0.0 if loss else None,
        models=outcome.names if loss else (),
        samples=outcome.seeds,
        sample_unit="seed",
        missing=why,
        command=command,
        evidence=tuple(evidence),
    )
