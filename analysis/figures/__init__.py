"""Every figure of the product, one folder per topic and one file per figure or few: rows, words and drawing together.

Importing this package registers the figures, and imports no torch. Drawings that are not yet in the file of their
figure are in files `draw*.py`; `analysis.figures.drawings` registers those.
"""

from analysis.core.registry import import_all, subpackages
from analysis.figures.figure import FIGURES, Figure

__all__ = ["FIGURES", "Figure"]

for topic in subpackages(__name__):
    import_all(topic, include=lambda name: not name.startswith("draw"))
