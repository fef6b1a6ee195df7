"""A published table on screen: the numbers as printed, with their caveats, and where each one comes from."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from analysis.figures.published.table_parts import spelled
from analysis.literature.tables import GLUE_AVERAGE, Table
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show


def show_published(table: Table, key: str, order: Sequence[str] = ()) -> None:
    """The table, its badge, its source and, once a cell is clicked, that cell's own.

    order: of its rows, where it is another than the paper's; it has each of them once.
    """
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for kind in table.kinds_read:
            st.badge(f"Read in: {kind}", icon=":material/menu_book:", color="gray")
        with st.popover("Source", icon=":material/format_quote:", key=f"{key}.source"):
            _address(table.cells.iloc[0])
            for source in table.sources:
                st.text(f"Read in: {source}")
            show.cite((table.citation,))
    printed, numbers = table.printed()
    if sorted(order) == sorted(map(str, printed.index)):
        printed, numbers = printed.loc[list(order)], numbers.loc[list(order)]
    grid = printed.fillna("")
    headers = [f"{column} {table.marks('', column)}".strip() for column in grid.columns]
    grid.columns = [head if headers.count(head) == 1 else f"{head} ({n})" for n, head in enumerate(headers)]
    grid.insert(0, "", [f"{spelled(str(row))} {table.marks(row, '')}".strip() for row in grid.index])
    # The average stands beside the names, where a phone shows it.
    averages = set(table.scores.column[table.scores.task == GLUE_AVERAGE])
    pinned = {
        str(head): f"{column.partition(' (')[0]} {table.marks('', column)}".strip()
        for head, column in zip(grid.columns[1:], printed.columns, strict=True)
        if column in averages
    }
    best = table.best()
    shades = pd.DataFrame("", index=grid.index, columns=grid.columns)
    shades.iloc[:, 1:] = numbers.map(lambda number: show.shade() if number in best else "").to_numpy()
    event = st.dataframe(
        grid.style.apply(lambda _: shades, axis=None),
        hide_index=True,
        height="content",
        on_select="rerun",
        selection_mode="single-cell",
        key=f"{key}.{table.id}",
        column_config={
            "": st.column_config.TextColumn(pinned=True),
            **{head: st.column_config.TextColumn(label, pinned=True) for head, label in pinned.items()},
        },
    )
    shaded = " Shaded: the best value of its column, however small the difference." if best else ""
    st.caption(f"Press a number to see where it comes from.{shaded}{_setting(table)}")
    if cells := event["selection"]["cells"] if event else []:
        row_index, column = cells[0]
        column_index = list(grid.columns).index(column) - 1
        number = numbers.to_numpy()[row_index, column_index] if column_index >= 0 else None
        if number is not None and not pd.isna(number):
            _cell(table.cells[table.cells.row_number == number].iloc[0])


def _setting(table: Table) -> str:
    rows = table.cells.setting.dropna().unique()
    if len(rows) == 1:
        return f" Setting: {escape_markdown(rows[0])}."
    return f" {escape_markdown(table.shared)}." if table.shared else ""


def _address(cell: pd.Series) -> None:
    st.link_button(str(cell.short), str(cell.url), icon=":material/open_in_new:", type="tertiary")


def _cell(cell: pd.Series) -> None:
    """One number with its source and caveat."""
    with st.container(border=True):
        row, column, figure = (escape_markdown(text) for text in (cell.row, cell.column, cell.printed))
        st.markdown(f"**{row} · {column}: {figure}**")
        facts = {
            "Task and metric": f"{cell.task_title}; {cell.metric_title}",
            "Standard deviation, as printed": "" if pd.isna(cell.sd) else cell.sd_text,
            "Setting": cell.setting or "",
            "Steps": cell.steps or "",
            "Read in": cell.transcribed_from,
            "File": f"data/published/figures/{cell.file}",
            "Caveat": cell.caveat if isinstance(cell.caveat, str) else "",
        }
        for name, value in facts.items():
            if value:
                st.text(f"{name}: {value}")
        _address(cell)
        show.cite((str(cell.citation),))


def caveats(table: Table) -> None:
    """The caveats, marked as in the table."""
    sentences = [
        (f"{note.mark} **{escape_markdown(spelled(note.about))}** " if note.mark else "") + escape_markdown(note.text)
        for note in table.notes
    ]
    if sentences:
        marks = "".join(note.mark for note in table.notes)
        if len(marks) > 2:
            marks = f"{marks[0]} to {marks[-1]}"
        with st.expander(f"Caveats {marks}" if marks else "Caveats", icon=":material/info:"):
            st.markdown("  \n".join(sentences))


def notes(entries: Sequence[tuple[str, str, str]]) -> None:
    """(paper, row or table, caveat), under the paper's name, in two columns where there is room."""
    papers: dict[str, list[str]] = {}
    for paper, row_label, text in entries:
        papers.setdefault(paper, []).append(f"*{escape_markdown(row_label)}:* {escape_markdown(text)}")
    with st.expander("Caveats", icon=":material/info:"):
        blocks = ["  \n".join((f"**{escape_markdown(paper)}**", *texts)) for paper, texts in papers.items()]
        # Filled in turn to the same length of text.
        half, written = sum(map(len, blocks)) / 2, 0
        columns = st.columns(2)
        for block in blocks:
            columns[written >= half].markdown(block)
            written += len(block)
