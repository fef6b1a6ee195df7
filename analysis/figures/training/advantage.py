"""A variant's advantage over the baseline against the length of training, in loss and in steps."""

import math
from collections.abc import Sequence
from contextlib import suppress

import altair as alt
import pandas as pd

from analysis.ablation.presets import LONGER, PRESETS, ablate
from analysis.ablation.variants import named
from analysis.core import frames
from analysis.core.colours import SOFT
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import capitalised, fixed, join_names, percent, plural, sentences, signed, signed_or_zero
from analysis.figures import marks, panels
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.training.final_loss import OPEN, margin_of, outcome
from analysis.figures.training.row_marks import VARIANT, way_hues, ways
from analysis.figures.training.run_curves import curve
from analysis.figures.training.trainings import (
    BASELINES,
    MASKED,
    SettingsParameters,
    candidates,
    newest,
    title,
    training_commands,
)
from analysis.rules import training_rules
from analysis.statistics import difference, steps_ratio
from analysis.store import read

EXPLORATORY, LEADER = "cpu", "tupe_a"
"""The preset that was trained for several lengths, and the variant whose lead over adding it measures."""
HEIGHT = 280
ENOUGH = 3
"""The seeds from which on the heading tells a length of training, where one has as many."""
OTHER_LINE, OTHER_PLACE, OTHER_END = 2.6, 3.2, 8.0
"""The places of another recipe, over the longest training: the line before it, its mark, and the end of the axis."""
NUMBERS_END, NAMES_END = 2.2, 3.0
"""The end of the axis, over the longest training, where numbers stand right of the marks, or names as well."""
ROOM_ABOVE = 0.3
"""The room above 100 % for words, over what lies below it on the axis."""
NAME_LETTERS = 16
"""The most letters of a line of a variant's name at the end of its line."""
ABOVE = -6
"""The end of the names of two recipes, in pixels from the top of the plot."""
STEPS: marks.Tip = ("steps", "", ",")


def _steps(trained: Sequence[float], *, room: float) -> alt.X:
    """Steps on a log scale, marked where something was trained, with room beside the first and the last.

    room: the end of the axis, over the longest training.
    """
    values = sorted(set(trained))
    domain = 0.45 * min(trained), room * max(trained)
    return marks.number(alt.X, "steps", "steps of training", domain=domain, log=10, values=values, form=",", grid=False)


@figure("training_advantage", SettingsParameters)
def advantage(params: SettingsParameters) -> Figure:
    """The difference in final loss, and the share of the baseline's steps, at every length that both have.

    Raises what `candidates` raises, and NoResults where no variant was trained for a second length.
    """
    frame = candidates(params)
    if params.preset in LONGER:
        with suppress(NoResults):
            longer = candidates(SettingsParameters(preset=LONGER[params.preset], objective=params.objective))
            frame = pd.concat([frame, longer[longer.variant.isin(frame.variant)]], ignore_index=True)
    newest_runs, sample = newest(frame[~frame.diverged])
    base = params.baseline or BASELINES[params.objective]
    comparable = newest_runs[[set(changes) <= {"steps"} for changes in newest_runs.changed]]
    pairs = _pairs(comparable, base)
    if pairs.empty:
        raise NoResults(
            f"No variant and {named(base)} have both been trained for a second length with the same seeds. Train them "
            f"for longer: {ablate(params.preset, [base, 'tupe_a'], steps=20_000)}"
        )
    table, pairs = _table(pairs)
    texts = [_summary(str(name), base, rows) for name, rows in table.groupby("variant", sort=False)]
    judged = _judged(params, table, base)
    first_rows = table[table.variant == table.variant.iloc[0]]
    runs = comparable[comparable.run_id.isin([*pairs.run_id, *pairs.base_id])]
    return Figure(
        title=f"How the advantage over {named(base)} changes with training",
        finding=_leads(table, base, params),
        frame=lambda: table,
        caption=sentences(
            "A short training overstates the lead." if _shrinks(first_rows) else "",
            f"In this recipe ({params.preset}), {percent(PRESETS[params.preset].masked_share)} of the words are hidden."
            if params.preset in PRESETS and params.objective == MASKED
            else "",
            "" if judged is None else _judged_caption(judged),
            f"Each length is a separate training of recipe {params.preset} ({_seeds(pairs)}), with its own "
            f"learning-rate decay, paired by seed; losses are measured on {sample}. Left: the difference in final "
            "loss, hollow where its interval lies neither within nor beyond what counts as the same. Right: the "
            "steps to the baseline's final loss as a share of the baseline's own steps. Dots are seeds; diamonds are "
            "means (at the right, geometric means over pairs of one seed, and not the crossing of the mean curves "
            "that Learning curves names) with their 95 % confidence interval.",
            "A triangle is a bound: not every seed reached the loss. "
            "A length with one seed has no interval: it is a single draw. Where the baseline has only just left its "
            "plateau, most of the difference is its late start.",
        ),
        alt=f"Two panels against steps of training, on log scales. {' '.join(texts)}",
        command="\n".join(training_commands(params.preset, runs)),
        provenance={
            f"{title(str(row.variant))}, {row.steps:,} steps, seed {row.seed}": f"run {row.run_id}, {row.device}, "
            f"{row.created}, code {row.git_sha}"
            for row in frames.rows(runs)
        },
        draw=lambda theme: _draw(table, pairs, judged, named(base), margin_of(params.preset), theme),
        columns=2,
        sentences=tuple(texts),
    )


