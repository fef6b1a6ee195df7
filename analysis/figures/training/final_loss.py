"""Final losses of every variant, and their differences to the baseline's."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.claims.statements import stored
from analysis.claims.statements.contests import BETTER, WORSE
from analysis.core import frames
from analysis.core.formatting import plural, sentences, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.training.data import (
    UNIT,
    ComparedParameters,
    Trained,
    command,
    select_trainings,
    title,
)
from analysis.figures.training.row_marks import VARIANT, differences, mean_ticks
from analysis.rules import training_rules
from analysis.statistics import (
    difference,
    holm,
    mean_interval,
    smallest_detectable,
)

ALPHA = 0.05
NAN = float("nan")


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
def gap(params: ComparedParameters) -> Figure:
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
        draw=lambda theme: _draw(table, runs, title(base), domain, theme),
        columns=2,
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


def count_outcomes(table: pd.DataFrame, base: str) -> str:
    """A sentence with the numbers of variants that end lower or higher than the baseline, or are not resolved."""
    resolved = table[table.told_apart & (table.variant != base)]
    unresolved = len(table) - len(resolved) - int((table.variant == base).any())
    lower, higher = int((resolved.gap < 0).sum()), int((resolved.gap > 0).sum())
    text = f"{plural(lower, 'variant')} ended at a lower loss than {title(base)}, {higher} at a higher one"
    return f"{text}, and {unresolved} {'is' if unresolved == 1 else 'are'} not resolved" if unresolved else text


def _draw(
    table: pd.DataFrame, runs: pd.DataFrame, baseline: str, domain: tuple[float, float], theme: Theme
) -> list[Chart]:
    """Final losses by seed, and the difference to the baseline with its interval."""
    order = table.title.tolist()
    y, height = marks.rows_down("title", order), marks.ROW * len(order)
    runs = runs.assign(title=runs.variant.map(dict(zip(table.variant, table.title, strict=True))))
    x = marks.number(alt.X, "value", "final validation loss (nats per predicted token)", ticks=6)
    finals = [
        *marks.row_plot(
            runs, x=x, y=y, theme=theme, ends=None, size=marks.SEED, opacity=0.75,
            tooltip=(VARIANT, "seed", ("value", "loss", ".3f"), ("rate", "peak learning rate")),
        ),
        mean_ticks(table[["title", "mean", "seeds"]], x, y, theme, (VARIANT, ("mean", "", ".3f"), "seeds")),
    ]  # fmt: skip
    panels = [marks.panel(*finals, theme=theme, width=marks.HALF, height=height, title="Final loss")]
    if table.gap.notna().any():
        shown = table[["title", "gap", "low", "high", "n", "p", "p_holm", "detectable", "told_apart"]]
        layers = differences(
            shown.assign(written=[_difference(row) for row in frames.rows(table)]),
            marks.number(
                alt.X, "gap", f"nats, variant minus {baseline}", domain=domain, padding=8, ticks=5
            ),
            y,
            theme,
            (
                VARIANT, ("written", "difference"), *marks.interval_tips(".3f"), ("p", "", ".2~g"),
                ("p_holm", "p, Holm", ".2~g"), ("detectable", "smallest detectable", ".3f"),
            ),
        )  # fmt: skip
        panels.append(
            marks.panel(*layers, theme=theme, width=marks.HALF, height=height, title=f"Difference to {baseline}")
        )
    return panels


def _difference(row) -> str:
    """The difference and how many pairs it is of; or why there is none."""
    if not row.n:
        return row.note
    return f"{signed(row.gap)} (n = {row.n}){f', {row.standing}' if row.standing else ''}"
