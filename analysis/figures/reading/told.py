"""Final losses of our own encoders by how often they are told positions, against adding once at the input."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import VARIANTS, Setting, named
from analysis.claims.statements import stored
from analysis.core import frames
from analysis.core.errors import NoResults, StoreError
from analysis.core.formatting import fixed, join_names, plural, sentences, signed, signed_or_zero
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import board
from analysis.figures.experiments.contrasts import OPEN, PARENTS, standing, turned
from analysis.figures.figure import Figure, Parameters, figure, one_of
from analysis.figures.outliers import largest_near
from analysis.figures.training.row_marks import way_hues, ways
from analysis.figures.training.trainings import MASKED, Trained, TrainingParameters, command, select_trainings, title
from analysis.rules import all_encoder_rules, encoder_contests, encoder_rules, training_rules
from analysis.statistics import difference

ONCE, EVERY, ROTATED = "once", "in every layer", "as rotations, in every layer"
CLAIM = "C34"
"""The claim whose statements differ in one thing each, and in widths that keep parameters equal; their
preset is trained under the frozen rules of version 3."""
HEADING = "told "
"""The beginning of the rows that name a group."""
GROUPS = (ONCE, EVERY, ROTATED)
"""The ways to tell positions, in the order in which they are drawn."""
RING = "Ring: the rules ask for more seeds than are stored, so that it decides nothing."
INDENT = "\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}"
"""The room by which the words of a row are indented for each change from adding."""
LETTERS = 24
"""The most letters of a line of these words."""
STEP_HEIGHT = 10
"""Pixels of the bar from the row that a row changes to its own difference."""
TICKS = tuple(tenth / 10 for tenth in range(-30, 31, 2))
"""The numbers of the axis, in nats: zero is among them on a phone, too."""
STEP_ROW = 50
"""The least pixels of a row with such a bar."""
UNDECIDED = "open"
"""The heading of the rows whose rules ask for more seeds than are stored."""


class SingleStep(NamedTuple):
    """A variant as one change of another. depth: its changes from adding. words: the last of them."""

    depth: int
    words: str = ""


COMPARED = {
    "bert_a": SingleStep(0),
    "bert_a_norm": SingleStep(1, "words and positions normalised separately"),
    "first_layer_attention": SingleStep(2, "told to the first attention layer"),
    "every_layer_attention": SingleStep(3, "told to every attention layer"),
    "bert_a_d_unscaled": SingleStep(4, "told through matrices of their own"),
    "every_layer_hidden": SingleStep(2, "instead of step 2: added in every layer"),
    "bert_a_narrow_50": SingleStep(1, "words take half of the width"),
    "concat_50": SingleStep(2, "concatenated: positions take the other half"),
    "bert_a_wide_narrow": SingleStep(1, "wider, flatter model; words take 80 % of it"),
    "concat_wide_matched": SingleStep(2, "concatenated: positions take its other 20 %"),
    "bert_a_wide": SingleStep(3, "added; words take the whole width"),
    "bert_a_narrow_80": SingleStep(1, "words take 80 % of the width"),
    "concat_20": SingleStep(2, "concatenated: positions take the other 20 %"),
    "add_project_extra": SingleStep(1, "one projection after the sum"),
    "concat_project_extra": SingleStep(2, "concatenated: a block for each"),
    "add_project_identity": SingleStep(1, "one projection after the sum, at first the identity"),
    "concat_project_identity": SingleStep(2, "concatenated: a block for each, at first the identity"),
    "sinusoidal_strong": SingleStep(1, "strong sinusoids, not learned positions"),
    "sinusoidal_lead": SingleStep(2, "only their 16 leading dimensions"),
    "concat_lead": SingleStep(3, "these dimensions concatenated, words keep the others"),
}
"""Variant of one recipe -> its change of the last variant before it that has one change fewer."""


def depth(variant: str, otherwise: int) -> int:
    """A variant's changes from adding; `otherwise` where it is not compared."""
    return COMPARED[variant].depth if variant in COMPARED else otherwise


def changed_from(variant: str) -> str:
    """The variant from which a variant differs in one change: adding for one that is not compared."""
    before = list(COMPARED)[: list(COMPARED).index(variant)] if variant in COMPARED else []
    return next((other for other in reversed(before) if depth(other, 0) == depth(variant, 0) - 1), "bert_a")


