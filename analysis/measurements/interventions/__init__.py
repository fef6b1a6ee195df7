"""Interventions: what a model does when its positions, its segments or terms of its scores are changed.

Terms describe; interventions tell causes. Importing this package imports no torch.
"""

from analysis.measurements.interventions.kinds import INTERVENTIONS, Intervention, parse
from analysis.measurements.interventions.result import InterventionResult, PermutationTest, Predictions

__all__ = ["INTERVENTIONS", "Intervention", "InterventionResult", "PermutationTest", "Predictions", "parse"]
