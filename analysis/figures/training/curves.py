"""Figures along a pre-training: validation loss, the variance of the scores, and the loss on longer texts."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.ablation.presets import ablate
from analysis.ablation.variants import VARIANTS
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import fixed, plural, sentences, signed
from analysis.figures.figure import Figure, figure
from analysis.figures.training.data import (
    BASELINES,
    MASKED,
    OBJECTIVES_NOTE,
    UNIT,
    ComparedParameters,
    Trained,
    TrainingParameters,
    VariantsParameters,
    command,
    select_trainings,
    title,
)
from analysis.statistics import Crossing, Curve, difference, steps_to

AXES = {"step": "Step", "tokens": "Token", "seconds": "Second"}
UNITS = {"step": "steps", "tokens": "tokens", "seconds": "seconds of training"}
POINTS = 60
"""Evaluations drawn of one run; longer curves are thinned evenly, their ends kept."""
SCALED, UNSCALED = "tupe_a", "tupe_a_unscaled"
LENGTHS = (1, 2, 4)


class LearningCurvesParameters(ComparedParameters, VariantsParameters):
    """axis: a key of AXES, the quantity that the loss is drawn against."""

    axis: str


@dataclass(frozen=True, kw_only=True)
class CurvesContent:
    """rows: variant, seed, value and the column of the horizontal axis, one row per point. mean: the same over seeds.

    variants: in the order of their colours. baseline: the one that the others are compared with.
    """

    rows: pd.DataFrame
    mean: pd.DataFrame
    variants: list[str]
    baseline: str


@dataclass(frozen=True, kw_only=True)
class LearningCurvesContent(CurvesContent):
    """Curves of validation loss. target: the last loss of the baseline's mean curve; None if it was not run.

    crossings: variant -> the first point at which its mean curve reaches the target. axis: a key of AXES.
    finals: variant, value and the column of the axis: each mean's end, with its final loss on the larger sample.
    """

    target: float | None
    finals: pd.DataFrame
    crossings: dict[str, Crossing]
    axis: str


def thinned(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of at most `POINTS` steps, spread evenly over those that were evaluated."""
    steps = np.unique(rows.step)
    if len(steps) <= POINTS:
        return rows
    selected = steps[np.unique(np.linspace(0, len(steps) - 1, POINTS).round().astype(int))]
    return rows[rows.step.isin(selected)].reset_index(drop=True)


def means(rows: pd.DataFrame, *by: str) -> pd.DataFrame:
    """The mean over seeds at every step that all seeds of a variant have."""
    groups = rows.groupby([*by, "variant", "step"], sort=False)
    frame = groups.agg(tokens=("tokens", "first"), seconds=("seconds", "mean"), value=("value", "mean"))
    frame["seeds"] = groups.seed.nunique()
    frame = frame.reset_index()
    return frame[frame.seeds == frame.groupby("variant").seeds.transform("max")].reset_index(drop=True)


def curve(rows: pd.DataFrame, axis: str = "step") -> Curve | None:
    """A run's losses, or the means of several, as a `Curve`; None where the axis is missing or not increasing.

    Imported results may lack tokens and seconds, or record impossible ones.
    """
    if axis != "step" and not (np.diff(rows[axis], prepend=-1.0) > 0).all():
        return None
    return Curve(rows[axis].to_numpy(dtype=float), rows.value.to_numpy(dtype=float))


