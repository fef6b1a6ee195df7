"""SQL: readers ask the store themselves; the result as a table, a chart, CSV and Parquet."""

import io
from typing import Any

import pyarrow.parquet as parquet
import streamlit as st

from analysis.core.csv_export import to_csv
from analysis.core.errors import AddendError
from analysis.figures.sql.data import MARKS, numeric
from analysis.sql.examples import EXAMPLES, VIEWS
from analysis.sql.limits import LIMITS
from dashboard.session import queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import exports, show
from dashboard.widgets.pickers import Pickers

PAGE = "sql"
PARTS = {"table": "Table", "chart": "Chart"}
CUT = {
    "rows": f"The result is longer: its first {LIMITS.rows:,} rows are shown and exported.",
    "cells": f"The result is longer: its first {LIMITS.cells:,} cells, in whole rows, are shown and exported.",
    "size": f"The result is larger than {LIMITS.result_mib} MiB: the rows that fit are shown and exported.",
}


def begin(query: str) -> None:
    """A new query begins with what suits its own columns."""
    for name, value in {"query": query, "x": "", "y": "", "colour": ""}.items():
        picked.set(name, value)


def example() -> None:
    """An example that is picked takes the place of the text."""
    if name := st.session_state["sql.example"]:
        begin(EXAMPLES[name])


def downloads(answer: queries.Answer) -> None:
    """The rows as files."""

    def as_parquet() -> bytes:
        written = io.BytesIO()
        parquet.write_table(answer.table, written, compression="zstd")
        return written.getvalue()

    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "CSV", exports.on_press(lambda: to_csv(answer.frame).encode()), "addend-query.csv", "text/csv",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        st.download_button(
            "Parquet", exports.on_press(as_parquet), "addend-query.parquet", "application/vnd.apache.parquet",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
    exports.export_notice()


def chart(frame: Any) -> None:
    """Pickers of the columns, and the chart."""
    names = list(frame.columns)
    numbers = [name for name in names if numeric(frame, name)]
    with st.container(horizontal=True):
        picked.choice("mark", "As", list(MARKS), MARKS, width=120)
        picked.choice("x", "x", ["", *names], lambda name: name or "first column", width=210)
        picked.choice("y", "y", ["", *numbers], lambda name: name or "last number", width=210)
        picked.choice("colour", "Colour", ["", *names], lambda name: name or "by itself", width=210)
    show.show(queries.sql_chart(picked.values()), PAGE, picked.values())


show.header(PAGE, "Query the store yourself with one read-only SELECT. It holds all results, but no probes of readers.")
picked = Pickers(PAGE)
held = str(picked.get("query"))
st.html("<style>.st-key-sql-query-box textarea{font-family:monospace}</style>")
st.pills("Begin with", list(EXAMPLES), key="sql.example", on_change=example)
with st.form("sql.form", border=False):
    typed = st.text_area("Query", key=picked.box("query"), height=120, max_chars=LIMITS.characters)
    if st.form_submit_button("Run", type="primary", icon=":material/play_arrow:") and typed != held:
        begin(typed)
        picked.typed("query", typed)

part = picked.segments("part", "Show", list(PARTS), PARTS)
for field in ("mark", "x", "y", "colour"):
    picked.get(field)
try:
    with st.spinner("Running the query"):
        answer = queries.run_reader_query(str(picked.get("query")))
        shown = answer.frame
    if answer.cut:
        st.warning(CUT[answer.cut], icon=":material/content_cut:")
    if part == "chart":
        chart(shown)
    else:
        st.dataframe(shown, hide_index=True, height=460 if len(shown) > 12 else "auto")
        st.caption(f"{len(shown):,} rows, {len(shown.columns)} columns.")
        downloads(answer)
except AddendError as problem:
    show.show_problem(problem)
show.copy_link(PAGE, picked.done())
with st.expander("Views and columns"):
    there = queries.open_columns()
    for view, says in VIEWS.items():
        st.markdown(f"**`{view}`** {says}")
        own = there[there.table_name == view][["column_name", "data_type"]].values
        st.caption(escape_markdown(", ".join(f"{name} ({kind.lower()})" for name, kind in own)))
    st.caption("These keep their columns from version to version. What follows may change.")
    st.dataframe(there[~there.table_name.isin(VIEWS)], hide_index=True, height=260)
st.caption(
    f"A query may take {LIMITS.seconds} s and {LIMITS.memory_mib:,} MiB of memory. It returns at most {LIMITS.rows:,} "
    f"rows, {LIMITS.columns} columns, {LIMITS.cells:,} cells and {LIMITS.result_mib} MiB; lists and structs come as "
    "text. `python -m analysis query` has no such limits."
)
