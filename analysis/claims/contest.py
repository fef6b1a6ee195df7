"""One variant of our own against another, in loss and in GLUE, and when such a contest may decide a claim.

It may where both have been trained from at least three seeds that they share, and where the same recipe is shown to
train long enough for position to matter: BERT-A must end better than no position. Else a tie says nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.ablation.presets import ablate
from analysis.ablation.variants import title
from analysis.claims import views
from analysis.claims.base import BESIDE, INCONCLUSIVE, Evidence, Found, Verdict, unmeasured
from analysis.claims.said import between, plural, signed
from analysis.claims.trainings import (
    BETTER,
    FEW,
    FEWEST,
    LOSS_MARGIN,
    OPEN,
    UNIT,
    Compared,
    compared,
    elsewhere,
    finals,
)
from analysis.claims.tunings import MAJORITY, Contrast, contrast, tunings

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


def costs(found: Found) -> list[Evidence]:
    """What the query named costs, one of `step_times`, found; it decides nothing."""
    return [
        Evidence(
            side=BESIDE,
            says=f"Time of a step of {title(row['variant'])} against BERT-A, preset {row['preset']}",
            value=row["value"],
            unit="times BERT-A",
            query="costs",
            source=title(row["variant"]),
            view=views.training("costs"),
        )
        for row in found["costs"]
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
    loss: Compared | None
    glue: Contrast | None
    gate: Compared | None
    elsewhere: Sequence[tuple[str, Compared]] = ()

    @property
    def seeds(self) -> int:
        """Seeds that both sides share, in pre-training."""
        return self.loss.seeds if self.loss else 0

    @property
    def names(self) -> tuple[str, str]:
        """Both sides as they are shown."""
        return title(self.variant), title(self.baseline)

    @property
    def why_not(self) -> str:
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
    def glue_why_not(self) -> str:
        """Why its GLUE scores may not decide; empty where they may."""
        if self.why_not:
            return self.why_not
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
    def lacking(self) -> str:
        """A sentence on what GLUE lacks, with a space before it; empty where it lacks nothing."""
        return f" GLUE is open: {self.glue_why_not}." if self.glue_why_not and not self.why_not else ""

    @property
    def diverged(self) -> list[str]:
        """Which side diverged, and how often; nothing where none did."""
        lost = (self.loss.variant_lost, self.loss.baseline_lost) if self.loss else (0, 0)
        return [
            f"{name} diverged at {count} of {plural(self.seeds, 'seed')}"
            for name, count in zip(self.names, lost, strict=True)
            if count
        ]

    def told(self) -> str:
        """Both differences in words."""
        parts = []
        if self.loss is not None:
            found = self.loss.found
            if found.n:
                parts.append(
                    f"{self.names[0]} ends {signed(found.mean)} {UNIT} from {self.names[1]}"
                    f"{between(found.low, found.high, '+.2f')}, n = {plural(found.n, 'seed')}"
                )
            parts += self.diverged
        if self.glue is not None:
            parts.append(
                f"{signed(self.glue.value, 1)} points of the average over {plural(len(self.glue.tasks), 'GLUE task')}"
                f"{between(self.glue.low, self.glue.high, '+.1f')}, n = {plural(self.glue.seeds, 'seed')}"
            )
        return "; ".join(parts)

    def evidence(self, sides: Mapping[str, str]) -> list[Evidence]:
        """Rows of evidence. sides: standing -> for, against or beside; beside where it may not decide."""
        found = []
        if self.loss is not None:
            loss = self.loss.found
            side = BESIDE if self.why_not else sides.get(self.loss.standing, BESIDE)
            notes = [*self.diverged, loss.note if loss.note and loss.n >= FEWEST else ""]
            lost = "".join(f"; {one}" for one in notes if one)
            found.append(
                Evidence(
                    side=side,
                    says=f"Final loss of {self.names[0]} less {self.names[1]}, preset {self.loss.preset}, "
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
            found.append(
                Evidence(
                    side=BESIDE if self.glue_why_not else sides.get(glue.standing, BESIDE),
                    says=f"GLUE average of {self.names[0]} less {self.names[1]}, {plural(len(glue.tasks), 'task')}, "
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
        return [*found, *self.others()]

    def others(self) -> list[Evidence]:
        """Rows of evidence on the same two at other settings."""
        return [self._beside(setting, other) for setting, other in self.elsewhere]

    def _beside(self, setting: str, other: Compared) -> Evidence:
        """A row of evidence on the same two at another setting."""
        return Evidence(
            side=BESIDE,
            says=f"Final loss of {self.names[0]} less {self.names[1]} at other settings, {setting}, "
            f"{plural(other.seeds, 'seed')}: {other.standing}",
            value=other.found.mean,
            low=other.found.low,
            high=other.found.high,
            unit=UNIT,
            query="final_losses",
            source=f"own trainings, {plural(other.seeds, 'seed')}",
            view=views.training("settings", against=self.baseline),
        )


def contest(found: Found, variant: str, baseline: str = "bert_a", *, only: tuple[str, ...] = ()) -> Contest:
    """What the rows of `queries` say. only: of these GLUE tasks."""
    loss = compared(found["final_losses"], variant, baseline)
    return Contest(
        variant=variant,
        baseline=baseline,
        loss=loss,
        glue=contrast(found["glue_scores"], found["majority"], variant, baseline, runs=loss.runs, only=only)
        if loss
        else None,
        gate=compared(found["final_losses"], "bert_a", ORDERLESS, group=loss.group) if loss else None,
        elsewhere=elsewhere(found["final_losses"], loss) if loss else (),
    )


def decided(made: Contest, word: str, sentence: str, evidence: Sequence[Evidence], *, glue: bool = False) -> Verdict:
    """A verdict whose effect is that of the contest: in final loss, or in the GLUE average."""
    if glue and made.glue is not None:
        effect, low, high, samples = made.glue.value, made.glue.low, made.glue.high, made.glue.seeds
        unit, what, threshold = "points", "GLUE average", 1.0
    elif made.loss is not None:
        effect, low, high, samples = made.loss.found.mean, made.loss.found.low, made.loss.found.high, made.seeds
        unit, what, threshold = UNIT, "final loss", LOSS_MARGIN
    else:
        raise ValueError(f"nothing is stored of {made.variant} against {made.baseline}; it decides nothing")
    return Verdict(
        word=word,
        sentence=sentence,
        effect=effect,
        low=low,
        high=high,
        unit=unit,
        measured=f"{what}, {made.names[0]} less {made.names[1]}",
        threshold=threshold if effect >= 0 else -threshold,
        models=made.names,
        samples=samples,
        sample_unit="seed",
        evidence=tuple(evidence),
    )


def undecided(made: Contest, evidence: Sequence[Evidence], *, also: str = "", why: str = "") -> Verdict:
    """Not yet measured where there is no training of one side at all, else inconclusive with the reason."""
    why = why or made.why_not
    wanted = dict.fromkeys([made.variant, made.baseline, "bert_a", ORDERLESS])
    command = training(*wanted)
    if made.loss is None and not also:
        return unmeasured(
            f"trainings of {made.names[0]} and {made.names[1]} with a seed in common", command, evidence=evidence
        )
    loss = made.loss.found if made.loss else None
    sentence = f"Inconclusive: {why}."
    if told := made.told():
        sentence += f" So far, {told}."
    return Verdict(
        word=INCONCLUSIVE,
        sentence=f"{sentence}{' ' if also else ''}{also}",
        effect=loss.mean if loss else None,
        low=loss.low if loss else None,
        high=loss.high if loss else None,
        unit=UNIT if loss else "",
        measured=f"final loss, {made.names[0]} less {made.names[1]}" if loss else "",
        threshold=0.0 if loss else None,
        models=made.names if loss else (),
        samples=made.seeds,
        sample_unit="seed",
        missing=why,
        command=command,
        evidence=tuple(evidence),
    )
