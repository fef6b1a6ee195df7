"""The spread of attention scores through training, layer by layer."""

import math
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.presets import ablate
from analysis.ablation.variants import VARIANTS, named
from analysis.core.errors import NoResults
from analysis.core.formatting import fixed, join_names, percent, plural, sentences, signed, significant
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.training.line_marks import lines, names, names_at_ends, plot_height, scales
from analysis.figures.training.run_curves import means, thinned
from analysis.figures.training.trainings import (
    BASELINES,
    MASKED,
    Trained,
    TrainingParameters,
    command,
    select_trainings,
    title,
)
from analysis.statistics import difference

SCALED, UNSCALED = "tupe_a", "tupe_a_unscaled"
EARLY = 0.1
"""The share of a training after which the heading compares for the first time."""
EVEN = 0.05
"""The logarithm of a ratio of spreads up to which two attend equally sharply."""
HEIGHT, TALL = 260, 340
TOOLTIP: tuple[marks.Tip, ...] = (("step", "", ","), ("value", "spread", ".3~g"))
LETTERS = 18
"""Letters in a line of a curve's name: a word more than elsewhere, since few curves have long names."""


@figure("training_scores", TrainingParameters)
def score_scale(params: TrainingParameters) -> Figure:
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
            f"There is no run of {named(SCALED)} or {named(UNSCALED)} with these settings. Make them with: "
            + ablate(trainings.preset, [SCALED, UNSCALED])
        )
    runs = trainings.curves(*(f"score_variance_{layer}" for layer in range(64)), variants=variants)
    if runs.empty:
        raise NoResults("These runs did not record the variance of their scores; run them again.")
    rows = runs.assign(layer=runs.metric.str.removeprefix("score_variance_").astype(int))
    spreads = _spreads(rows)
    text = _scale_effect(trainings, rows) if masked else ""
    return Figure(
        title="The spread of the scores through training",
        finding=_finding(spreads, trainings.baseline),
        frame=lambda: rows[["variant", "seed", "layer", "step", "tokens", "seconds", "value", "run_id"]],
        caption=sentences(
            "Standard deviation of a query's scores over the keys, before softmax: the wider, the fewer keys get the "
            f"attention; {trainings.conditions()}. A score that is higher by 1 gives a key e times the weight.",
            "The root of the mean variance over queries and heads. Thin: one seed; thick: the geometric mean of seeds. "
            "The axis is logarithmic.",
            drawn_once(spreads, variants),
            _ends(spreads, trainings.baseline),
            text,
            trainings.description(variants),
        ),
        alt=f"Lines of the spread of scores against steps, one panel per layer. {text}".strip(),
        command=command("training_scores", params, trainings, variants),
        provenance=trainings.provenance(variants),
        citation_keys=("ke2021tupe",),
        draw=lambda theme: _draw(
            thinned(rows.assign(value=np.sqrt(rows.value)))[["variant", "seed", "layer", "step", "value"]],
            thinned(spreads),
            variants,
            BASELINES[trainings.objective],
            theme,
        ),
        columns=1 if shared_variants(variants) else 2,
    )


def shared_variants(variants: Sequence[str]) -> list[str]:
    """The variants whose position scores are computed once and added in every layer."""
    return [name for name in variants if name in VARIANTS and VARIANTS[name].settings.get("untied") == "own"]


def drawn_once(spreads: pd.DataFrame, variants: Sequence[str]) -> str:
    """A sentence on the variants of which one curve stands for all layers; empty where there is none."""
    shared = shared_variants(variants)
    of = spreads[spreads.variant.isin(shared)].groupby(["variant", "step"]).value
    if not shared or spreads.layer.nunique() == 1:
        return ""
    apart = percent(float((of.max() / of.min() - 1).max()))
    return (
        f"{join_names(map(title, shared))}: one curve, since the position term is shared by all layers, whose spreads "
        f"are at most {apart} apart."
    )


def _spreads(rows: pd.DataFrame) -> pd.DataFrame:
    """The geometric mean over seeds of the scores' standard deviation, at every step that all seeds of a variant have.

    One seed whose scores grow a hundredfold would decide an arithmetic mean.
    """
    positive = rows[rows.value > 0]
    logarithms = means(positive.assign(value=np.log(positive.value) / 2), "layer")
    return logarithms.assign(value=np.exp(logarithms.value))