STEP, HOME, ALL = "step", "home", "all"
"""The rows that are drawn: those that the text of the step compares, those of `COMPARED`, which Home shows, or all."""
ATTENTION, OWN_MATRIX = "every_layer_attention", "bert_a_d_unscaled"
"""The variants that the heading over the rows of Home names."""


class NumberedStep(NamedTuple):
    """A change of the variant of the step before. statement: compares the two. words: the change, after steps before.

    sides: the two in words of their own, of a step that was trained again with new seeds.
    """

    statement: str
    words: str
    sides: tuple[str, str] | None = None


NUMBERED = {
    "bert_a_norm": NumberedStep(
        "C34z", "words and positions normalised separately", ("Normalised separately from the words", "added once")
    ),
    "first_layer_attention": NumberedStep(
        "C34t",
        "told to the queries and keys of the first layer alone",
        ("Told to the queries and keys of the first layer", "added once, normalised"),
    ),
    ATTENTION: NumberedStep(
        "C34s",
        "told to those of every layer",
        ("Told to the queries and keys of every layer", "to those of the first alone"),
    ),
}
"""The steps from adding once to telling the attention of every layer, which the text and the picture number."""
IN_MORE_PLACES = ("bert_a", *NUMBERED, OWN_MATRIX, "every_layer_hidden")
"""The variants of `COMPARED` that tell positions in more places, step by step."""
CONCATENATIONS = ("bert_a_wide_narrow", "concat_wide_matched", "bert_a_wide", "bert_a_narrow_80", "concat_20")
"""The concatenations that the text of the step names, each below adding with the same words."""
OF_THE_STEP = (*IN_MORE_PLACES, *CONCATENATIONS)
"""The variants of `COMPARED` that the text of the step compares."""
PARTS_OF_NAMES = {
    "words of 80 %": "a fifth of the width is left empty",
    "words of 50 %": "half of the width is left empty",
    "80/20": "words have 80 % of the width, positions the rest",
    "50/50": "words have half of the width, positions the rest",
    "normalised": "words and positions are normalised separately",
    "whole input": "positions are added to all that a layer reads",
    "queries and keys": "told to what attention compares alone",
    "own matrix": "positions have matrices of their own in attention",
    "Apart": "words and positions are scored separately, without cross terms",
    "[CLS] tied": "the first token is treated like any other",
    "unscaled": "the two scores are not made smaller before they are added",
    "with distances": "scores have a learned bias for each distance",
    "blocked": "one half of a head compares words, the other positions",
}
"""A part of a variant's name -> its meaning in plain words."""


def group_of(settings: Mapping[str, Setting]) -> str:
    """The group of a variant by the settings in which it differs; empty for one that is in none.

    Causal variants are in none, nor are those that differ in segments.
    """
    if settings.get("causal") or settings.get("single_segment") or not settings.get("segments", True):
        return ""
    if settings.get("rotary"):
        return ROTATED
    if "untied" in settings:
        return EVERY if settings.get("told_layers", 0) != 1 else ONCE
    return ONCE if settings.get("position") and settings.get("combine") not in (None, "multiply") else ""


class ToldParameters(Parameters):
    """The variant that stands out among all, and which rows are drawn."""

    variant: str
    rows: Annotated[str, one_of((STEP, HOME, ALL))] = STEP


def _trainings(preset: str) -> Trained | None:
    try:
        trainings = select_trainings(TrainingParameters(preset=preset, objective=MASKED))
    except (NoResults, StoreError):
        return None
    return trainings if trainings.baseline in trainings.variants else None


def _rows(trainings: Trained, needed: Mapping[str, int]) -> list[dict[str, object]]:
    """A row a variant: its difference from the baseline. needed: the seeds that the rules ask for, by variant."""
    rows: list[dict[str, object]] = []
    base = trainings.finals(trainings.baseline)
    for name in trainings.variants:
        group = group_of(VARIANTS[name].settings) if name in VARIANTS else ""
        if not group or name == trainings.baseline:
            continue
        gap = difference(trainings.finals(name), base)
        if not gap.n:
            continue
        judged = 0 < needed.get(name, 0) <= gap.n
        progress = f" ({plural(gap.n, 'seed')})" if judged else f" ({gap.n} of {plural(needed.get(name, 0), 'seed')})"
        rows.append(
            {
                "label": f"{title(name)}{progress}",
                "group": group,
                "gap": gap.mean,
                "low": gap.low,
                "high": gap.high,
                "seeds": gap.n,
                "variant": name,
                "preset": trainings.preset,
                "judged": judged,
            }
        )
    return rows


