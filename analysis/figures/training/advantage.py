"""A variant's advantage over the baseline against the length of training, in loss and in steps."""

from collections.abc import Sequence
from contextlib import suppress

import altair as alt
import pandas as pd
from altair.utils.schemapi import UndefinedType

from analysis.ablation.presets import LONGER, PRESETS, ablate
from analysis.ablation.variants import named
from analysis.core import frames
from analysis.core.colours import SOFT
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import capitalised, fixed, percent, plural, sentences, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.training.row_marks import VARIANT
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
OTHER_LINE, OTHER_PLACE, OTHER_END = 1.5, 1.85, 4.7
"""The places of another recipe, over the longest training: the line before it, its mark, and the end of the axis."""
ABOVE = -6
"""The end of the names of two recipes, in pixels from the top of the plot."""
STEPS: marks.Tip = ("steps", "", ",")


def _steps(trained: Sequence[float], *, beside: bool) -> alt.X:
    """Steps on a log scale, marked where something was trained, with room beside the first and the last.

    beside: whether another recipe has a place of its own at the right.
    """
    values = sorted(set(trained))
    domain = 0.55 * min(trained), (OTHER_END if beside else 1.6) * max(trained)
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
            f"Each length is a separate training of recipe {params.preset} ({_seeds(pairs)}), with "
            f"its own learning-rate decay, paired by seed; losses are measured on {sample}. Left: the difference in "
            "final loss. Right: the steps to the baseline's final loss as a share of the baseline's own steps. Dots "
            "are seeds; diamonds are means (at the right, geometric means over pairs of one seed, and not the crossing "
            "of the mean curves that Learning curves names) with their 95 % confidence interval.",
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
        draw=lambda theme: _draw(table, pairs, judged, named(base), theme),
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
    ratios = ", ".join(f"{'at least ' if row.at_least else ''}{row.ratio:.2f}" for row in frames.rows(rows))
    lengths = ", ".join(f"{row.steps:,}" for row in frames.rows(rows))
    seeds = ", ".join(plural(row.seeds, "seed") for row in frames.rows(rows))
    return (
        f"{named(variant)} after {lengths} steps ({seeds}): its final loss differs from that of {named(base)} by "
        f"{gaps} nats, and it reaches that loss in {ratios} of the steps."
    )


def _hollow_diamonds(base: alt.Chart, theme: Theme) -> alt.Chart:
    style = {"fill": theme.ground, "stroke": theme.ink, "strokeWidth": 2}
    return base.mark_point(shape="diamond", filled=True, size=marks.LARGE_DOT, opacity=1, **style)


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


def _joined(table: pd.DataFrame, x: alt.X, y: alt.Y, measure: str, color: alt.Color | UndefinedType) -> alt.Chart:
    """A thin line from each length of a variant to the next, dashed where one of the two is of a single seed."""
    after = table.groupby("variant")[["steps", measure, "seeds"]].shift(-1)
    steps = table.assign(to_steps=after.steps, to=after[measure], single=(table.seeds == 1) | (after.seeds == 1))
    joined = steps.loc[after.steps.notna(), ["title", "steps", measure, "to_steps", "to", "single"]]
    line = alt.Chart(joined).mark_rule(strokeWidth=marks.LINE / 2, opacity=0.6)
    dashed = alt.condition(alt.datum.single, alt.value(marks.DASH), alt.value([1, 0]))
    return line.encode(x=x, x2="to_steps:Q", y=y, y2="to:Q", color=color, strokeDash=dashed)


def _of_seeds(seeds: int) -> str:
    """A second line with the number of seeds; empty for a single one, whose mark is hollow."""
    return f"\n{plural(seeds, 'seed')}" if seeds > 1 else ""


def _recipe(preset: str) -> str:
    return f"{preset}: {percent(PRESETS[preset].masked_share)} hidden"


