"""The sentence that says what our own results show. Computed from them, and never kinder than they are."""

from dataclasses import dataclass

import pandas as pd

from analysis.ablation.variants import quote
from analysis.claims.statements import OPEN, stored
from analysis.core import frames
from analysis.core.formatting import SENTENCE_END, capitalised, join_names, plural, signed, span
from analysis.figures.glue.study_rows import name_of, recipe
from analysis.figures.training.verdict import verdict
from analysis.glue_comparison import AVERAGE, Study

SURGERY, REFITTED = "surgery", "refitted"
"""The presets of one real model that is fine-tuned after it was changed; refitted: after it was trained on, too."""
JUDGED_AS = {SURGERY: ("tuned", "operation"), REFITTED: ("refitted_glue", "refitting")}
"""Preset -> the kind of its statements, and what was done to the model before each fine-tuning."""
CHANGED_MODELS = {
    SURGERY: "A trained MiniLM, changed and fine-tuned (surgery)",
    REFITTED: "A trained MiniLM, changed, trained on and fine-tuned (refitted)",
}
"""These presets in words."""
INCONCLUSIVE = "Inconclusive"
"""The first word where there is no conclusion."""
NEEDED_SEEDS = 3
NEEDED_TASKS = 3
"""Tasks on which an encoder has to beat what needs none before anything is ranked by GLUE."""


@dataclass(frozen=True)
class Reason:
    """The reason why there is no conclusion: in a few words, and in a sentence with the numbers."""

    word: str
    sentence: str


def ranks(study: Study) -> tuple[bool, str]:
    """True where a study's variants can be ranked; and the sentence that says how finely, or why not."""
    finding, *details = headline(study)
    if finding.startswith(INCONCLUSIVE):
        return False, f"{finding} {SENTENCE_END.split(details[0])[0]}"
    if study.results.preset not in JUDGED_AS:
        return True, finding
    averages = study.contrasts[study.contrasts.task == AVERAGE]
    detectable = averages.smallest_detectable.dropna()
    resolution = (
        f"; a difference of {span(detectable)} points or more, by the change, would be found four times out of five"
        if len(detectable)
        else ""
    )
    return True, (
        f"{plural(len(averages), 'change')} of one model, each fine-tuned on "
        f"{plural(len(study.averaged_tasks), 'task')} with {span(averages.seeds)} seeds{resolution}."
    )


def headline(study: Study) -> list[str]:
    """Sentences, the finding first: what differs from the baseline on the GLUE average, how, by how many seeds.

    Where there is no conclusion, the first sentence says why in a few words, and the others give the numbers.
    """
    if study.results.preset in JUDGED_AS:
        said = _one_changed_model(*JUDGED_AS[study.results.preset])
        few = _too_few_seeds(study)
        return [f"{INCONCLUSIVE}: {few.word}.", few.sentence, *said] if few else said
    why_not = [
        reason for reason in (_below_baselines(study), _positions_unused(study), _nothing_to_compare(study)) if reason
    ]
    if why_not:
        named = "; ".join(dict.fromkeys(reason.word for reason in why_not))
        return [f"{INCONCLUSIVE}: {named}.", *(reason.sentence for reason in why_not)]
    averages = study.contrasts[study.contrasts.task == AVERAGE].sort_values("difference", ascending=False)
    rows = averages[(averages.seeds >= NEEDED_SEEDS) & averages.p.notna()]
    different = rows[rows.verdict == "different"]
    equal = rows[rows.verdict.str.startswith("equivalent")]
    unresolved = rows[~rows.index.isin([*different.index, *equal.index])]
    few = averages[~averages.index.isin(rows.index)]
    tests = int(averages.tests.max())
    sentences = [
        f"On the average of {plural(len(study.averaged_tasks), 'GLUE task')}, {len(different) or 'none'} of "
        f"{plural(len(rows), 'variant')} {'differs' if len(different) < 2 else 'differ'} from {name_of(study)} after "
        f"correction (Holm's, over {plural(tests, 'test')}"
        f"{', including variants with fewer seeds' if tests > len(rows) else ''}, at 5 %)"
        + _sides(study, different)
        + "."
    ]
    if len(equal):
        margin = f"{study.margin:g} point{'' if study.margin == 1 else 's'}"
        sentences.append(f"Equivalent within {margin}: {join_names(map(quote, equal.title))}.")
    if len(unresolved):
        sentences.append(f"Open: {join_names(map(quote, unresolved.title))}{_resolution(unresolved)}.")
    if len(few):
        sentences.append(
            f"Not counted, because they have fewer than {NEEDED_SEEDS} seeds with a spread: "
            f"{join_names(map(quote, few.title))}."
        )
    return sentences


def _too_few_seeds(study: Study) -> Reason | None:
    """The reason of a study of which no change has as many seeds as an interval needs; None where one has."""
    seeds = study.contrasts[study.contrasts.task == AVERAGE].seeds
    if (seeds >= NEEDED_SEEDS).any():
        return None
    most = plural(int(seeds.max()) if len(seeds) else 0, "seed")
    return Reason("too few seeds", f"No change has more than {most} so far; at least {NEEDED_SEEDS} are needed.")


