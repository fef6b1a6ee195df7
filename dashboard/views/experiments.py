"""Experiments: every way of telling positions on one board; a press on a row opens its curves, widths and tables."""

import streamlit as st

from analysis.ablation.presets import PRESETS
from analysis.core.errors import AddendError
from analysis.figures.experiments.board import ORDERS, ordered
from analysis.figures.experiments.board_rows import BoardRow, default_preset, judged_presets
from dashboard.session import queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.session.page_address import is_dark
from dashboard.widgets import show
from dashboard.widgets.experiments_board import show_board
from dashboard.widgets.experiments_panel import TABS, show_panel
from dashboard.widgets.pickers import Pickers

PAGE = "experiments"


def recipe(preset: str) -> str:
    """A preset in the words of the chip: its size, its steps, and who judges it."""
    if preset not in PRESETS:
        return preset
    settings = PRESETS[preset]
    judged = "judged by frozen rules" if preset in judged_presets() else "exploratory"
    return f"width {settings.hidden_size}, {settings.steps:,} steps, {judged} ({preset})"


show.header(
    PAGE,
    "Small encoders that differ only in how they are told the positions of words, each compared with one that adds "
    "them. Press a row for its curves, wider models, GLUE, papers, costs and seeds.",
)
pickers = Pickers(PAGE)
pickers.set_initial("preset", default_preset(), PRESETS)
presets = queries.trained_presets()
with st.container(horizontal=True, vertical_alignment="bottom"):
    if presets:
        pickers.choice("preset", "Recipe", presets, recipe, width=430)
    order = pickers.segments("order", "Order", list(ORDERS), ORDERS, width="content")
    st.page_link("views/import.py", label="Add your results", icon=":material/upload:", width="content")
opened = pickers.get("row")
pickers.fixed("tab", list(TABS))  # The panel draws its picker.
values = pickers.done()
show.copy_link(PAGE, values)
try:
    figure = queries.figure("experiments_board", values)
    board = queries.experiments_board(str(values["preset"]))
    rows = ordered(board, order)
    if opened and opened not in [row.variant for row in rows]:
        board.row(opened)  # Says which rows there are, where this one is not known at all.
except AddendError as problem:
    show.show_problem(problem)
    st.stop()


def press(variant: str) -> None:
    """Opens the row that was pressed; closes the open one where there is no name."""
    pickers.set("row", variant)


def draw_panel(row: BoardRow) -> None:
    """The panel under the opened row."""
    show_panel(row, board, pickers, PAGE, values)


def draw_board() -> None:
    """The rows of the board, and the panel under the one that is opened."""
    show_board(
        board,
        rows,
        f"{PAGE}.board",
        opened=opened,
        on_press=press,
        panel=draw_panel,
        dark=is_dark(),
        grouped=order == "way",
    )
    if board.widths_note:
        st.caption(escape_markdown(board.widths_note))


show.show(figure, PAGE, values, board=draw_board)
if board.others:
    with st.expander(
        f"{len(board.others)} variants more, which were not trained to predict masked words by this recipe"
    ):
        columns = {
            "Variant": "title",
            "Positions are": "way",
            "Parameters (×)": "parameters",
            "Time a step (×)": "time",
        }
        table = [{name: getattr(row, field) for name, field in columns.items()} for row in board.others]
        st.dataframe(table, hide_index=True, height="content", width="content")
