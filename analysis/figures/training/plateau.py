"""Steps until a variant uses order: its loss leaves the plateau on which a model without position stays."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from analysis.ablation.presets import ablate
from analysis.ablation.variants import named
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import capitalised, plural, sentences
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.training.row_marks import LETTERS, VARIANT, edge_triangles, seeds_and_means, way_hues, ways
from analysis.figures.training.run_curves import curves_by_seed
from analysis.figures.training.trainings import (
    MASKED,
    ORDERLESS,
    Trained,
    TrainingParameters,
    command,
    select_trainings,
    title,
)
from analysis.rules import rules_of_preset, training_rules
from analysis.statistics import (
    PLATEAU_MARGIN,
    mean_interval,
    steps_to_leave_plateau,
)

NAN = float("nan")
STEPS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
"""The numbers of the axis."""


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
            f"The plateau is the loss at which {named(orderless)} ends, and there is no run of it together with other "
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
                "told": f"{'> ' if censored else ''}{mean.mean:,.0f}",
            }
        )
    table = pd.DataFrame(rows).sort_values(["censored", "mean"], ignore_index=True)
    return PlateauExits(table, pd.DataFrame(seeds), level, len(finals))


def judged_level(preset: str) -> str:
    """A sentence on the level that the frozen rules of a recipe count to; empty for a recipe that they do not judge."""
    rules = training_rules()
    if preset == rules.preset:
        level = f"a line of their own, {rules.plateau:g} nats, most of them to the first evaluation below it"
    elif encoders := rules_of_preset(preset):
        level = (
            f"{encoders.plateau.below:g} nats below the final loss of {named(ORDERLESS[MASKED])} on the larger sample"
        )
    else:
        return ""
    return (
        f"The frozen rules of recipe {preset} count to {level}, so that the steps on Claims, and their ratios, differ "
        "a little from those here."
    )


@figure("training_plateau", TrainingParameters)
def plateau(params: TrainingParameters) -> Figure:
    """Steps until a variant's loss is below the final loss of a model without position.

    Raises what `select_trainings` raises, and NoResults for causal models, and where no model without position was run
    together with others.
    """
    trainings = select_trainings(params)
    if trainings.objective != MASKED:
        raise NoResults(
            "A causal model can tell order without positions, by how many tokens each one may attend to, so that no "
            "level of the loss says when it begins to use order. Choose models that predict masked words."
        )
    exits = plateau_exits(trainings)
    table, level, orderless = exits.table, exits.level, ORDERLESS[trainings.objective]
    others = [name for name in trainings.variants if name != orderless]
    return Figure(
        title="Steps until order is used",
        finding=_plateau_finding(table, trainings.baseline),
        frame=lambda: exits.seeds,
        caption=sentences(
            "A model first learns which words are frequent and which go together, and its loss stalls until it "
            f"begins to use order ({trainings.conditions()}). Order counts as used once the validation loss is "
            f"{PLATEAU_MARGIN:g} nats below the level at which the curve of {named(orderless)} ends ({level:.2f}, mean "
            f"of {plural(exits.orderless_runs, 'seed')}), and still is at the next evaluation; the step between two "
            "evaluations is interpolated.",
            judged_level(trainings.preset) if trainings.objective == MASKED else "",
            "Small dots are seeds, diamonds the mean with its 95 % interval (Student's t).",
            "Triangles: seeds that did not use order when their training ended, of which there is no mean (a small "
            "one: the interval goes beyond the training); "
            f"{named(orderless)} never does, since it sets the level.",
            trainings.description(others),
        ),
        alt="Dots, one row per variant. "
        + "; ".join(f"{row.title} {row.told} steps (n = {row.n})" for row in table.itertuples())
        + ".",
        command=command("training_plateau", params, trainings, [*others, orderless]),
        provenance=trainings.provenance([*others, orderless]),
        draw=lambda theme: _draw(exits, orderless, trainings.baseline, theme),
        columns=1,
    )


def _plateau_finding(table: pd.DataFrame, baseline: str) -> str:
    """A sentence on the variant that uses order first, and on the step from which on the baseline does."""
    first = table.iloc[0]
    text = f"{capitalised(named(str(first.variant)))} uses the order of words first, after {first.told} steps"
    baseline_row = table[table.variant == baseline]
    return (
        text
        if baseline_row.empty or first.variant == baseline
        else f"{text}; {named(baseline)} after {baseline_row.told.iloc[0]}"
    )


def _draw(exits: PlateauExits, orderless: str, baseline: str, theme: Theme) -> list[Chart]:
    """Steps until a model uses order; last the model without position, which never does.

    baseline: the variant at whose mean a dashed line stands.
    """
    seeds = exits.seeds
    end = float(seeds.step.max())
    never = {"variant": orderless, "title": title(orderless), "n": exits.orderless_runs,
             "censored": exits.orderless_runs, "mean": end, "low": NAN, "high": NAN, "told": "never"}  # fmt: skip
    table = pd.concat([exits.table, pd.DataFrame([never])], ignore_index=True)
    labels = marks.wrapped_labels(table.title.tolist(), LETTERS)
    censored = table.censored > 0
    start = 0.85 * float(min(seeds.step.min(), table["mean"].min()))
    most = int(table.n.max())
    shown = table[["title", "n"]].assign(
        # An interval may reach below zero, which has no place on a scale of ratios.
        low=table.low.clip(lower=start),
        # What lies beyond the end of the training is not known.
        high=table.high.mask(table.high > end, 1.05 * end),
        label=table.title.map(labels),
        way=ways(table.variant),
        # The mean of runs that ended before they left is no step at which anything happened.
        step=table["mean"].mask(censored, end),
        censored=censored,
        few=table.n < most,
        written=[_in_words(row) for row in frames.rows(table)],
    )
    base = table[(table.variant == baseline) & ~censored]
    layers = [] if base.empty else [marks.rule(theme, x=float(base["mean"].iloc[0]), dash=marks.DASH)]
    y = marks.labelled_rows([labels[name] for name in table.title], grid=True, whole=True)
    x = marks.number(
        alt.X,
        "step",
        "steps until order is used (log scale)",
        domain=(start, 1.05 * end),
        log=10,
        values=[step for step in STEPS if start <= step <= end],
        form=",d",
        place="top",
    )
    layers += seeds_and_means(
        seeds[["title", "seed", "step", "censored"]].assign(label=seeds.title.map(labels)),
        shown,
        x,
        y,
        theme,
        (VARIANT, ("written", "steps"), *marks.interval_tips(",.0f")),
        way_hues(shown.way, theme),
    )
    layers += edge_triangles(
        shown, None, ~shown.censored & (shown.high > end), (start, 1.05 * end),
        x=x, y=y, theme=theme, color=way_hues(shown.way, theme), size=2 * marks.SEED, tooltip=(VARIANT,),
    )  # fmt: skip
    return [
        marks.panel(
            *layers,
            theme=theme,
            width=marks.WIDE,
            height=marks.row_height(list(labels.values())) * len(table),
            title=f"Steps until the loss is {PLATEAU_MARGIN:g} nats below that of {title(orderless)}",
            below=[
                "dots: seeds; diamonds: their means; lines: 95 % intervals",
                "; ".join(
                    [
                        *([f"hollow: fewer than {most} seeds"] if (shown.few & ~shown.censored).any() else []),
                        *([f"dashed: {named(baseline)}"] if len(base) else []),
                    ]
                )
                or " ",
            ],
        )
    ]


def _in_words(row: Any) -> str:
    """The mean with its seeds, or the seeds that did not leave."""
    if not row.censored:
        return f"{row.told} (n = {row.n})"
    if row.told == "never":
        return "never"
    reached = "\nmedian not reached" if 2 * row.censored >= row.n else ""
    return f"{row.censored} of {plural(row.n, 'seed')} stayed{reached}"
