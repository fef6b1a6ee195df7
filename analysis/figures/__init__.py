"""Every figure of the product, one folder per topic: its modules compute what is shown, and its `draw*.py` draw it.

Importing this package registers the figures and imports neither torch nor altair; `analysis.figures.drawings` registers
how they are drawn.
"""

from analysis.core.registry import import_all, subpackages
from analysis.figures.figure import FIGURES, Figure

__all__ = ["FIGURES", "Figure"]

for topic in subpackages(__name__):
    import_all(topic, include=lambda name: not name.startswith("draw"))
