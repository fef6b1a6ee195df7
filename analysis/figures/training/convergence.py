"""Steps and seconds that each variant needs for the baseline's final loss."""

from collections.abc import Mapping
from dataclasses import replace

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.presets import ablate
from analysis.ablation.variants import named, quote
from analysis.core import frames
from analysis.core.colours import SOFT
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, percent, plural, sentences
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.training.row_marks import VARIANT, seeds_and_means, way_hues, ways
from analysis.figures.training.run_curves import curves_by_seed
from analysis.figures.training.trainings import (
    BASELINES,
    MASKED,
    ComparedParameters,
    Trained,
    command,
    select_trainings,
    title,
)
from analysis.statistics import (
    StepsRatio,
    steps_ratio,
)
from analysis.store import read

TUPE_SHARE = 0.3
"""The share of the baseline's steps with which, as Ke et al. (2021) report, TUPE gives a better result."""
NAN = float("nan")
MAX_RATIO = 2.0
"""Ratios are drawn up to here; an interval that goes on is cut at the edge."""
DOTTED = [2, 3]
"""The dash of lines that show a paper's claim."""


def step_times(preset: str) -> pd.DataFrame:
    """Time of a step against BERT-A's, measured in turns on one machine: variant (the index), value, run_id."""
    return read.query(
        "SELECT variant, value, run_id FROM newest_costs WHERE measure = 'step_ratio' AND preset = ?", [preset]
    ).set_index("variant")


def _in_seconds(ratio: StepsRatio, relative_time: float) -> StepsRatio:
    """A ratio of steps as one of seconds: a step of the variant takes `relative_time` steps of the baseline."""
    by_seed = {seed: relative_time * value for seed, value in ratio.by_seed.items()}
    return replace(
        ratio,
        ratio=relative_time * ratio.ratio,
        low=relative_time * ratio.low,
        high=relative_time * ratio.high,
        by_seed=by_seed,
    )


@figure("training_convergence", ComparedParameters)
def convergence(params: ComparedParameters) -> Figure:
    """Steps and seconds that each variant needs for the baseline's final loss, as a share of the baseline's.

    Runs are made at different hours and by different code, so seconds are steps times the measured time of a step,
    for variants with one. Raises the errors of `select_trainings`, and NoResults if only the baseline was run.
    """
    trainings = select_trainings(params, baseline=params.baseline)
    trainings.require_baseline()
    rows, seeds, ratios = [], [], {}
    times = step_times(trainings.preset)
    step_time = times.value.to_dict()
    others = [name for name in trainings.variants if name != trainings.baseline]
    measured = [name for name in others if name in step_time and trainings.baseline in step_time]
    timing_provenance = {"Step times": f"run {', '.join(sorted(set(times.run_id)))}"} if measured else {}
    unmeasured = [name for name in others if name not in measured]
    for axis in ("step", "seconds"):
        by_seed = curves_by_seed(trainings, axis)
        for name in others:
            use_measured = axis == "seconds" and name in measured
            if axis == "seconds" and measured and not use_measured:
                continue  # What a run took tells of its hour and machine, too: beside measured times it would mislead.
            ratio = (
                _in_seconds(ratios["step", name], step_time[name] / step_time[trainings.baseline])
                if use_measured
                else steps_ratio(by_seed[name], by_seed[trainings.baseline])
            )
            ratios[axis, name] = ratio
            rows.append(_row(name, axis, ratio) | ({"took": "", "baseline_took": NAN} if use_measured else {}))
            seeds += [
                {"variant": name, "axis": axis, "seed": seed, "ratio": value, "censored": seed in ratio.censored}
                for seed, value in ratio.by_seed.items()
            ]
    if not rows or not seeds:
        raise NoResults(
            f"No other variant was run at a seed of {named(trainings.baseline)}, so there is nothing to compare. Run: "
            f"{ablate(trainings.preset, ['tupe_a'])}"
        )
    table = pd.DataFrame(rows)
    steps = table[table.axis == "step"].sort_values(["censored", "ratio"], na_position="last")
    claimed = trainings.baseline == BASELINES[MASKED]
    text = _claim(ratios.get(("step", "tupe_a")), trainings) if claimed else ""
    return Figure(
        title=f"How soon {named(trainings.baseline)}'s final loss is reached",
        finding=_convergence_finding(steps, trainings.baseline),
        frame=lambda: table,
        caption=sentences(
            f"How much of {named(trainings.baseline)}'s training each variant needs to reach "
            f"{named(trainings.baseline)}'s final loss; 0.5 is half of it ({trainings.conditions()}).",
            f"This is the number of steps (or seconds) until a variant's validation loss first reaches that loss, "
            f"divided by those of {named(trainings.baseline)}'s whole run of the same seed. Small dots are seeds; "
            "diamonds are their geometric mean, with a 95 % t interval over the logarithms.",
            "Triangles: at least one seed did not reach the loss, so the ratio is a lower bound and has no interval."
            if table.censored.any()
            else "",
            "Dotted line: 0.3, as TUPE's paper claims." if claimed else "",
            "All runs follow one learning-rate schedule to its end: where a run reaches the loss, its learning rate "
            "has not yet decayed.",
            "Seconds are the number of steps times the seconds per step, which were measured in turns (see Costs)."
            if measured
            else "",
            f"No seconds for {join_names(quote(title(name)) for name in unmeasured)}: the time of a step was not "
            "measured."
            if measured and unmeasured
            else "",
            "Seconds are as recorded, because the seconds per step were not measured." if not measured else "",
            "" if measured else trainings.pace_note([trainings.baseline, *unmeasured]),
            trainings.description(),
        ),
        alt=f"Dots, one row per variant. {' '.join(_sentence(row) for row in frames.records(steps))}",
        command=command("training_convergence", params, trainings, trainings.variants, "baseline"),
        provenance=trainings.provenance() | timing_provenance,
        citation_keys=("ke2021tupe",),
        sentences=(text,) if text else (),
        draw=lambda theme: _draw(
            table,
            pd.DataFrame(seeds),
            [title(name) for name in steps.variant],
            title(trainings.baseline),
            TUPE_SHARE if claimed else None,
            theme,
        ),
        columns=2,
    )


