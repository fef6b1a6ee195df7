"""Final losses of every variant, and their differences to the baseline's."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import named, quote
from analysis.claims.statements import stored
from analysis.claims.statements.base import StandingRow
from analysis.claims.statements.contests import BETTER, NOT_RESOLVED, WORSE
from analysis.core import frames
from analysis.core.formatting import fixed, plural, sentences, signed_or_zero
from analysis.figures import marks
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.outliers import largest_near
from analysis.figures.training.data import (
    UNIT,
    ComparedParameters,
    Trained,
    command,
    select_trainings,
    title,
)
from analysis.figures.training.row_marks import LETTERS, TRIANGLE, VARIANT, significant_or_hollow, way_hues, ways
from analysis.rules import training_rules
from analysis.statistics import (
    difference,
    holm,
    mean_interval,
    smallest_detectable,
)

ALPHA = 0.05
TWO_LINES = 36
"""Pixels of a row with two lines of text."""
WORDS = {BETTER: "below 0", WORSE: "above 0", NOT_RESOLVED: "open"}
"""The rules' words for a final loss, as the figure has them for every row."""
NAN = float("nan")
FAR = 3
"""The width of an interval that is so many times as large as the median does not set the axis."""


def _axis_range(table: pd.DataFrame) -> tuple[float, float]:
    """The range of the axis, set by the differences: an interval of two seeds may be ten times as wide.

    A difference whose interval is so wide that it says nothing does not set the end at which losses are higher.
    """
    limit = 1.6 * float(table.gap.abs().max()) or 1.0
    widths = table.high - table.low
    several, known = table[widths <= FAR * widths.median()], table[~(widths > FAR * widths.median())]
    bounds = (several.low.min(), table.gap.min() * 1.1), (several.high.max(), known.gap.max() * 1.1)
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
    judged = {name: _standing(trainings, name) for name in table.variant}
    planned = training_rules().planned
    most = max(map(len, planned.values()))
    verdicts = {name: "" if one is None or one.missing else one.word for name, one in judged.items()}
    table["standing"] = [verdicts[name] for name in table.variant]
    table["asked"] = [(len(planned.get(name, ())) or most) if judged[name] else 0 for name in table.variant]
    table["reason"] = [_reason(judged[name], len(planned.get(name, ())), most) for name in table.variant]
    table["told_apart"] = [
        verdicts[name] in (BETTER, WORSE) if verdicts[name] else bool(rejected)
        for name, rejected in zip(table.variant, corrected.rejected, strict=True)
    ]
    table = table.assign(title=[title(name) for name in table.variant]).sort_values("mean", ignore_index=True)
    return table, corrected.tests


@figure("training_gap", ComparedParameters)
def gap(params: ComparedParameters) -> Figure:
    """Every variant's final loss, and how far it is from the baseline's, paired by seed.

    Raises what `select_trainings` raises, and NoResults where the baseline was not run.
    """
    trainings = select_trainings(params, baseline=params.baseline)
    table, tests = compared_losses(trainings)
    base = trainings.baseline
    domain = _axis_range(table[~(table.gap > largest_near(table.gap))])
    far = table.gap > domain[1]
    within = table[~far]
    clipped = bool((within.low < domain[0]).any() or (within.high > domain[1]).any())
    runs = trainings.runs[["variant", "seed", "final", "run_id", "rate"]].rename(columns={"final": "value"})
    return Figure(
        title=f"Final loss, and its difference to {named(base)}",
        finding=count_outcomes(table, base),
        frame=lambda: table,
        caption=sentences(
            f"Final validation loss less that of {named(base)} in {UNIT}, paired by seed: dots are seeds, diamonds "
            f"their means with intervals of 95 % (Student's t); {trainings.conditions()}. Colours say how positions "
            "are told, as in the learning curves.",
            f"Measured on {trainings.sample}. Below 0 is better.",
            "A triangle at the right edge alone: a variant that ends beyond the axis." if far.any() else "",
            "Filled: significantly different from 0 after Holm's correction over "
            f"{plural(tests, 'variant')}; hollow: "
            "not told apart from 0, which is not the same as no difference. The board asks for more, a difference "
            f"beyond ±{training_rules().margin:g} nats.",
            "At the right: below 0, above 0, the same or open by the frozen rules where they judge a variant, else "
            "what the test says."
            if table.standing.any()
            else "",
            "Intervals far wider than all differences are cut at the edge." if clipped else "",
            unresolved(table),
            _resolution(table),
            trainings.description(),
        ),
        alt=f"Dots, one row per variant. {_summary(table, base)}",
        command=command("training_gap", params, trainings, trainings.variants, "baseline"),
        provenance=trainings.provenance(),
        draw=lambda theme: _draw(table, runs, title(base), domain, theme),
    )


def _reason(standing: StandingRow | None, own: int, most: int) -> str:
    """The reason why the rules do not resolve a comparison; empty where they do, or compare nothing yet.

    own: the seeds that they ask for of its variant; most: of most others.
    """
    if standing is None or standing.missing or not standing.reason:
        return ""
    # The rules count an evaluation below the plateau as leaving it, Convergence only where the next one is below, too:
    # whether it left in the end is said there alone.
    reason = standing.reason.replace(standing.variant, "it").partition(" (it ")[0]
    return f"{reason}; the rules ask for {own} seeds of it, not {most}" if own < most else reason


def _standing(trainings: Trained, variant: str) -> StandingRow | None:
    """The standing that the frozen rules give a variant; None where they do not compare these runs."""
    return stored.standing(variant, trainings.baseline) if trainings.preset == training_rules().preset else None


