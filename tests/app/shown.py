"""Opens pages as a link does, without a browser, and reads what a reader sees."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from streamlit.components.v2 import manifest_scanner
from streamlit.elements.lib import mutable_status_container
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from analysis.links import VIEWS
from analysis.moved_links import MOVED
from dashboard.session.markdown_escape import JOINER

APP = Path(__file__).parents[2] / "dashboard" / "app.py"
TIMEOUT_SECONDS = 300
PAGES = [page for page in VIEWS if page not in MOVED]
"""The pages that are shown; the others lead to one of them, as the test of old links proves."""
# For every page that is opened, Streamlit would search all installed packages for components, which takes longer than
# the page itself. A server does so once, when it starts.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
# A status that opens and closes waits a tenth of a second for a browser, which there is none of.
mutable_status_container.time = SimpleNamespace(sleep=lambda _: None)


def opened(page: str, **parameters: str | list[str]) -> AppTest:
    """A page of the committed data, by its path (Home's is empty), with the fields of a link."""
    app = AppTest.from_file(str(APP), default_timeout=TIMEOUT_SECONDS)
    if page in MOVED:  # It has no file of its own, by which Streamlit's tests would know it.
        app._page_hash = calc_hash(page)
    else:
        app.switch_page(f"views/{page or 'home'}.py")
    for name, value in parameters.items():
        app.query_params[name] = value
    return app.run()


def shown(markdown: str) -> str:
    """Markdown without its escapes and with plain spaces."""
    return re.sub(r"\\(.)", r"\1", markdown.replace(JOINER, "").replace("\u00a0", " "))


def silent(app: AppTest) -> bool:
    """True for a page without an exception, an error or a warning."""
    return not (app.exception or app.error or app.warning)


def told(app: AppTest) -> str:
    """The paragraphs and captions of a page as one text."""
    return " ".join(shown(text.value) for text in (*app.markdown, *app.caption))


def uploaded(app: AppTest, name: str, data: bytes) -> AppTest:
    """The page with an image of the reader's own."""
    app.file_uploader[0].upload(name, data, "image/png")
    next(button for button in app.button if button.label == "Take apart").click()
    return app.run()


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


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click()
    return app.run()


def _flat(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from _flat(child)
        else:
            yield child
