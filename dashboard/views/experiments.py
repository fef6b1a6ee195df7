"""Experiments: every way of combining word and position on one board, to sort and to filter."""

import streamlit as st

from analysis.core.errors import AddendError
from dashboard.session import queries
from dashboard.widgets import show
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.pickers import Pickers

PAGE = "experiments"

show.header(
    PAGE,
    "How each way of combining word and position compares with adding: its gains and its costs. The other pages "
    "named above show the same experiments in full.",
)
pickers = Pickers(PAGE)
presets = queries.trained_presets()
if presets:
    pickers.choice("preset", "Losses and steps of the preset", presets, width=220)
values = pickers.done()
show.copy_link(PAGE, values)
try:
    figure = queries.figure("experiments_board", values)
except AddendError as problem:
    show.show_problem(problem)
    st.stop()
show.show(figure, PAGE, values)

st.header("The same as a table", anchor=False)
table = figure.content.table
ways = st.pills(
    "Show only variants in which position is",
    sorted(set(table["Position is"])),
    selection_mode="multi",
    key=f"{PAGE}.ways",
)
visible = table[table["Position is"].isin(ways)] if ways else table
numbers = [name for name in visible.columns if visible[name].dtype.kind == "f"]
st.dataframe(
    visible,
    hide_index=True,
    height="content",
    placeholder="",
    column_config={
        "Variant": st.column_config.Column(pinned=True, width=170),
        **{name: st.column_config.NumberColumn(format="localized") for name in numbers},
    },
)
st.caption(
    "Press a column's heading to sort by it. Empty cells were not measured.",
    help=glossary_hint(*table["Variant"], *table.columns),
)