def _ratios(spreads: pd.DataFrame, step: float, baseline: str) -> pd.DataFrame:
    """The spread of each variant's scores as a multiple of the baseline's at a step, by layer; empty without any."""
    at = spreads[spreads.step == step].pivot(index="layer", columns="variant", values="value")
    return at.drop(columns=baseline).div(at[baseline], axis=0).dropna() if baseline in at else pd.DataFrame()


def _compared(ratios: pd.DataFrame) -> str:
    """The variant that the heading compares with the baseline: TUPE-A, else the one that differs most."""
    return SCALED if SCALED in ratios else str(ratios.apply(np.log).abs().max().idxmax())


def _finding(spreads: pd.DataFrame, baseline: str) -> str:
    """The spread of a variant's scores in the first layer as a multiple of the baseline's, early and at the end.

    Where the baseline's overtake them, theirs as a multiple of the variant's. Of the baseline alone, its own before and
    after training.
    """
    last, first_layer = spreads.step.max(), spreads.layer.min()
    ratios = _ratios(spreads, last, baseline)
    if ratios.empty:
        own = spreads[(spreads.variant == baseline) & (spreads.layer == first_layer)]
        if own.empty:
            return ""
        start, end = (significant(float(own.value[own.step == step].mean()), 2) for step in (own.step.min(), last))
        return f"The spread of the scores of {named(baseline)} in layer {first_layer} goes from {start} to {end}"
    name = _compared(ratios)
    both = set.intersection(*(set(spreads[spreads.variant == one].step) for one in (name, baseline)))
    early = min(both, key=lambda step: abs(step - EARLY * last))
    in_first = spreads[spreads.layer == first_layer].pivot(index="step", columns="variant", values="value")
    course = (in_first[name] / in_first[baseline]).loc[sorted(both)]
    first, end = float(course[early]), float(course.iloc[-1])
    early_on, at_end = _sharply(first), _sharply(end)
    how = f"{early_on} {named(baseline)} throughout"
    if early_on != at_end:
        how = f"{early_on} {named(baseline)} early on and {at_end.removesuffix(' than').removesuffix(' as')} at the end"
    return (
        f"In layer {first_layer}, {named(name)} attends {how}: its scores spread {significant(first, 2)} times as far "
        f"after {early:,.0f} steps, then {significant(end, 2)} times"
    )


def _sharply(ratio: float) -> str:
    """The sharpness in words with which a variant attends whose scores spread so many times as far as another's."""
    if abs(math.log(ratio)) < EVEN:
        return "as sharply as"
    return "more sharply than" if ratio > 1 else "less sharply than"


def _ends(spreads: pd.DataFrame, baseline: str) -> str:
    """The spread of the compared variant's scores in every layer at the end, as a multiple of the baseline's."""
    ratios = _ratios(spreads, spreads.step.max(), baseline)
    if ratios.empty:
        return ""
    name = _compared(ratios)
    layers = join_names(f"{significant(float(ratio), 2)} (layer {layer})" for layer, ratio in ratios[name].items())
    return f"At the end, the scores of {named(name)} spread as far as {named(baseline)}'s times {layers}."


def _scale_effect(trainings: Trained, rows: pd.DataFrame) -> str:
    """The effect of leaving the scale out on the scores' variance, at the start and the end, and on the final loss.

    rows: the variance of every run; only seeds of both are compared.
    """
    if not {SCALED, UNSCALED} <= set(trainings.variants):
        return f"Only one of {named(SCALED)} and {named(UNSCALED)} was run, so the effect of the scale is not judged."
    pair = rows[rows.variant.isin([SCALED, UNSCALED])]
    mean = means(pair[pair.groupby("seed").variant.transform("nunique") == 2], "layer")
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
    varies = ", depending on the layer," if " to " in ranges["start"] else ""
    return (
        f"Without TUPE's scale of 1/sqrt(2d), the variance of the scores is {ranges['start']} times as large before "
        f"training{varies} and {ranges['end']} times as large after it; the final validation loss differs by "
        f"{signed(loss.mean)} nats {interval}."
    )


