"""Own and published GLUE results on screen, in one table, with what must be said under it."""

import pandas as pd
import streamlit as st

from analysis.figures.glue_table import Table
from dashboard.plain import plain

OWN = "background-color: rgba(0, 114, 178, 0.13)"


def shown(table: Table) -> None:
    """The table; our own rows are shaded."""
    cells = table.cells
    shade = pd.DataFrame("", index=cells.index, columns=cells.columns)
    shade.loc[cells["from"] == table.own, :] = OWN
    st.dataframe(
        cells.style.apply(lambda _: shade, axis=None),
        hide_index=True,
        height="content",
        key="glue.table",
        column_config={"variant": st.column_config.TextColumn(pinned=True)},
    )
    told = (["Shaded: our own."] if shade.to_numpy().any() else []) + list(table.notes)
    st.caption("  \n".join(plain(note) for note in told))
