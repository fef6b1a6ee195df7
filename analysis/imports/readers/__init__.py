"""One file per form of results; each registers one reader."""

from analysis.core.registry import import_all
from analysis.imports.reader import READERS

__all__ = ["READERS"]

import_all(__name__)
