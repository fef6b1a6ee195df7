"""What a reader sees of Markdown in which every mark of the language is escaped."""

import re

from dashboard.plain import JOINER


def shown(markdown: str) -> str:
    """Markdown without its escapes."""
    return re.sub(r"\\(.)", r"\1", markdown.replace(JOINER, ""))
