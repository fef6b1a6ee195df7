"""Final losses of every variant, and their differences to the baseline's."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.ablation.variants import named, quote
from analysis.claims.statements import stored
from analysis.claims.statements.contests import BETTER, NOT_RESOLVED, WORSE
from analysis.claims.statements.encoders import repetition
from analysis.claims.statements.judgement import OPEN as UNDECIDED, UNEVEN, Judgement, StandingRow
from analysis.core import frames
from analysis.core.formatting import fixed, join_names, plural, sentences, signed_or_zero
from analysis.figures import marks
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.outliers import largest_near
from analysis.figures.training.row_marks import (
    BELOW,
    LETTERS,
    VARIANT,
    edge_triangles,
    significant_or_hollow,
    way_hues,
    ways,
)
from analysis.figures.training.trainings import (
    UNIT,
    ComparedParameters,
    Trained,
    command,
    select_trainings,
    title,
)
from analysis.rules import EncoderContest, EncoderRules, encoder_contests, rules_of_preset, training_rules
from analysis.statistics import (
    difference,
    holm,
    mean_interval,
    smallest_detectable,
)
from analysis.store.files import IMPORTED

ALPHA = 0.05
TWO_LINES = 36
"""Pixels of a row with two lines of text."""
FEWEST_SEEDS = 3
"""Seeds from which a row is judged where no rule says how many there must be."""
BASELINE, LOWER, HIGHER, SAME, OPEN, FEW = "baseline", "lower", "higher", "same", "unresolved", "few"
"""The outcomes of a comparison with the baseline."""
WORDS = {LOWER: "lower", HIGHER: "higher", SAME: "the same", FEW: "too few seeds"}
"""Outcome -> its word beside the row; the word of an open one says why it is open."""
SHORT = {FEW: "few seeds"}
"""Outcome -> its word on a phone, where that is a shorter one."""
NAN = float("nan")
FAR = 3
"""The width of an interval that is so many times as large as the median does not set the axis."""


def _far(table: pd.DataFrame) -> "pd.Series[bool]":
    """True for each row that lies so far above the others that it stands on an axis of its own.

    A difference whose interval is so wide that it says nothing does not set the end at which losses are higher.
    """
    near = table[~(table.gap > largest_near(table.gap))]
    widths = near.high - near.low
    known = near[~(widths > FAR * widths.median())]
    return table.gap > max(0.0, known[["gap", "high"]].max().max())


def _axis_range(table: pd.DataFrame, seeds: pd.DataFrame) -> tuple[float, float]:
    """The range of the axis, which holds every seed of the rows, and the intervals that are not far wider than others.

    An interval of two seeds may be ten times as wide as all differences.
    """
    limit = 1.6 * float(table.gap.abs().max()) or 1.0
    widths = table.high - table.low
    several = table[widths <= FAR * widths.median()]
    ends = [
        0.0,
        *seeds.gap[seeds.variant.isin(table.variant)],
        *several.low.clip(-limit),
        *several.high.clip(None, limit),
    ]
    return min(ends), max(ends)


def is_imported(preset: str) -> bool:
    """True for a preset of rows that a reader imported."""
    return preset.startswith(IMPORTED)


def seeds_needed(preset: str) -> int:
    """The seeds that a verdict needs: those that the frozen rules plan, where they judge the preset."""
    if rules := rules_of_preset(preset):
        return len(rules.seeds)
    if preset == training_rules().preset:
        return max(map(len, training_rules().planned.values()))
    return FEWEST_SEEDS


def margin_of(preset: str) -> float:
    """The difference in nats below which the rules count none; 0 for imported rows, which none judges."""
    return 0.0 if is_imported(preset) else training_rules().margin


def outcome(low: float, high: float, margin: float, *, told_apart: bool) -> str:
    """The outcome of a comparison with enough seeds, by the place of its whole interval beside the margin.

    told_apart: by the rules or, where they do not judge it, after Holm's correction.
    """
    if -margin <= low and high <= margin:
        return SAME
    if not told_apart or not (high < -margin or low > margin):
        return OPEN
    return LOWER if high < -margin else HIGHER


def compared_losses(trainings: Trained) -> tuple[pd.DataFrame, int]:
    """A row per variant with its mean final loss and its difference to the baseline's, and the number of tests.

    told_apart: by the frozen rules where they judge these runs, else by Holm's correction over the variants. outcome:
    the one that the board has, too. The lowest difference stands first.

    Raises NoResults where the baseline was not run.
    """
    trainings.require_baseline()
    needed, margin = seeds_needed(trainings.preset), margin_of(trainings.preset)
    base = trainings.baseline
    rows = []
    for name in trainings.variants:
        losses = trainings.finals(name)
        row: dict[str, object] = {"variant": name, "seeds": len(losses), "mean": mean_interval(losses).mean}
        comparison = difference(losses, trainings.finals(base))
        if name == base or not comparison.n:
            comparison = None
        row |= {
            "n": comparison.n if comparison else 0,
            "gap": comparison.mean if comparison else NAN,
            "low": comparison.low if comparison else NAN,
            "high": comparison.high if comparison else NAN,
            "p": comparison.p if comparison else NAN,
            "detectable": comparison.sd * smallest_detectable(1.0, comparison.n, alpha=ALPHA) if comparison else NAN,
            "note": "the baseline" if name == base else comparison.note if comparison else "no seed in common",
        }
        rows.append(row)
    table = pd.DataFrame(rows)
    corrected = holm(table.p.tolist(), ALPHA)
    table["p_holm"] = corrected.adjusted
    standings = stored.standings() if trainings.preset == training_rules().preset else {}
    judged = {name: standings.get((name, base)) for name in table.variant}
    planned = training_rules().planned
    most = max(map(len, planned.values()))
    verdicts = {name: "" if one is None or one.missing else one.word for name, one in judged.items()}
    table["standing"] = [verdicts[name] for name in table.variant]
    table["asked"] = [(len(planned.get(name, ())) or most) if judged[name] else 0 for name in table.variant]
    table["reason"] = [_reason(judged[name]) for name in table.variant]
    table["on_plateau"] = [bool(one and one.on_plateau) for one in map(judged.get, table.variant)]
    table["told_apart"] = [
        verdicts[name] in (BETTER, WORSE) if verdicts[name] else bool(rejected)
        for name, rejected in zip(table.variant, corrected.rejected, strict=True)
    ]
    left_open = _left_open(trainings)
    table["left_open"] = [left_open[name].reason if name in left_open else "" for name in table.variant]
    table["uneven"] = [name in left_open and left_open[name].open_by == UNEVEN for name in table.variant]
    table["outcome"] = [
        BASELINE
        if row.variant == base
        else (OPEN if row.left_open else outcome(row.low, row.high, margin, told_apart=row.told_apart))
        if row.n >= needed
        else FEW
        for row in frames.rows(table)
    ]
    place = table.gap.where(table.variant != base, 0.0)
    table = table.assign(title=[title(name) for name in table.variant], place=place)
    return table.sort_values(["place", "mean"], ignore_index=True).drop(columns="place"), corrected.tests


@figure("training_gap", ComparedParameters)
def gap(params: ComparedParameters) -> Figure:
    """Every variant's final loss, and how far it is from the baseline's, paired by seed.

    Raises what `select_trainings` raises, and NoResults where the baseline was not run.
    """
    trainings = select_trainings(params, baseline=params.baseline)
    table, tests = compared_losses(trainings)
    base = trainings.baseline
    needed, margin = seeds_needed(trainings.preset), margin_of(trainings.preset)
    table["far"] = _far(table)
    seeds = _seed_differences(trainings)
    far, within = table[table.far], table[~table.far]
    domain = _axis_range(within, seeds)
    clipped = bool((within.low < domain[0]).any() or (within.high > domain[1]).any())
    return Figure(
        title=f"Final loss, and its difference from {named(base)}",
        finding=count_outcomes(table, base),
        frame=lambda: table.drop(columns=["on_plateau", "far", "uneven"]),
        caption=sentences(
            f"Final validation loss minus that of {named(base)} in {UNIT}, paired by seed: dots are seeds, diamonds "
            f"their means with intervals of 95 % (Student's t); {trainings.conditions()}. Colours say how positions "
            "are told, as in the learning curves.",
            f"Measured on {trainings.sample}. Below 0 is better.",
            f"A variant ends lower or higher where its whole interval lies beyond ±{margin:g} nats, which the rules "
            "count as no difference, and the rules or, where they do not judge it, Holm's correction over "
            f"{plural(tests, 'variant')} tell it apart; the board counts in the same way. Filled: lower, higher or the "
            "same; hollow: not decided, for the reason beside the row."
            if margin
            else "",
            f"Below, on a wider scale: {join_names(_name_far(far, margin))}." if len(far) else "",
            _counts_of_the_rest(table),
            _too_few(table, needed),
            "Intervals far wider than all differences are cut at the edge." if clipped else "",
            unresolved(table, margin),
            _resolution(table),
            trainings.description(),
        ),
        alt=f"Dots, one row per variant. {_summary(table, base)}",
        command=command("training_gap", params, trainings, trainings.variants, "baseline"),
        provenance=trainings.provenance(),
        draw=lambda theme: _draw(table, seeds, title(base), domain, needed, margin, theme),
    )


def _seed_differences(trainings: Trained) -> pd.DataFrame:
    """A row per run of a seed that the baseline has, too: its loss `value`, and `gap`, that minus the baseline's."""
    runs = trainings.runs[["variant", "seed", "final", "rate"]].rename(columns={"final": "value"})
    runs = runs.assign(
        title=runs.variant.map(title), gap=runs.value - runs.seed.map(trainings.finals(trainings.baseline))
    )
    return runs[runs.gap.notna() & (runs.variant != trainings.baseline)]


