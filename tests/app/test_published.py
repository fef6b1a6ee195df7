"""The tab Papers of Experiments: every table opens, every picker works, and a wrong link gets a sentence."""

from functools import partial

import pytest

from analysis import store_build
from analysis.literature import tables as published
from tests.app import shown as reader
from tests.app.shown import figures, shown, silent

opened = partial(reader.opened, "experiments", part="published")


def test_opens_with_the_finding():
    app = opened()
    assert silent(app)
    assert any("TUPE" in heading and "without CoLA" in heading for heading in figures(app))
    app.session_state["experiments.literature"] = True
    app.run()
    assert silent(app)
    assert len(figures(app)) == 2
    told = "".join(text.value for text in app.markdown).replace("\\", "")
    assert "TUPE-A^mid minus BERT-A goes from +0.37 to −0.45" in told
    assert "rests on CoLA alone" in told, "the caveats stand beside the numbers"


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
    assert any("difference to BERT-R" in heading for heading in figures(app))
    app.selectbox(key="experiments.published_table").select("haviv2022nopos|Table 1").run()
    assert silent(app)
    assert any("difference to Learned" in heading for heading in figures(app))


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
