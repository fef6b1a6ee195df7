"""Limits of one import, and the setting that allows imports in the dashboard."""

from analysis.core import settings

MAX_MIB = 20
"""Of all files of one import together."""
MAX_FILES = 2_000
MAX_ROWS = 200_000
MAX_LISTED = 50
"""Bad rows that are listed; the rest are counted."""
MAX_BAD = 500
"""Bad rows after which nothing more is read: a few kB of empty rows could keep a server busy for a minute."""
STALE_SECONDS = 3_600
"""The age after which the folder of an import that was killed is removed."""


def max_stored_bytes() -> int:
    """The limit of all imports together in bytes; 0 is no limit."""
    return settings.number("ADDEND_IMPORTED_MB") * 1_000_000


def uploads() -> bool:
    """True if readers may upload results in the dashboard."""
    return settings.switch("ADDEND_IMPORT")
