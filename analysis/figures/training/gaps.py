"""Figures of a variant's gain over the baseline: in final loss, and in the training needed to reach a loss."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.ablation.presets import ablate
from analysis.claims.statements import stored
from analysis.claims.statements.contests import BETTER, WORSE
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import percent, plural, sentences
from analysis.figures.figure import Figure, figure
from analysis.figures.training.curves import curve
from analysis.figures.training.data import (
    BASELINES,
    MASKED,
    ORDERLESS,
    UNIT,
    ComparedParameters,
    Trained,
    TrainingParameters,
    command,
    select_trainings,
    title,
)
from analysis.rules import training_rules
from analysis.statistics import (
    PLATEAU_MARGIN,
    Curve,
    StepsRatio,
    difference,
    holm,
    mean_interval,
    smallest_detectable,
    steps_ratio,
    steps_to_leave_plateau,
)
from analysis.store import read

ALPHA = 0.05
TUPE_SHARE = 0.3
"""The share of the baseline's steps with which, as Ke et al. (2021) report, TUPE gives a better result."""
NAN = float("nan")


@dataclass(frozen=True)
class GapContent:
    """runs: variant, seed, value (the final loss), run_id, rate; one row per run. baseline: its title.

    domain: the ends of the axis of differences, in nats.
    """

    runs: pd.DataFrame
    baseline: str
    domain: tuple[float, float]


@dataclass(frozen=True)
class ConvergenceContent:
    """seeds: variant, axis (step or seconds), seed, ratio, censored (not reached within the run); one row per run.

    order: titles of the variants, in the order of the rows. baseline: its title. claim: the share of the baseline's
    steps that a paper claims; None where it claims nothing of this baseline.
    """

    seeds: pd.DataFrame
    order: list[str]
    baseline: str
    claim: float | None


@dataclass(frozen=True)
class PlateauContent:
    """table: one row per variant, the first to leave the plateau first: its mean in steps with the interval's ends."""

    table: pd.DataFrame


def _axis_range(table: pd.DataFrame) -> tuple[float, float]:
    """The range of the axis, set by the differences: an interval of two seeds may be ten times as wide."""
    limit = 1.6 * float(table.gap.abs().max()) or 1.0
    bounds = (table.low.min(), table.gap.min() * 1.1), (table.high.max(), table.gap.max() * 1.1)
    low, high = (np.nan_to_num(np.clip(bound, -limit, limit)) for bound in bounds)
    return float(min(0, *low)), float(max(0, *high))


def compared_losses(trainings: Trained) -> tuple[pd.DataFrame, int]:
    """A row per variant with its mean final loss and its difference to the baseline's, and the number of tests.

    told_apart: by the frozen rules where they judge these runs, else by Holm's correction over the variants.

    Raises NoResults where the baseline was not run.
    """
    trainings.require_baseline()
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
    verdicts = {name: _standing(trainings, name) for name in table.variant}
    table["standing"] = [verdicts[name] for name in table.variant]
    table["told_apart"] = [
        verdicts[name] in (BETTER, WORSE) if verdicts[name] else bool(rejected)
        for name, rejected in zip(table.variant, corrected.rejected, strict=True)
    ]
    table = table.assign(title=[title(name) for name in table.variant]).sort_values("mean", ignore_index=True)
    return table, corrected.tests


@figure("training_gap", ComparedParameters)
def gap(params: ComparedParameters) -> Figure[GapContent]:
    """Every variant's final loss, and how far it is from the baseline's, paired by seed.

    Raises what `select_trainings` raises, and NoResults where the baseline was not run.
    """
    trainings = select_trainings(params, baseline=params.baseline)
    table, tests = compared_losses(trainings)
    base = trainings.baseline
    domain = _axis_range(table)
    clipped = bool((table.low < domain[0]).any() or (table.high > domain[1]).any())
    runs = trainings.runs[["variant", "seed", "final", "run_id", "rate"]].rename(columns={"final": "value"})
    return Figure(
        title=f"Final loss, and its difference to {title(base)}",
        finding=count_outcomes(table, base),
        frame=lambda: table,
        caption=sentences(
            f"Left: final validation loss in {UNIT}, on {trainings.sample}; dots are seeds, bars their means. "
            f"Right: the difference to {title(base)}, with its 95 % t interval over paired seeds and their number n; "
            "below 0 is better.",
            "Filled: significantly different from 0 after Holm's correction over "
            f"{plural(tests, 'variant')}; hollow: "
            "not resolved, which is not the same as no difference.",
            "Better, worse, the same and not resolved are the verdicts of the frozen rules, as on the page Claims."
            if table.standing.any()
            else "",
            "Intervals far wider than all differences are cut at the edge." if clipped else "",
            _resolution(table),
            trainings.description(),
        ),
        alt=f"Dots, one row per variant. {_summary(table, base)}",
        command=command("training_gap", params, trainings, trainings.variants, "baseline"),
        provenance=trainings.provenance(),
        content=GapContent(runs, baseline=title(base), domain=domain),
    )


