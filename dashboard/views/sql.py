"""SQL: readers ask the store themselves; the result as a table, a chart, CSV and Parquet."""

import io
import re
from contextlib import suppress
from typing import Any

import pyarrow.parquet as parquet
import streamlit as st

from analysis.core.csv_export import to_csv
from analysis.core.errors import AddendError
from analysis.figures import FIGURES
from analysis.figures.sql.chart import MARKS, MAX_ROWS, ChartParameters, many_names, numeric
from analysis.sql import contents
from analysis.sql.examples import EXAMPLES, VIEWS
from analysis.sql.limits import LIMITS
from analysis.sql.run_query import Answer
from dashboard.session import query_quota
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import exports, show
from dashboard.widgets.pickers import Pickers

PAGE = "sql"
PARTS = {"table": "Result", "chart": "Choose a chart"}
HEIGHT = 200  # pixels of the query
NARROW = 3  # columns of a result beside which there is room for its chart
CUT = {
    "rows": f"The result is longer: its first {LIMITS.rows:,} rows are shown and exported.",
    "cells": f"The result is longer: its first {LIMITS.cells:,} cells, in whole rows, are shown and exported.",
    "size": f"The result is larger than {LIMITS.result_mib} MiB: the rows that fit are shown and exported.",
}


def start_query(query: str) -> None:
    """Sets a new query, and the fields of its chart to their defaults."""
    for name, value in {"query": query, "x": "", "y": "", "colour": ""}.items():
        pickers.set(name, value)
    st.session_state["sql.view"] = view_of(query)


def view_of(query: str) -> str:
    """The first view or table that a query reads; the first of all views where it reads none."""
    read = re.findall(r"\b(?:from|join)\s+(\w+)", query.lower())
    return next((name for name in read if name in tables), next(iter(VIEWS)))


def use_example() -> None:
    """Replaces the query by the selected example."""
    if name := st.session_state["sql.example"]:
        start_query(EXAMPLES[name])


def show_downloads(answer: Answer) -> None:
    """The rows as files."""

    def as_parquet() -> bytes:
        buffer = io.BytesIO()
        parquet.write_table(answer.table, buffer, compression="zstd")
        return buffer.getvalue()

    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "CSV", exports.deferred(lambda: to_csv(answer.frame).encode()), "addend-query.csv", "text/csv",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        st.download_button(
            "Parquet", exports.deferred(as_parquet), "addend-query.parquet", "application/vnd.apache.parquet",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
    exports.export_notice()


def show_chart(frame: Any) -> None:
    """Pickers of the columns, and the chart."""
    names = list(frame.columns)
    numbers = [name for name in names if numeric(frame, name)]
    with st.container(horizontal=True):
        pickers.choice("mark", "As", list(MARKS), MARKS, width=120)
        pickers.choice("x", "x", ["", *names], lambda name: name or "first column", width=210)
        pickers.choice("y", "y", ["", *numbers], lambda name: name or "last number", width=210)
        pickers.choice("colour", "Colour", ["", *names], lambda name: name or "by itself", width=210)
    # Not cached with the other figures, since it may have many rows.
    show.show(FIGURES["sql_chart"].of(pickers.values()), PAGE, pickers.values())


def show_table(answer: Answer) -> None:
    """The rows and their files; a narrow result has its chart beside it."""
    frame, figure = answer.frame, None
    if len(frame.columns) <= NARROW and 1 < len(frame) <= MAX_ROWS:
        with suppress(AddendError):  # Nobody asked for a chart of a result that none suits.
            if not many_names(frame, ChartParameters.of(pickers.values())):
                figure = FIGURES["sql_chart"].of(pickers.values())
    table, chart = st.columns([2, 3]) if figure else (st.container(), None)
    with table:
        st.dataframe(frame, hide_index=True, height=460 if len(frame) > 12 else "auto")
        st.caption(f"{len(frame):,} rows, {len(frame.columns)} columns.")
        show_downloads(answer)
    if figure and chart:
        with chart:
            show.show(figure, PAGE, pickers.values())


show.header(PAGE, "Query the store yourself with one read-only SELECT. It holds all results, but no probes of readers.")
pickers = Pickers(PAGE)
columns = contents.columns()
tables = [*VIEWS, *columns.table_name.unique()]
current_query = str(pickers.get("query"))
st.html("<style>.st-key-sql-query-box textarea{font-family:monospace}</style>")
st.pills("Begin with", list(EXAMPLES), key="sql.example", on_change=use_example)
form, schema = st.columns([5, 3])
with form.form("sql.form", border=False):
    typed = st.text_area("Query", key=pickers.box("query"), height=HEIGHT, max_chars=LIMITS.characters)
    if st.form_submit_button("Run", type="primary", icon=":material/play_arrow:") and typed != current_query:
        start_query(typed)
        pickers.typed("query", typed)

with schema:
    st.session_state.setdefault("sql.view", view_of(current_query))
    shown = st.session_state["sql.view"]
    view = st.selectbox("Columns of the view", [*VIEWS, *({shown} - set(VIEWS))], key="sql.view")
    view_columns = columns[columns.table_name == view][["column_name", "data_type"]].values
    st.caption(
        f"{VIEWS.get(view, 'A further table, whose columns may change.')} Columns: "
        + escape_markdown(", ".join(f"{name} ({kind.lower()})" for name, kind in view_columns))
        + "."
    )

part = pickers.segments("part", "Show", list(PARTS), PARTS, label_visibility="collapsed", width="content")
with show.reporting_problems():
    with st.spinner("Running the query"):
        answer = query_quota.answer(str(pickers.get("query")))
        frame = answer.frame
    if answer.cut:
        st.warning(CUT[answer.cut], icon=":material/content_cut:")
    if part == "chart":
        show_chart(frame)
    else:
        show_table(answer)
show.copy_link(PAGE, pickers.done())
with st.expander("Further tables"):
    st.caption("The views above keep their columns from version to version. These may change.")
    st.dataframe(columns[~columns.table_name.isin(VIEWS)], hide_index=True, height=260)
st.caption(
    f"A query may take {LIMITS.seconds} s and {LIMITS.memory_mib:,} MiB of memory. It returns at most {LIMITS.rows:,} "
    f"rows, {LIMITS.columns} columns, {LIMITS.cells:,} cells and {LIMITS.result_mib} MiB; lists and structs come as "
    "text. `python -m analysis query` has no such limits."
)
