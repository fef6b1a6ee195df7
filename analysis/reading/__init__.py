"""The guided reading: one file a step. A new step is one new file that registers one object."""

from analysis.reading.base import STEPS, Step, Touch, Way, ordered
from analysis.registry import import_all

__all__ = ["STEPS", "Step", "Touch", "Way", "ordered"]

import_all(__name__)