def _count(frame: pd.DataFrame) -> str:
    """Counts of the judged variants of each group that end lower than the baseline by more than chance."""
    parts = []
    for group in GROUPS:
        rows = frame[(frame.group == group) & frame.judged]
        if len(rows):
            parts.append(f"{int((rows.high < 0).sum())} of {len(rows)} told {group}")
    return (
        "Of the encoders, these end lower than one that adds positions once, with the whole interval below zero (not "
        f"corrected for the number of encoders): {join_names(parts)}"
    )


def _presets_in_words(frame: pd.DataFrame) -> str:
    """The presets of the rows, with their seeds."""
    seeds = frame.groupby("preset", sort=False).seeds.agg(["min", "max"])
    parts = [
        f"{preset} ({plural(int(row['max']), 'seed')}{'' if row['min'] == row['max'] else ' at most'})"
        for preset, row in seeds.iterrows()
    ]
    return join_names(parts)


def finding(frame: pd.DataFrame, variant: str, baseline: str) -> str:
    """A sentence on the variant that stands out; on all where it is not among the rows."""
    rows = frame[frame.variant == variant].sort_values("judged", ascending=False)
    if rows.empty:
        return _count(frame)
    row = rows.iloc[0]
    size = f"{fixed(abs(row.gap))} nats {'lower' if row.gap < 0 else 'higher'} than {baseline}"
    if not row.judged:
        decide = "decides" if row.seeds == 1 else "decide"
        return f"{named(variant)} ends {size} so far; {plural(int(row.seeds), 'seed')} {decide} nothing"
    if row.low <= 0 <= row.high:
        return f"{named(variant)} cannot be told from {baseline}: {signed(row.gap)} nats, with zero in the interval"
    return f"{named(variant)} ends {size}, which tells positions once"


def _lower(frame: pd.DataFrame, baseline: str) -> str:
    """Counts of the judged variants that end lower than the baseline, of those told in every layer and told once."""
    judged = frame[frame.judged]
    once = judged.group == ONCE
    parts = [
        f"{int((rows.high < 0).sum())} of {len(rows)} told {how}"
        for how, rows in (("in every layer", judged[~once]), ("once", judged[once]))
        if len(rows)
    ]
    lacking = len(frame) - len(judged)
    more = f" ({lacking} more {'lacks' if lacking == 1 else 'lack'} seeds)" if lacking else ""
    return f"{join_names(parts)} end lower than {baseline}{more}." if parts else ""


def names_explained(names: Iterable[str]) -> str:
    """The parts of these names that are not plain words, with what they say: one sentence; empty where there are none.

    >>> names_explained(["Added once", "Added once, normalised"])
    '“normalised”: words and positions are normalised separately.'
    """
    shown = " ".join(names)
    parts = [f"“{part}”: {meaning}" for part, meaning in PARTS_OF_NAMES.items() if part in shown]
    return f"{'; '.join(parts)}." if parts else ""


def _finding_of_compared(frame: pd.DataFrame) -> str:
    """A sentence on telling the attention of every layer, without and with matrices of its own."""
    gaps = dict(zip(frame.variant, frame.gap, strict=True))
    if not {ATTENTION, OWN_MATRIX} <= gaps.keys() or max(gaps[ATTENTION], gaps[OWN_MATRIX]) > 0:
        return _count(frame)
    return (
        f"Three steps together lower the loss by {fixed(-gaps[ATTENTION])} nats; matrices of their own for positions "
        f"change that by {fixed(abs(gaps[OWN_MATRIX] - gaps[ATTENTION]))}"
    )


