"""Interventions: what a model does when its positions, its segments or terms of its scores are changed.

Terms describe; interventions tell causes. Importing this package imports no torch.
"""

from analysis.interventions.kinds import INTERVENTIONS, Intervention, parse
from analysis.interventions.result import Intervened, PermutationTest, Predictions

__all__ = ["INTERVENTIONS", "Intervened", "Intervention", "PermutationTest", "Predictions", "parse"]
