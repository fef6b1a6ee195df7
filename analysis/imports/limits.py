"""How much may be imported at once, and whether the dashboard may."""

from analysis import settings

MOST_MIB = 20
"""Of all files of one import together."""
MOST_FILES = 2_000
MOST_ROWS = 200_000
MOST_PROBLEMS = 50
"""Bad rows that are listed; the rest are counted."""


def uploads() -> bool:
    """Whether readers may import by the dashboard."""
    return settings.switch("ADDEND_IMPORT")
