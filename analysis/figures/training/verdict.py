"""Whether a recipe trains long enough for position to matter: computed, before anything is read off its runs."""

from dataclasses import dataclass

from analysis.claims.statements.contests import on_plateau
from analysis.core.formatting import plural, signed
from analysis.figures.training.data import CAUSAL, ORDERLESS, UNIT, Trained, title
from analysis.rules import training_rules
from analysis.statistics import difference


@dataclass(frozen=True)
class Verdict:
    """Whether the recipe trains long enough for a variant's position to matter."""

    why_not: str
    """In a few words; empty where it does."""
    sentence: str

    @property
    def holds(self) -> bool:
        """Whether it does."""
        return not self.why_not

    @property
    def word(self) -> str:
        """The verdict in a few words."""
        return "These models learned word order" if self.holds else f"Inconclusive: {self.why_not}"


def _left(trainings: Trained, variant: str) -> list[int | None]:
    """Of every seed, the first step at which the validation loss was below the plateau; None where it never was."""
    plateau = training_rules().plateau
    curves = trainings.curves("validation_loss", variants=[variant])
    below = curves[curves.value < plateau].groupby("seed").step.min()
    return [int(below[seed]) if seed in below.index else None for seed in sorted(set(curves.seed))]


def verdict(trainings: Trained) -> Verdict | None:
    """The baseline must end below the model without position by more than either spreads over its seeds.

    None where the trainings are not judged: a causal model knows order without positions.
    """
    if trainings.objective == CAUSAL:
        return None
    names = (trainings.baseline, ORDERLESS[trainings.objective])
    sides = [trainings.finals(name) for name in names]
    if not all(sides):
        missing = " and ".join(title(name) for name, side in zip(names, sides, strict=True) if not side)
        return Verdict(f"no run of {missing}", f"These trainings are judged once there are runs of {missing}.")
    means = [sum(side.values()) / len(side) for side in sides]
    spreads = [max(side.values()) - min(side.values()) for side in sides]
    text = " and ".join(
        f"{title(name)} at {mean:.2f} ({plural(len(side), 'seed')}{f', spread {spread:.2f}' if len(side) > 1 else ''})"
        for name, mean, side, spread in zip(names, means, sides, spreads, strict=True)
    )
    gap = means[0] - means[1]
    between = difference(*sides)
    interval = (
        f" (paired: {signed(between.mean)}, 95 % interval {signed(between.low)} to {signed(between.high)}, "
        f"n = {between.n})"
        if between.low == between.low
        else ""
    )
    ends = f"Final validation loss in {UNIT}: {text}."
    if min(map(len, sides)) < 2:
        return Verdict("too few seeds", f"{ends} One seed has no spread to compare the difference with.")
    if gap < -max(spreads):
        if late := on_plateau(_left(trainings, names[0]), int(trainings.runs.steps.max())):
            return Verdict(
                "too few steps past the plateau",
                f"{ends} {title(names[0])} {late}: until then a model predicts words without their order, and which "
                "seed leaves first decides how the runs end. So the rules decide no comparison of final losses here.",
            )
        return Verdict(
            "",
            f"{ends} {title(names[0])} ends {-gap:.2f} nats lower{interval}, more than the spread over seeds: position "
            "is used, and ways of encoding it can be compared.",
        )
    return Verdict(
        "under-trained",
        f"{ends} {title(names[0])} does not end below {title(names[1])} by more than the spread over seeds{interval}. "
        "Until it does, position has not begun to matter, and no claim about ways of encoding it is decided here.",
    )