def _one_changed_model(kind: str, done: str) -> list[str]:
    """Verdicts of the frozen rules on one model fine-tuned after several changes, in the ledger's own sentences.

    kind: of the statements. done: what was done to the model before each fine-tuning.
    """
    statements = [statement for statement in stored.statements() if statement.kind == kind]
    decided = [statement for statement in statements if statement.verdict != OPEN]
    summary = (
        f"One model, fine-tuned after each {done}: {len(decided)} of {len(statements)} statements about it "
        f"{'is' if len(decided) == 1 else 'are'} decided."
    )
    if len(decided) == 1:  # One verdict is told in its own words; several are counted.
        (one,) = decided
        told = f"One model, fine-tuned after each {done}. {one.sentence}"
        return [told, f"{one.id}, {one.verdict}: {one.statement}"]
    return [
        summary,
        *(
            f"{statement.id}, {statement.verdict}: {statement.statement} {statement.sentence}"
            for statement in (decided or statements)
        ),
    ]


def _sides(study: Study, different: pd.DataFrame) -> str:
    sides = []
    # Under the protocol of medians the interval is that of the mean difference, and need not hold theirs.
    separator = " between medians; that of means" if study.protocol == "median" else ","
    for side, group in (("above", different[different.difference > 0]), ("below", different[different.difference < 0])):
        parts = [
            f"{quote(row.title)} ({signed(row.difference)} points{separator} {signed(row.low)} to "
            f"{signed(row.high)}, {row.seeds} seeds)"
            for row in frames.rows(group)
        ]
        sides += [f"; {side} it {join_names(parts)}"] if parts else []
    return "".join(sides)


def _resolution(unresolved: pd.DataFrame) -> str:
    detectable = [f"{value:.1f}" for value in sorted(unresolved.smallest_detectable.dropna())]
    if not detectable:
        return ""
    span = detectable[0] if detectable[0] == detectable[-1] else f"{detectable[0]} to {detectable[-1]}"
    by = "" if detectable[0] == detectable[-1] else ", by variant"
    return (
        f"; with so few seeds, the smallest difference that would be detected four times out of five is {span} "
        f"points{by}"
    )


def _nothing_to_compare(study: Study) -> Reason | None:
    """The reason why averages cannot be compared; None if the baseline and another variant have enough seeds."""
    if not study.averaged_tasks:
        return Reason(
            "no task is averaged",
            "No GLUE task is in the average: none was learnt better than its majority class, or all are unticked.",
        )
    if study.baseline not in study.averages:
        missing = join_names(
            [study.title(task) for task in study.missing_scores.get(study.baseline, study.averaged_tasks)]
        )
        return Reason("the baseline has no average", f"{capitalised(name_of(study))} has no scores of {missing}.")
    count = study.averages[study.baseline].interval.n
    others = study.contrasts[study.contrasts.task == AVERAGE].seeds if len(study.contrasts) else []
    maximum = max(others, default=0)
    if count >= NEEDED_SEEDS and maximum >= NEEDED_SEEDS:
        return None
    return Reason(
        "too few seeds",
        f"{NEEDED_SEEDS} pre-training seeds of the baseline and of another variant are needed; {name_of(study)} has "
        f"{count}, and no other has more than {maximum} in common with it.",
    )


def _below_baselines(study: Study) -> Reason | None:
    """The reason why GLUE cannot rank these models: on too few tasks, the baseline beats methods without an encoder.

    It beats a task's baseline where its t interval over pre-training seeds lies above both the best score without an
    encoder and the mean of the model without position.
    """
    wins, losses, tried = [], [], 0
    for task in study.glue:
        best = study.best_without_encoder(task)
        interval = study.interval(study.baseline, task)
        if best is None or interval is None:
            continue
        tried += 1
        orderless = study.interval("no_position", task)
        threshold = max(best[1], orderless.mean if orderless else best[1])
        name = f"{study.title(task)} ({interval.mean:.1f} against {best[1]:.1f})"
        (wins if interval.low == interval.low and interval.low > threshold else losses).append(name)
    if not tried or len(wins) >= NEEDED_TASKS:
        return None
    return Reason(
        "models of this size cannot be ranked by GLUE",
        f"{capitalised(name_of(study))} scores above both the model without position and the best baseline that "
        f"needs no encoder on {len(wins) or 'none'} of {tried} tasks; the rule asks for {NEEDED_TASKS}. "
        f"The differences in points of {name_of(study)} to the best of word overlap, TF-IDF and word vectors: "
        f"{join_names(losses)}. Those baselines "
        "never see the order of the words.",
    )


def _positions_unused(study: Study) -> Reason | None:
    """The reason why these trainings do not show that positions are used; None if they do."""
    settings = recipe(study.results.preset)
    if settings is None:
        return Reason(
            "not known whether positions are used",
            "No curves of these pre-trainings are stored, so whether their positions are used is not known.",
        )
    result = verdict(settings)
    if result is None or result.holds:
        return None
    return Reason(result.why_not, f"{result.sentence} Only pre-trainings that were scored count here.")
