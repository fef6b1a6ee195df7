"""Queries of pages to the store that are still to move to the topics that they belong to. Imports no torch."""

from collections.abc import Mapping

import streamlit as st

from analysis import glue_comparison, store_build
from analysis.figures import stored_figure
from analysis.figures.experiments import board_rows
from analysis.figures.glue import study_rows as glue
from analysis.figures.glue import table as glue_table
from analysis.figures.glue.headline import headline
from analysis.figures.training import data as training
from analysis.figures.training import verdict as training_verdict
from analysis.links import Value
from analysis.literature import tables as published
from analysis.store import read

PROTOCOLS, MARGINS = glue_comparison.PROTOCOLS, glue_comparison.MARGINS
GLUE_COMMAND = glue_comparison.MAKE
rows = read.query
figure = stored_figure
trainings = training.index
trained_presets = training.stored_presets
verdict = training_verdict.verdict_of
published_table = published.load
published_tables = published.index
glue_presets = glue_comparison.presets
glue_headline = headline
glue_baselines = glue.baselines
glue_columns = glue.columns
experiments_board = board_rows.board


def ensure_store() -> None:
    """Builds the store when it is missing or older than the files. Raises StoreError with a remedy."""
    if not store_build.is_current():
        with st.spinner("Building the store from the results files"):
            store_build.refresh()


def rebuild_store() -> None:
    """Builds the store of files that were just added, which `ensure_store` would only notice after a while."""
    with st.spinner("Building the store from the results files"):
        store_build.refresh()


def glue_study(values: Mapping[str, Value]) -> tuple[glue_comparison.Study, glue_comparison.PublishedComparison | None]:
    """Our own runs and the published table of a page's values."""
    return glue.study_and_table(glue.GlueParameters.of(values))


def glue_results(values: Mapping[str, Value]) -> glue_table.Table:
    """Own and published results as one table."""
    return glue_table.table(*glue_study(dict(values)), relative=values["glue_view"] == "difference")
