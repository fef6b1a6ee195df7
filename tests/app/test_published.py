"""The tab Papers of Experiments: every table opens, every picker works, and a wrong link gets a sentence."""

from functools import partial

import pytest

from analysis import store_build
from analysis.literature import tables as published
from tests.app import shown as reader
from tests.app.shown import figures, shown, silent

opened = partial(reader.opened, "experiments", part="published", published_look="table")


def test_opens_with_every_paper_against_its_own_baseline_and_a_press_shows_one_table():
    app = reader.opened("experiments", part="published")
    assert silent(app)
    assert len(figures(app)) == 1
    assert "What papers report" in figures(app)[0]
    assert "published_look" not in app.query_params
    assert "rests on CoLA alone" in "".join(text.value for text in app.markdown), "the caveats stand under the numbers"
    app.segmented_control(key="experiments.published_look").set_value("table").run()
    assert silent(app)
    assert len(figures(app)) == 1
    assert "average with and without CoLA" in figures(app)[0]
    assert app.query_params["published_look"] == "table"
    told = "".join(text.value for text in app.markdown).replace("\\", "")
    assert "TUPE-A^mid minus BERT-A goes from +0.37 to −0.45" in told


def test_a_link_about_a_table_shows_it_and_every_paper_after_a_press():
    """Links had no field for this at first."""
    app = reader.opened("experiments", part="published", published_view="scores")
    assert silent(app)
    assert app.session_state["experiments.published_look"] == "table"
    for _ in range(2):
        app.segmented_control(key="experiments.published_look").set_value("papers").run()
        assert silent(app)
        assert "What papers report" in figures(app)[0]
    assert app.query_params["published_view"] == "scores", "a press on the table shows the same one again"


def test_every_table_opens():
    app = opened()
    store_build.refresh()
    for table in published.index().id:
        app.selectbox(key="experiments.published_table").select(table).run()
        assert silent(app), (table, app.exception, app.error, app.warning)
        assert app.dataframe, table


@pytest.mark.parametrize("view", ["average", "difference", "scores"])
def test_every_chart_opens(view):
    app = opened(published_view=view)
    assert silent(app)
    assert len(figures(app)) == 1


def test_a_column_is_unticked_and_ticked_again():
    app = opened()
    app.pills(key="experiments.published_without.ticked").set_value(["mnli", "qnli"]).run()
    assert silent(app)
    assert any("without MNLI-mm, QQP, SST-2, CoLA" in heading for heading in figures(app))
    app.pills(key="experiments.published_without.ticked").set_value([]).run()
    assert any("Tick one" in error.value for error in app.error)
    assert app.dataframe, "the rest of the page stays"


def test_a_link_can_leave_nothing_out():
    app = opened(published_without="")
    assert silent(app)
    assert any("average of all GLUE columns" in heading for heading in figures(app))


def test_another_baseline_and_then_another_table():
    app = opened(published_view="difference", published_baseline="BERT-R")
    assert silent(app)
    assert any("difference from BERT-R" in heading for heading in figures(app))
    app.selectbox(key="experiments.published_table").select("haviv2022nopos|Table 1").run()
    assert silent(app)
    assert any("difference from Learned" in heading for heading in figures(app))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"published_table": "nobody|Table 9"}, "nobody|Table 9"),
        ({"published_baseline": "GPT-9"}, "GPT-9"),
        ({"published_view": "pie"}, "pie"),
        ({"published_without": "wordle"}, "wordle"),
    ],
)
def test_a_wrong_link_gets_a_sentence_and_the_default(parameters, said):
    app = opened(**parameters)
    assert not app.exception
    assert any(said in shown(warning.value) for warning in app.warning)
    default = any("TUPE" in heading and "without CoLA" in heading for heading in figures(app))
    assert default or "published_without" in parameters
