"""Queries of pages to the store: figures and rows, cached until the store's files change. Imports no torch."""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

import pandas as pd
import streamlit as st

from analysis import glue_comparison, store_build
from analysis.claims.statements import stored as statements
from analysis.figures import FIGURES, Figure, citation
from analysis.figures.claims import board
from analysis.figures.encodings.overview import ENCODING_OF
from analysis.figures.experiments import board_rows, imported_rows
from analysis.figures.geometry.estimates import stored_cases
from analysis.figures.glue import study_rows as glue
from analysis.figures.glue import table as glue_table
from analysis.figures.glue.headline import headline
from analysis.figures.runs import stored as runs
from analysis.figures.training import data as training
from analysis.figures.training import verdict as training_verdict
from analysis.links import Value
from analysis.literature import tables as published
from analysis.narrative import choosing, geometry
from analysis.narrative.answer import cards
from analysis.narrative.choosing import board as encoding_board
from analysis.narrative.choosing.sizes import Size
from analysis.narrative.front_page import FrontPage
from analysis.narrative.reading import STEPS
from analysis.sql.public import PRIVATE
from analysis.sql.run_query import Answer, ask, cached_answer
from analysis.store import mirror, read
from analysis.store.paths import version as store_version
from dashboard.session import query_quota

PROTOCOLS, MARGINS = glue_comparison.PROTOCOLS, glue_comparison.MARGINS
VERDICTS = statements.WORDS
GLUE_COMMAND = glue_comparison.MAKE

# What pages take from the analysis unchanged: these functions cache their results by themselves.
rows = read.query
trainings = training.index
mirror_state = mirror.state
citation_for = citation.citation_of
published_table = published.load
glue_presets = glue_comparison.presets
glue_headline = headline
encoding_of = ENCODING_OF.__getitem__
claims_board = board.board
experiments_board = board_rows.board
imported_boards = imported_rows.imported_boards
statement_counts = statements.counts
statement_parents = statements.statement_parents
claim_documents = statements.documents
first_verdicts_note = statements.first_verdicts_note
first_verdicts_page = statements.first_verdicts_page

ArgumentsP = ParamSpec("ArgumentsP")
ResultT = TypeVar("ResultT")


def store_cache(
    entries: int = 4, *, shared: bool = False
) -> Callable[[Callable[ArgumentsP, ResultT]], Callable[ArgumentsP, ResultT]]:
    """Caches a function's results for its last `entries` arguments, until the store changes.

    shared: whether all callers get the same object, which they must not change, or each a copy.
    """
    cache = st.cache_resource if shared else st.cache_data

    def decorate(function: Callable[ArgumentsP, ResultT]) -> Callable[ArgumentsP, ResultT]:
        def compute(version: tuple[str, int, int], key: tuple[object, ...], _call: Callable[[], ResultT]) -> ResultT:
            return _call()

        compute.__qualname__ = function.__qualname__  # Streamlit distinguishes caches by it
        cached = cache(max_entries=entries, show_spinner=False)(compute)

        @wraps(function)
        def current(*args: ArgumentsP.args, **keywords: ArgumentsP.kwargs) -> ResultT:
            key = tuple(
                tuple(sorted(argument.items())) if isinstance(argument, Mapping) else argument
                for argument in (*args, keywords)
            )
            return cached(store_version(), key, partial(function, *args, **keywords))

        return current

    return decorate


def ensure_store() -> None:
    """Builds the store when it is missing or older than the files. Raises StoreError with a remedy."""
    mirror.keep_current()
    if not store_build.is_current():
        with st.spinner("Building the store from the results files"):
            store_build.refresh()


def rebuild_store() -> None:
    """Builds the store of files that were just added, which `ensure_store` would only notice after a while."""
    with st.spinner("Building the store from the results files"):
        store_build.refresh()


def run_reader_query(query: str) -> Answer:
    """The rows of a reader's own query; see analysis.sql. Only queries that are not cached are counted.

    Raises what analysis.sql.run_query does, and Busy.
    """
    if result := cached_answer(query):
        return result
    with query_quota.count_query():
        return ask(query)


def sql_chart(values: Mapping[str, Value]) -> Figure:
    """A chart of a reader's own query. Not cached with the others, since it may have many rows."""
    run_reader_query(str(values["query"]))
    return FIGURES["sql_chart"].of(values)


def public_columns() -> pd.DataFrame:
    """The columns that readers' queries may read: view or table, column, type."""
    frame = rows(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal "
        "ORDER BY table_name, column_index"
    )
    return frame[~frame.table_name.isin(PRIVATE)]