def _row(name: str, axis: str, ratio: StepsRatio) -> dict[str, object]:
    reached = [crossing.step for crossing in ratio.variant.values() if crossing.reached]
    within = [crossing.within for crossing in ratio.variant.values() if not crossing.reached]
    baseline_steps = [ratio.baseline[seed].step for seed in ratio.by_seed]
    return {
        "variant": name,
        "title": title(name),
        "axis": axis,
        "ratio": ratio.ratio,
        "low": ratio.low,
        "high": ratio.high,
        "n": ratio.n,
        "censored": len(ratio.censored),
        "took": f"> {max(within):,.0f}" if within else f"{np.mean(reached):,.0f}" if reached else "",
        "baseline_took": float(np.mean(baseline_steps)) if baseline_steps else NAN,
        "note": ratio.note,
    }


def _sentence(row: Mapping[str, object]) -> str:
    if row["censored"]:
        return f"{row['title']}: not reached at {row['censored']} of {row['n']} seeds ({row['took']} steps)."
    return f"{row['title']}: {row['ratio']:.2f} of the steps ({row['took']}, n = {row['n']})."


def _claim(ratio: StepsRatio | None, trainings: Trained) -> str:
    """TUPE's 30 % compared with what was measured here."""
    claim = f"TUPE's paper says that about {percent(TUPE_SHARE)} of the steps are enough for a better result."
    tupe, base = named("tupe_a"), named(trainings.baseline)
    if ratio is None or not ratio.n:
        return f"{claim} Here {tupe} was not run at a seed of {base}."
    seeds = plural(ratio.n, "paired seed")
    if ratio.censored:
        end = max(crossing.within for crossing in ratio.variant.values() if not crossing.reached)
        return (
            f"{claim} Here {tupe} does not reach {base}'s final validation loss at {len(ratio.censored)} of {seeds}: "
            f"it takes > {end:,.0f} steps."
        )
    start = f"{claim} Here {tupe} reaches {base}'s final validation loss in {percent(ratio.ratio)} of {base}'s steps"
    if np.isnan(ratio.low):
        return f"{start} ({seeds}; {ratio.note})."
    ends = f"95 % interval {percent(ratio.low)} to {percent(ratio.high)}, {seeds}"
    if ratio.low <= TUPE_SHARE <= ratio.high:
        return f"{start} ({ends}): {percent(TUPE_SHARE)} lies within the interval."
    return f"{start} ({ends}), {'fewer' if ratio.high < TUPE_SHARE else 'more'} steps than claimed."