@figure("training_curves", LearningCurvesParameters)
def learning_curves(params: LearningCurvesParameters) -> Figure[LearningCurvesContent]:
    """Validation loss against steps, tokens or seconds: a thin line a seed, the mean thick.

    Raises AddendError for an unknown axis, NoResults where these runs do not say their tokens or seconds, and what
    `select_trainings` raises.
    """
    axis = params.axis
    if axis not in AXES:
        raise AddendError(f"There is no axis {axis!r}; expected one of: {', '.join(AXES)}.")
    trainings = select_trainings(params, baseline=params.baseline)
    variants = trainings.selected(params.variants)
    losses = trainings.curves("validation_loss", variants=list({*variants, trainings.baseline}))
    mean = means(losses)
    target = _target(mean, trainings.baseline)
    crossings = _crossings(mean, variants, target, axis, trainings.baseline) if target is not None else {}
    rows = losses[losses.variant.isin(variants)]
    if rows[axis].isna().all():
        raise NoResults(f"These runs did not record their {UNITS[axis]}. Choose another axis.")
    finals = _finals(trainings, mean[mean.variant.isin(variants)])
    columns = ["variant", "seed", "step", "tokens", "seconds", "value", "run_id"]
    base = title(trainings.baseline)
    devices = sorted(set(trainings.runs[trainings.runs.variant.isin(variants)].device))
    return Figure(
        title="Learning curves",
        finding=_difference(trainings, variants) or _lowest_loss(trainings, variants),
        frame=lambda: rows[columns].reset_index(drop=True),
        caption=sentences(
            f"Validation loss in {UNIT}, on the same {'masked ' if trainings.objective == MASKED else ''}windows in "
            "every run.",
            "Thin: one seed; thick: the mean over seeds.",
            f"Dashed: the end of {base}'s mean curve, {target:.2f}; dots: where another mean curve first reaches it, "
            "interpolated linearly between evaluations."
            if target is not None
            else "",
            f"Diamonds: the final losses, which the heading and the other views name, on {trainings.sample}."
            if len(finals)
            else "",
            " ".join(_crossing_sentences(crossings, axis)),
            f"Seconds are those of training alone, without evaluations, on: {', '.join(devices)} (a CPU counts with "
            "one thread)."
            if axis == "seconds"
            else "",
            trainings.pace_note(variants) if axis == "seconds" else "",
            trainings.description(variants),
            OBJECTIVES_NOTE,
        ),
        alt=_alt(mean, variants, axis),
        command=command("training_curves", params, trainings, variants, "baseline", "axis", "variants"),
        provenance=trainings.provenance(variants),
        content=LearningCurvesContent(
            rows=thinned(rows)[["variant", "seed", axis, "value"]],
            mean=thinned(mean[mean.variant.isin(variants)]),
            variants=variants,
            baseline=trainings.baseline,
            target=target,
            finals=finals,
            crossings=crossings,
            axis=axis,
        ),
    )


def _finals(trainings: Trained, mean: pd.DataFrame) -> pd.DataFrame:
    """The end of every mean curve with the mean final loss; none where that is the last evaluation itself."""
    ends = mean.drop_duplicates("variant", keep="last")
    finals = ends.assign(value=[float(np.mean([*trainings.finals(name).values()])) for name in ends.variant])
    return finals[~np.isclose(finals.value, ends.value)]


def _target(mean: pd.DataFrame, baseline: str) -> float | None:
    baseline_mean = mean[mean.variant == baseline]
    return float(baseline_mean.value.iloc[-1]) if len(baseline_mean) else None


def _crossings(mean: pd.DataFrame, variants: list[str], target: float, axis: str, baseline: str) -> dict[str, Crossing]:
    """The first step, or its equivalent on the axis, at which each variant's mean curve reaches the target.

    The baseline is left out, since the target is its own last value.
    """
    curves = {name: curve(mean[mean.variant == name], axis) for name in variants if name != baseline}
    return {name: steps_to(mean_curve, target) for name, mean_curve in curves.items() if mean_curve is not None}


def _crossing_sentences(crossings: dict[str, Crossing], axis: str) -> list[str]:
    """Sentences on which variants reach the target, when, and which do not."""
    reached = [f"{title(name)} at {crossing.step:,.0f}" for name, crossing in crossings.items() if crossing.reached]
    missed = [
        f"{title(name)} (> {crossing.within:,.0f})" for name, crossing in crossings.items() if not crossing.reached
    ]
    sentences = [f"Reached by {'; '.join(reached)} {UNITS[axis]}."] if reached else []
    return sentences + ([f"Not reached by {'; '.join(missed)}."] if missed else [])


def _alt(mean: pd.DataFrame, variants: list[str], axis: str) -> str:
    parts = []
    for name in variants:
        losses = mean[mean.variant == name]
        parts.append(f"{title(name)} from {losses.value.iloc[0]:.2f} to {losses.value.iloc[-1]:.2f}")
    return f"Lines of validation loss against {UNITS[axis]}, one colour per variant: {'; '.join(parts)} ({UNIT})."


# ---- Longer texts than in training ----


