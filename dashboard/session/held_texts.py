"""Texts that are too long for an address: the session keeps them, and the address holds a short mark in their place.

Browsers take addresses of any length, but many servers in between refuse those of more than some thousand characters.
"""

import hashlib
import json
from collections.abc import Mapping

import streamlit as st

from analysis import links
from analysis.links import Value

KEPT = "held_texts.kept"
"""The key in a session's state of the texts: mark -> the parameters that it stands for, the last used at the end."""
MAX_KEPT = 10
MAX_CHARACTERS = 1_000_000
"""The largest number of characters that a session keeps; the last text is kept in any case."""
LOST = (
    "The text of this view was too long for its address, so only the session in which it was typed holds it, and this "
    "is another one. Type or paste it again; what the page opens with is shown instead."
)

Parameters = dict[str, list[str]]


def shorten(page: str, values: Mapping[str, Value]) -> Parameters:
    """The parameters of a page's address; texts that are too long for it are kept and a mark stands for them."""
    view = links.VIEWS[page]
    parameters = view.parameters(values)
    held = {name: parameters.pop(name) for name in view.too_long(values)}
    if not held:
        return parameters
    mark = hashlib.sha256(json.dumps(held).encode()).hexdigest()[:12]
    kept: dict[str, Parameters] = st.session_state.setdefault(KEPT, {})
    kept.pop(mark, None)
    kept[mark] = held
    _make_room(kept)
    return {**parameters, links.HELD: [mark]}


def restore(parameters: Parameters) -> tuple[Parameters, str]:
    """The parameters with the texts that their mark stands for, and a sentence where these are not kept."""
    marks = parameters.get(links.HELD)
    if not marks:
        return parameters, ""
    others = {name: texts for name, texts in parameters.items() if name != links.HELD}
    kept: dict[str, Parameters] = st.session_state.get(KEPT, {})
    if (held := kept.get(marks[-1])) is None:
        return others, LOST
    return others | held, ""


def why_no_link(page: str, values: Mapping[str, Value], remedy: str = "") -> str:
    """The reason why no link opens a view, with a remedy; empty where one does."""
    if not links.VIEWS[page].too_long(values):
        return ""
    remedy = remedy or "Shorten it to get a link."
    return (
        f"The text is too long for a link: an address holds {links.ADDRESS_LIMIT:,} characters. It is kept in this "
        f"session, until the page is closed or loaded anew. {remedy}"
    )


def _make_room(kept: dict[str, Parameters]) -> None:
    """Forgets what was used longest ago."""
    while len(kept) > 1 and (len(kept) > MAX_KEPT or _characters(kept) > MAX_CHARACTERS):
        kept.pop(next(iter(kept)))


def _characters(kept: Mapping[str, Parameters]) -> int:
    return sum(len(text) for held in kept.values() for texts in held.values() for text in texts)