def _name_far(far: pd.DataFrame, margin: float) -> list[str]:
    """Each variant beyond the axis with its difference and its verdict."""
    return [f"{quote(str(row.title))} {signed_or_zero(row.gap)} ({_verdict(row, margin)})" for row in frames.rows(far)]


def _too_few(table: pd.DataFrame, needed: int) -> str:
    """A sentence on the variants with too few seeds, and whether the rules plan more; empty where all have enough."""
    few = table[table.outcome == FEW]
    if few.empty:
        return ""
    names = join_names([f"{quote(str(row.title))} ({row.n})" for row in frames.rows(few)])
    complete = all(row.asked and row.n >= row.asked for row in frames.rows(few))
    return f"Not judged, with fewer than {plural(needed, 'seed')}: {names}" + (
        "; the rules plan no more of them." if complete else "."
    )


def _reason(standing: StandingRow | None) -> str:
    """The reason why the rules do not resolve a comparison; empty where they do, or compare nothing yet."""
    if standing is None or standing.missing or not standing.reason:
        return ""
    # The rules count an evaluation below the plateau as leaving it, Convergence only where the next one is below, too:
    # whether it left in the end is said there alone.
    return standing.reason.replace(standing.variant, "it").partition(" (it ")[0]


def _left_open(trainings: Trained) -> dict[str, Judgement]:
    """Variant -> the statement that leaves its final loss open beside the baseline's, with all seeds trained.

    Where a later file asked again of new seeds, the statement is that file's.
    """
    facts, rules = {one.id: one for one in stored.statements()}, rules_of_preset(trainings.preset)

    def current(contest: EncoderContest, judge: EncoderRules) -> Judgement | None:
        again = repetition(contest, judge)
        return facts.get(contest.id) or (facts.get(again[0].id) if again else None)

    return {
        contest.variant: fact
        for contest, judge in encoder_contests().values()
        if (contest.kind, contest.preset, contest.baseline) == ("final_loss", trainings.preset, trainings.baseline)
        and rules is not None
        and judge.seeds == rules.seeds
        and (fact := current(contest, judge)) is not None
        and fact.verdict == UNDECIDED
        and not fact.missing
    }


