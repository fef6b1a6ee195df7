"""What pages ask of the store: figures and rows, cached until the store's files change. Imports no torch."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from analysis import glue_comparison, store_build
from analysis.claims import QUESTIONS, WORDS, Document, stored
from analysis.claims.statements import stored as statements
from analysis.figures import FIGURES, Figure, citation
from analysis.figures.claims.data import evidence
from analysis.figures.glue import data as glue
from analysis.figures.glue import table as glue_table
from analysis.figures.glue.headline import headline
from analysis.figures.runs import data as runs
from analysis.figures.training import data as training
from analysis.figures.training import verdict as training_verdict
from analysis.links import Value
from analysis.literature import tables as published
from analysis.literature.tables import Table
from analysis.narrative import choosing
from analysis.narrative.answer import cards
from analysis.narrative.front_page import FrontPage
from analysis.narrative.reading import STEPS
from analysis.narrative.reading import Step as ReadingStep
from analysis.sql.public import PRIVATE
from analysis.sql.run_query import Answer, ask, cached_answer
from analysis.store import mirror, read
from analysis.store.paths import version as store_version
from dashboard.session import query_quota

PROTOCOLS, MARGINS = glue_comparison.PROTOCOLS, glue_comparison.MARGINS
CLAIM_QUESTIONS, FIRST_VERDICTS, VERDICTS = QUESTIONS, WORDS, statements.WORDS
GLUE_COMMAND = glue_comparison.MAKE


def ensure_store() -> None:
    """Builds the store when it is missing or older than the files. Raises StoreError with a remedy."""
    mirror.keep_current()
    if not store_build.is_current():
        with st.spinner("Building the store from the results files"):
            store_build.refresh()


def mirrored() -> mirror.State | None:
    """How the mirror of results on object storage stands; None where they lie in a folder."""
    return mirror.state()


def rows(sql: str, parameters: Sequence[object] = ()) -> pd.DataFrame:
    """The rows of a SELECT."""
    return _rows(store_version(), sql, tuple(parameters))


@st.cache_data(max_entries=256, show_spinner=False)
def _rows(version: tuple[str, int, int], sql: str, parameters: tuple[object, ...]) -> pd.DataFrame:
    return read.query(sql, parameters)


def run_reader_query(query: str) -> Answer:
    """The rows of a reader's own query; see analysis.sql. What is kept is free, all else is counted.

    Raises what analysis.sql.run_query does, and Busy.
    """
    if result := cached_answer(query):
        return result
    with query_quota.count_query():
        return ask(query)


def sql_chart(values: Mapping[str, Value]) -> Figure:
    """A chart of a reader's own query. Not kept with the others: its rows are the reader's choice, and many."""
    run_reader_query(str(values["query"]))
    return FIGURES["sql_chart"].of(values)


def open_columns() -> pd.DataFrame:
    """What readers' queries may read: view or table, column, type."""
    frame = rows(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal "
        "ORDER BY table_name, column_index"
    )
    return frame[~frame.table_name.isin(PRIVATE)]


def figure(name: str, values: Mapping[str, Value]) -> Figure:
    """A figure made from stored results."""
    return _figure(store_version(), name, tuple(sorted(values.items())))


@st.cache_resource(max_entries=128, show_spinner=False)
def _figure(version: tuple[str, int, int], name: str, values: tuple[tuple[str, Value], ...]) -> Figure:
    return FIGURES[name].of(dict(values))


def front_page() -> FrontPage:
    """All that Home says."""
    return _front_page(store_version())


@st.cache_data(max_entries=4, show_spinner=False)
def _front_page(version: tuple[str, int, int]) -> FrontPage:
    return cards.front_page()


def step_says(step: ReadingStep, values: Mapping[str, Value]) -> str:
    """The sentence of a step of the guided reading."""
    return _step_says(store_version(), step.name, tuple(sorted(values.items())))


@st.cache_data(max_entries=128, show_spinner=False)
def _step_says(version: tuple[str, int, int], name: str, values: tuple[tuple[str, Value], ...]) -> str:
    return STEPS[name].says(dict(values))


def trained_presets() -> list[str]:
    """Presets of our own that something was trained or measured with."""
    return rows("SELECT preset FROM curves UNION SELECT preset FROM costs ORDER BY preset").preset.tolist()


def choices(values: Mapping[str, Any]) -> list[choosing.MethodRow]:
    """The ways to tell a position that meet a reader's needs, with what is known of each."""
    return _choices(store_version(), str(values["part"]), str(values["preset"]), tuple(values["needs"]))


@st.cache_data(max_entries=64, show_spinner=False)
def _choices(version: tuple[str, int, int], part: str, preset: str, needs: tuple[str, ...]) -> list[choosing.MethodRow]:
    return choosing.lines(part, preset, needs)


def cited(key: str, title: str, link: str) -> citation.Citation:
    """How a chart or a claim of today's store is cited."""
    return citation.citation_of(key, title, link)


