"""Validation loss against the length of training."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import named
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import capitalised, fixed, join_names, percent, sentences, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import board, default_preset, judged_presets
from analysis.figures.figure import Figure, figure
from analysis.figures.outliers import largest_near
from analysis.figures.training.final_loss import seeds_needed
from analysis.figures.training.line_marks import (
    LOSS,
    NAME_LINE,
    covering_curves,
    lines,
    names,
    padded_range,
    plot_height,
    scales,
)
from analysis.figures.training.run_curves import curve, means, thinned
from analysis.figures.training.trainings import (
    CAUSAL,
    MASKED,
    OBJECTIVES_NOTE,
    UNIT,
    ComparedParameters,
    Trained,
    VariantsParameters,
    command,
    select_trainings,
    title,
)
from analysis.statistics import Crossing, difference, ranks, steps_to

AXES = {"step": "Step", "tokens": "Token", "seconds": "Second"}
UNITS = {"step": "steps", "tokens": "tokens", "seconds": "seconds of training"}
HEIGHT = 380
LAST = 0.2
"""The share of the training that the second panel enlarges."""
MOST_CROSSINGS = 2
"""The most crossings of the baseline's end that are named in the plot."""
MOST_NAMED = 2
"""The most variants that the heading names as not told apart."""


class LearningCurvesParameters(ComparedParameters, VariantsParameters):
    """axis: a key of AXES, the quantity that the loss is drawn against."""

    axis: str


@figure("training_curves", LearningCurvesParameters)
def learning_curves(params: LearningCurvesParameters) -> Figure:
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
    mean = mean[mean.variant.isin(variants)]
    finals = _finals(trainings, mean)
    near = _near(mean, finals)
    beyond = [named(name) for name in variants if name not in near]
    columns = ["variant", "seed", "step", "tokens", "seconds", "value", "run_id"]
    base = named(trainings.baseline)
    finding = _difference(trainings, variants) or _lowest_loss(trainings, variants)
    devices = sorted(set(trainings.runs[trainings.runs.variant.isin(variants)].device))
    return Figure(
        title="Learning curves",
        finding=finding,
        frame=lambda: rows[columns].reset_index(drop=True),
        caption=sentences(
            f"Validation loss in {UNIT}, on the same {'masked ' if trainings.objective == MASKED else ''}windows in "
            f"every run; {trainings.conditions(variants)}.",
            "Thin: one seed; thick: the mean over seeds; with wide gaps where it lies on another.",
            f"Dashed: the end of {base}'s mean curve, {target:.2f}; dots: where another mean curve first reaches it, "
            "interpolated linearly between evaluations."
            if target is not None
            else "",
            _on_the_board(trainings),
            f"Diamonds and the numbers at the names: the final losses, on {trainings.sample}." if len(finals) else "",
            f"The second panel enlarges the last {percent(LAST)}"
            + (f", in which {join_names(beyond)} would lie far above." if beyond else ".")
            if near
            else "",
            " ".join(_crossing_sentences(crossings, axis)),
            "Shares of the training at these dots are those of mean curves; Convergence has the geometric means over "
            "pairs of one seed, which differ a little."
            if any(crossing.reached for crossing in crossings.values())
            else "",
            f"Seconds are those of training alone, without evaluations, on: {', '.join(devices)} (a CPU counts with "
            "one thread)."
            if axis == "seconds"
            else "",
            trainings.pace_note(variants) if axis == "seconds" else "",
            "Tied: a paired t test over seeds does not tell the two apart, corrected for all pairs."
            if "tied with" in finding
            else "",
            trainings.description(variants),
            OBJECTIVES_NOTE if trainings.objective == CAUSAL else "",
        ),
        alt=_alt(mean, variants, axis),
        command=command("training_curves", params, trainings, variants, "baseline", "axis", "variants"),
        provenance=trainings.provenance(variants),
        draw=lambda theme: [
            _draw(
                Drawn(thinned(rows)[["variant", "seed", axis, "value"]], thinned(mean), finals, variants, target, axis),
                trainings.baseline, theme, crossings=crossings, alone=not near,
            ),
            *(
                [_draw(_end(Drawn(rows, mean, finals, near, target, axis)), trainings.baseline, theme, enlarged=True)]
                if near
                else []
            ),
        ],
        columns=2 if near else 1,
    )  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """The curves of a panel. rows: of each seed. mean: over seeds. finals: the final losses. target: a dashed line."""

    rows: pd.DataFrame
    mean: pd.DataFrame
    finals: pd.DataFrame
    variants: list[str]
    target: float | None
    axis: str


def _ends(mean: pd.DataFrame, finals: pd.DataFrame) -> pd.Series:
    """The loss with which each variant ends, in nats: the final loss, or that of the last evaluation."""
    ends = mean.groupby("variant", sort=False).value.last()
    ends.update(finals.set_index("variant").value)
    return ends