def unresolved(table: pd.DataFrame, margin: float) -> str:
    """A sentence on the reason why each variant is open; empty where none is. margin: in nats."""
    reasons: dict[str, list[str]] = {}
    for row in frames.rows(table[table.outcome == OPEN]):
        if row.left_open:
            reason = str(row.left_open)
        elif row.standing == NOT_RESOLVED and row.reason:
            reason = str(row.reason)
        elif _clear_of_the_band(row, margin):
            reason = "the test that corrects for the number of variants does not tell it apart"
        else:
            reason = f"the interval lies partly within ±{margin:g} nats and partly beyond"
        reasons.setdefault(reason, []).append(quote(str(row.title)))
    return " ".join(f"Open, since {reason}: {join_names(names)}." for reason, names in reasons.items())


def _resolution(table: pd.DataFrame) -> str:
    rows = table.detectable.dropna()
    if rows.empty:
        return "With one seed in common nothing can be resolved."
    return (
        "With this many seeds and this spread, the smallest difference that is detected four times out of five is "
        f"{rows.min():.2f} to {rows.max():.2f} nats, {rows.median():.2f} in the median (the data give it for each "
        "variant)."
    )


def _summary(table: pd.DataFrame, base: str) -> str:
    better, worse = ("; ".join(table.title[table.outcome == side]) or "none" for side in (LOWER, HIGHER))
    rest = int(table.outcome.isin((SAME, OPEN, FEW)).sum())
    return f"Lower loss than {named(base)}: {better}. Higher: {worse}. Neither: {plural(rest, 'variant')}."


