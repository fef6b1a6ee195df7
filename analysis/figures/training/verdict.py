"""A test that the models of a recipe use positions, computed before its runs are interpreted."""

from dataclasses import dataclass

from analysis.ablation.variants import named
from analysis.claims.statements.contests import on_plateau
from analysis.core.formatting import capitalised, plural, signed
from analysis.figures.training.trainings import CAUSAL, ORDERLESS, UNIT, Trained, TrainingParameters, select_trainings
from analysis.links import Values
from analysis.rules import training_rules
from analysis.statistics import difference


@dataclass(frozen=True)
class Verdict:
    """The verdict on a recipe: its models use positions, so that ways of telling them differ, or that is not shown."""

    why_not: str
    """The reason why it is not shown, in a few words; empty if it is."""
    sentence: str

    @property
    def holds(self) -> bool:
        """The models of the recipe are shown to use positions."""
        return not self.why_not

    @property
    def word(self) -> str:
        """The verdict in a few words."""
        return "Positions are used" if self.holds else f"Inconclusive: {self.why_not}"


def _steps_leaving_plateau(trainings: Trained, variant: str) -> list[int | None]:
    """The first step, for every seed, at which the validation loss was below the plateau; None if it never was."""
    plateau = training_rules().plateau
    curves = trainings.curves("validation_loss", variants=[variant])
    below = curves[curves.value < plateau].groupby("seed").step.min()
    return [int(below[seed]) if seed in below.index else None for seed in sorted(set(curves.seed))]


def verdict_of(values: Values) -> Verdict | None:
    """The verdict on the recipe of a link's values: positions are used or not. None for one that is not judged."""
    return verdict(select_trainings(TrainingParameters.of(values)))


def verdict(trainings: Trained) -> Verdict | None:
    """The baseline must end below the model without position by more than either spreads over its seeds.

    None where the trainings are not judged: a causal model knows order without positions.
    """
    if trainings.objective == CAUSAL:
        return None
    names = (trainings.baseline, ORDERLESS[trainings.objective])
    losses = [trainings.finals(name) for name in names]
    if not all(losses):
        missing = " and ".join(named(name) for name, by_seed in zip(names, losses, strict=True) if not by_seed)
        return Verdict(f"no run of {missing}", f"These trainings are judged once there are runs of {missing}.")
    means = [sum(by_seed.values()) / len(by_seed) for by_seed in losses]
    spreads = [max(by_seed.values()) - min(by_seed.values()) for by_seed in losses]
    text = " and ".join(
        f"{named(name)} at {mean:.2f} ({plural(len(by_seed), 'seed')}"
        f"{f', spread {spread:.2f}' if len(by_seed) > 1 else ''})"
        for name, mean, by_seed, spread in zip(names, means, losses, spreads, strict=True)
    )
    gap = means[0] - means[1]
    adding = capitalised(named(names[0]))
    comparison = difference(*losses)
    interval = (
        f" (paired: {signed(comparison.mean)}, 95 % interval {signed(comparison.low)} to {signed(comparison.high)}, "
        f"n = {comparison.n})"
        if comparison.low == comparison.low
        else ""
    )
    ends = f"Final validation loss in {UNIT}: {text}."
    if min(map(len, losses)) < 2:
        return Verdict("too few seeds", f"{ends} One seed has no spread to compare the difference with.")
    if gap < -max(spreads):
        if delay := on_plateau(_steps_leaving_plateau(trainings, names[0]), int(trainings.runs.steps.max())):
            return Verdict(
                "too few steps past the plateau",
                f"{ends} {adding} {delay}: until then a model predicts words without their order, and which "
                "seed leaves first decides how the runs end. So the rules decide no comparison of final losses here.",
            )
        return Verdict(
            "",
            f"{ends} {adding} ends {-gap:.2f} nats lower{interval}, more than the spread over seeds: positions "
            "are used, so that ways of telling them can be compared. It does not follow that longer training would "
            "leave their differences as they are.",
        )
    return Verdict(
        "under-trained",
        f"{ends} {adding} does not end below {named(names[1])} by more than the spread over seeds{interval}. "
        "Until it does, position has not begun to matter, and no claim about ways of encoding it is decided here.",
    )