def learned_table(variant: str) -> bool:
    """True for a variant with a learned table of one row per position; training reaches only the first rows."""
    settings = VARIANTS[variant].settings if variant in VARIANTS else {}
    return settings.get("position") == "learned" or settings.get("untied", "none") != "none"


@figure("training_length", VariantsParameters)
def longer(params: VariantsParameters) -> Figure[CurvesContent]:
    """The trained models' loss at one, two and four times the length they were trained on.

    Raises NoResults where these runs were not evaluated on longer texts, and what `select_trainings` raises.
    """
    trainings = select_trainings(params)
    variants = trainings.selected(params.variants)
    rows = trainings.curves(*(f"final_loss_{times}x" for times in LENGTHS), variants=variants)
    if rows.empty:
        raise NoResults("These runs were not evaluated on texts longer than in training; run them again.")
    rows = rows.assign(times=rows.metric.str.extract(r"(\d+)x$")[0].astype(int))
    variants = [name for name in variants if name in set(rows.variant)]
    mean = rows.groupby(["variant", "times"]).value.mean().reset_index()
    untrained = [title(name) for name in variants if learned_table(name)]
    summaries = []
    for name in variants:
        losses = mean[mean.variant == name].set_index("times").value
        summaries.append(f"{title(name)} {', '.join(f'{losses[times]:.2f} at {times}x' for times in losses.index)}")
    return Figure(
        title="Longer texts than in training",
        finding=_length_finding(mean),
        frame=lambda: rows[["variant", "seed", "times", "value", "run_id"]].reset_index(drop=True),
        caption=sentences(
            f"Validation loss in {UNIT} after the last step, at 1, 2 and 4 times the training length; the windows "
            "differ from length to length, so compare variants at one length. Thin: one seed; thick: the mean.",
            f"Learned tables have rows for the longer texts that no training step reached, so their loss there says "
            f"what untrained rows do: {'; '.join(untrained)}."
            if untrained
            else "",
            trainings.description(variants),
        ),
        alt=f"Lines of validation loss against text length: {'; '.join(summaries)}.",
        command=command("training_length", params, trainings, variants, "variants"),
        provenance=trainings.provenance(variants),
        content=CurvesContent(
            rows=rows[["variant", "seed", "times", "value"]],
            mean=mean,
            variants=variants,
            baseline=trainings.baseline,
        ),
    )


# ---- The scale of the scores ----


@figure("training_scores", TrainingParameters)
def score_scale(params: TrainingParameters) -> Figure[CurvesContent]:
    """The variance of the scores, layer by layer: TUPE-A with its scale and without, and the baseline.

    Of causal models, all. Raises NoResults where none of these was run or says the variance of its scores, and what
    `select_trainings` raises.
    """
    trainings = select_trainings(params)
    masked = trainings.objective == MASKED
    variants = [name for name in (BASELINES[trainings.objective], SCALED, UNSCALED) if name in trainings.variants]
    variants = variants if masked else trainings.variants
    if masked and not {SCALED, UNSCALED} & set(variants):
        raise NoResults(
            f"There is no run of {title(SCALED)} or {title(UNSCALED)} with these settings. Make them with: "
            + ablate(trainings.preset, [SCALED, UNSCALED])
        )
    runs = trainings.curves(*(f"score_variance_{layer}" for layer in range(64)), variants=variants)
    if runs.empty:
        raise NoResults("These runs did not record the variance of their scores; run them again.")
    rows = runs.assign(layer=runs.metric.str.removeprefix("score_variance_").astype(int))
    mean = means(rows, "layer")
    text = _scale_effect(trainings, mean) if masked else ""
    return Figure(
        title="The scale of the scores through training",
        finding=(text.split(", by layer")[0] if ", by layer" in text else _variance_finding(mean, trainings.baseline)),
        frame=lambda: rows[["variant", "seed", "layer", "step", "tokens", "seconds", "value", "run_id"]],
        caption=sentences(
            "Variance of a query's scores over the keys it attends to, before softmax; mean over queries and heads. "
            "Thin: one seed; thick: the mean. All layers on one logarithmic scale, from step 0.",
            text,
            trainings.description(variants),
        ),
        alt=f"Lines of score variance against steps, one panel per layer. {text}".strip(),
        command=command("training_scores", params, trainings, variants),
        provenance=trainings.provenance(variants),
        citation_keys=("ke2021tupe",),
        content=CurvesContent(
            rows=thinned(rows)[["variant", "seed", "layer", "step", "value"]],
            mean=thinned(mean),
            variants=variants,
            baseline=BASELINES[trainings.objective],
        ),
    )


