"""Every figure of the product, one folder per topic and one file per figure or few: rows, words and drawing together.

Importing this package registers the figures, and imports no torch.
"""

from analysis.core.registry import import_all, subpackages
from analysis.figures.figure import FIGURES, Figure, stored_figure

__all__ = ["FIGURES", "Figure", "stored_figure"]

for topic in subpackages(__name__):
    import_all(topic)