def _near(mean: pd.DataFrame, finals: pd.DataFrame) -> list[str]:
    """The variants of the enlarged panel: all whose ends lie near each other; none where these are fewer than two."""
    ends = _ends(mean, finals)
    above = ends - ends.min()
    near = [str(name) for name in ends.index[above <= largest_near(above)]]
    return near if len(near) > 1 else []


def _end(drawn: Drawn) -> Drawn:
    """The last part of the training of these variants."""
    start = (1 - LAST) * float(drawn.rows[drawn.axis].max())
    rows, mean, finals = (
        frame[frame.variant.isin(drawn.variants) & (frame[drawn.axis] >= start)].reset_index(drop=True)
        for frame in (drawn.rows, drawn.mean, drawn.finals)
    )
    return replace(drawn, rows=rows, mean=mean, finals=finals)


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
    reached = [f"{named(name)} at {crossing.step:,.0f}" for name, crossing in crossings.items() if crossing.reached]
    missed = [
        f"{named(name)} (> {crossing.within:,.0f})" for name, crossing in crossings.items() if not crossing.reached
    ]
    sentences = [f"Reached by {'; '.join(reached)} {UNITS[axis]}."] if reached else []
    return sentences + ([f"Not reached by {'; '.join(missed)}."] if missed else [])


def _alt(mean: pd.DataFrame, variants: list[str], axis: str) -> str:
    parts = []
    for name in variants:
        losses = mean[mean.variant == name]
        parts.append(f"{named(name)} from {losses.value.iloc[0]:.2f} to {losses.value.iloc[-1]:.2f}")
    return f"Lines of validation loss against {UNITS[axis]}, one colour per variant: {'; '.join(parts)} ({UNIT})."


def _difference(trainings: Trained, variants: list[str]) -> str:
    """The difference in final loss where one variant is shown with the baseline; else empty."""
    others = [name for name in variants if name != trainings.baseline]
    if len(others) != 1 or len(variants) != 2:
        return ""
    gap = difference(trainings.finals(others[0]), trainings.finals(trainings.baseline))
    if not gap.n:
        return ""
    base = named(trainings.baseline)
    interval = f", 95 % interval {signed(gap.low)} to {signed(gap.high)}" if gap.low == gap.low else ""
    side = "above" if gap.mean > 0 else "below"
    return f"{named(others[0])} ends {fixed(abs(gap.mean))} nats {side} {base}{interval}"


def _lowest_loss(trainings: Trained, variants: list[str]) -> str:
    """The variant with the lowest mean final loss, those that it is not told apart from, and the baseline's.

    Where some have all the seeds that the rules ask for, only these are ranked; one with fewer that lies lower is named
    after them.
    """
    every = {name: losses for name in variants if (losses := trainings.finals(name))}
    needed = seeds_needed(trainings.preset)
    finals = {name: losses for name, losses in every.items() if len(losses) >= needed} or every
    mean_losses = {name: sum(losses.values()) / len(losses) for name, losses in finals.items()}
    if not mean_losses:
        return ""
    best, baseline = min(mean_losses, key=lambda name: mean_losses[name]), trainings.baseline
    of_all = len(every) == len(trainings.variants)
    name = named(best) if of_all else f"of these {len(every)}, {named(best)}"
    text = f"{capitalised(name)} ends with the lowest loss, {mean_losses[best]:.2f} nats"
    # Of a single seed nothing is tested, and each curve is one draw.
    tested = {name: losses for name, losses in finals.items() if len(losses.keys() & finals[best].keys()) > 1}
    tied = ranks(tested).tied(best) if len(tested) > 1 else ()
    if tied:
        whom = join_names(named(name) for name in tied) if len(tied) <= MOST_NAMED else f"{len(tied)} others"
        text += f", tied with {whom}"
    few = [
        f"{named(name)} at {mean:.2f} so far ({len(losses)} of {needed} seeds)"
        for name, losses in every.items()
        if name not in finals and (mean := sum(losses.values()) / len(losses)) < mean_losses[best]
    ]
    unranked = f"; {join_names(few)}" if few else ""
    if best == baseline or baseline not in mean_losses or baseline in tied:
        return f"{text}{unranked}"
    return f"{text}; {named(baseline)} ends at {mean_losses[baseline]:.2f}{unranked}"


def _on_the_board(trainings: Trained) -> str:
    """A sentence with the baseline's final loss by the recipe of the board, where rules judge this recipe, too."""
    usual = default_preset()
    if trainings.preset == usual or trainings.preset not in judged_presets():
        return ""
    with suppress(AddendError):
        loss = board(usual).row(trainings.baseline).loss
        return (
            "" if loss is None else f"On the board, by recipe {usual}, {named(trainings.baseline)} ends at {loss:.2f}."
        )
    return ""


