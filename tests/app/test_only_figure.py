"""A figure alone, for a frame in another page."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from analysis.core.formatting import unbroken
from analysis.figures import FIGURES
from analysis.links import VIEWS

APP = Path(__file__).parents[2] / "dashboard" / "app.py"


def opened(page: str, monkeypatch: pytest.MonkeyPatch, **parameters: str) -> AppTest:
    monkeypatch.setattr("dashboard.session.rooms.path_of", lambda address: page)
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update(parameters)
    return app.run()


@pytest.mark.parametrize(("page", "figure"), [("experiments", "training_gap"), ("experiments", "experiments_board")])
def test_a_stored_figure_stands_alone_with_the_way_back(page, figure, monkeypatch):
    app = opened(page, monkeypatch, only=figure, preset="cpu")
    assert not app.exception
    assert not app.error
    made = FIGURES[figure].make(VIEWS[page].defaults() | {"preset": "cpu"})
    assert app.get("vega_lite_chart")
    assert app.title[0].value.replace("\\", "") == unbroken(made.heading)
    assert not app.selectbox, "no controls"
    assert f"/{page}?preset=cpu" in app.caption[0].value


@pytest.mark.parametrize(
    ("page", "figure", "says"),
    [
        ("experiments", "terms_heads", "no figure"),
        ("probe", "probe_maps", "of a model run"),
        ("nowhere", "x", "no figure"),
    ],
)
def test_what_cannot_stand_alone_is_said(page, figure, says, monkeypatch):
    app = opened(page, monkeypatch, only=figure)
    assert not app.exception
    assert says in app.error[0].value
