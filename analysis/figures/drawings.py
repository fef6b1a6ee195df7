"""Drawings: functions from a figure's data to a picture, registered under the figure's name.

A drawing returns one or more panels. On screen they stand in columns, which a phone stacks; in an
export they are one picture.
"""

from analysis.core.registry import import_all, subpackages
from analysis.figures.drawing import CHARTS, Theme, columns, compose, panels, replace_data

__all__ = ["CHARTS", "Theme", "columns", "compose", "panels", "replace_data"]

for topic in subpackages("analysis.figures"):
    import_all(topic, include=lambda name: name.startswith("draw"))
