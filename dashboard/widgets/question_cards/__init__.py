"""Cards that are tabs: each holds a question with its answer, numbers and a small picture; one of them is pressed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

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
        {"cards": list(cards), "at": pressed},
        dark=dark,
        package="dashboard.widgets",
        on_part_change=report,
    )
