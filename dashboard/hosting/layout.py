"""The room of a page's parts, which the server sends with the page, before the app runs and the parts are drawn.

What is drawn first would otherwise move when the list of pages and the style arrive.
"""

from pathlib import Path
from urllib.parse import parse_qs

STYLE = Path(__file__).parents[1] / "assets" / "layout.css"
WIDTH = 252
"""Pixels of the list of pages at the left."""
BESIDE = 768
"""Pixels of a window from which on the list is beside the page; in a narrower one it is closed at first."""
LIST_OF_PAGES = (
    f"@media (min-width: {BESIDE}px) {{ [data-testid=stAppViewContainer]:not(:has([data-testid=stSidebar])) "
    f"> :has([data-testid=stMain]) {{ margin-left: {WIDTH}px; }} }}"
)
"""The room of the list of pages until it is drawn."""


def style(query: str) -> str:
    """The style element for a page's head; a page in a frame has no list of pages. query: of the page's address."""
    embedded = parse_qs(query).get("embed", [""])[-1].lower() == "true"
    return f"<style>{STYLE.read_text(encoding='utf-8')}{'' if embedded else LIST_OF_PAGES}</style>"
