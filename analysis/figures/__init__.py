"""Every figure of the product, as data. Importing this package imports no torch."""

from analysis.figures.base import FIGURES, Figure, Params
from analysis.registry import import_all

__all__ = ["FIGURES", "Figure", "Params"]

import_all(__name__)
