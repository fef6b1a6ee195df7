"""Figures of what a variant gains over the baseline: in final loss, and in the training that a loss takes."""

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
"""Of the baseline's steps: what Ke et al. (2021) say TUPE needs for a better result."""
NAN = float("nan")


@dataclass(frozen=True)
class GapContent:
    """runs: variant, seed, value (the final loss), run_id, rate; one row per run. baseline: its title.

    reach: the ends of the axis of differences, in nats.
    """

    runs: pd.DataFrame
    baseline: str
    reach: tuple[float, float]


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


def _reach(table: pd.DataFrame) -> tuple[float, float]:
    """The ends of the axis: made for the differences, as an interval of two seeds may be ten times as wide as all."""
    most = 1.6 * float(table.gap.abs().max()) or 1.0
    ends = (table.low.min(), table.gap.min() * 1.1), (table.high.max(), table.gap.max() * 1.1)
    low, high = (np.nan_to_num(np.clip(one, -most, most)) for one in ends)
    return float(min(0, *low)), float(max(0, *high))


@figure("training_gap", TrainingParameters)
def gap(params: TrainingParameters) -> Figure[GapContent]:
    """Every variant's final loss, and how far it is from the baseline's, paired by seed.

    Raises what `select_trainings` raises, and NoResults where the baseline was not run.
    """
    trainings = select_trainings(params)
    trainings.need_baseline()
    base = trainings.baseline
    rows = []
    for name in trainings.variants:
        own = trainings.finals(name)
        row: dict[str, object] = {"variant": name, "seeds": len(own), "mean": mean_interval(own).mean}
        between = difference(own, trainings.finals(base))
        if name == base or not between.n:
            between = None
        row |= {
            "n": between.n if between else 0,
            "gap": between.mean if between else NAN,
            "low": between.low if between else NAN,
            "high": between.high if between else NAN,
            "p": between.p if between else NAN,
            "detectable": between.sd * smallest_detectable(1.0, between.n, alpha=ALPHA) if between else NAN,
            "note": "the baseline" if name == base else between.note if between else "no seed in common",
        }
        rows.append(row)
    table = pd.DataFrame(rows)
    corrected = holm(table.p.tolist(), ALPHA)
    table["p_holm"] = corrected.adjusted
    judged = {name: _standing(trainings, name) for name in table.variant}
    table["standing"] = [judged[name] for name in table.variant]
    table["told_apart"] = [
        judged[name] in (BETTER, WORSE) if judged[name] else bool(rejected)
        for name, rejected in zip(table.variant, corrected.rejected, strict=True)
    ]
    table = table.assign(title=[title(name) for name in table.variant]).sort_values("mean", ignore_index=True)
    reach = _reach(table)
    cut = bool((table.low < reach[0]).any() or (table.high > reach[1]).any())
    runs = trainings.runs[["variant", "seed", "final", "run_id", "rate"]].rename(columns={"final": "value"})
    return Figure(
        title=f"Final loss, and its difference to {title(base)}",
        finding=counted(table, base),
        frame=lambda: table,
        caption=sentences(
            f"Left: final validation loss in {UNIT}, on {trainings.sample}; dots are seeds, bars their means. "
            f"Right: the difference to {title(base)}, with its 95 % t interval over paired seeds and their number n; "
            "below 0 is better.",
            "Filled: significantly different from 0 after Holm's correction over "
            f"{plural(corrected.tests, 'variant')}; hollow: "
            "not resolved, which is not the same as no difference.",
            "Better, worse, the same and not resolved are the verdicts of the frozen rules, as on the page Claims."
            if any(judged.values())
            else "",
            "Intervals far wider than all differences are cut at the edge." if cut else "",
            _resolution(table),
            trainings.about(),
        ),
        alt=f"Dots, one row per variant. {_told(table, base)}",
        command=command("training_gap", params, trainings, trainings.variants, "baseline"),
        provenance=trainings.provenance(),
        content=GapContent(runs, baseline=title(base), reach=reach),
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


def _told(table: pd.DataFrame, base: str) -> str:
    apart = table[table.told_apart]
    better, worse = ("; ".join(apart.title[side]) or "none" for side in (apart.gap < 0, apart.gap > 0))
    open_ = int(((~table.told_apart) & (table.variant != base)).sum())
    return f"Lower loss than {title(base)}: {better}. Higher: {worse}. Not resolved: {plural(open_, 'variant')}."


# ---- How soon a loss is reached ----


def curves_by_seed(trainings: Trained, axis: str) -> dict[str, dict[Hashable, Curve]]:
    """Validation loss of every run, by variant and seed."""
    rows = trainings.curves("validation_loss")
    return {
        str(name): {seed: result for seed, one in own.groupby("seed") if (result := curve(one, axis)) is not None}
        for name, own in rows.groupby("variant")
    }


def step_times(preset: str) -> pd.DataFrame:
    """Time of a step against BERT-A's, measured in turns on one machine: variant (the index), value, run_id."""
    return read.query(
        "SELECT variant, value, run_id FROM newest_costs WHERE measure = 'step_ratio' AND preset = ?", [preset]
    ).set_index("variant")


def _priced(ratio: StepsRatio, price: float) -> StepsRatio:
    """Steps turned into seconds: each of the variant's takes `price` times one of the baseline's."""
    by_seed = {seed: price * value for seed, value in ratio.by_seed.items()}
    return replace(ratio, ratio=price * ratio.ratio, low=price * ratio.low, high=price * ratio.high, by_seed=by_seed)


@figure("training_convergence", TrainingParameters)
def convergence(params: TrainingParameters) -> Figure[ConvergenceContent]:
    """Steps and seconds that each variant needs for the baseline's final loss, as a share of the baseline's.

    Runs are made at different hours and by different code, so seconds are steps times what a step costs, where that
    was measured. Raises what `select_trainings` raises, and NoResults where only the baseline was run.
    """
    trainings = select_trainings(params)
    trainings.need_baseline()
    rows, seeds, ratios = [], [], {}
    times = step_times(trainings.preset)
    price = times.value.to_dict()
    others = [name for name in trainings.variants if name != trainings.baseline]
    priced = [name for name in others if name in price and trainings.baseline in price]
    timed = {"Step times": f"run {', '.join(sorted(set(times.run_id)))}"} if priced else {}
    unpriced = [name for name in others if name not in priced]
    for axis in ("step", "seconds"):
        by_seed = curves_by_seed(trainings, axis)
        for name in others:
            in_turns = axis == "seconds" and name in priced
            ratio = (
                _priced(ratios["step", name], price[name] / price[trainings.baseline])
                if in_turns
                else steps_ratio(by_seed[name], by_seed[trainings.baseline])
            )
            ratios[axis, name] = ratio
            rows.append(_row(name, axis, ratio) | ({"took": "", "baseline_took": NAN} if in_turns else {}))
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
        finding=_soonest(steps, trainings.baseline),
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
            if priced
            else "",
            "Seconds are as recorded, because the seconds per step were not measured, for: "
            f"{', '.join(map(title, unpriced))}."
            if unpriced
            else "",
            trainings.pace([trainings.baseline, *unpriced]) if unpriced else "",
            trainings.about(),
        ),
        alt=f"Dots, one row per variant. {' '.join(_sentence(row) for row in frames.records(steps))}",
        command=command("training_convergence", params, trainings, trainings.variants, "baseline"),
        provenance=trainings.provenance() | timed,
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
    reached = [one.step for one in ratio.variant.values() if one.reached]
    within = [one.within for one in ratio.variant.values() if not one.reached]
    own = [ratio.baseline[seed].step for seed in ratio.by_seed]
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
        "baseline_took": float(np.mean(own)) if own else NAN,
        "note": ratio.note,
    }


