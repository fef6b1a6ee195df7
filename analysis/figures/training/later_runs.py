"""Trainings that a later file of rules asked for, with seeds of their own, and its judgement of their final loss."""

from typing import NamedTuple

from analysis.claims.statements.judgement import Judgement
from analysis.claims.statements.stored import statements
from analysis.figures.training.trainings import (
    BASELINES,
    Trained,
    TrainingParameters,
    index,
    objective,
    select_trainings,
)
from analysis.rules import repeating_contests


class LaterRuns(NamedTuple):
    """The final loss of a variant by a later file of rules, on seeds of its own: its judgement and its trainings."""

    judgement: Judgement
    trained: Trained


def later_runs(variant: str, preset: str = "") -> LaterRuns | None:
    """A later file's complete judgement of a variant's final loss against adding; None where there is none.

    preset: of these alone; empty for any.
    """
    judged = {one.id: one for one in statements()}
    for contest in repeating_contests():
        one = judged.get(contest.id)
        pair = contest.variant, contest.baseline
        asked = contest.kind == "final_loss" and pair == (variant, BASELINES[objective(variant)])
        if not asked or one is None or one.missing:
            continue
        if preset in ("", contest.preset):
            runs = index()
            compared = runs.variant.isin(pair) & runs.seed.isin(contest.seeds) & (runs.preset == contest.preset)
            params = TrainingParameters(preset=contest.preset, objective=objective(variant))
            return LaterRuns(one, select_trainings(params, run_ids=runs[compared].run_id.tolist()))
    return None
