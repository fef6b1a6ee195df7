"""Addend's analysis: encodings, the cross terms of attention, and the store they land in.

    from analysis import decompose, encode, stored_basis

are the three functions that scripts and notebooks begin with; each is imported when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.encodings import encode
    from analysis.measurements.means.stored_bases import stored_basis
    from analysis.measurements.terms import decompose

__all__ = ["decompose", "encode", "stored_basis"]
__version__ = "0.1.0"

_HOMES = {
    "decompose": "analysis.measurements.terms",
    "encode": "analysis.encodings",
    "stored_basis": "analysis.measurements.means.stored_bases",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'analysis' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)
