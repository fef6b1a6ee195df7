"""What a reader sees of Markdown in which every mark of the language is escaped."""

import re
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

from dashboard.session.markdown_escape import JOINER


def shown(markdown: str) -> str:
    """Markdown without its escapes."""
    return re.sub(r"\\(.)", r"\1", markdown.replace(JOINER, ""))


def figures(app: AppTest) -> list[str]:
    """The titles of the figures on a page, in order: what is drawn. Their headings say what it shows."""
    titles, pending = [], ""
    for element in _flat(app.main):
        if element.type == "header":
            pending = element.value
        elif element.type == "caption" and pending:
            pending = "".join(re.findall(r"^\*\*(.+?)\.?\*\* ", element.value)) or pending
        elif element.type == "vega_lite_chart" and pending:
            titles.append(shown(pending))
            pending = ""
    return titles


def _flat(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from _flat(child)
        else:
            yield child
