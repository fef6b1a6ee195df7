"""Escapes text of links, models and readers for Markdown, and removes this server's folders from texts."""

import re
import sys
import tempfile
from pathlib import Path

from analysis.core import settings
from analysis.core.formatting import unbroken
from analysis.core.provenance import ROOT

ADDRESS = re.compile(r"(?i)(?=https?://|www\.)|(?<=@)")
"""The beginning of an address, or the place after its @: browsers link these in a text with its escapes resolved."""
JOINER = "\u2060"
"""A character without a width that breaks an address."""


def escape_markdown(text: str) -> str:
    """Text that Markdown shows literally: no links, images, icons, formulas or emphasis.

    Every text of a figure passes through here, so that here its numbers are kept on one line with their units.
    """
    return re.sub(r"([\\`*_{}\[\]()<>#+\-=.!|~$:^@&])", r"\\\1", ADDRESS.sub(JOINER, unbroken(text)))


def hide_server_paths(text: str) -> str:
    """The text without the folders of a hosted server; on other servers the text itself."""
    if not settings.hosted():
        return text
    for folder in _folders():
        text = text.replace(f"{folder}/", "")
    return text


def _folders() -> list[str]:
    """The folders of this server, the longest path first."""
    folders = [ROOT, Path.home(), Path(sys.prefix), Path(sys.base_prefix), Path(tempfile.gettempdir())]
    configured = [settings.text(name) for name in ("ADDEND_DATA", "ADDEND_PROBES")]
    folders += [Path(folder).absolute() for folder in configured if folder]
    if store := settings.text("ADDEND_STORE"):
        folders.append(Path(store).absolute().parent)
    return sorted({str(p) for folder in folders for p in (folder, folder.resolve())} - {"/"}, key=len, reverse=True)
