"""The tab GLUE of Experiments over made-up results of our own, in every view, and before there are any."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from tests import own_results
from tests.app import shown as reader
from tests.app.shown import figures, shown, silent, told

ROOT = Path(__file__).parents[2]
opened = partial(reader.opened, "experiments", part="glue", glue_preset="cpu")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("glue") / "data"
    shutil.copytree(ROOT / "data" / "published", folder / "published")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADDEND_DATA", str(folder))
        own_results.world()
    return folder


@pytest.fixture
def results(made, monkeypatch):
    monkeypatch.setenv("ADDEND_DATA", str(made))
    monkeypatch.delenv("ADDEND_STORE", raising=False)


@pytest.mark.parametrize("view", ["average", "difference", "scores"])
def test_every_view_shows_the_finding_a_figure_and_one_table(results, view):
    app = opened(glue_view=view)
    assert silent(app), (app.exception, app.error, app.warning)
    assert "2 of 4 variants differ from adding after correction" in told(app)
    assert "best learning rate of each variant and task" in told(app)
    assert len(figures(app)) == 1
    (table,) = app.dataframe
    assert {"own, preset cpu", "Ke et al. 2021 (TUPE), Table 1"} <= set(table.value["from"])
    assert any("partial data" in column for column in table.value.columns)


def test_pickers_change_what_is_said(results):
    app = opened()
    app.selectbox(key="experiments.glue_baseline").select("tupe_a").run()
    assert silent(app)
    assert "differ from “Apart, own matrix”" in told(app)
    app.pills(key="experiments.including.ticked").set_value(["wnli"]).run()
    assert silent(app)
    assert "average of 3 GLUE tasks" in told(app)
    app.pills(key="experiments.glue_without.ticked").set_value(["rte"]).run()
    assert "average of 2 GLUE tasks" in told(app)
    assert "cola" in app.query_params["glue_without"]
    assert "wnli" in app.query_params["including"]


def test_nothing_ticked_is_said_and_the_table_stays(results):
    app = opened(glue_view="average", glue_without=["cola", "rte"])
    assert not app.exception
    assert any("tick one" in error.value for error in app.error)
    assert "Inconclusive: no task is averaged." in told(app)
    assert app.dataframe


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"glue_baseline": "gpt"}, "gpt"),
        ({"glue_preset": "huge"}, "huge"),
        ({"glue_table": "nobody|Table 9"}, "nobody|Table 9"),
    ],
)
def test_a_wrong_link_gets_a_sentence_and_the_default(results, parameters, said):
    app = opened(**parameters)
    assert not app.exception
    assert any(said in shown(warning.value) for warning in app.warning)
    assert "differ from adding" in told(app)


def test_without_results_of_our_own_it_says_how_to_make_them(monkeypatch, tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(ROOT / "data" / "published", folder / "published")
    monkeypatch.setenv("ADDEND_DATA", str(folder))
    monkeypatch.delenv("ADDEND_STORE", raising=False)
    app = opened()
    assert silent(app), (app.exception, app.error, app.warning)
    assert "No results of our own are stored yet." in told(app)
    assert "python -m analysis ablate --preset cpu" in [code.value for code in app.code]
    assert set(app.dataframe[0].value["from"]) == {"Ke et al. 2021 (TUPE), Table 1"}


def test_an_empty_store_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("ADDEND_STORE", raising=False)
    app = opened()
    assert not app.exception
    assert any("python -m analysis ablate" in shown(error.value) for error in app.error)
