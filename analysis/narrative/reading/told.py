"""Step 9: positions told once, at the input, or again in every layer, in encoders of our own."""

from analysis.ablation.presets import ablate
from analysis.ablation.variants import named
from analysis.claims.statements import OPEN, stored
from analysis.core.errors import NoResults, StoreError
from analysis.core.formatting import fixed, plural, sentences, signed
from analysis.figures.reading.told import CLAIM
from analysis.figures.training.data import MASKED, UNIT, Trained, TrainingParameters, select_trainings, title
from analysis.narrative.answer.stored import answer
from analysis.narrative.reading.base import Control, Destination, Picture, Step, Values, register
from analysis.rules import encoder_rules, training_rules
from analysis.statistics import difference

EXPLORATORY = "cpu"
"""The preset of the first trainings, which decided nothing; it has variants that the other lacks."""
CURVES = "curves"
"""The name of the second picture."""


def _runs(preset: str) -> Trained | None:
    try:
        return select_trainings(TrainingParameters(preset=preset, objective=MASKED))
    except (NoResults, StoreError):  # none of these, or no store yet
        return None


def _presets() -> tuple[str, ...]:
    """The preset that was judged first, the one whose trainings are under way, and the exploratory one."""
    frozen = next(contest.preset for contest in encoder_rules().statements if contest.parent == CLAIM)
    return training_rules().preset, frozen, EXPLORATORY


def variants() -> list[str]:
    """The variants other than the baseline that were trained in one of the presets."""
    trainings = [runs for preset in _presets() if (runs := _runs(preset)) is not None]
    return list(dict.fromkeys(name for runs in trainings for name in runs.variants if name != runs.baseline))


def _preset(variant: str) -> str:
    """The first preset in which a variant was trained."""
    trainings = {preset: _runs(preset) for preset in _presets()}
    return next(
        (name for name, runs in trainings.items() if runs is not None and variant in runs.variants), EXPLORATORY
    )


def curves_of(values: Values) -> dict[str, object]:
    """The baseline and one other."""
    name = str(values["variant"])
    shared = {"preset": _preset(name), "objective": MASKED, "recipe": "", "rate": ""}
    return {**shared, "part": "curves", "variants": ("bert_a", name), "axis": "step"}


def says(values: Values) -> str:
    """The answer on telling once, with what is open of it; or the standing of the chosen variant beside its curves."""
    return compared(str(values["variant"])) if values["part"] == CURVES else once_or_again()


def once_or_again() -> str:
    """The sentence of the answer, and the progress of the trainings that isolate one difference each.

    Raises NoResults where no sentence is stored.
    """
    sentence = next((step.sentence for step in answer() if step.name == "told_once"), "")
    if not sentence:
        raise NoResults("No trainings of our own are stored yet. Run: python -m analysis ablate --preset cpu2")
    return sentences(sentence, _progress())


def _progress() -> str:
    """The number of statements of the frozen rules that are decided, and what they ask for; empty if all are."""
    frozen = encoder_rules()
    ids = {contest.id for contest in frozen.statements if contest.parent == CLAIM}
    contrasts = [statement for statement in stored.parts(CLAIM) if statement.id in ids]
    undecided = [statement for statement in contrasts if statement.verdict == OPEN]
    if not undecided:
        return ""
    return (
        f"{len(contrasts) - len(undecided)} of {len(contrasts)} such statements are decided; their rule was fixed "
        f"before the trainings and asks for {plural(len(frozen.seeds), 'seed')} of both sides."
    )


def compared(name: str) -> str:
    """The difference in final loss, with its interval, and the verdict on it.

    Raises NoResults where the variant has not been trained.
    """
    preset = _preset(name)
    trainings = select_trainings(TrainingParameters(preset=preset, objective=MASKED))
    trainings.require_baseline()
    if name not in trainings.variants:
        raise NoResults(f"{named(name)} has not been trained yet. Run: {ablate(preset, [name])}")
    gap = difference(trainings.finals(name), trainings.finals(trainings.baseline))
    interval = (
        f"95 % interval {signed(gap.low)} to {signed(gap.high)}, {plural(gap.n, 'paired seed')}"
        if gap.low == gap.low
        else gap.note
    )
    baseline = named(trainings.baseline)
    text = (
        f"{named(name)} ends {fixed(abs(gap.mean))} {UNIT} {'below' if gap.mean < 0 else 'above'} {baseline} "
        f"({interval}, preset {preset}); lower is better"
    )
    judged, frozen, _ = _presets()
    if preset == EXPLORATORY:
        return (
            f"{text}. This preset was exploratory and is judged by no rule: its runs decide nothing. Statements on the "
            f"page Claims are about other presets, and some of them have another baseline."
        )
    if preset == frozen:
        return f"{text}. The rules of this preset ask for {plural(len(encoder_rules().seeds), 'seed')} of both sides."
    standing = stored.standing(name, trainings.baseline) if preset == judged else None
    if standing is None or standing.missing:
        return f"{text}. No rule that was fixed before these trainings judges this pair."
    return f"{text}. The verdict is “{standing.word}”, by rules that were frozen before these trainings began."


_CONTROL = Control(field="variant", label="Compare with plain addition", options=variants, slides=False, show=title)

register(
    Step(
        place=9,
        name="told",
        title="Told once, or in every layer",
        text=(
            "So far positions were told **once**, at the input. TUPE (Ke et al., 2021), which the article from Baobao "
            "Algorithm Notes follows, tells them in **every layer**, through matrices of their own and without cross "
            "terms; rotary models turn queries and keys in every layer. Which of it helps: the matrices, being told "
            "again, or being told to the attention alone?\n\nPublished comparisons change several things at once, and "
            "few report how much results vary between seeds (the random numbers that a training starts from). So we "
            "train one small encoder from scratch in many ways. The loss is counted in nats: 0.1 less means that the "
            "right word is held to be about a tenth likelier."
        ),
        documents=("003", "004"),
        claims=("C15", "C16", "C17", "C18", "C34"),
        citations=("ke2021tupe", "su2021roformer"),
        pictures=(
            Picture(
                label="Final losses",
                figure="reading_told",
                controls=(_CONTROL,),
            ),
            Picture(
                name=CURVES,
                label="Learning curves",
                figure="training_curves",
                page="experiments",
                params=curves_of,
                controls=(_CONTROL,),
            ),
        ),
        says=says,
        more=Destination(
            page="experiments",
            says="Every variant, with intervals",
            values=lambda values: {"part": "gap", "preset": training_rules().preset},
        ),
    )
)
