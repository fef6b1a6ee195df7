"""Statistics of ablations: few pre-training seeds, fine-tuning seeds within them, tasks, and dev examples.

Plain numbers in, frozen results out; nothing here reads, writes or draws. What cannot be known is NaN with a note.
"""

from analysis.statistics.averages import Average, Learnt, Summary, averages, learnt, summary
from analysis.statistics.convergence import StepsRatio, steps_ratio
from analysis.statistics.curves import PLATEAU_MARGIN, Crossing, Curve, steps_to, steps_to_leave_plateau
from analysis.statistics.equivalence import Equivalence, Tie, equivalence, tie, unresolved_reason
from analysis.statistics.examples import ExamplesInterval, examples_interval
from analysis.statistics.improvement import Improvement, improvement
from analysis.statistics.multiple import Corrected, holm
from analysis.statistics.paired import Difference, MeanInterval, difference, mean_interval
from analysis.statistics.power import seeds_needed, smallest_detectable, t_test_power
from analysis.statistics.protocol import Choice, Rate, Scores, choose
from analysis.statistics.ranks import Ranks, ranks
from analysis.statistics.seeds import CachedRuns, PerSeed, Runs, Within, per_seed

__all__ = [
    "PLATEAU_MARGIN",
    "Average",
    "CachedRuns",
    "Choice",
    "Corrected",
    "Crossing",
    "Curve",
    "Difference",
    "Equivalence",
    "ExamplesInterval",
    "Improvement",
    "Learnt",
    "MeanInterval",
    "PerSeed",
    "Ranks",
    "Rate",
    "Runs",
    "Scores",
    "StepsRatio",
    "Summary",
    "Tie",
    "Within",
    "averages",
    "choose",
    "difference",
    "equivalence",
    "examples_interval",
    "holm",
    "improvement",
    "learnt",
    "mean_interval",
    "per_seed",
    "ranks",
    "seeds_needed",
    "smallest_detectable",
    "steps_ratio",
    "steps_to",
    "steps_to_leave_plateau",
    "summary",
    "t_test_power",
    "tie",
    "unresolved_reason",
]