def _judged(params: SettingsParameters, table: pd.DataFrame, base: str) -> pd.DataFrame | None:
    """The leader's row in the judged recipe, beside the exploratory one's; None for others, and where it is not stored.

    steps: those of the exploratory recipe that predict as many words; own_steps: those that were made.
    """
    judged = training_rules().preset
    if params.preset != EXPLORATORY or base != BASELINES[MASKED] or LEADER not in set(table.variant):
        return None
    with suppress(AddendError):
        runs, _ = newest(candidates(SettingsParameters(preset=judged, objective=MASKED)))
        unchanged = pd.Series([not changes for changes in runs.changed], index=runs.index)
        usual = runs[unchanged & runs.variant.isin([LEADER, base]) & ~runs.diverged]
        pairs = _pairs(usual, base, lengths=1)
        if len(pairs):
            row, _ = _table(pairs)
            first, second = PRESETS[EXPLORATORY], PRESETS[judged]
            as_many = (
                second.masked_share * second.batch * second.length / (first.masked_share * first.batch * first.length)
            )
            return row.assign(own_steps=row.steps, steps=(row.steps * as_many).round().astype(int), recipe=judged)
    return None


def _judged_caption(judged: pd.DataFrame) -> str:
    [row] = frames.rows(judged)
    return (
        f"Right of the dashed line: another recipe, which hides {percent(PRESETS[row.recipe].masked_share)} "
        f"({row.recipe}, {plural(row.seeds, 'seed')}); its {row.own_steps:,} steps predict as many words as "
        f"{row.steps:,} steps here."
    )


def _seeds(pairs: pd.DataFrame) -> str:
    """The number of seeds at each length."""
    counts = pairs.groupby("steps").seed.nunique()
    return ", ".join(f"{steps:,} steps: {plural(int(count), 'seed')}" for steps, count in counts.items())


def _pairs(runs: pd.DataFrame, base: str, lengths: int = 2) -> pd.DataFrame:
    """A row per variant, rate, length and seed that the baseline has too, of variants with so many lengths or more."""
    keys = ["rate", "steps", "seed"]
    base_runs = runs[runs.variant == base][[*keys, "final", "run_id"]]
    others = runs[runs.variant != base][["variant", *keys, "final", "run_id"]]
    paired = others.merge(base_runs.rename(columns={"final": "base_final", "run_id": "base_id"}), on=keys)
    paired = paired.assign(gap=paired.final - paired.base_final, title=paired.variant.map(title))
    trained = paired.groupby(["variant", "rate"]).steps.transform("nunique")
    kept = paired[trained >= lengths]
    # The variant with the largest lead stands first.
    lead = kept.groupby("variant").gap.transform("mean")
    ordered = kept.assign(lead=lead).sort_values(["lead", "variant", "steps", "seed"], ignore_index=True)
    return ordered.drop(columns="lead")