def count_outcomes(table: pd.DataFrame, base: str) -> str:
    """A sentence with the numbers of judged variants that end lower and higher, as the board counts them."""
    counts = table.outcome.value_counts()
    lower, higher = (int(counts.get(one, 0)) for one in (LOWER, HIGHER))
    best = table[table.outcome == LOWER].sort_values("gap").iloc[:1]
    most = f", {quote(best.title.iloc[0])} most, by {fixed(-best.gap.iloc[0])} nats" if lower > 1 else ""
    judged = int(table.outcome.isin((LOWER, HIGHER, SAME, OPEN)).sum())
    if not judged:
        others = int((table.variant != base).sum())
        return f"Too few seeds to judge any of {plural(others, 'variant')} against {named(base)}"
    ends = "ends" if lower < 2 else "end"
    return (
        f"{lower or 'None'} of {plural(judged, 'judged variant')} {ends} at a lower loss than {named(base)}{most}; "
        f"{higher or 'none'} {'ends' if higher < 2 else 'end'} higher"
    )


def _counts_of_the_rest(table: pd.DataFrame) -> str:
    """A sentence on the number of variants that end neither lower nor higher; empty where there is none."""
    counts = table.outcome.value_counts()
    same, undecided, few = (int(counts.get(one, 0)) for one in (SAME, OPEN, FEW))
    parts = [
        f"{same} {'ends' if same == 1 else 'end'} at the same loss" if same else "",
        f"{undecided} {'is' if undecided == 1 else 'are'} open" if undecided else "",
        f"{few} {'has' if few == 1 else 'have'} too few seeds" if few else "",
    ]
    said = join_names(filter(None, parts))
    return f"Of the others, {said}." if said else ""


def _draw(
    table: pd.DataFrame,
    seeds: pd.DataFrame,
    baseline: str,
    domain: tuple[float, float],
    needed: int,
    margin: float,
    theme: Theme,
) -> list[Chart]:
    """The difference of each variant to the baseline: seeds, their mean with its interval, and beside it the loss.

    Differences beyond the axis stand below it, on one of their own.
    """
    shown = table.assign(
        written=[_difference(row, needed, margin) for row in frames.rows(table)],
        short=[_short_difference(row) for row in frames.rows(table)],
        told_apart=table.outcome.isin((LOWER, HIGHER, SAME)),
        way=ways(table.variant),
    )
    read = [
        f"lines: 95 % intervals; grey: ±{margin:g} nats; hollow: not decided"
        if margin
        else "lines: 95 % intervals; hollow: not decided"
    ]
    parts = [(shown[~shown.far], domain, f"Difference from {baseline}", read)]
    if shown.far.any():
        far = shown[shown.far]
        parts.append((far, _axis_range(far, seeds), "Differences beyond that axis, on a wider scale", []))
    x_title = [f"nats, variant minus {baseline};", "left is a lower loss"]
    # So that the axes of both begin and end at one place.
    wide, narrow = (max("\n".join(shown[column]).split("\n"), key=len) for column in ("written", "short"))
    room = max((line for name in shown.title for line in marks.wrap_lines(name, LETTERS)), key=len), wide, narrow
    colours = way_hues(shown.way, theme), way_hues(shown.way, theme, None)
    return [
        _panel(rows, seeds, ends, margin, theme, x_title, color, heading, below, room)
        for color, (rows, ends, heading, below) in zip(colours, parts, strict=False)
    ]


