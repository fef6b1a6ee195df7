"""Step 9: positions told once, at the input, or again in every layer, in encoders of our own."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from analysis.ablation.presets import ablate
from analysis.ablation.variants import full_title, named
from analysis.claims.statements import OPEN, SUPPORTED, Judgement, stored
from analysis.claims.statements.judgement import COMPARED_WITH
from analysis.core import frames
from analysis.core.errors import NoResults, StoreError
from analysis.core.formatting import fixed, join_names, plural, signed
from analysis.figures import stored_figure
from analysis.figures.experiments.contrasts import NOT_HIGHER, NOT_LOWER, standing, turned
from analysis.figures.reading.told import (
    ALL,
    CLAIM,
    HOME,
    NUMBERED,
    STEP,
    judged_changes,
)
from analysis.figures.training.advantage import EXPLORATORY
from analysis.figures.training.trainings import MASKED, UNIT, Trained, TrainingParameters, select_trainings, title
from analysis.narrative.reading.step import Control, Destination, Picture, Step, Values, register
from analysis.rules import encoder_rules, training_rules
from analysis.statistics import difference

MARGIN = min(contest.margin for contest in encoder_rules().statements)
"""The margin in nats of most statements; a few have a wider one, and their sentence would say "the same" too early."""
CURVES = "curves"
"""The name of the second picture."""


class Contrast(NamedTuple):
    """A statement in the words of the tour, which follow `lower` or `higher`. reverse: it compares the other way.

    before: words before its size, where the question does not say which encoder it is of.
    """

    statement: str
    words: str
    reverse: bool = False
    before: str = ""


QUESTIONS: Mapping[str, tuple[Contrast, ...]] = {
    "The matrices?": (
        Contrast("C34a", "with matrices of their own, at equally many parameters", reverse=True),
        Contrast("C34w", "with these as extra parameters"),
    ),
    "Being added again?": (Contrast("C34e", "than added once, equally normalised"),),
    "Turning queries and keys?": (
        Contrast("C42a", "than added once"),
        Contrast("C42d", "than told to the queries and keys of every layer"),
    ),
}
"""Questions of the text, and the contrasts that answer them."""
FURTHER_QUESTIONS: Mapping[str, tuple[Contrast, ...]] = {
    "Concatenating?": (
        Contrast("C37b", "than adding", before="At the same width, where positions take a fifth of it: "),
        Contrast("C36d", "than adding", before="In a wider, flatter model, where positions take a fifth: "),
        Contrast("C36m", "than adding there to words of full width", before="In that wider model: "),
    ),
    "Trained twice as long?": (
        Contrast("C41a", "told to the attention of every layer than added once"),
        Contrast("C41c", "concatenated at the same width than added"),
    ),
}
"""Questions that the reader may unfold, and the contrasts that answer them."""
ATTENTION = "C34b"
"""The contrast of telling the attention of every layer with adding once, which answers the third question."""
ROWS = {STEP: "Single changes of the text", HOME: "Single changes of the first page", ALL: "All variants"}
"""The rows that the picture of final losses may have."""
IN_BRACKETS = {OPEN: "the rules leave it open", NOT_LOWER: "no gain", NOT_HIGHER: "no loss"}
"""Outcomes of the rules that the sign of a difference does not say."""


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
    """The preset of the step's statements where a variant was trained in it; else the first of the others."""
    judged, frozen, exploratory = _presets()
    trainings = {preset: _runs(preset) for preset in (frozen, judged, exploratory)}
    return next(
        (name for name, runs in trainings.items() if runs is not None and variant in runs.variants), EXPLORATORY
    )


def curves_of(values: Values) -> dict[str, object]:
    """The baseline and one other."""
    name = str(values["variant"])
    shared = {"preset": _preset(name), "objective": MASKED, "recipe": "", "rate": ""}
    return {**shared, "part": "curves", "variants": ("bert_a", name), "axis": "step"}


def says(values: Values) -> str:
    """The answers to the questions of the text; or the standing of the chosen variant beside its curves."""
    return compared(str(values["variant"])) if values["part"] == CURVES else answers()


def _measured() -> dict[str, Judgement]:
    """The statements that the step names, or those in their place, that were measured: by the id that it names."""
    contrasts = (*chain(*QUESTIONS.values(), *FURTHER_QUESTIONS.values()), *NUMBERED.values())
    named_here = {name: stored.by_id().get(name) for name in (ATTENTION, *(one.statement for one in contrasts))}
    return {name: one for name, one in named_here.items() if one and one.effect is not None and not one.missing}


def _answered(questions: Mapping[str, tuple[Contrast, ...]], measured: Mapping[str, Judgement]) -> list[str]:
    """A line for each question with a contrast that was measured."""
    lines = []
    for question, contrasts in questions.items():
        outcomes = [_outcome(measured[one.statement], one) for one in contrasts if one.statement in measured]
        lines += [f"{question} {' '.join(outcomes)}"] if outcomes else []
    return lines


def answers() -> str:
    """The three steps that help, and a line for each other question of the text.

    Raises NoResults where none of them is measured.
    """
    measured = _measured()
    lines = [three_steps(measured), *_answered(QUESTIONS, measured)]
    if not any(lines):
        raise NoResults(
            f"No trainings of our own are stored yet. Run: python -m analysis ablate --preset {_presets()[1]}"
        )
    return "\n".join(filter(None, lines))


