"""The pages SQL and Bring your own: a query in the link is run, a bad one is said, and an upload is shown first."""

import pyarrow as pa
import pytest

from analysis.core.errors import Busy
from analysis.sql.examples import VIEWS
from dashboard.model_server.rate_limits import KeyedLock
from tests.app.shown import opened


def test_a_query_in_a_link_is_run_and_drawn():
    app = opened("sql", query="SELECT range AS a, range * 2 AS b FROM range(4)", part="chart", x="a", y="b")
    assert not app.exception
    assert not app.error
    assert app.text_area[0].value == "SELECT range AS a, range * 2 AS b FROM range(4)"
    assert any("b against a, 4 rows" in caption.value for caption in app.caption)


def test_a_query_that_is_typed_replaces_that_of_the_link():
    app = opened("sql", query="SELECT 1 AS one")
    assert app.dataframe[0].value.columns.tolist() == ["one"]
    app.text_area[0].set_value("SELECT 2 AS two")
    next(button for button in app.button if button.label == "Run").click()
    app.run()
    assert not app.exception
    assert app.dataframe[0].value.columns.tolist() == ["two"]
    assert app.query_params["query"] == "SELECT 2 AS two"


def test_a_refused_query_is_said_and_the_page_goes_on():
    app = opened("sql", query="SELECT * FROM read_text('/etc/passwd')")
    assert not app.exception
    assert any("The table function" in error.value for error in app.error)
    assert app.text_area[0].value.startswith("SELECT * FROM read_text")


def test_a_session_may_ask_so_often_a_minute_and_what_is_kept_is_free(monkeypatch):
    monkeypatch.setenv("ADDEND_QUERIES_A_MINUTE", "2")
    app = opened("sql", query="SELECT 31 AS a")
    for query in ("SELECT 32 AS a", "SELECT 31 AS a", "SELECT 32 AS a"):
        app.query_params["query"] = query
        assert not app.run().error
    app.query_params["query"] = "SELECT 33 AS a"
    shown = app.run()
    assert any("takes 2 queries per minute from one session" in one.value for one in (*shown.error, *shown.warning))


def test_one_query_at_a_time_of_one_reader():
    running = KeyedLock()
    with running.turn("a", 0), running.turn("b", 0), pytest.raises(Busy, match="Another query of yours"):
        running.turn("a", 0.01).__enter__()
    with running.turn("a", 0):
        pass


def test_a_narrow_table_has_its_chart_beside_it_where_one_suits():
    app = opened("sql", query="SELECT range AS a, range * 2 AS b FROM range(4)")
    assert any("b against a, 4 rows" in caption.value for caption in app.caption)
    for query in ("SELECT 'n' || range AS name, range AS value FROM range(200)", "SELECT 'a' AS one FROM range(3)"):
        app = opened("sql", query=query)
        assert len(app.dataframe[0].value) in (200, 3)
        assert not app.exception
        assert not app.error
        assert not app.warning, "nobody asked for the chart"


def test_a_column_that_a_link_invents_is_said():
    app = opened("sql", query="SELECT 1 AS one", part="chart", x="nope")
    assert not app.exception
    assert any("nope" in warning.value for warning in app.warning)


def test_uploads_can_be_switched_off(monkeypatch):
    assert len(opened("import").get("file_uploader")) == 1
    for name, value in (("ADDEND_HOSTED", "1"), ("ADDEND_IMPORT", "0")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            app = opened("import")
            assert not app.exception
            assert not app.get("file_uploader")
            assert any("accepts no uploads" in note.value for note in app.info)


def test_a_bad_row_is_said_in_full(tmp_path, monkeypatch):
    """In a table that breaks its lines; a grid would cut the sentence off."""
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "own.duckdb"))
    (tmp_path / "data").mkdir()
    app = opened("import")
    app.get("file_uploader")[0].upload("mine.csv", b"a,b\n1,2\n", "text/csv").run()
    assert not app.exception
    assert "because of 1 problem:" in app.error[0].value
    assert "the columns 'a' and 'b' are not known" in str(app.table[-1].value.to_dict().values())


def test_a_table_that_is_uploaded_is_shown_and_only_then_stored(tmp_path, monkeypatch):
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "own.duckdb"))
    (tmp_path / "data").mkdir()
    app = opened("import")
    table = b"variant,task,metric,seed,learning_rate,value\nmine,rte,accuracy,0,1e-4,0.6\n"
    app.get("file_uploader")[0].upload("mine.csv", table, "text/csv").run()
    assert not app.exception
    assert any("This would add 1 row of 1 run." in text.value for text in app.markdown)
    assert len(app.get("vega_lite_chart")) == 1, "one variant alone is compared with nothing"
    assert not (tmp_path / "data/imported").exists()
    next(button for button in app.button if button.label == "Add them").click()
    app.run()
    assert not app.exception
    assert any(note.value == "Added: 1 row of 1 run." for note in app.success)
    assert len(list((tmp_path / "data/imported").glob("*/*.parquet"))) == 1


@pytest.mark.parametrize(
    ("rows", "drawn"),
    [
        ("variant,task,metric,seed,learning_rate,value\n{}", "rte,accuracy,{seed},1e-4,{value}"),
        ("variant,metric,seed,step,value\n{}", "validation_loss,{seed},1000,{value}"),
    ],
)
def test_what_would_be_added_is_drawn_before_it_is_stored(tmp_path, monkeypatch, rows, drawn):
    """A dot a seed beside the baseline, with the difference of the means; nothing is written."""
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "own.duckdb"))
    (tmp_path / "data").mkdir()
    values = {"bert_a": (0.6, 0.62), "mine": (0.7, 0.74)}
    lines = [
        f"{variant},{drawn.format(seed=seed, value=value)}"
        for variant, of_seeds in values.items()
        for seed, value in enumerate(of_seeds)
    ]
    app = opened("import")
    app.get("file_uploader")[0].upload("mine.csv", rows.format("\n".join(lines)).encode(), "text/csv").run()
    assert not app.exception
    sent = app.get("vega_lite_chart")[-1].proto.datasets
    shown = " ".join(pa.ipc.open_stream(one.data.data).read_pandas().to_csv() for one in sent)
    assert ("+11.0 points" if "task" in rows else "+0.11") in shown
    assert not (tmp_path / "data/imported").exists()


@pytest.mark.parametrize(
    ("query", "view"),
    [
        ("SELECT share AS scores FROM term_stats", "term_stats"),
        ("SELECT * FROM (SELECT 1) JOIN curves USING (step)", "curves"),
        ("SELECT 1", next(iter(VIEWS))),
    ],
)
def test_the_columns_are_those_of_what_the_query_reads(query, view):
    app = opened("sql", query=query)
    assert app.selectbox(key="sql.view").value == view
