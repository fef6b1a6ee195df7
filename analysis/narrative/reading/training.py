"""Step 9: what happens when nothing but the combination changes."""

from analysis.ablation.presets import ablate
from analysis.claims.statements import stored
from analysis.core.errors import NoResults, StoreError
from analysis.core.formatting import plural, signed
from analysis.figures.training.data import MASKED, UNIT, Trained, TrainingParameters, select_trainings, title
from analysis.narrative.reading.base import Control, Destination, Step, Values, register
from analysis.rules import training_rules
from analysis.statistics import difference

EXPLORATORY = "cpu"
"""The preset of the first trainings, which decided nothing; it has variants that the other lacks."""


def _runs(preset: str) -> Trained | None:
    try:
        return select_trainings(TrainingParameters(preset=preset, objective=MASKED))
    except (NoResults, StoreError):  # none of these, or no store yet
        return None


def _presets() -> tuple[str, str]:
    """The one that the frozen rules judge first."""
    return training_rules().preset, EXPLORATORY


def variants() -> list[str]:
    """The variants other than the baseline that were trained in either preset."""
    trainings = [runs for preset in _presets() if (runs := _runs(preset)) is not None]
    return list(dict.fromkeys(name for runs in trainings for name in runs.variants if name != runs.baseline))


def _preset(variant: str) -> str:
    """The preset of a variant's runs: that of the frozen rules if it was trained there, else the exploratory one."""
    trainings = {preset: _runs(preset) for preset in _presets()}
    return next(
        (name for name, runs in trainings.items() if runs is not None and variant in runs.variants), EXPLORATORY
    )


def params(values: Values) -> dict[str, object]:
    """The baseline and one other."""
    name = str(values["variant"])
    shared = {"preset": _preset(name), "objective": MASKED, "recipe": "", "rate": ""}
    return {**shared, "part": "curves", "variants": ("bert_a", name), "axis": "step"}


def says(values: Values) -> str:
    """The difference in final loss, with its interval, and the verdict on it.

    Raises NoResults where the variant has not been trained.
    """
    name = str(values["variant"])
    preset = _preset(name)
    trainings = select_trainings(TrainingParameters(preset=preset, objective=MASKED))
    trainings.require_baseline()
    if name not in trainings.variants:
        raise NoResults(f"{title(name)} has not been trained yet. Run: {ablate(preset, [name])}")
    gap = difference(trainings.finals(name), trainings.finals(trainings.baseline))
    interval = (
        f"95 % interval {signed(gap.low)} to {signed(gap.high)}, {plural(gap.n, 'paired seed')}"
        if gap.low == gap.low
        else gap.note
    )
    baseline = title(trainings.baseline)
    text = (
        f"With preset {preset}, the final loss of {title(name)} differs from that of {baseline} by {signed(gap.mean)} "
        f"{UNIT} ({interval}; below zero is better)"
    )
    standing = stored.standing(name, trainings.baseline) if preset == training_rules().preset else None
    if preset != training_rules().preset:
        return (
            f"{text}. This preset was exploratory and is judged by no rule: its runs decide nothing. Statements on the "
            f"page Claims are about preset {training_rules().preset}, and some of them have another baseline."
        )
    if standing is None or standing.missing:
        return f"{text}. No rule judges this pair, so it decides nothing."
    return f"{text}. The verdict is “{standing.word}”, by rules that were frozen before these trainings began."


register(
    Step(
        place=9,
        name="training",
        title="What our own trainings say",
        text=(
            "Published comparisons change more than one thing at a time, and few report how much results vary "
            "between seeds. So we train the same small encoder from scratch with many ways of combining word and "
            "position, on the same texts in the same order. Answers on Stack Exchange report rumours that "
            "concatenation wins, and expect sinusoids and learned tables to do equally well; the article from Baobao "
            "Algorithm Notes expects models with separate matrices to train faster. Choose a way and compare it with "
            "plain addition."
        ),
        documents=("003", "004"),
        claims=("C15", "C16", "C17", "C18"),
        figure="training_curves",
        page="training",
        params=params,
        controls=(
            Control(field="variant", label="Compare with plain addition", options=variants, slides=False, show=title),
        ),
        says=says,
        more=Destination(
            page="training",
            says="Every variant, with intervals",
            values=lambda values: {"part": "gap", "preset": training_rules().preset},
        ),
    )
)