def _variance_finding(mean: pd.DataFrame, variant: str) -> str:
    """The variance of a variant's scores, mean over layers, before and after training."""
    rows = mean[mean.variant == variant]
    if rows.empty:
        return ""
    by_step = rows.groupby("step").value.mean()
    return f"The variance of {title(variant)}'s scores goes from {by_step.iloc[0]:.2g} to {by_step.iloc[-1]:.2g}"


def _scale_effect(trainings: Trained, mean: pd.DataFrame) -> str:
    """The effect of leaving the scale out on the scores' variance, at the start and the end, and on the final loss."""
    if not {SCALED, UNSCALED} <= set(trainings.variants):
        return f"Only one of {title(SCALED)} and {title(UNSCALED)} was run, so the effect of the scale is not judged."
    ranges = {}
    for step, when in ((mean.step.min(), "start"), (mean.step.max(), "end")):
        variances = mean[mean.step == step].pivot(index="layer", columns="variant", values="value")
        ratios = variances[UNSCALED] / variances[SCALED]
        ranges[when] = (
            f"{ratios.min():.1f}" if round(np.ptp(ratios), 1) == 0 else f"{ratios.min():.1f} to {ratios.max():.1f}"
        )
    loss = difference(trainings.finals(UNSCALED), trainings.finals(SCALED))
    interval = (
        f"(95 % interval {signed(loss.low)} to {signed(loss.high)}, {plural(loss.n, 'paired seed')})"
        if loss.low == loss.low
        else f"({loss.note})"
    )
    return (
        f"Without TUPE's scale of 1/sqrt(2d), the variance of the scores is {ranges['start']} times as large before "
        f"training, depending on the layer, and {ranges['end']} times as large after it; the final validation loss "
        f"differs by {signed(loss.mean)} nats {interval}."
    )


def _difference(trainings: Trained, variants: list[str]) -> str:
    """The difference in final loss where one variant is shown with the baseline; else empty."""
    others = [name for name in variants if name != trainings.baseline]
    if len(others) != 1 or len(variants) != 2:
        return ""
    gap = difference(trainings.finals(others[0]), trainings.finals(trainings.baseline))
    if not gap.n:
        return ""
    base = f"adding ({title('bert_a')})" if trainings.baseline == "bert_a" else title(trainings.baseline)
    interval = f" (95 % interval {signed(gap.low)} to {signed(gap.high)})" if gap.low == gap.low else ""
    side = "above" if gap.mean > 0 else "below"
    return f"{title(others[0])} ends {fixed(abs(gap.mean))} nats {side} {base}{interval}"


def _lowest_loss(trainings: Trained, variants: list[str]) -> str:
    """The variant with the lowest mean final loss, and the baseline's."""
    finals = {name: list(trainings.finals(name).values()) for name in variants}
    mean_losses = {name: sum(losses) / len(losses) for name, losses in finals.items() if losses}
    if not mean_losses:
        return ""
    best, baseline = min(mean_losses, key=lambda name: mean_losses[name]), trainings.baseline
    text = f"{title(best)} ends with the lowest loss, {mean_losses[best]:.2f} nats"
    return (
        text
        if best == baseline or baseline not in mean_losses
        else f"{text}; {title(baseline)} ends at {mean_losses[baseline]:.2f}"
    )


def _length_finding(mean: pd.DataFrame) -> str:
    """The smallest and the largest change in loss at the longest texts."""
    table = mean.pivot(index="variant", columns="times", values="value").dropna()
    if table.empty or table.shape[1] < 2:
        return ""
    growth = (table.iloc[:, -1] - table.iloc[:, 0]).sort_values()
    smallest, largest = str(growth.index[0]), str(growth.index[-1])
    text = (
        f"On texts of {table.columns[-1]} times the training length the loss changes by {signed(growth.iloc[0])} nats "
    )
    text += f"({title(smallest)})"
    return text if smallest == largest else f"{text} to {signed(growth.iloc[-1])} nats ({title(largest)})"
