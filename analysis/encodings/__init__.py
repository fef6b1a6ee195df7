"""Position encodings, one small file each, and what can be measured on them.

>>> encode("sinusoidal", length=128, dim=512).shape
(128, 512)
"""

from typing import Any

from analysis.core.registry import import_all
from analysis.encodings.encoding import ENCODINGS, Encoding, Option, Table

__all__ = ["ENCODINGS", "Encoding", "Option", "encode"]

import_all(__name__)


def encode(name: str, *, length: int, dim: int, **options: Any) -> Table:
    """The table of a registered encoding: float64 (length, dim).

    Raises UnknownName for a name no file registers, AddendError for a length, dim or option it cannot take.
    """
    return ENCODINGS[name].table(length, dim, **options)
