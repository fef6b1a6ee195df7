"""The pickers that say which of our own pre-trainings are compared."""

from collections.abc import Sequence

import pandas as pd

from analysis.ablation.variants import VARIANTS
from analysis.figures.training.data import OBJECTIVES, title, usual_baseline, usual_recipe
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.pickers import Pickers


def which_runs(picked: Pickers, every: pd.DataFrame, *, one_setting: bool = True) -> pd.DataFrame:
    """Preset, objective and, where there are several, settings and learning rate; the runs that are left.

    one_setting: whether what is shown is of one; else settings and rate are not asked for.
    """

    def forget(*names: str) -> None:
        for name in names:  # What was picked among options that are others now.
            picked.set(name, "")

    anew = {"on_change": forget, "args": ("recipe", "rate", "baseline")}
    presets = sorted(every.preset.unique())
    preset = picked.choice("preset", "Preset", presets, width=90, help=glossary_hint("preset"), **anew)
    rows = every[every.preset == preset]
    offered = [name for name in OBJECTIVES if name in set(rows.objective)]
    objective = picked.choice("objective", "Trained to predict", offered, OBJECTIVES, width=175, **anew)
    rows = rows[rows.objective == objective]
    if not one_setting:
        picked.get("recipe")
        picked.get("rate")
        return rows
    recipes = dict(zip(rows.recipe, rows.told, strict=True))
    usual = usual_recipe(rows)
    if len(recipes) > 1:
        others = [recipe for recipe in recipes if recipe != usual]
        shown = {"": recipes[usual], **recipes}
        more = {"on_change": forget, "args": ("rate",)}
        recipe = picked.choice("recipe", "Settings", ["", *others], shown, width=200, **more)
    else:
        recipe = picked.fixed("recipe", ["", usual])
    rows = rows[rows.recipe == (recipe or usual)]
    rates = sorted(set(rows.rate), key=lambda rate: float(rate or 0))
    if len(rates) > 1:
        each = "each variant's own"
        picked.choice("rate", "Peak learning rate", ["", *rates], lambda rate: rate or each, width=180)
    else:
        picked.fixed("rate", ["", *rates])
    return rows


def against(picked: Pickers, ran: pd.DataFrame) -> None:
    """The baseline that the others are compared with; by default the variant that adds learned positions."""
    usual = usual_baseline(ran.objective.iloc[0], set(ran.variant))
    others = [name for name in VARIANTS if name in set(ran.variant) - {usual}]
    picked.choice("baseline", "Baseline", ["", *others], lambda name: title(name or usual), width=160)


def which_variants(picked: Pickers, ran: Sequence[str]) -> None:
    """Which of the variants that were run are shown."""
    known = [*VARIANTS, *sorted(set(ran) - set(VARIANTS))]
    picked.several(
        "variants",
        "Variants",
        [name for name in known if name in set(ran)],
        known,
        title,
        help=glossary_hint(*map(title, ran)),
    )