def published_tables() -> pd.DataFrame:
    """Every published table: id, label, kind."""
    return _published_tables(store_version())


@st.cache_data(show_spinner=False)
def _published_tables(version: tuple[str, int, int]) -> pd.DataFrame:
    return published.index()


def published_table(table: str) -> Table:
    """One published table, laid out."""
    return _published_table(store_version(), table)


@st.cache_resource(max_entries=64, show_spinner=False)
def _published_table(version: tuple[str, int, int], table: str) -> Table:
    return published.load(table)


def glue_presets() -> list[str]:
    """Presets of our own with scores."""
    return _glue_presets(store_version())


@st.cache_data(max_entries=4, show_spinner=False)
def _glue_presets(version: tuple[str, int, int]) -> list[str]:
    return glue_comparison.presets()


def glue_study(values: Mapping[str, Value]) -> tuple[glue_comparison.Study, glue_comparison.PublishedComparison | None]:
    """Our own runs and the published table that a page's values ask for."""
    return glue.study_and_table(glue.GlueParameters.of(values))


def glue_baselines(preset: str, table: str) -> list[str]:
    """What others can be compared with: our variants or, where there are none, the rows of the table."""
    study = glue.study_of(glue.GlueParameters(preset=preset))
    beside = glue_comparison.published_comparison(table)
    rows = [beside.key(row) for row in beside.table.variants] if beside else []
    return study.results.variants or rows


def glue_columns(preset: str, table: str, protocol: str) -> tuple[list[str], list[str]]:
    """GLUE tasks that can be averaged, and those that none of our variants learnt."""
    study = glue.study_of(glue.GlueParameters(preset=preset, protocol=protocol))
    beside = glue_comparison.published_comparison(table)
    tasks = study.glue or (list(beside.tasks) if beside else [])
    return [task for task in tasks if task not in study.not_learnt], study.not_learnt


def glue_headline(study: glue_comparison.Study) -> list[str]:
    """What our own results show: a sentence, and what belongs to it."""
    return headline(study)


def glue_results(values: Mapping[str, Value]) -> glue_table.Table:
    """Own and published results as one table."""
    return _glue_table(store_version(), tuple(sorted(values.items())))


@st.cache_resource(max_entries=32, show_spinner=False)
def _glue_table(version: tuple[str, int, int], values: tuple[tuple[str, Value], ...]) -> glue_table.Table:
    request = dict(values)
    return glue_table.table(
        *glue.study_and_table(glue.GlueParameters.of(request)), relative=request["view"] == "difference"
    )


def trainings() -> pd.DataFrame:
    """Every pre-training of our own: variant, preset, seed, objective, recipe, learning rate."""
    return _trainings(store_version())


@st.cache_data(max_entries=4, show_spinner=False)
def _trainings(version: tuple[str, int, int]) -> pd.DataFrame:
    return training.index()


def verdict(values: Mapping[str, Value]) -> training_verdict.Verdict | None:
    """Whether the recipe that a link asks for trains long enough. None where that is not judged."""
    return _verdict(store_version(), tuple(sorted(values.items())))


@st.cache_data(max_entries=32, show_spinner=False)
def _verdict(version: tuple[str, int, int], values: tuple[tuple[str, Value], ...]) -> training_verdict.Verdict | None:
    return training_verdict.verdict(training.select_trainings(training.TrainingParameters.of(dict(values))))


def claims() -> tuple[stored.Entry, ...]:
    """Every claim that has a first verdict, with its evidence."""
    return stored.ledger()


def first_verdicts_closed() -> str:
    """A sentence on when and by which code the first verdicts were computed."""
    return stored.closed()


def statement_counts() -> dict[str, int]:
    """Verdict of version 2 -> how many statements have it."""
    return statements.counts()


def headings() -> tuple[statements.Heading, ...]:
    """Every claim with the statements that it makes."""
    return statements.headings()


def claim_documents() -> dict[str, Document]:
    """The documents that make the claims, by key."""
    return _claim_documents(store_version())


@st.cache_data(max_entries=4, show_spinner=False)
def _claim_documents(version: tuple[str, int, int]) -> dict[str, Document]:
    return stored.documents()


def verdict_counts() -> dict[str, int]:
    """Verdict -> how many claims have it."""
    return stored.counts()


def changed_rules() -> int:
    """How many claims have a rule that was changed after its verdict was known."""
    return stored.changed()


def claim_evidence(claim: str) -> pd.DataFrame:
    """A row per piece of evidence on a claim, numbered as in its figure."""
    return evidence(stored.claim(claim))


def every_run() -> pd.DataFrame:
    """Every stored run with its status and settings, the newest first."""
    return _every_run(store_version())


@st.cache_data(max_entries=4, show_spinner=False)
def _every_run(version: tuple[str, int, int]) -> pd.DataFrame:
    return runs.all_runs()
