"""The panel under a pressed row of the board: curves and widths, or one of the tables about it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pandas as pd
import streamlit as st

from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import plural, signed_or_zero
from analysis.figures import stored_figure
from analysis.figures.experiments import row_tables
from analysis.figures.experiments.board_rows import (
    ExperimentsBoard,
    VariantRow,
    board as experiments_board,
    default_preset,
)
from analysis.glue_comparison import DEFAULT_PRESET as PRESET
from analysis.links import Value
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers, jump

TABS = {"curves": "Curves and widths", "glue": "GLUE", "papers": "Papers", "costs": "Costs", "seeds": "Seeds"}
IMPORTED_TABS = {"curves": "Curves", "seeds": "Seeds"}
"""The tabs of a row that a reader imported."""


def show_panel(
    row: VariantRow, board: ExperimentsBoard, pickers: Pickers, page: str, values: Mapping[str, Value]
) -> None:
    """A sentence on the row, its tabs, and what the chosen one shows."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(escape_markdown(row.summary) or "Imported; not one of ours.")
        tabs = IMPORTED_TABS if board.imported else TABS if len(row.widths) > 1 else {**TABS, "curves": "Curves"}
        if pickers.get("tab") not in tabs:
            pickers.set("tab", next(iter(tabs)))
        tab = pickers.segments("tab", "About this row", list(tabs), tabs, label_visibility="collapsed", width="content")
    _link_to_usual_recipe(row, board)
    if tab == "curves":
        _show_curves(row, board, page, {**values, "row": row.variant})
    elif tab == "glue":
        _show_glue(row)
    elif tab == "papers":
        found = row_tables.papers(row)
        _show_table(found)
        with st.container(horizontal=True):
            for table, name in found.sources.items():
                link(name, "menu_book", {"part": "published", "published_look": "table", "published_table": table})
            link("All published tables", "library_books", {"part": "published"})
    elif tab == "costs":
        _show_table(row_tables.costs(row, board))
    else:
        _show_table(row_tables.seeds(row, board), decimals=3)


def _link_to_usual_recipe(row: VariantRow, board: ExperimentsBoard) -> None:
    """The row's difference by the recipe with which the board opens, and its link, where another is open."""
    usual = default_preset()
    if board.imported or board.preset == usual or row.outcome == "baseline":
        return
    gap = None
    with suppress(AddendError):
        gap = experiments_board(usual).row(row.variant).gap
    if gap is None:
        said = f"recipe {usual}, with which the board opens, does not compare it"
    else:
        ends = f"{signed_or_zero(gap.value)} nats from adding ({plural(gap.seeds, 'seed')})"
        said = f"by recipe {usual}, with which the board opens, it ends {ends}"
    values: dict[str, Value] = {"preset": usual} if gap is None else {"preset": usual, "row": row.variant}
    link(f"This row is of recipe {board.preset}; {said}", "arrow_forward", values)


def _show_curves(row: VariantRow, board: ExperimentsBoard, page: str, values: Mapping[str, Value]) -> None:
    """The curves, and beside them the widths; a sentence on them where they are too few for a picture."""
    several = len(row.widths) > 1
    left, right = st.columns([8, 5], gap="medium") if several else (st.container(), st.container())
    with left:
        _show_figure("experiments_curves", page, values)
    if board.imported or not row.widths:
        return
    with right:
        if len(row.widths) == 1:
            st.caption(escape_markdown(f"{stored_figure('experiments_widths', values).finding}."))
        else:
            _show_figure("experiments_widths", page, values)


def _show_figure(name: str, page: str, values: Mapping[str, Value]) -> None:
    """One figure or, where nothing is stored for it, a sentence that says so."""
    try:
        figure = stored_figure(name, values)
    except NoResults as missing:
        st.caption(escape_markdown(str(missing)))
        return
    except AddendError as problem:
        show.show_problem(problem)
        return
    show.show(figure, page, values)


def _show_glue(row: VariantRow) -> None:
    """The refitted encoder in front; our small models, which GLUE cannot rank, folded behind the sentence on that."""
    _show_table(row_tables.refitted(row))
    own = row_tables.own_glue(row)
    if own.table.empty:
        st.caption(escape_markdown(own.sentence))
        return
    st.markdown(f"Our own small models on GLUE. **{escape_markdown(own.sentence)}**")
    with st.expander("See the numbers anyway"):
        _show_rows(own.table)
        link("All of our GLUE scores", "table_chart", {"part": "glue", "glue_preset": PRESET})


def link(label: str, icon: str, values: Mapping[str, Value]) -> None:
    """A button to another state of the page."""
    jump("experiments", escape_markdown(label), values, icon=icon)


def _show_table(found: row_tables.RowTable, *, decimals: int = 2) -> None:
    st.markdown(escape_markdown(found.sentence))
    if not found.table.empty:
        _show_rows(found.table, decimals=decimals)


def _show_rows(table: pd.DataFrame, *, decimals: int = 2) -> None:
    numbers: dict[str, Any] = {
        str(name): st.column_config.NumberColumn(format=f"%.{decimals}f")
        for name in table.columns
        if table[name].dtype.kind == "f"
    }
    st.dataframe(table, hide_index=True, height="content", width="content", column_config=numbers)
