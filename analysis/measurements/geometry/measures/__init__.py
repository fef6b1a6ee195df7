"""One file per measure, or a close pair of them; importing the package registers all."""

from analysis.core.registry import import_all

import_all(__name__)