@figure("reading_told", ToldParameters)
def reading_told(params: ToldParameters) -> Figure:
    """The difference in final loss from adding once, a row a variant. Raises NoResults without any."""
    judged, frozen = training_rules(), encoder_rules()
    contests = [contest for contest in frozen.statements if contest.parent == CLAIM]
    preset, margin = contests[0].preset, contests[0].margin
    # Comparisons that were made again have seeds of their own, which are not those of the board.
    files = [rules for rules in all_encoder_rules() if rules.seeds == frozen.seeds]
    sources = {preset: {name: len(rules.seeds) for rules in files for name in rules.planned(preset)}}
    if params.rows == ALL:
        sources = {judged.preset: {name: len(seeds) for name, seeds in judged.planned.items()}} | sources
    rows, trainings = [], None
    for name, needed in sources.items():
        if (found := _trainings(name)) is not None:
            trainings = trainings or found
            rows += _rows(found, needed)
    if trainings is None or not rows:
        raise NoResults(
            f"No trainings of our own can be compared yet. Run: python -m analysis ablate --preset {preset}"
        )
    baseline = named(trainings.baseline)
    frame = pd.DataFrame(rows)
    shown = {STEP: OF_THE_STEP, HOME: tuple(COMPARED)}
    frame = _everything(frame) if params.rows == ALL else _compared(frame, trainings, shown[params.rows])
    chosen = params.variant if params.rows == ALL else ""
    text = _count(frame)
    return Figure(
        title=f"Final loss minus that of {baseline}, "
        + ("of what the first page compares" if params.rows == HOME else "by how often positions are told"),
        finding=finding(frame, chosen, baseline) if chosen else _finding_of_compared(frame),
        frame=lambda: frame,
        caption=sentences(
            names_explained(title(name) for name in frame.variant) if params.rows == ALL else "",
            ""
            if params.rows == ALL
            else "Each row changes the one that it is indented under, and the width of its feed-forward layers where "
            "parameters would differ. The bar and the number at the right say by how much, and the word what the rules "
            "say of it. Where they judge a change by new seeds, these have a number of their own.",
            f"Difference in loss on masked words, in nats; left of zero is better than {baseline}, which adds "
            "positions once." + (" Large and bold: the one that was picked." if chosen else ""),
            f"Dot and line: mean and 95 % interval, paired by seed with {baseline} of the same preset: "
            f"{_presets_in_words(frame[frame.judged])}. Shaded: ±{margin:g} nats, within which two losses count as "
            "the same by the rules.",
            "Colours say how positions are told, as on the board." * (params.rows == ALL),
            RING * bool((~frame.judged).any()),
            f"Triangle: too far for the axis. {_lower(frame, baseline)}" if params.rows == ALL else "",
            f"{text}.",
        ),
        alt=f"A row a variant, with its difference from {baseline} and an interval. {text}.",
        command=command(
            "training_gap", TrainingParameters(preset=trainings.preset, objective=MASKED), trainings, trainings.variants
        ),
        provenance=trainings.provenance([*{trainings.baseline, *frame[frame.judged].variant}]),
        draw=lambda theme: [_draw(frame, chosen, baseline, margin, theme)],
    )


def _everything(frame: pd.DataFrame) -> pd.DataFrame:
    """All rows in the order of their groups; of a variant that was trained by both rules, those with more seeds."""
    frame = frame.assign(order=frame.group.map(GROUPS.index))
    frame = frame.sort_values(["judged", "seeds"], ascending=False).drop_duplicates("variant")
    return frame.sort_values(["judged", "order", "gap"], ascending=[False, True, True]).drop(columns="order")


def _compared(frame: pd.DataFrame, trainings: Trained, variants: Collection[str]) -> pd.DataFrame:
    """These rows in the order of Home, with the baseline, and `start`: the difference of the row that each changes.

    Raises NoResults where only the baseline is stored.
    """
    seeds = len(trainings.finals(trainings.baseline))
    base = {"label": title(trainings.baseline), "group": "", "gap": 0.0, "seeds": seeds, "judged": True,
            "variant": trainings.baseline, "preset": trainings.preset}  # fmt: skip
    rows = frame[frame.variant.isin(list(variants))]
    rows = rows.assign(label=[title(row.variant) if row.judged else row.label for row in frames.rows(rows)])
    if rows.empty:
        raise NoResults(
            "None of the variants that are compared here is stored. Run: python -m analysis ablate --preset "
            f"{trainings.preset} --variants {','.join(variants)}"
        )
    rows = pd.concat([pd.DataFrame([base]), rows], ignore_index=True)
    rows = rows.sort_values("variant", key=lambda names: names.map(list(COMPARED).index), ignore_index=True)
    last: dict[int, float] = {}  # Changes from adding -> the difference of the last row that has so many.
    starts = []
    for row in frames.rows(rows):
        changes = COMPARED[row.variant].depth
        starts.append(max(((count, gap) for count, gap in last.items() if count < changes), default=(0, 0.0))[1])
        last = {count: gap for count, gap in last.items() if count < changes} | {changes: row.gap}
    return rows.assign(start=starts)


