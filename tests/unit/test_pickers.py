"""Proves that a page knows the address that it wrote, although Streamlit may end a run where its session is written."""

from typing import Any

import pytest

from dashboard.widgets import pickers


class Interrupted(Exception):
    """Stands for the exception by which Streamlit ends a run."""


class Session(dict[str, Any]):
    """A session that ends the run at the first access after the address was sent, as a pending request does."""

    sent = False

    def __setitem__(self, key: str, value: Any) -> None:
        if self.sent:
            raise Interrupted
        super().__setitem__(key, value)


class Address(dict[str, list[str]]):
    """The parameters of the browser's address."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def get_all(self, name: str) -> list[str]:
        return self[name]

    def from_dict(self, parameters: dict[str, list[str]]) -> None:
        self.clear()
        self.update(parameters)
        self.session.sent = True


def test_the_back_button_is_heeded_however_soon_it_is_pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends the run that wrote the address; the next run begins with the address before, which is a link to it."""
    session = Session()
    address = Address(session)
    monkeypatch.setattr(pickers.st, "session_state", session)
    monkeypatch.setattr(pickers.st, "query_params", address)
    address.update({"part": ["curves"]})
    page = pickers.Pickers("experiments")
    assert page.get("part") == "curves"
    page.set("part", "gap")
    page.done()
    assert address["part"] == ["gap"]
    session.sent = False
    address.clear()
    address.update({"part": ["curves"]})
    assert pickers.Pickers("experiments").get("part") == "curves"