def _convergence_finding(steps: pd.DataFrame, baseline: str) -> str:
    """A sentence on the variant that reaches the baseline's loss soonest, and on the number that never reach it.

    Variants without a seed in common with the baseline are not compared, and not counted.
    """
    steps = steps[steps.n > 0]
    reached = steps[(steps.censored == 0) & steps.ratio.notna()]
    if reached.empty:
        return f"No variant reached {named(baseline)}'s final loss at every seed"
    first = reached.iloc[0]
    return (
        f"{quote(str(first.title))} reaches {named(baseline)}'s final loss in {percent(first.ratio)} of "
        f"{named(baseline)}'s steps; "
        f"{len(steps) - len(reached)} of {plural(len(steps), 'variant')} did not reach it at every seed"
    )


def _draw(
    table: pd.DataFrame, seeds: pd.DataFrame, order: list[str], baseline: str, claim: float | None, theme: Theme
) -> list[Chart]:
    """Steps and seconds, over the baseline's own; both on one scale. claim: the share that a paper claims, if any."""
    titles = dict(zip(table.variant, table.title, strict=True))
    end = float(np.nanmin([MAX_RATIO, max(1.15, np.nanmax([table.ratio.max(), seeds.ratio.max(), table.high.max()]))]))
    y = marks.rows_down("title", order)
    panels = []
    for axis, unit in (("step", "steps"), ("seconds", "seconds")):
        axis_rows = table[(table.axis == axis) & table.ratio.notna()]
        shown = axis_rows[["title", "low", "high", "n", "took"]].assign(
            ratio=axis_rows.ratio.clip(upper=end),
            censored=axis_rows.censored > 0,
            way=ways(axis_rows.variant),
            written=[_ratio(row, unit) for row in frames.rows(axis_rows)],
        )
        dots = seeds[seeds.axis == axis].assign(
            title=lambda result: result.variant.map(titles), ratio=lambda result: result.ratio.clip(upper=end)
        )
        title = f"{unit}, as a share of {baseline}'s"
        x = marks.number(alt.X, "ratio", title, domain=(0, end), ticks=5, place="top")
        tooltip = (VARIANT, ("written", "ratio"), *marks.interval_tips(".2f"), ("took", unit), "n")
        layers: list[Chart] = [marks.rule(theme, x=1)]
        if claim:
            layers.append(marks.rule(theme, x=claim, dash=DOTTED))
        color = way_hues(ways(table.variant), theme, columns=3)
        layers += seeds_and_means(dots[["title", "seed", "ratio", "censored"]], shown, x, y, theme, tooltip, color)
        if lacking := [name for name in order if name not in set(shown.title)]:
            words = alt.Chart(pd.DataFrame({"title": lacking})).mark_text(
                align="left", dx=6, fontSize=marks.TEXT, color=theme.colour(SOFT), text="not measured"
            )
            layers.append(words.encode(x=alt.value(0), y=y))
        panels.append(
            marks.panel(
                *layers,
                theme=theme,
                width=marks.HALF,
                height=marks.ROW * len(order),
                title=f"In {unit}",
                below=["dotted: TUPE's paper"] if claim else [],
            )
        )
    return panels


def _ratio(row, unit: str) -> str:
    """A ratio with its number of seeds, or, where censored, as a lower bound with the steps of the run."""
    if row.censored:
        within = f" ({row.took}{' s' if unit == 'seconds' else ''})" if row.took else ""
        return f"≥ {row.ratio:.2f}{within}"
    return f"{row.ratio:.2f} (n = {row.n})"
