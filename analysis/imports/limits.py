"""How much may be imported at once, and whether the dashboard may."""

from analysis.core import settings

MOST_MIB = 20
"""Of all files of one import together."""
MOST_FILES = 2_000
MOST_ROWS = 200_000
MOST_PROBLEMS = 50
"""Bad rows that are listed; the rest are counted."""
MOST_BAD = 500
"""Bad rows after which nothing more is read: a few kB of empty rows could keep a server busy for a minute."""
LEFT_SECONDS = 3_600
"""After so long, what an import that was killed left behind is cleared away."""


def most_stored() -> int:
    """Bytes of all imports together; 0 is no limit."""
    return settings.number("ADDEND_IMPORTED_MB") * 1_000_000


def uploads() -> bool:
    """Whether readers may import by the dashboard."""
    return settings.switch("ADDEND_IMPORT")