def _table(pairs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A row per variant and length: the mean difference and the ratio of steps, with their intervals.

    Also the pairs with the ratio of each.
    """
    ids = [*pairs.run_id, *pairs.base_id]
    rows = read.query(
        "SELECT run_id, step, value FROM curves WHERE metric = 'validation_loss' AND run_id IN (SELECT unnest(?)) "
        "ORDER BY run_id, step",
        [ids],
    )
    curves = {run: result for run, group in rows.groupby("run_id") if (result := curve(group)) is not None}
    records: list[dict[str, object]] = []
    of_pairs: list[pd.DataFrame] = []
    for (variant, _), group_pairs in pairs.groupby(["variant", "steps"], sort=False):
        gap = difference(
            dict(zip(group_pairs.seed, group_pairs.final, strict=True)),
            dict(zip(group_pairs.seed, group_pairs.base_final, strict=True)),
        )
        sides = [
            {row.seed: curves[getattr(row, side)] for row in frames.rows(group_pairs)} for side in ("run_id", "base_id")
        ]
        ratio = steps_ratio(*sides)
        of_pairs.append(group_pairs.assign(ratio=group_pairs.seed.map(ratio.by_seed).astype(float)))
        records.append(
            {
                "variant": variant,
                "title": title(str(variant)),
                "steps": int(group_pairs.steps.iloc[0]),
                "seeds": gap.n,
                "gap": gap.mean,
                "gap_low": gap.low,
                "gap_high": gap.high,
                "ratio": ratio.ratio,
                "ratio_low": ratio.low,
                "ratio_high": ratio.high,
                "at_least": ratio.is_lower_bound,
            }
        )
    return pd.DataFrame(records), pd.concat(of_pairs, ignore_index=True)


def _leads(table: pd.DataFrame, base: str, params: SettingsParameters) -> str:
    """The first variant's difference at the shortest and at the longest training; of one that is lower, as its lead.

    Lengths of few seeds are left out where two others have enough.
    """
    variant = str(table.variant.iloc[0])
    rows = table[table.variant == variant]
    sure = rows[rows.seeds >= ENOUGH]
    first, *_, last = frames.rows(rows if len(sure) < 2 else sure)
    after = f"after {first.steps:,} steps ({plural(first.seeds, 'seed')})", f"after {last.steps:,} ({last.seeds})"
    exploratory = "in an exploratory recipe, " if params.preset == EXPLORATORY else ""
    if (rows.gap < 0).all():
        shrinks = "shrinks with training" if _shrinks(rows) else "changes with training"
        lead = f"the lead of {named(variant)} over {named(base)} {shrinks}"
        ends = f"{fixed(-first.gap)} nats {after[0]}, {fixed(-last.gap)} {after[1]}"
    else:
        lead = f"the final loss of {named(variant)} minus that of {named(base)} changes with training"
        ends = f"{signed(first.gap)} nats {after[0]}, {signed(last.gap)} {after[1]}"
    return capitalised(f"{exploratory}{lead}: {ends}")


def _shrinks(rows: pd.DataFrame) -> bool:
    """True where a variant is lower than the baseline at every length, and the less so the longer it is trained."""
    return bool((rows.gap < 0).all() and rows.gap.is_monotonic_increasing and rows.gap.nunique() > 1)


def _summary(variant: str, base: str, rows: pd.DataFrame) -> str:
    """The advantage at each length in both units."""
    gaps = ", ".join(f"{signed(row.gap)}" for row in frames.rows(rows))
    reached = [f"{row.ratio:.2f}" for row in frames.rows(rows) if not row.at_least]
    missed = [f"{row.steps:,}" for row in frames.rows(rows) if row.at_least]
    parts = [
        f"it reaches that loss in {', '.join(reached)} of the steps" if reached else "",
        f"it does not reach that loss in every seed after {join_names(missed)}" if missed else "",
    ]
    lengths = ", ".join(f"{row.steps:,}" for row in frames.rows(rows))
    seeds = ", ".join(plural(row.seeds, "seed") for row in frames.rows(rows))
    return (
        f"{named(variant)} after {lengths} steps ({seeds}): its final loss differs from that of {named(base)} by "
        f"{gaps} nats, and {', and '.join(filter(None, parts))}."
    )


def _other_recipe(
    judged: pd.DataFrame | None, longest: float, x: alt.X, y: alt.Y, measure: str, theme: Theme
) -> list[alt.LayerChart | alt.Chart]:
    """The judged recipe's diamond in a place of its own, right of a line, both recipes named above; else nothing.

    measure: the column that is drawn, `gap` or `ratio`, whose interval has its name.
    """
    if judged is None:
        return []
    ends = f"{measure}_low", f"{measure}_high"
    [row] = frames.rows(judged)
    written = [
        f"{signed(row.gap) if measure == 'gap' else percent(row.ratio)}\n{plural(row.seeds, 'seed')}"
        for row in frames.rows(judged)
    ]
    frame = judged.assign(written=written, place=OTHER_PLACE * longest)
    x = marks.same_axis(x, "place")
    soft = theme.colour(SOFT)
    beyond = alt.Chart(
        pd.DataFrame({"place": [OTHER_LINE * longest], "name": [f"{_recipe(row.recipe)},\n{row.own_steps:,} steps"]})
    )
    line = beyond.mark_rule(color=soft, strokeDash=marks.DASH)
    above = {"align": "left", "baseline": "bottom", "dx": 4, "fontSize": marks.TEXT, "color": soft}
    here = alt.Chart(pd.DataFrame({"name": [_recipe(EXPLORATORY)]}))
    # That of the other recipe ends at the right edge: on a phone it is wider than the recipe's place.
    at_the_end = {**above, "align": "right", "dx": 8, "dy": -marks.LABEL_LINE}
    names = [
        beyond.mark_text(**at_the_end, lineBreak="\n", lineHeight=marks.LABEL_LINE).encode(
            x=alt.value("width"), y=alt.value(ABOVE), text="name:N"
        ),
        here.mark_text(**above).encode(x=alt.value(0), y=alt.value(ABOVE), text="name:N"),
    ]
    base = alt.Chart(frame).encode(x=x, y=y)
    interval = (
        alt.Chart(frame)
        .mark_rule(color=theme.ink, strokeWidth=marks.LINE / 2)
        .encode(x=x, y=alt.Y(f"{ends[0]}:Q"), y2=alt.Y2(f"{ends[1]}:Q"))
    )
    diamond = base.mark_point(shape="diamond", filled=True, size=marks.LARGE_DOT, opacity=1, color=theme.ink)
    text = base.mark_text(
        align="left",
        dx=10,
        dy=-marks.LABEL_LINE / 2,
        lineBreak="\n",
        lineHeight=marks.LABEL_LINE,
        fontSize=marks.TEXT,
        color=theme.ink,
    ).encode(text="written:N")
    return [line.encode(x=x), *names, interval, diamond, text]


def _joined(table: pd.DataFrame, x: alt.X, y: alt.Y, measure: str, color: alt.Color) -> alt.Chart:
    """A thin line from each length of a variant to the next, dashed where one of the two is of a single seed."""
    after = table.groupby("variant")[["steps", measure, "seeds"]].shift(-1)
    steps = table.assign(to_steps=after.steps, to=after[measure], single=(table.seeds == 1) | (after.seeds == 1))
    joined = steps.loc[after.steps.notna(), ["title", "way", "steps", measure, "to_steps", "to", "single"]]
    line = alt.Chart(joined).mark_rule(strokeWidth=marks.LINE / 2, opacity=0.6)
    dashed = alt.condition(alt.datum.single, alt.value(marks.DASH), alt.value([1, 0]))
    return line.encode(x=x, x2="to_steps:Q", y=y, y2="to:Q", color=color, strokeDash=dashed)


def _recipe(preset: str) -> str:
    return f"{preset}: {percent(PRESETS[preset].masked_share)} hidden"


def _labels(table: pd.DataFrame, measure: str, *, named_ends: bool, theme: Theme) -> pd.DataFrame:
    """The number at each mean, as `names_at` takes it: left of it or, of a variant's longest training, right of it.

    named_ends: whether the last one has the variant's name, too.
    """
    records = []
    for row in frames.rows(table):
        last = row.steps == table.steps[table.variant == row.variant].max()
        if measure == "gap":
            text = signed_or_zero(row.gap)
        else:
            text = f"≥ {percent(row.ratio)}" if row.at_least else percent(row.ratio)
        seeds = f" ({plural(row.seeds, 'seed')})"
        lines = [*(marks.wrap_lines(row.title, NAME_LETTERS) if named_ends and last else []), text + seeds]
        # The rule at 100 % would run through the words at a bound, which stand above it.
        above = measure == "ratio" and row.at_least
        first_line = marks.LABEL_LINE * (len(lines) if above else (len(lines) - 1) / 2)
        records.append(
            {"steps": row.steps, measure: getattr(row, measure), "name": "\n".join(lines), "hue": theme.ink,
             "align": "left" if last else "right", "dx": 10 if last else -10,
             "dy": -first_line}
        )  # fmt: skip
    return pd.DataFrame(records)


def _draw(
    table: pd.DataFrame,
    pairs: pd.DataFrame,
    judged: pd.DataFrame | None,
    baseline: str,
    margin: float,
    theme: Theme,
) -> list[Chart]:
    """The difference in final loss, and the share of the baseline's steps, by the length of the training."""
    table = table.assign(way=ways(table.variant))
    table["decided"] = [outcome(row.gap_low, row.gap_high, margin, told_apart=True) != OPEN
                        for row in frames.rows(table)]  # fmt: skip
    pairs = pairs.assign(way=ways(pairs.variant))
    color = way_hues(table.way, theme, place=None)
    named_ends = judged is None and table.variant.nunique() > 1
    trained = table.steps.tolist()
    room = OTHER_END if judged is not None else NAMES_END if named_ends else NUMBERS_END
    x, longest = _steps(trained, room=room), max(trained)
    y = marks.number(alt.Y, "gap", [f"final loss minus {baseline}'s", "(nats; lower is better)"], zero=True, grid=True)
    # A seed that did not reach the loss has no share, and a mean over such seeds is a bound.
    reached = pairs.merge(table[["variant", "steps", "at_least"]], on=["variant", "steps"])
    reached = reached[~reached.at_least.astype(bool)]
    least = float(pd.concat([table.ratio, table.ratio_low, reached.ratio]).min())
    low = max(0.0, math.floor(10 * least - 0.5) / 10)
    above = ROOM_ABOVE * (1 - low) if table.at_least.any() else 0.0
    top = max(1.05, 1 + above, 1.05 * float(pd.concat([table.ratio, table.ratio_high, reached.ratio]).max()))
    share = marks.number(alt.Y, "ratio", f"% of {baseline}'s steps", domain=(low, top), ticks=5)
    share["axis"]["labelExpr"] = "format(100 * datum.value, '.0f')"
    below = ["small dots: seeds; diamonds: means with 95 % intervals"]
    undecided = "hollow: not decided; " * bool((~table.decided).any())
    band = alt.Chart(pd.DataFrame({"gap": [-margin], "end": [margin]})).mark_rect(color=theme.grid, opacity=0.7)
    return [
        marks.panel(
            *([band.encode(y=y, y2=alt.Y2("end:Q"))] if margin else []),
            marks.rule(theme, y=0),
            _joined(table, x, y, "gap", color),
            *_seeds_and_means(table, pairs, x, y, "gap", color, theme),
            *panels.names_at(_labels(table, "gap", named_ends=named_ends, theme=theme), x, y, theme),
            *_other_recipe(judged, longest, x, y, "gap", theme),
            theme=theme,
            width=marks.HALF,
            height=HEIGHT,
            title="Difference in final loss",
            below=[*below, f"{undecided}grey: within ±{margin:g} nats, the same"] if margin else below,
        ),
        marks.panel(
            marks.rule(theme, y=1),
            _joined(table[~table.at_least.astype(bool)], x, share, "ratio", color),
            *_seeds_and_means(table, reached, x, share, "ratio", color, theme),
            *panels.names_at(_labels(table, "ratio", named_ends=named_ends, theme=theme), x, share, theme),
            *_other_recipe(judged, longest, x, share, "ratio", theme),
            theme=theme,
            width=marks.HALF,
            height=HEIGHT,
            title=f"Steps to reach {baseline}'s final loss",
            below=["triangle: not reached by all seeds" if table.at_least.any() else below[0],
                   f"axis from {percent(low)}" if low else "axis from 0"],
        ),
    ]  # fmt: skip


def _seeds_and_means(
    table: pd.DataFrame, pairs: pd.DataFrame, x: alt.X, y: alt.Y, measure: str, color: alt.Color, theme: Theme
) -> list[Chart]:
    """The dots of the seeds, and their means: hollow where a difference is not decided, triangles for bounds."""
    label, form = ("difference (nats)", "+.3f") if measure == "gap" else ("share of steps", ".3f")
    bound = table.at_least.astype(bool) & (measure == "ratio")
    hollow = (~table.decided & (measure == "gap")) | (table.seeds == 1)
    tooltip = (VARIANT, STEPS, "seeds", (measure, label, form))
    layers = marks.row_plot(
        pairs[pairs[measure].notna()][["title", "way", "steps", "seed", "gap", "ratio", "run_id"]], x=x, y=y,
        theme=theme, ends=None, color=color, size=marks.SEED, opacity=0.6,
        tooltip=(VARIANT, STEPS, "seed", (measure, label, form), "run_id"),
    )  # fmt: skip
    for rows, shape in ((table[~bound & ~hollow], "diamond"), (table[bound], "triangle-up")):
        if len(rows):
            layers += marks.line_plot(
                rows, x=x, y=y, theme=theme, color=color, width=0, shape=shape, dots=marks.LARGE_DOT, tooltip=tooltip,
                ends=(f"{measure}_low", f"{measure}_high"),
            )  # fmt: skip
    open_rows = table[~bound & hollow]
    if len(open_rows):
        layers += marks.line_plot(
            open_rows, x=x, y=y, theme=theme, color=color, width=0, dots=0, tooltip=tooltip,
            ends=(f"{measure}_low", f"{measure}_high"),
        )  # fmt: skip
        diamond = alt.Chart(open_rows).mark_point(
            shape="diamond", filled=False, fill=theme.ground, size=marks.LARGE_DOT, opacity=1, strokeWidth=2
        )
        layers.append(diamond.encode(x=x, y=y, color=color))
    return layers