def _sentence(row: Mapping[str, object]) -> str:
    if row["censored"]:
        return f"{row['title']}: not reached at {row['censored']} of {row['n']} seeds ({row['took']} steps)."
    return f"{row['title']}: {row['ratio']:.2f} of the steps ({row['took']}, n = {row['n']})."


def _claim(ratio: StepsRatio | None, trainings: Trained) -> str:
    """TUPE's 30 % compared with what was measured here."""
    claim = f"TUPE's paper says that about {percent(TUPE_SHARE)} of the steps are enough for a better result."
    own, base = title("tupe_a"), title(trainings.baseline)
    if ratio is None or not ratio.n:
        return f"{claim} Here {own} was not run at a seed of {base}."
    seeds = plural(ratio.n, "paired seed")
    if ratio.censored:
        end = max(one.within for one in ratio.variant.values() if not one.reached)
        return (
            f"{claim} Here {own} does not reach {base}'s final validation loss at {len(ratio.censored)} of {seeds}: "
            f"it takes > {end:,.0f} steps."
        )
    start = f"{claim} Here {own} reaches {base}'s final validation loss in {percent(ratio.ratio)} of {base}'s steps"
    if np.isnan(ratio.low):
        return f"{start} ({seeds}; {ratio.note})."
    ends = f"95 % interval {percent(ratio.low)} to {percent(ratio.high)}, {seeds}"
    if ratio.low <= TUPE_SHARE <= ratio.high:
        return f"{start} ({ends}): {percent(TUPE_SHARE)} lies within the interval."
    return f"{start} ({ends}), {'fewer' if ratio.high < TUPE_SHARE else 'more'} steps than claimed."


