"""Drawings: functions from a figure's data to a picture, registered under the figure's name.

A drawing returns one or more panels. On screen they stand in columns, which a phone stacks; in an
export they are one picture.
"""

from analysis.registry import import_all
from dashboard.charts.base import CHARTS, Look, columns, compose, panels, replace_data

__all__ = ["CHARTS", "Look", "columns", "compose", "panels", "replace_data"]

import_all(__name__)