def _grouped_rows(frame: pd.DataFrame, variant: str) -> alt.Y:
    """All rows under the names of their groups, which are bold, as is that of the variant that stands out."""
    order: list[str] = []
    for group in GROUPS:
        labels = frame[(frame.group == group) & frame.judged].label.tolist()
        order += [f"{HEADING}{group}", *labels] if labels else []
    undecided = frame[~frame.judged].label.tolist()
    order += [UNDECIDED, *undecided] if undecided else []
    y = marks.rows_down("label", order, limit=300)
    strong = [UNDECIDED, *frame[frame.variant == variant].label]
    y["axis"]["labelFontWeight"] = {
        "condition": {
            "test": f"indexof(datum.label, '{HEADING}') === 0 || indexof({json.dumps(strong)}, datum.label) >= 0",
            "value": "bold",
        },
        "value": "normal",
    }
    return y


def _indented_rows(frame: pd.DataFrame) -> tuple[list[str], alt.Y, int]:
    """The one change of each row, indented under the row that it changes: labels, their axis, and a row's height.

    An invisible letter begins each line, since room at the beginning of a text is not drawn.
    """
    words = [
        "\n".join(
            f"{marks.INVISIBLE}{INDENT * COMPARED[name].depth}{line}"
            for line in marks.wrap_lines(change_in_words(name), LETTERS)
        )
        for name in frame.variant
    ]
    level = marks.level_labels(words)
    labels = [level[one] for one in words]
    y = marks.labelled_rows(labels, gap=0)
    y["axis"]["labelAlign"] = "left"
    y["axis"]["labelPadding"] = marks.LABEL_LETTER * max(map(len, "\n".join(words).split("\n")))
    return labels, y, marks.row_height(words, STEP_ROW)


def change_in_words(variant: str) -> str:
    """The one change that a variant of `COMPARED` makes, with the number of its step; the title of the first row.

    >>> change_in_words("bert_a_norm")
    'step 1: words and positions normalised separately'
    """
    words = COMPARED[variant].words or title(variant)
    return f"step {[*NUMBERED].index(variant) + 1}: {words}" if variant in NUMBERED else words


class JudgedChange(NamedTuple):
    """A variant's last change alone, by a statement: its difference in nats, the rules' word, and the seeds.

    again: it was trained again, with seeds of its own.
    """

    difference: float
    standing: str
    seeds: int
    again: bool


def judged_changes(variants: Iterable[str]) -> dict[str, JudgedChange]:
    """The last change of each of these variants by the newest statement about it; those without one are left out."""
    facts = {one.id: one for parent in PARENTS for one in stored.parts(parent)}
    found, first = {}, encoder_rules().seeds
    pairs = {frozenset((variant, changed_from(variant))): variant for variant in variants}
    for name, (contest, rules) in encoder_contests().items():
        fact, variant = facts.get(name), pairs.get(frozenset((contest.variant, contest.baseline)))
        if fact is None or variant is None or fact.kind != "final_loss":
            continue
        if fact.effect is None or fact.low is None or fact.high is None or fact.line is None:
            continue
        if fact.missing and variant in found:  # Until all of its seeds are trained, those of the first file are told.
            continue
        word = standing(fact.verdict, fact.low, fact.high, fact.line, fact.expect)
        effect, word = (fact.effect, word) if contest.variant == variant else (-fact.effect, turned(word))
        again = rules.seeds != first and not fact.missing
        found[variant] = JudgedChange(effect, word, fact.seeds or 0, again)
    return found


def decided_again(variant: str, change: JudgedChange | None) -> bool:
    """True where the newest statement about a variant and adding is decided, even if its board leaves it open.

    change: the last one of the variant, as `judged_changes` has it.
    """
    return change is not None and changed_from(variant) == "bert_a" and change.standing != OPEN


def _by_the_rules(change: JudgedChange | None) -> list[str]:
    """The lines under the number of a change: the rules' word, and before it the number of new seeds that it is of."""
    if change is None:
        return []
    again = [f"{change.seeds} new: {signed_or_zero(change.difference)}"] if change.again else []
    return [*again, change.standing]