def figure(name: str, values: Mapping[str, Value]) -> Figure:
    """A figure made from stored results, cached by those of a page's values that its parameters declare."""
    return _figure(name, FIGURES[name].parameters.declared(values))


@store_cache(128, shared=True)
def _figure(name: str, values: Mapping[str, Value]) -> Figure:
    return FIGURES[name].of(values)


@store_cache()
def front_page() -> FrontPage:
    """All that Home says."""
    return cards.front_page()


@store_cache(128)
def step_sentence(step: str, values: Mapping[str, Value]) -> str:
    """The sentence of a step of the guided reading."""
    return STEPS[step].says(dict(values))


def trained_presets() -> list[str]:
    """Presets of our own that something was trained or measured with."""
    return rows("SELECT preset FROM curves UNION SELECT preset FROM costs ORDER BY preset").preset.tolist()


@store_cache(32)
def geometry_cards(model: str) -> list[dict[str, Any]]:
    """The four cards of the page Geometry."""
    return geometry.cards(model)


@store_cache(128)
def geometry_answer(part: str, model: str) -> geometry.Answer:
    """The answer of a model to one question of the page Geometry."""
    return geometry.QUESTIONS[part].of(model)


@store_cache(32)
def geometry_words(model: str) -> list[str]:
    """The words of a model that were searched for the position that brings another word nearest. Raises NoResults."""
    return list(stored_cases(model, "nearest_word").word)


@store_cache(64)
def choices(values: Mapping[str, Any]) -> list[choosing.MethodRow]:
    """The ways to tell a position that meet a reader's needs, with what is known of each."""
    return choosing.lines(str(values["part"]), str(values["preset"]), tuple(values["needs"]))


@store_cache(32)
def encoding_rows(preset: str, needs: tuple[str, ...], size: Size) -> list[encoding_board.BoardRow]:
    """The rows of the board of encodings. Raises LinkError for an unknown need."""
    return encoding_board.rows(preset, needs, size)


@store_cache(32)
def encoding_summary(preset: str, needs: tuple[str, ...], size: Size) -> str:
    """Sentences that answer a reader's needs."""
    return encoding_board.summary(encoding_board.rows(preset, needs, size), needs)


@store_cache(16)
def preset_of_costs(preset: str) -> str:
    """The preset whose costs the page Which encoding? shows for a preset."""
    return choosing.measured_preset(preset)


@store_cache()
def published_tables() -> pd.DataFrame:
    """Every published table: id, label, kind."""
    return published.index()


def glue_study(values: Mapping[str, Value]) -> tuple[glue_comparison.Study, glue_comparison.PublishedComparison | None]:
    """Our own runs and the published table of a page's values."""
    return glue.study_and_table(glue.GlueParameters.of(values))


def glue_baselines(preset: str, table: str) -> list[str]:
    """Possible baselines: our variants or, where there are none, the rows of the table."""
    study = glue.study_of(glue.GlueParameters(preset=preset))
    comparison = glue_comparison.published_comparison(table)
    rows = [comparison.key(row) for row in comparison.table.variants] if comparison else []
    return study.results.variants or rows


def glue_columns(preset: str, table: str, protocol: str) -> tuple[list[str], list[str]]:
    """GLUE tasks that can be averaged, and those that none of our variants learnt."""
    study = glue.study_of(glue.GlueParameters(preset=preset, protocol=protocol))
    comparison = glue_comparison.published_comparison(table)
    tasks = study.glue or (list(comparison.tasks) if comparison else [])
    return [task for task in tasks if task not in study.not_learnt], study.not_learnt


@store_cache(32, shared=True)
def glue_results(values: Mapping[str, Value]) -> glue_table.Table:
    """Own and published results as one table."""
    return glue_table.table(*glue_study(dict(values)), relative=values["glue_view"] == "difference")


def verdict(values: Mapping[str, Value]) -> training_verdict.Verdict | None:
    """The verdict on the recipe of a page's values: trained long enough or not. None for one that is not judged."""
    return _verdict(training.TrainingParameters.declared(values))


@store_cache(32)
def _verdict(values: Mapping[str, Value]) -> training_verdict.Verdict | None:
    return training_verdict.verdict(training.select_trainings(training.TrainingParameters.of(values)))


@store_cache()
def all_runs() -> pd.DataFrame:
    """Every stored run with its status and settings, the newest first."""
    return runs.all_runs()