def _draw(
    all_rows: pd.DataFrame, all_means: pd.DataFrame, variants: list[str], baseline: str, theme: Theme
) -> list[Chart]:
    """One panel a layer, or one for all layers where some curve is the same in all; on one logarithmic scale."""
    # Zero has no logarithm.
    rows, mean = all_rows[all_rows.value > 0], all_means[all_means.value > 0]
    domain = (0.8 * float(rows.value.min()), 1.25 * float(rows.value.max()))
    x = marks.number(alt.X, "step", "steps", ticks=4, form=",d", nice=False)
    y = marks.number(
        alt.Y,
        "value",
        "standard deviation of a query's scores (log scale)",
        domain=domain,
        log=10,
        values=_decades(*domain),
        form="~g",
    )
    if shared_variants(variants):
        return [_together(rows, mean, variants, baseline, theme, x, y, domain)]
    panels = []
    for layer in sorted(set(all_rows.layer)):
        layer_rows, layer_mean = rows[rows.layer == layer], mean[mean.layer == layer]
        ends = layer_mean.groupby("variant", sort=False).value.last().reset_index()
        ends = ends.assign(written=[_end(value) for value in ends.value])
        curves = lines(layer_rows, layer_mean, variants, baseline, theme, x=x, y=y, tooltip=TOOLTIP)
        height = plot_height(ends, HEIGHT)
        labels = names(ends, variants, baseline, theme, domain=domain, height=height, log=True)
        panel = marks.panel(curves, labels, theme=theme, width=marks.HALF, height=height, title=f"Layer {layer}")
        panels.append(panel.resolve_scale(y="independent"))
    return panels


def _end(value: float) -> str:
    """The end of a curve, as its name says it."""
    return fixed(value, 1) if value >= 1 else significant(value, 2)


def _together(
    rows: pd.DataFrame,
    mean: pd.DataFrame,
    variants: list[str],
    baseline: str,
    theme: Theme,
    x: alt.X,
    y: alt.Y,
    domain: tuple[float, float],
) -> Chart:
    """All layers in one panel: a line for each layer, and one line of a variant whose layers share their positions."""
    shared, layers = shared_variants(variants), sorted(set(mean.layer))

    def name(variant: str, layer: int) -> str:
        if len(layers) == 1:
            return title(variant)
        if variant in shared:
            return f"{title(variant)}, {'both' if len(layers) == 2 else 'all'}\N{NO-BREAK SPACE}layers"
        return f"{title(variant)}, layer\N{NO-BREAK SPACE}{layer}"

    def by_curve(frame: pd.DataFrame, *keys: str) -> pd.DataFrame:
        named = frame.assign(
            curve=[name(variant, layer) for variant, layer in zip(frame.variant, frame.layer, strict=True)],
            value=np.log(frame.value),
        )
        means = named.groupby(["curve", *keys, "step"], sort=False).value.mean().reset_index()
        return means.assign(value=np.exp(means.value))

    seeds, curves = by_curve(rows, "seed"), by_curve(mean)
    color, dash = scales(variants, baseline, theme)
    hue_of, dash_of = (dict(zip(one["scale"]["domain"], one["scale"]["range"], strict=True)) for one in (color, dash))
    order = [(variant, layer) for variant in variants for layer in (layers[:1] if variant in shared else layers)]
    hues = marks.hues("curve", {name(*one): hue_of[one[0]] for one in order})
    # A dash tells variants of one colour apart, as in every chart; the layers of one variant are named at their ends.
    patterns = marks.dashes("curve", {name(*one): dash_of[one[0]] for one in order})
    ends = curves.groupby("curve", sort=False).value.last().reset_index()
    ends = ends.assign(name=[f"{curve}: {_end(value)}" for curve, value in zip(
        ends.curve, ends.value, strict=True)])  # fmt: skip
    thin = alt.Chart(seeds).mark_line(strokeWidth=marks.THIN_LINE, opacity=0.5)
    thick = marks.line_plot(
        curves, x=x, y=y, theme=theme, color=hues, dash=patterns, dots=0, tooltip=(("curve", "scores of"), *TOOLTIP)
    )
    panel = marks.panel(
        alt.layer(thin.encode(x=x, y=y, color=hues, detail=alt.Detail("seed:N")), *thick),
        names_at_ends(ends, "curve", hues, patterns, theme, domain=domain, height=TALL, log=True,
                      letters=LETTERS),
        theme=theme,
        width=marks.WIDE,
        height=TALL,
        title="Spread of the scores, and the number where it ends",
        below=["higher: fewer words get the attention", "strong: the mean over seeds; thin: seeds"],
    )  # fmt: skip
    return panel.resolve_scale(y="independent")


def _decades(low: float, high: float) -> list[float]:
    """1 and 3 times the powers of ten within a range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in (1, 3) if low <= step * 10.0**power <= high]