def _panel(
    shown: pd.DataFrame,
    seeds: pd.DataFrame,
    domain: tuple[float, float],
    margin: float,
    theme: Theme,
    axis: list[str],
    color: alt.Color,
    heading: str,
    below: list[str],
    room: tuple[str, str, str],
) -> Chart:
    """Rows of differences on one axis; a triangle at its edge: the interval goes on.

    room: the lines for which room is left at the left, at the right, and at the right on a phone.
    """
    order = shown.title.tolist()
    labels = marks.wrapped_labels(order, LETTERS)
    shown = shown.assign(label=shown.title.map(labels))
    seeds = seeds.assign(label=seeds.title.map(labels))
    seeds = seeds[seeds.label.notna()]
    x = marks.number(alt.X, "gap", axis, domain=domain, nice=False, padding=8, ticks=5, place="top")
    y = marks.labelled_rows([labels[name] for name in order], grid=True)
    tooltip: tuple[marks.Tip, ...] = (
        VARIANT, ("mean", "loss", ".3f"), ("gap", "difference", "+.3f"), *marks.interval_tips("+.3f"),
        ("p", "", ".2~g"), ("p_holm", "p, Holm", ".2~g"), ("detectable", "smallest detectable", ".3f"), "seeds",
    )  # fmt: skip
    alike = alt.Chart(pd.DataFrame({"from": [-margin], "to": [margin]})).mark_rect(color=theme.grid, clip=True)
    layers: list[Chart] = [alike.encode(x=alt.X("from:Q"), x2=alt.X2("to:Q")), marks.rule(theme, x=0)]
    if len(seeds):
        layers += marks.row_plot(
            seeds[["title", "label", "gap", "seed", "value", "rate"]], x=x, y=y, theme=theme, ends=None, color=GREY,
            size=marks.SEED, opacity=0.8, below=BELOW,
            tooltip=(VARIANT, "seed", ("value", "loss", ".3f"), ("rate", "peak learning rate")),
        )  # fmt: skip
    columns = [
        "title", "label", "mean", "gap", "low", "high", "p", "p_holm", "detectable", "told_apart", "seeds", "way",
    ]  # fmt: skip
    layers += significant_or_hollow(shown[columns], x, y, theme, tooltip, color=color)
    zero = shown.loc[shown.outcome == BASELINE, columns].assign(gap=0.0)
    if len(zero):
        layers += marks.row_plot(
            zero,
            x=x,
            y=y,
            theme=theme,
            ends=None,
            shape="diamond",
            size=marks.LARGE_DOT,
            color=color,
            tooltip=(VARIANT,),
        )
    layers += edge_triangles(
        shown[columns], shown.low < domain[0], shown.high > domain[1], domain, x=x, y=y, theme=theme, color=color,
        size=marks.SEED, tooltip=tooltip,
    )  # fmt: skip
    y["axis"]["minExtent"] = marks.LABEL_LETTER * len(room[0])
    layers.append(marks.texts_beside(shown[["label", "title", "written", "short"]], y, theme, on_phone="short"))
    widest = shown[["label"]].head(1).assign(widest=room[1], narrow=room[2])
    layers.append(marks.texts_beside(widest, y, theme, "widest", on_phone="narrow").encode(opacity=alt.value(0)))
    return marks.panel(
        *layers, theme=theme, width=560, height=TWO_LINES * len(order), title=heading, below=below
    )  # fmt: skip


def _difference(row: Any, needed: int, margin: float) -> str:
    """The difference with its verdict, and below it the loss and its pairs of seeds; or why there is none."""
    if not row.n:
        return f"{row.note}\nloss {row.mean:.2f}"
    seeds = f" of {plural(row.n, 'seed')} ({needed} asked)" if row.outcome == FEW else f", {plural(row.n, 'seed')}"
    return f"{signed_or_zero(row.gap)}, {_verdict(row, margin)}\nloss {row.mean:.2f}{seeds}"


def _short_difference(row: Any) -> str:
    """The difference, and below it the verdict in one word: what a phone has room for."""
    if not row.n:
        return f"{'baseline' if row.outcome == BASELINE else 'no pairs'}\n{row.mean:.2f}"
    return f"{signed_or_zero(row.gap)}\n{SHORT.get(row.outcome, WORDS.get(row.outcome, 'open'))}"


def _verdict(row: Any, margin: float) -> str:
    """The outcome of a row in a few words; of one that is open, with the reason."""
    if row.outcome != OPEN:
        return WORDS[row.outcome]
    if row.standing == NOT_RESOLVED and row.on_plateau:
        return "open: on the plateau too long"
    if not _clear_of_the_band(row, margin):
        return "open: crosses the band"
    return "open: seeds too far apart" if row.uneven else "open after correction"


def _clear_of_the_band(row: Any, margin: float) -> bool:
    """True if the whole interval lies on one side of what counts as the same."""
    return bool(row.high < -margin or row.low > margin)
