"""The pickers that say which of our own pre-trainings are compared."""

from collections.abc import Sequence

import pandas as pd

from analysis.ablation.variants import VARIANTS
from analysis.figures.training.data import OBJECTIVES, title, usual_baseline, usual_recipe
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.pickers import Pickers


def run_pickers(pickers: Pickers, trainings: pd.DataFrame, *, one_setting: bool = True) -> pd.DataFrame:
    """Preset, objective and, where there are several, settings and learning rate; the runs that are left.

    one_setting: whether what is shown is of one; else settings and rate are not asked for.
    """

    def forget(*names: str) -> None:
        for name in names:  # What was picked among options that are others now.
            pickers.set(name, "")

    reset = {"on_change": forget, "args": ("recipe", "rate", "baseline")}
    presets = sorted(trainings.preset.unique())
    preset = pickers.choice("preset", "Preset", presets, width=90, help=glossary_hint("preset"), **reset)
    rows = trainings[trainings.preset == preset]
    offered = [name for name in OBJECTIVES if name in set(rows.objective)]
    objective = pickers.choice("objective", "Trained to predict", offered, OBJECTIVES, width=175, **reset)
    rows = rows[rows.objective == objective]
    if not one_setting:
        pickers.get("recipe")
        pickers.get("rate")
        return rows
    recipes = dict(zip(rows.recipe, rows.told, strict=True))
    usual = usual_recipe(rows)
    if len(recipes) > 1:
        others = [recipe for recipe in recipes if recipe != usual]
        shown = {"": recipes[usual], **recipes}
        more = {"on_change": forget, "args": ("rate",)}
        recipe = pickers.choice("recipe", "Settings", ["", *others], shown, width=200, **more)
    else:
        recipe = pickers.fixed("recipe", ["", usual])
    rows = rows[rows.recipe == (recipe or usual)]
    rates = sorted(set(rows.rate), key=lambda rate: float(rate or 0))
    if len(rates) > 1:
        default_label = "each variant's own"
        pickers.choice("rate", "Peak learning rate", ["", *rates], lambda rate: rate or default_label, width=180)
    else:
        pickers.fixed("rate", ["", *rates])
    return rows


def baseline_picker(pickers: Pickers, runs: pd.DataFrame) -> None:
    """The baseline that the others are compared with; by default the variant that adds learned positions."""
    usual = usual_baseline(runs.objective.iloc[0], set(runs.variant))
    others = [name for name in VARIANTS if name in set(runs.variant) - {usual}]
    pickers.choice("baseline", "Baseline", ["", *others], lambda name: title(name or usual), width=160)


def variant_picker(pickers: Pickers, runs: Sequence[str]) -> None:
    """Which of the variants that were run are shown."""
    known = [*VARIANTS, *sorted(set(runs) - set(VARIANTS))]
    pickers.several(
        "variants",
        "Variants",
        [name for name in known if name in set(runs)],
        known,
        title,
        help=glossary_hint(*map(title, runs)),
    )