def _draw(
    table: pd.DataFrame, pairs: pd.DataFrame, judged: pd.DataFrame | None, baseline: str, theme: Theme
) -> list[Chart]:
    """The difference in final loss, and the share of the baseline's steps, by the length of the training."""
    names = list(dict.fromkeys(table.title))
    title_colours = marks.series("title", names, theme, marks.legend())
    color = title_colours if len(names) > 1 else alt.Undefined
    trained = table.steps.tolist()
    x, longest = _steps(trained, beside=judged is not None), max(trained)
    y = marks.number(alt.Y, "gap", [f"final loss minus {baseline}'s", "(nats; lower is better)"], zero=True, grid=True)
    means = marks.line_plot(
        table, x=x, y=y, theme=theme, color=color, ends=("gap_low", "gap_high"), width=0,
        shape="diamond", dots=marks.LARGE_DOT, tooltip=(VARIANT, STEPS, "seeds", ("gap", "difference (nats)", "+.3f")),
    )  # fmt: skip
    top = max(1.1, 1.05 * float(pd.concat([table.ratio, table.ratio_high, pairs.ratio]).max()))
    share = marks.number(alt.Y, "ratio", f"% of {baseline}'s steps", domain=(0, top), ticks=5)
    share["axis"]["labelExpr"] = "format(100 * datum.value, '.0f')"
    seeds = pairs[["title", "steps", "seed", "gap", "ratio", "run_id"]]
    of_seeds = {
        name: marks.row_plot(
            seeds[seeds[name].notna()], x=x, y=channel, theme=theme, ends=None, color=color, size=marks.SEED,
            opacity=0.8, tooltip=(VARIANT, STEPS, "seed", (name, label, form), "run_id"),
        )
        for name, channel, label, form in (
            ("gap", y, "difference (nats)", "+.3f"), ("ratio", share, "share of steps", ".3f")
        )
    }  # fmt: skip
    ratios = marks.line_plot(
        table, x=x, y=share, theme=theme, color=color, ends=("ratio_low", "ratio_high"), width=0,
        shape="diamond", dots=marks.LARGE_DOT, tooltip=(VARIANT, STEPS, "seeds", ("ratio", "", ".3f")),
    )  # fmt: skip
    # A mean of one seed has no interval, and is hollow.
    counted = table.assign(
        of_gap=[signed(row.gap) + _of_seeds(row.seeds) for row in frames.rows(table)],
        of_ratio=[percent(row.ratio) + _of_seeds(row.seeds) for row in frames.rows(table)],
    )
    numbers, single = alt.Chart(counted), alt.Chart(counted[counted.seeds == 1])
    # Below the point, where no line is; one of a single seed is at the right end, with little room beside it.
    alone = "datum.seeds === 1"
    count_at = {
        "align": alt.expr(f"{alone} ? 'center' : 'left'"), "dx": alt.expr(f"{alone} ? 0 : 7"),
        "dy": alt.expr(f"{alone} ? {1.3 * marks.LABEL_LINE} : {marks.LABEL_LINE / 2}"),
        "lineBreak": "\n", "lineHeight": marks.LABEL_LINE,
        "fontSize": marks.TEXT, "color": theme.ink,
    }  # fmt: skip
    beside = {
        name: [_hollow_diamonds(single, theme).encode(x=x, y=channel), numbers.mark_text(**count_at).encode(
            x=x, y=channel, text=f"of_{name}:N")]
        for name, channel in (("gap", y), ("ratio", share))
    }  # fmt: skip
    one_seed = ["hollow: one seed"] if (counted.seeds == 1).any() else []
    return [
        marks.panel(
            marks.rule(theme, y=0),
            _joined(table, x, y, "gap", color),
            *of_seeds["gap"],
            *means,
            *beside["gap"],
            *_other_recipe(judged, longest, x, y, "gap", theme),
            theme=theme,
            width=marks.HALF,
            height=HEIGHT,
            title="Difference in final loss",
            below=["dots: seeds; diamonds: means with 95 % intervals", *one_seed],
        ),
        marks.panel(
            marks.rule(theme, y=1),
            _joined(table, x, share, "ratio", color),
            *of_seeds["ratio"],
            *ratios,
            *beside["ratio"],
            *_other_recipe(judged, longest, x, share, "ratio", theme),
            theme=theme,
            width=marks.HALF,
            height=HEIGHT,
            title=f"Steps to reach {baseline}'s final loss",
            below=["dots: seeds; diamonds: means with 95 % intervals", *one_seed],
        ),
    ]
