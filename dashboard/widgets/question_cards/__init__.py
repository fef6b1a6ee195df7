"""Cards that are tabs: each holds a question with its answer, numbers and a small picture; one of them is pressed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from analysis.core.formatting import unbroken
from dashboard.widgets.moving_pictures import show_component


def show_cards(
    key: str, cards: Sequence[Mapping[str, Any]], pressed: str, on_press: Callable[[str], None], *, dark: bool
) -> None:
    """A row of cards, as `analysis.narrative.geometry.cards` gives them. pressed: the part of the outlined one.

    on_press: called with the part of another card before the page is drawn again.
    """

    def report() -> None:
        on_press(str(st.session_state[key]["part"]))

    show_component(
        "question_cards",
        key,
        {"cards": [_unbroken(card) for card in cards], "at": pressed},
        dark=dark,
        package="dashboard.widgets",
        on_part_change=report,
    )


def _unbroken(card: Mapping[str, Any]) -> dict[str, Any]:
    """A card in whose texts no line ends between a number and its unit."""
    return {name: unbroken(value) if isinstance(value, str) else value for name, value in card.items()}