def _draw(frame: pd.DataFrame, variant: str, baseline: str, margin: float, theme: Theme) -> Chart:
    """A row a variant, of all under the name of its group: the difference with its interval, and its number at right.

    variant: the one that stands out; empty for rows in the order of the frame. margin: ends of the shaded band.
    """
    labels, y, height = (
        (frame.label.tolist(), _grouped_rows(frame, variant), marks.ROW) if variant else _indented_rows(frame)
    )
    limit = largest_near(frame.gap)
    near = frame[frame.gap.abs() <= limit]
    decided = near[near.judged]  # The interval of a few seeds may be many times as wide as all others.
    ends = [near.gap.min(), near.gap.max(), decided.low.min(), decided.high.max(), -margin, margin]
    domain = (float(np.nanmin(ends)) - 0.03, float(np.nanmax(ends)) + 0.03)
    axis = [f"final loss minus that of {baseline}", "(nats; left is better)"]
    x = marks.number(alt.X, "gap", axis, domain=domain, values=TICKS, place="top")
    written = [signed_or_zero(gap) for gap in frame.gap]
    rows = frame.assign(written=written, way=ways(frame.variant), name=frame.label, label=labels, decided=frame.judged)
    # The words of the single changes say how each tells positions; colours would say it a second time.
    color = way_hues(rows.way, theme, None) if variant else theme.ink
    if not variant:
        changes = judged_changes(rows.variant)
        left_open = [
            row.variant
            for row in board(str(rows.preset.iloc[0])).rows
            if row.undecided and not decided_again(row.variant, changes.get(row.variant))
        ]
        rows["decided"] &= ~rows.variant.isin(left_open)
        rows["written"] = [
            "\n".join([signed_or_zero(row.gap - row.start), *_by_the_rules(changes.get(row.variant))])
            for row in frames.rows(rows)
        ]
        rows.loc[rows.variant == next(iter(COMPARED)), "written"] = f"change\n{plural(int(rows.seeds.max()), 'seed')}"
    rows[["low", "high"]] = rows[["low", "high"]].clip(*domain)
    band = alt.Chart(pd.DataFrame({"gap": [-margin], "end": [margin]})).mark_rect(color=theme.grid, opacity=1)
    layers: list[Chart] = [band.encode(x=x, x2=alt.X2("end:Q")), marks.rule(theme, x=0)]
    if not variant:
        # A line above each row but the first, so that words and bar are seen to belong together.
        layers.append(marks.lines_above(rows.iloc[1:], y, color=theme.grid, strokeWidth=1))
    for right, side in ((True, "right"), (False, "left")):
        beyond = rows[(rows.gap > limit) if right else (rows.gap < -limit)].assign(edge=domain[int(right)])
        if len(beyond):
            layers += marks.row_plot(
                beyond, x=marks.same_axis(x, "edge"), y=y, theme=theme, ends=None, color=color,
                shape=f"triangle-{side}", size=marks.LARGE_DOT,
                tooltip=(("name", "encoder"), ("gap", "difference, nats", "+.3f")),
            )  # fmt: skip
    rows, every = rows[rows.gap.abs() <= limit], rows
    if not variant:
        step = alt.Chart(rows).mark_bar(height=STEP_HEIGHT, opacity=0.35, color=theme.ink)
        layers.append(step.encode(x=marks.same_axis(x, "start"), x2=alt.X2("gap:Q"), y=y))
    for (chosen, decided), selected in rows.groupby([rows.variant == variant, rows.decided]):
        layers += marks.row_plot(
            selected,
            x=x,
            y=y,
            theme=theme,
            color=color,
            size=2 * marks.LARGE_DOT if chosen else marks.LARGE_DOT,
            filled=bool(decided),
            tooltip=(("name", "encoder"), ("gap", "difference, nats", "+.3f"), *marks.interval_tips("+.3f"), "seeds"),
        )
    return marks.panel(
        *layers, marks.texts_beside(every, y, theme), theme=theme, width=marks.HALF, height=height * len(y["sort"]),
        title=f"Trained by recipe {_presets_in_words(frame[frame.judged])}",
        below=[
            *(
                ["thin line: 95 % interval"]
                if variant
                else [
                    "bar: one change; dot: all together, with 95 % interval",
                    "hollow: whether it differs from adding is open",
                ]
            ),
            f"shaded: within ±{margin:g} nats, which the rules call the same",
        ],
    )  # fmt: skip