def unresolved(table: pd.DataFrame) -> str:
    """A sentence on the reason why each variant is open by the rules; empty where all that they judge are."""
    reasons = [
        f"{quote(str(row.title))}, since {row.reason}"
        for row in frames.rows(table[(table.standing == NOT_RESOLVED) & (table.reason != "")])
    ]
    return f"Open by the rules: {'; '.join(reasons)}." if reasons else ""


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
    return f"Lower loss than {named(base)}: {better}. Higher: {worse}. Open: {plural(unresolved, 'variant')}."


def count_outcomes(table: pd.DataFrame, base: str) -> str:
    """A sentence with the numbers of variants that end lower or higher than the baseline, or are not told apart."""
    resolved = table[table.told_apart & (table.variant != base)]
    unresolved = len(table) - len(resolved) - int((table.variant == base).any())
    lower, higher = int((resolved.gap < 0).sum()), int((resolved.gap > 0).sum())
    best = resolved.sort_values("gap").iloc[:1]
    most = f" ({quote(best.title.iloc[0])} most, by {fixed(-best.gap.iloc[0])} nats)" if lower > 1 else ""
    text = f"{plural(lower, 'variant')} ended at a lower loss than {named(base)}{most}, {higher} at a higher one"
    return f"{text}; {unresolved} {'is' if unresolved == 1 else 'are'} not told apart from it" if unresolved else text


def _draw(
    table: pd.DataFrame, runs: pd.DataFrame, baseline: str, domain: tuple[float, float], theme: Theme
) -> list[Chart]:
    """The difference of each variant to the baseline: seeds, their mean with its interval, and beside it the loss."""
    order = table.title.tolist()
    labels = marks.wrapped_labels(order, LETTERS)
    base = table.variant[table.title == baseline]
    by_seed = runs[runs.variant.isin(base)].set_index("seed").value
    seeds = runs.assign(
        title=runs.variant.map(dict(zip(table.variant, table.title, strict=True))),
        gap=runs.value - runs.seed.map(by_seed.to_dict()),
        label=lambda rows: rows.title.map(labels),
    )
    seeds = seeds[seeds.label.notna() & ~seeds.variant.isin(base) & seeds.gap.between(*domain)]
    x = marks.number(
        alt.X, "gap", f"nats, variant minus {baseline}; left is a lower loss", domain=domain, nice=False, padding=8,
        ticks=5,
    )  # fmt: skip
    y = marks.labelled_rows([labels[name] for name in order], grid=True)
    shown = table.assign(
        written=[_difference(row) for row in frames.rows(table)],
        label=table.title.map(labels),
        way=ways(table.variant),
    )
    color = way_hues(shown.way, theme)
    tooltip: tuple[marks.Tip, ...] = (
        VARIANT, ("mean", "loss", ".3f"), ("gap", "difference", "+.3f"), *marks.interval_tips("+.3f"),
        ("p", "", ".2~g"), ("p_holm", "p, Holm", ".2~g"), ("detectable", "smallest detectable", ".3f"), "seeds",
    )  # fmt: skip
    margin = training_rules().margin
    alike = alt.Chart(pd.DataFrame({"from": [-margin], "to": [margin]})).mark_rect(color=theme.grid)
    layers: list[Chart] = [alike.encode(x=alt.X("from:Q"), x2=alt.X2("to:Q")), marks.rule(theme, x=0)]
    if len(seeds):
        layers += marks.row_plot(
            seeds[["title", "label", "gap", "seed", "value", "rate"]], x=x, y=y, theme=theme, ends=None, color=GREY,
            size=marks.SEED, opacity=0.8,
            tooltip=(VARIANT, "seed", ("value", "loss", ".3f"), ("rate", "peak learning rate")),
        )  # fmt: skip
    columns = [
        "title", "label", "mean", "gap", "low", "high", "p", "p_holm", "detectable", "told_apart", "seeds", "way",
    ]  # fmt: skip
    far = shown.gap > domain[1]
    layers += significant_or_hollow(shown.loc[~far, columns], x, y, theme, tooltip, color=color)
    # A triangle at the edge: the end of the interval, or the variant, lies beyond the axis.
    for rows, end in ((far | (shown.high > domain[1]), 1), (~far & (shown.low < domain[0]), 0)):
        if rows.any():
            layers += marks.row_plot(
                shown.loc[rows, columns].assign(edge=domain[end]), x=marks.same_axis(x, "edge"), y=y, theme=theme,
                ends=None, shape=TRIANGLE if end else "triangle-left", size=marks.SEED, color=color, tooltip=tooltip,
            )  # fmt: skip
    layers.append(marks.texts_beside(shown[["label", "title", "written"]], y, theme))
    return [
        marks.panel(
            *layers, theme=theme, width=560, height=TWO_LINES * len(order), title=f"Difference to {baseline}",
            below=[
                f"lines: 95 % intervals; grey: within ±{margin:g} nats",
                "at the right: the difference, its verdict, the loss",
            ],
        )
    ]  # fmt: skip


def _difference(row: Any) -> str:
    """The difference with its verdict, and below it the loss and its pairs of seeds; or why there is none."""
    if not row.n:
        return f"{row.note}\n{row.mean:.2f}"
    chance = ("below 0" if row.gap < 0 else "above 0") if row.told_apart else "not told apart"
    verdict = WORDS.get(row.standing, row.standing) or ("open so far" if row.asked else chance)
    return f"{signed_or_zero(row.gap)}, {verdict}\n{row.mean:.2f}, {_seeds(row)}"


def _seeds(row: Any) -> str:
    """The pairs of seeds, of those that the rules ask for where some are missing."""
    return f"{row.n} of {row.asked} seeds" if row.n < row.asked else plural(row.n, "seed")
