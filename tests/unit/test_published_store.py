"""Proves that the store holds the published figures as the files do: typed, mapped once, none doubled by a join."""

import csv
from pathlib import Path

import pytest

from analysis.ablation.glue.tasks import TASKS
from analysis.ablation.variants import VARIANTS
from analysis.measurements.surgery.arms import ARMS
from analysis.store import read

PUBLISHED = Path(__file__).parents[2] / "data" / "published"


@pytest.fixture(scope="module", autouse=True)
def committed_store(built):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADDEND_STORE", str(built))
        yield


def files(pattern):
    rows = []
    for path in sorted(PUBLISHED.glob(pattern)):
        with path.open(newline="", encoding="utf-8") as file:
            rows += list(csv.DictReader(file))
    return rows


def test_columns_of_the_stable_view_are_fixed():
    found = read.query("SELECT * FROM published_scores LIMIT 0")
    assert list(found.columns) == [
        "paper", "year", "table_name", "variant", "steps", "setting", "task", "metric", "value", "sd", "printed",
        "transcribed_from", "citation", "caveat",
    ]  # fmt: skip


def test_every_row_of_the_files_is_there_once_and_in_order():
    wanted = files("figures/*.csv")
    for view in ("published_rows", "published_scores"):
        assert len(read.query(f"SELECT * FROM {view}")) == len(wanted)
    found = read.query("SELECT * FROM published_rows ORDER BY row_number")
    assert found.row_number.tolist() == list(range(len(wanted)))
    for row, file in zip(found.itertuples(), wanted, strict=True):
        assert (row.paper, row.table_name, row.variant) == (file["paper"], file["table"], file["variant"])
        assert row.printed == (file["text"] or file["value"])
        if file["value"]:
            assert row.printed_value == float(file["value"])
        else:
            assert row.printed_value != row.printed_value


def test_every_measured_row_has_one_meaning_and_one_paper():
    found = read.query("SELECT * FROM published_rows")
    assert found.citation.notna().all()
    known = {(row["task"], row["metric"]) for row in files("metrics.csv")}
    measured = found[found.metric != "hyper-parameter"]
    assert set(zip(measured.task, measured.metric, strict=True)) <= known


def test_flags_and_scales_are_typed():
    kinds = dict(read.query("DESCRIBE metrics")[["column_name", "column_type"]].to_numpy().tolist())
    assert (kinds["scale"], kinds["glue"], kinds["higher_is_better"]) == ("DOUBLE", "BOOLEAN", "BOOLEAN")
    stored = read.query("SELECT * FROM metrics")
    wanted = files("metrics.csv")
    assert int(stored.glue.sum()) == sum(row["glue"] == "true" for row in wanted)
    assert int((stored.higher_is_better.fillna(True) == False).sum()) == sum(  # noqa: E712
        row["higher_is_better"] == "false" for row in wanted
    )
    assert int(stored.higher_is_better.isna().sum()) == sum(row["higher_is_better"] == "" for row in wanted)


def test_glue_is_stored_as_fractions_and_nothing_else_is_scaled():
    rows = read.query("SELECT * FROM published_rows ORDER BY row_number")
    stable = read.query("SELECT * FROM published_scores")  # In the same order.
    rows = rows.assign(value=stable.value)
    assert (rows.printed == stable.printed).all()
    glue = rows[rows.glue | (rows.task == "glue_average")].dropna(subset="printed_value")
    assert glue.value.between(0.5, 1).all()
    rest = rows[~rows.glue & (rows.task != "glue_average")]
    assert (rest.scale == 1).all()
    assert (rest.value.dropna() == rest.printed_value.dropna()).all()
    assert rest.value.max() > 400, "perplexities are not scaled"


def test_a_cell_has_exactly_its_caveats():
    found = read.query("SELECT * FROM published_rows WHERE citation = 'ke2021tupe' AND table_name = 'Table 1'")
    caveats = [row for row in files("caveats.csv") if row["citation_key"] == "ke2021tupe"]
    for row in found.itertuples():
        wanted = " ".join(
            c["caveat"]
            for c in caveats
            if c["table_name"] in ("", "Table 1")
            and c["variant"] in ("", row.variant)
            and c["task"] in ("", row.printed_task)
        )
        assert row.caveat == wanted


def test_variants_are_named_as_in_the_paper_and_once():
    found = read.query("SELECT * FROM variants")
    tupe = set(
        read.query(
            "SELECT DISTINCT variant FROM published WHERE table_name = 'Table 1' AND paper LIKE '%TUPE%'"
        ).variant
    )
    assert tupe <= {*found.title, *found.known_as}, "where the title is our own, the paper’s name stands beside it"
    assert found.title.is_unique
    only_published = {row["variant"] for row in files("variants.csv")}
    assert only_published == {"tupe_a_mid", "tupe_r_mid"}
    assert set(found.variant) == {*VARIANTS, *ARMS, *only_published}


def test_tasks_that_we_train_on_have_a_main_metric_and_papers_add_theirs():
    found = read.query("SELECT * FROM tasks").set_index("task")
    ours = found[found.metric.notna()]
    assert list(ours.index) == list(TASKS)
    assert {name: task.glue for name, task in TASKS.items()} == ours.glue.to_dict()
    assert {row["task"] for row in files("metrics.csv") if row["task"]} <= set(found.index)