def further_answers(values: Values) -> str:
    """A line for each question that the reader may unfold; empty beside the learning curves, and before any results."""
    return "" if values["part"] == CURVES else "\n".join(_answered(FURTHER_QUESTIONS, _measured()))


def three_steps(measured: Mapping[str, Judgement]) -> str:
    """The gain of telling the attention of every layer, and of each step to it; empty unless the rules decided it.

    The sizes are those of the picture; a sentence gives those of the steps that were trained again with new seeds.
    """
    whole, steps = measured.get(ATTENTION), [measured.get(one.statement) for one in NUMBERED.values()]
    if whole is None or whole.verdict != SUPPORTED or None in steps:
        return ""
    picture = stored_figure("reading_told", {"variant": [*NUMBERED][-1], "rows": STEP})
    sizes = {row.variant: signed(row.gap - row.start) for row in frames.rows(picture.frame())}
    if not NUMBERED.keys() <= sizes.keys():
        return ""
    parts = [
        f"{step.words} (step {place}: {sizes[variant]})"
        for place, (variant, step) in enumerate(NUMBERED.items(), start=1)
    ]
    undecided = [str(place) for place, one in enumerate(steps, start=1) if one is not None and one.verdict == OPEN]
    one_step = len(undecided) == 1
    numbered = f"step {undecided[0]} is" if one_step else f"steps {join_names(undecided)} are"
    whole_interval = "its whole interval would have" if one_step else "their whole intervals would have"
    some = f"By the rules, {numbered} still open: {whole_interval} to lie below −{MARGIN:g} nats." if undecided else ""
    alone = (
        "The rules have decided the three together, and none of them alone." if len(undecided) == len(steps) else some
    )
    changes = judged_changes(NUMBERED)
    again = [
        f"step {place} {signed(changes[variant].difference)}"
        for place, variant in enumerate(NUMBERED, start=1)
        if variant in changes and changes[variant].again
    ]
    seeds = {one.seeds for one in changes.values() if one.again}
    counts = " or ".join(map(str, sorted(seeds)))
    repeated = f"Trained again with {counts} new seeds: {join_names(again)}." if again else ""
    together = f"Three steps together lower the loss by {fixed(abs(whole.effect or 0.0))} nats"
    return " ".join(filter(None, [f"{together}: {join_names(parts)}.", repeated, alone]))


def _word(judged: Judgement, contrast: Contrast) -> str:
    """The outcome of the rules for a way of telling positions against the other, as `standing` has it."""
    low, high = (float("nan") if end is None else end for end in (judged.low, judged.high))
    word = standing(judged.verdict, low, high, min(float(judged.line or 0), MARGIN), judged.expect)
    return turned(word) if contrast.reverse else word


def _outcome(judged: Judgement, contrast: Contrast) -> str:
    """The final loss of one way of telling positions less another's and what the rules say of it: a sentence."""
    effect, line = float(judged.effect or 0), float(judged.line or 0)
    word = _word(judged, contrast)
    if contrast.reverse:
        effect = -effect
    note = f"less than {line:g} counts as the same" if word == "same" else IN_BRACKETS.get(word, "")
    size = f"{fixed(abs(effect))} nats {'lower' if effect < 0 else 'higher'} {contrast.words}"
    return f"{contrast.before}{size}{f' ({note})' if note else ''}."


def compared(name: str, preset: str = "") -> str:
    """The difference in final loss, with its interval, and the verdict on it.

    preset: of the trainings; where it is empty, that of the learning curves. Raises NoResults where the variant has not
    been trained.
    """
    preset = preset or _preset(name)
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
        asked = [
            one.id for one in encoder_rules().statements
            if (one.variant, one.baseline, one.kind, one.preset) == (name, trainings.baseline, "final_loss", preset)
        ]  # fmt: skip
        known = next((one for one in stored.statements() if one.id in asked and not one.missing), None)
        if known is None:
            seeds = plural(len(encoder_rules().seeds), "seed")
            return f"{text}. The rules of this preset ask for {seeds} of both sides, and not for this difference."
        return (
            f"{text}. The verdict of {known.id} is “{known.verdict}”, by rules that were frozen before its trainings."
        )
    standing = stored.standing(name, trainings.baseline) if preset == judged else None
    if standing is None or standing.missing:
        pair = f"{full_title(name)}{COMPARED_WITH}{full_title(trainings.baseline)}"
        later = next((one for one in stored.statements() if one.kind == "final_loss" and one.pair == pair), None)
        if later is None:
            return f"{text}. No rule judges this pair."
        return (
            f"{text}. The verdict of {later.id} is “{later.verdict}”, by a rule that was written after these trainings."
        )
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
            "terms; rotary models turn queries and keys in every layer. Which of it helps: the matrices, being added "
            "again, turning queries and keys, or being told to the attention alone?\n\n"
            "Published comparisons change several things at once, and "
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
                controls=(
                    Control(
                        field="rows", label="Rows", options=lambda: list(ROWS), slides=False, show=ROWS.__getitem__
                    ),
                    replace(_CONTROL, label="Mark", when=lambda values: values["rows"] == ALL),
                ),
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
        says_more={"Concatenating, and training twice as long": further_answers},
        more=Destination(
            page="experiments",
            says="Every variant, with intervals",
            values=lambda values: {"part": "gap", "preset": training_rules().preset},
        ),
    )
)