# ---- The plateau ----


@figure("training_plateau", TrainingParameters)
def plateau(params: TrainingParameters) -> Figure[PlateauContent]:
    """Steps until a variant is below what a model without position ends at.

    Raises what `select_trainings` raises, and NoResults where no model without position was run together with others.
    """
    trainings = select_trainings(params)
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
        left = {seed: steps_to_leave_plateau(one, level, PLATEAU_MARGIN) for seed, one in by_seed[name].items()}
        seeds += [
            {
                "variant": name,
                "title": title(name),
                "seed": seed,
                "step": one.step if one.reached else one.within,
                "censored": not one.reached,
                "told": f"{one}",
            }
            for seed, one in left.items()
        ]
        stuck = [one for one in left.values() if not one.reached]
        mean = mean_interval({seed: one.step if one.reached else one.within for seed, one in left.items()})
        rows.append(
            {
                "variant": name,
                "title": title(name),
                "n": len(left),
                "censored": len(stuck),
                "mean": mean.mean,
                "low": NAN if stuck else mean.low,
                "high": NAN if stuck else mean.high,
                "told": f"> {max(one.within for one in stuck):,.0f}" if stuck else f"{mean.mean:,.0f}",
            }
        )
    table = pd.DataFrame(rows).sort_values(["censored", "mean"], ignore_index=True)
    return Figure(
        title="Steps to leave the plateau",
        finding=_first_to_leave(table, trainings.baseline),
        frame=lambda: pd.DataFrame(seeds),
        caption=sentences(
            "A model first learns which words are frequent and which go together, and its loss stalls until it "
            f"begins to use order. It has left this plateau once its validation loss is {PLATEAU_MARGIN:g} nats below "
            f"the level at which {title(orderless)} ends ({level:.2f}, mean of {plural(len(finals), 'seed')}), and "
            "still is at the next evaluation.",
            "Small dots are seeds, diamonds the mean with its 95 % t interval.",
            "Triangles: at least one seed did not leave the plateau within the run, so there is no interval."
            if table.censored.any()
            else "",
            trainings.about(others),
        ),
        alt="Dots, one row per variant. "
        + "; ".join(f"{row.title} {row.told} steps (n = {row.n})" for row in table.itertuples())
        + ".",
        command=command("training_plateau", params, trainings, [*others, orderless]),
        provenance=trainings.provenance([*others, orderless]),
        content=PlateauContent(table),
    )


def counted(table: pd.DataFrame, base: str) -> str:
    """How many variants end lower or higher than the baseline, and how many are not resolved."""
    apart = table[table.told_apart & (table.variant != base)]
    rest = len(table) - len(apart) - int((table.variant == base).any())
    lower, higher = int((apart.gap < 0).sum()), int((apart.gap > 0).sum())
    text = f"{plural(lower, 'variant')} ended at a lower loss than {title(base)}, {higher} at a higher one"
    return f"{text}, and {rest} {'is' if rest == 1 else 'are'} not resolved" if rest else text


def _soonest(steps: pd.DataFrame, baseline: str) -> str:
    """Which variant needs the smallest share of the baseline's steps, and how many never got there."""
    there = steps[~steps.censored & steps.ratio.notna()]
    if there.empty:
        return f"No variant reached {title(baseline)}'s final loss at every seed"
    first = there.iloc[0]
    return (
        f"{first.title} reaches {title(baseline)}'s final loss in {percent(first.ratio)} of {title(baseline)}'s steps; "
        f"{len(steps) - len(there)} of {plural(len(steps), 'variant')} did not reach it at every seed"
    )


def _first_to_leave(table: pd.DataFrame, baseline: str) -> str:
    """Which variant leaves the plateau first, and when the baseline does."""
    first = table.iloc[0]
    text = f"{first.title} leaves the plateau first, after {first.told} steps"
    own = table[table.variant == baseline]
    return text if own.empty or first.variant == baseline else f"{text}; {title(baseline)} after {own.told.iloc[0]}"
