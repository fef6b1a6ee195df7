"""Controls that a phone folds under one button, so that a figure's heading stands on its first screen.

On a wide page they stand where they are drawn, and there is no button: dashboard/assets/layout.css says so.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st


def more(page: str) -> None:
    """The button of a page that opens and closes all of its folded controls; only a phone shows it."""
    opened = _is_open(page)

    def turn() -> None:
        st.session_state[_key(page)] = not opened

    with st.container(key=f"phone_fold.more.{page}", width="content"):
        st.button(
            "Fewer" if opened else "More",
            icon=":material/expand_less:" if opened else ":material/tune:",
            key=f"{page}.phone_fold",
            on_click=turn,
        )


@contextmanager
def folded(page: str, name: str) -> Iterator[None]:
    """A row of controls that a phone shows once `more` was pressed. name: of the row, on its page."""
    with st.container(
        horizontal=True,
        vertical_alignment="bottom",
        key=f"phone_fold.{'open' if _is_open(page) else 'shut'}.{page}.{name}",
    ):
        yield


def _key(page: str) -> str:
    return f"{page}.phone_fold_is_open"


def _is_open(page: str) -> bool:
    return bool(st.session_state.get(_key(page)))
