"""All claims in one line each, opened one at a time: a component that answers presses in the browser."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from analysis.ablation.variants import title
from analysis.core.colours import verdict_variables
from analysis.figures.claims.board import TOUR, ClaimsBoard, details
from analysis.figures.reading.told import IN_MORE_PLACES
from analysis.links import VIEWS, Value
from analysis.moved_links import moved
from analysis.narrative.answer.cards import front_page
from dashboard.session.page_address import address, is_dark
from dashboard.widgets.answer_html import styled, ways_table
from dashboard.widgets.dose_curve import dose_curve
from dashboard.widgets.moving_pictures import show_component
from dashboard.widgets.pickers import Pickers

FIELDS = ("claim", "statement", "verdict", "document", "evidence", "by")
"""The fields of the link that a press on the board changes."""


STYLE = """
.st-key-claims-board { min-height: min(100vh, 1000px); }
"""
"""Whatever is below the board keeps its place while that is drawn."""
WAYS, CURVE = "C34", "C10"
"""The claims that open with a picture of Home: its ways that tell positions in more places, and its curve."""


def _picture(claim: str, *, dark: bool) -> dict[str, str]:
    """The picture of Home that belongs to a claim as HTML, under `ways` or `curve`; nothing for other claims."""
    if claim == WAYS:
        names = {title(variant) for variant in IN_MORE_PLACES}
        return {"ways": styled(ways_table([way for way in front_page().ways if way.name in names]))}
    curve = next((card.curve for card in front_page().cards if card.curve), None) if claim == CURVE else None
    return {"curve": styled(dose_curve(curve, dark=dark))} if curve else {}


def show_board(board: ClaimsBoard, pickers: Pickers, values: Mapping[str, Value]) -> None:
    """The board, with the claim opened and the filters pressed that the link names."""
    key = "claims.board"

    def store_press() -> None:
        pressed: Mapping[str, Any] = st.session_state[key]["pressed"]
        for name in FIELDS:
            pickers.set(name, str(pressed[name]))

    st.html(f"<style>{STYLE}</style>")
    dark, pressed = is_dark(), st.session_state.get(key, {}).get("pressed") or {}
    claim = str(values["claim"])
    show_component(
        "claims_board",
        key,
        {
            "board": {**board.content, "colours": verdict_variables(dark=dark)},
            "state": {name: values[name] for name in FIELDS},
            "at": pressed.get("at", 0),
            "details": details(claim) if claim else {},
            "picture": {claim: _picture(claim, dark=dark)},
            "pages": {
                page: {"title": VIEWS[moved(page, {})[0]].title, "address": address(page, {})} for page in board.pages
            },
            "tours": {step: address("read", {"step": step}) for step in TOUR.values()},
            "address": address("claims", {}),
        },
        dark=dark,
        package="dashboard.widgets",
        on_pressed_change=store_press,
    )
