"""The guided reading: one file per step. A new step is one new file that registers one object."""

from analysis.core.registry import import_all
from analysis.narrative.reading.step import (
    STEPS,
    Control,
    Destination,
    Experiment,
    ExperimentList,
    Picture,
    Step,
    ordered,
)

__all__ = ["STEPS", "Control", "Destination", "Experiment", "ExperimentList", "Picture", "Step", "ordered"]

import_all(__name__)
