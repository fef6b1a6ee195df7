"""The pickers that say which of our own pre-trainings are compared."""

from collections.abc import Sequence

import pandas as pd

from analysis.ablation.variants import VARIANTS
from analysis.figures.training.data import OBJECTIVES, title, usual_baseline, usual_recipe
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.pickers import Pickers


def run_pickers(pickers: Pickers, trainings: pd.DataFrame, *, one_setting: bool = True) -> pd.DataFrame:
    """Preset, objective and, where there are several, settings and learning rate. Returns the selected runs.

    one_setting: whether the page shows a single setting; otherwise settings and rate have no picker.
    """

    def clear(*names: str) -> None:
        for name in names:  # Their options have changed.
            pickers.set(name, "")

    reset = {"on_change": clear, "args": ("recipe", "rate", "baseline")}
    presets = sorted(trainings.preset.unique())
    preset = pickers.choice("preset", "Preset", presets, width=130, help=glossary_hint("preset"), **reset)
    rows = trainings[trainings.preset == preset]
    offered = [name for name in OBJECTIVES if name in set(rows.objective)]
    objective = pickers.choice("objective", "Trained to predict", offered, OBJECTIVES, width=175, **reset)
    rows = rows[rows.objective == objective]
    if not one_setting:
        return rows
    recipes = dict(zip(rows.recipe, rows.told, strict=True))
    usual = usual_recipe(rows)
    if len(recipes) > 1:
        options = ["", *(recipe for recipe in recipes if recipe != usual)]
        labels = {"": recipes[usual], **recipes}
        recipe = pickers.choice("recipe", "Settings", options, labels, width=200, on_change=clear, args=("rate",))
    else:
        recipe = pickers.fixed("recipe", ["", usual])
    rows = rows[rows.recipe == (recipe or usual)]
    rates = sorted(set(rows.rate), key=lambda rate: float(rate or 0))
    if len(rates) > 1:
        labels = {rate: rate for rate in rates} | {"": "each variant's own"}
        pickers.choice("rate", "Peak learning rate", ["", *rates], labels, width=180)
    else:
        pickers.fixed("rate", ["", *rates])
    return rows


def baseline_picker(pickers: Pickers, runs: pd.DataFrame) -> None:
    """The baseline that the others are compared with; by default the variant that adds learned positions."""
    usual = usual_baseline(runs.objective.iloc[0], set(runs.variant))
    others = [name for name in VARIANTS if name in set(runs.variant) - {usual}]
    pickers.choice("baseline", "Baseline", ["", *others], lambda name: title(name or usual), width=160)


def variant_picker(pickers: Pickers, runs: Sequence[str]) -> None:
    """The variants to show, of those that were run."""
    known = [*VARIANTS, *sorted(set(runs) - set(VARIANTS))]
    pickers.several(
        "variants",
        "Variants",
        [name for name in known if name in set(runs)],
        known,
        title,
        help=glossary_hint(*map(title, runs)),
    )