def _standing(trainings: Trained, variant: str) -> str:
    """The verdict of the frozen rules on a variant; empty where they do not judge these runs."""
    if trainings.preset != training_rules().preset:
        return ""
    result = stored.standing(variant, trainings.baseline)
    return result.word if result is not None and not result.missing else ""


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
    resolved = table[table.told_apart]
    better, worse = ("; ".join(resolved.title[side]) or "none" for side in (resolved.gap < 0, resolved.gap > 0))
    unresolved = int(((~table.told_apart) & (table.variant != base)).sum())
    return f"Lower loss than {title(base)}: {better}. Higher: {worse}. Not resolved: {plural(unresolved, 'variant')}."


# ---- How soon a loss is reached ----


def curves_by_seed(trainings: Trained, axis: str) -> dict[str, dict[Hashable, Curve]]:
    """Validation loss of every run, by variant and seed."""
    rows = trainings.curves("validation_loss")
    return {
        str(name): {
            seed: result
            for seed, seed_rows in variant_rows.groupby("seed")
            if (result := curve(seed_rows, axis)) is not None
        }
        for name, variant_rows in rows.groupby("variant")
    }


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
def convergence(params: ComparedParameters) -> Figure[ConvergenceContent]:
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
            f"No other variant was run at a seed of {title(trainings.baseline)}, so there is nothing to compare. Run: "
            f"{ablate(trainings.preset, ['tupe_a'])}"
        )
    table = pd.DataFrame(rows)
    steps = table[table.axis == "step"].sort_values(["censored", "ratio"], na_position="last")
    claimed = trainings.baseline == BASELINES[MASKED]
    text = _claim(ratios.get(("step", "tupe_a")), trainings) if claimed else ""
    return Figure(
        title=f"How soon {title(trainings.baseline)}'s final loss is reached",
        finding=_convergence_finding(steps, trainings.baseline),
        frame=lambda: table,
        caption=sentences(
            f"How much of {title(trainings.baseline)}'s training each variant needs to reach "
            f"{title(trainings.baseline)}'s final loss; 0.5 is half of it.",
            f"This is the number of steps (or seconds) until a variant's validation loss first reaches that loss, "
            f"divided by those of {title(trainings.baseline)}'s whole run of the same seed. Small dots are seeds; "
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
            "Seconds are as recorded, because the seconds per step were not measured, for: "
            f"{', '.join(map(title, unmeasured))}."
            if unmeasured
            else "",
            trainings.pace_note([trainings.baseline, *unmeasured]) if unmeasured else "",
            trainings.description(),
        ),
        alt=f"Dots, one row per variant. {' '.join(_sentence(row) for row in frames.records(steps))}",
        command=command("training_convergence", params, trainings, trainings.variants, "baseline"),
        provenance=trainings.provenance() | timing_provenance,
        citation_keys=("ke2021tupe",),
        sentences=(text,) if text else (),
        content=ConvergenceContent(
            seeds=pd.DataFrame(seeds),
            order=[title(name) for name in steps.variant],
            baseline=title(trainings.baseline),
            claim=TUPE_SHARE if claimed else None,
        ),
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
    tupe, base = title("tupe_a"), title(trainings.baseline)
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


# ---- The plateau ----


@dataclass(frozen=True)
class PlateauExits:
    """The steps after which trainings leave the plateau.

    table: a row per variant, the first to leave first. seeds: a row per run. level: the loss of a model without
    position, in nats; orderless_runs: the number of its runs.
    """

    table: pd.DataFrame
    seeds: pd.DataFrame
    level: float
    orderless_runs: int


def plateau_exits(trainings: Trained) -> PlateauExits:
    """The steps until each run's loss is below the final loss of a model without position.

    Raises NoResults where no model without position was run together with others.
    """
    orderless = ORDERLESS[trainings.objective]
    finals = trainings.curves("validation_loss", variants=[orderless]).groupby("seed").value.last()
    others = [name for name in trainings.variants if name != orderless]
    if finals.empty or not others:
        raise NoResults(
            f"The plateau is the loss at which {title(orderless)} ends, and there is no run of it together with other "
            f"variants at these settings. Run: {ablate(trainings.preset, [trainings.baseline, orderless])}"
        )
    level = float(finals.mean())
    by_seed = curves_by_seed(trainings, "step")
    seeds, rows = [], []
    for name in others:
        crossings = {
            seed: steps_to_leave_plateau(curve, level, PLATEAU_MARGIN) for seed, curve in by_seed[name].items()
        }
        seeds += [
            {
                "variant": name,
                "title": title(name),
                "seed": seed,
                "step": crossing.step if crossing.reached else crossing.within,
                "censored": not crossing.reached,
                "told": f"{crossing}",
            }
            for seed, crossing in crossings.items()
        ]
        censored = [crossing for crossing in crossings.values() if not crossing.reached]
        mean = mean_interval(
            {seed: crossing.step if crossing.reached else crossing.within for seed, crossing in crossings.items()}
        )
        rows.append(
            {
                "variant": name,
                "title": title(name),
                "n": len(crossings),
                "censored": len(censored),
                "mean": mean.mean,
                "low": NAN if censored else mean.low,
                "high": NAN if censored else mean.high,
                "told": f"> {max(crossing.within for crossing in censored):,.0f}" if censored else f"{mean.mean:,.0f}",
            }
        )
    table = pd.DataFrame(rows).sort_values(["censored", "mean"], ignore_index=True)
    return PlateauExits(table, pd.DataFrame(seeds), level, len(finals))


@figure("training_plateau", TrainingParameters)
def plateau(params: TrainingParameters) -> Figure[PlateauContent]:
    """Steps until a variant's loss is below the final loss of a model without position.

    Raises what `select_trainings` raises, and NoResults where no model without position was run together with others.
    """
    trainings = select_trainings(params)
    exits = plateau_exits(trainings)
    table, level, orderless = exits.table, exits.level, ORDERLESS[trainings.objective]
    others = [name for name in trainings.variants if name != orderless]
    return Figure(
        title="Steps to leave the plateau",
        finding=_plateau_finding(table, trainings.baseline),
        frame=lambda: exits.seeds,
        caption=sentences(
            "A model first learns which words are frequent and which go together, and its loss stalls until it "
            f"begins to use order. It has left this plateau once its validation loss is {PLATEAU_MARGIN:g} nats below "
            f"the level at which {title(orderless)} ends ({level:.2f}, mean of "
            f"{plural(exits.orderless_runs, 'seed')}), and still is at the next evaluation.",
            "Small dots are seeds, diamonds the mean with its 95 % t interval.",
            "Triangles: at least one seed did not leave the plateau within the run, so there is no interval."
            if table.censored.any()
            else "",
            trainings.description(others),
        ),
        alt="Dots, one row per variant. "
        + "; ".join(f"{row.title} {row.told} steps (n = {row.n})" for row in table.itertuples())
        + ".",
        command=command("training_plateau", params, trainings, [*others, orderless]),
        provenance=trainings.provenance([*others, orderless]),
        content=PlateauContent(table),
    )


def count_outcomes(table: pd.DataFrame, base: str) -> str:
    """A sentence with the numbers of variants that end lower or higher than the baseline, or are not resolved."""
    resolved = table[table.told_apart & (table.variant != base)]
    unresolved = len(table) - len(resolved) - int((table.variant == base).any())
    lower, higher = int((resolved.gap < 0).sum()), int((resolved.gap > 0).sum())
    text = f"{plural(lower, 'variant')} ended at a lower loss than {title(base)}, {higher} at a higher one"
    return f"{text}, and {unresolved} {'is' if unresolved == 1 else 'are'} not resolved" if unresolved else text


def _convergence_finding(steps: pd.DataFrame, baseline: str) -> str:
    """A sentence on the variant that reaches the baseline's loss soonest, and on the number that never reach it."""
    reached = steps[~steps.censored & steps.ratio.notna()]
    if reached.empty:
        return f"No variant reached {title(baseline)}'s final loss at every seed"
    first = reached.iloc[0]
    return (
        f"{first.title} reaches {title(baseline)}'s final loss in {percent(first.ratio)} of {title(baseline)}'s steps; "
        f"{len(steps) - len(reached)} of {plural(len(steps), 'variant')} did not reach it at every seed"
    )


def _plateau_finding(table: pd.DataFrame, baseline: str) -> str:
    """A sentence on the variant that leaves the plateau first, and on the step at which the baseline does."""
    first = table.iloc[0]
    text = f"{first.title} leaves the plateau first, after {first.told} steps"
    baseline_row = table[table.variant == baseline]
    return (
        text
        if baseline_row.empty or first.variant == baseline
        else f"{text}; {title(baseline)} after {baseline_row.told.iloc[0]}"
    )