def _draw(
    drawn: Drawn,
    baseline: str,
    theme: Theme,
    *,
    crossings: Mapping[str, Crossing] | None = None,
    enlarged: bool = False,
    alone: bool = False,
) -> Chart:
    """Loss against training, the baseline's end as a rule, each crossing of it, and final losses as diamonds.

    enlarged: the axis begins where the curves do. alone: there is no second panel, which would have the numbers.
    """
    rows, mean, finals, variants, axis = drawn.rows, drawn.mean, drawn.finals, drawn.variants, drawn.axis
    ends = _ends(mean, finals)
    values = pd.Series([*rows.value, *finals.value])
    # In the enlarged panel a baseline that is not shown would take the room of those that are.
    target = None if drawn.target is None or (enlarged and baseline not in variants) else drawn.target
    domain = padded_range(pd.concat([values, pd.Series([] if target is None else [target], dtype=float)]))
    end = float(rows[axis].max())
    x = marks.number(
        alt.X, axis, UNITS[axis], domain=(float(rows[axis].min()) if enlarged else 0, end),
        ticks=6 if alone else 4, form="~s" if end >= 100_000 else ",d",
    )  # fmt: skip
    y = marks.number(alt.Y, "value", LOSS, domain=domain)
    tooltip = (
        ("step", "", ","), ("tokens", "", ","), ("seconds", "", ",.0f"), ("value", "mean validation loss", ".3f"),
        "seeds",
    )  # fmt: skip
    covering = covering_curves(mean, variants, domain)
    layers = [lines(rows, mean, variants, baseline, theme, x=x, y=y, tooltip=tooltip, covering=covering)]
    if target is not None:
        layers.insert(0, marks.rule(theme, y=target, dash=marks.DASH))
    reached = {name: crossing.step for name, crossing in (crossings or {}).items() if crossing.reached}
    if reached:
        frame = pd.DataFrame({"variant": list(reached), axis: list(reached.values()), "value": target})
        frame = frame.assign(title=frame.variant.map(title), at=[f"{step:,.0f}" for step in reached.values()])
        dots = alt.Chart(frame).mark_point(
            filled=True, size=marks.LARGE_DOT, opacity=1, stroke=theme.ground, strokeWidth=1.5
        )
        shown = marks.tips(("title", "crosses: "), ("at", UNITS[axis]))
        layers.append(dots.encode(x=x, y=y, color=scales(variants, baseline, theme)[0], tooltip=shown))
        if len(frame) <= MOST_CROSSINGS:
            layers += _crossing_names(frame.sort_values(axis, ignore_index=True), axis, end, theme, x=x, y=y)
    if len(finals):
        shown_finals = finals.assign(title=finals.variant.map(title))[["variant", "title", axis, "value"]]
        diamonds = alt.Chart(shown_finals).mark_point(
            shape="diamond", size=2 * marks.DOT, strokeWidth=1.5, fill=theme.ground
        )
        shown = marks.tips("title", ("value", "final loss, larger sample", ".3f"))
        layers.append(diamonds.encode(x=x, y=y, color=scales(variants, baseline, theme)[0], tooltip=shown))
    named_ends = ends.reset_index()
    named_ends["written"] = [fixed(value) for value in named_ends.value]
    height = plot_height(named_ends, HEIGHT)
    labels = names(named_ends, variants, baseline, theme, domain=domain, height=height, covering=covering)
    key = [
        *(["diamonds: final losses, on more text"] if len(finals) else []),
        *([f"dashed: where {named(baseline)}’s curve ends"] if drawn.target is not None else []),
    ] or [" "]
    panel = marks.panel(
        alt.layer(*layers), labels, theme=theme, width=marks.WIDE if alone else marks.HALF, height=height,
        title=f"The last {percent(LAST)}, enlarged" if enlarged else "The whole training",
        below=[" "] * len(key) if enlarged else key,
    )  # fmt: skip
    return panel.resolve_scale(y="independent")


def _crossing_names(crossings: pd.DataFrame, axis: str, end: float, theme: Theme, *, x: alt.X, y: alt.Y) -> list[Chart]:
    """The name of each crossing of the baseline's end, with its share of the training; one for crossings together."""
    layers: list[Chart] = []
    shares = pd.Series([percent(step / end) for step in crossings[axis]], index=crossings.index)
    for place, (share, rows) in enumerate(crossings.groupby(shares, sort=False)):
        row = rows.iloc[0]
        written = f"{' and '.join(map(named, rows.variant))} after {share}"
        name = alt.Chart(pd.DataFrame([{axis: row[axis], "value": row["value"], "written": written}]))
        # Below the dashed line and left of the crossing, where no curve has been yet; its own name stands above.
        style: dict[str, Any] = {"align": "right", "dx": -6, "dy": 2 * NAME_LINE + NAME_LINE * place}
        # On a phone the names would reach over the axis.
        style["text"] = alt.expr(f"{marks.ON_PHONE} ? '' : datum.written")
        text = name.encode(x=x, y=y)
        layers += [
            text.mark_text(**style, fontSize=marks.TEXT, stroke=theme.ground, strokeWidth=4, strokeJoin="round"),
            text.mark_text(**style, fontSize=marks.TEXT, color=theme.ink),
        ]
    return layers
