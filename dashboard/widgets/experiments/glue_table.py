"""Own and published GLUE results on screen, in one table, with what must be said above and under it."""

import pandas as pd
import streamlit as st

from analysis.figures.glue.table import GlueTable
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show


def show_table(table: GlueTable) -> None:
    """The table; our own rows are shaded."""
    cells = table.cells
    shade = pd.DataFrame("", index=cells.index, columns=cells.columns)
    shade.loc[cells["from"] == table.own_source, :] = show.shade()
    wide = f"{len(cells.columns)} columns: scroll the table sideways, or enlarge it with the button above its corner."
    st.caption(escape_markdown(" ".join(filter(None, (table.signs, wide)))))
    st.dataframe(
        cells.style.apply(lambda _: shade, axis=None),
        hide_index=True,
        height="content",
        key="glue.table",
        column_config={"variant": st.column_config.TextColumn(pinned=True)},
    )
    sentences = ([" Shaded: our own models."] if shade.to_numpy().any() else []) + list(table.notes)
    st.caption("  \n".join(escape_markdown(note) for note in sentences))
