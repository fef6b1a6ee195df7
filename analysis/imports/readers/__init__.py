"""One file a form of results; each registers one reader."""

from analysis.imports.base import READERS
from analysis.registry import import_all

__all__ = ["READERS"]

import_all(__name__)
