"""Step 8: what happens when nothing but the combination changes."""

from typing import Any

from analysis.ablation.presets import ablate
from analysis.errors import NoResults
from analysis.figures.training import MASKED, UNIT, plural, title, trained
from analysis.figures.words import signed
from analysis.reading.base import Step, Touch, Values, Way, register
from analysis.statistics import difference

OURS = {"preset": "cpu", "objective": MASKED, "recipe": "", "rate": ""}


def variants() -> list[str]:
    """What was trained besides the baseline."""
    try:
        found = trained(OURS)
    except NoResults:
        return []
    return [name for name in found.variants if name != found.baseline]


def params(values: Values) -> dict[str, Any]:
    """The baseline and one other."""
    return {**OURS, "part": "curves", "variants": ("bert_a", str(values["variant"])), "axis": "step"}


def says(values: Values) -> str:
    """The difference in final loss, with its interval."""
    found = trained(OURS)
    found.need_baseline()
    name = str(values["variant"])
    if name not in found.variants:
        raise NoResults(f"{title(name)} has not been trained yet. Run: {ablate(OURS['preset'], [name])}")
    gap = difference(found.finals(name), found.finals(found.baseline))
    between = (
        f"95 % interval {signed(gap.low)} to {signed(gap.high)}, {plural(gap.n, 'paired seed')}"
        if gap.low == gap.low
        else gap.note
    )
    return (
        f"{title(name)} ends {signed(gap.mean)} {UNIT} from {title(found.baseline)} in validation loss ({between}); "
        "below zero is better, and an interval across zero decides nothing."
    )


register(
    Step(
        place=8,
        name="training",
        title="What training says",
        text=(
            "Published tables differ in more than one thing at a time, and few print how much seeds differ. So we "
            "train the same small encoder from scratch with every way of combining word and position, the same texts "
            "in the same order. Document 003 reports rumours that concatenation wins and expects sinusoids and learned "
            "tables to be alike; document 004 expects untying to be faster. Choose a way and hold it against plain "
            "addition. These models are tiny and seeds are few: what is not resolved is said to be."
        ),
        documents=("003", "004"),
        claims=("C15", "C16", "C17", "C18"),
        figure="training_curves",
        page="training",
        params=params,
        touches=(Touch(field="variant", label="Against plain addition", options=variants, slides=False, show=title),),
        says=says,
        more=Way(page="training", says="Every variant, with intervals", values=lambda values: {"part": "gap"}),
    )
)
