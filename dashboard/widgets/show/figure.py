"""One figure on a page: its heading, the line under it, its panels and its menu."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.core import settings
from analysis.core.formatting import SENTENCE_END, capitalised
from analysis.figures import Figure
from analysis.links import Value
from dashboard.session import held_texts
from dashboard.session.markdown_escape import escape_markdown, hide_server_paths
from dashboard.session.page_address import address
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.show import menu, page_head
from dashboard.widgets.show.panels import ROW_AND_COLUMN, charts

IN_SENTENCES = "The numbers in sentences"


def show(
    figure: Figure,
    page: str,
    values: Mapping[str, Value],
    *,
    why_not: str = "",
    heading_in: DeltaGenerator | None = None,
    under_heading: Callable[[], None] | None = None,
    beside_caption: Callable[[], None] | None = None,
    flipbook: Callable[[], None] | None = None,
    board: Callable[[], None] | None = None,
    on_cell: Callable[..., None] | None = None,
    cell: tuple[str, ...] = ROW_AND_COLUMN,
) -> None:
    """One figure with its menu, which holds its method, data, exports, sources and link.

    why_not: why no link opens this view, which the exports then say. heading_in: holds the heading, where controls
    stand below it. under_heading: draws between heading and caption; beside_caption: at the right of the caption.
    flipbook: draws heading and panels, where a slider changes them in the browser. board: draws in place of the panels,
    under the figure's own heading; the page's table of contents leaves such a figure out.
    on_cell: called with the values of the columns `cell` when a cell of a map, or a dot, is pressed, before the page
    is redrawn.
    """
    figure = _without_server_paths(figure)
    summary, in_sight, method = _under_heading(figure)
    link = why_not or held_texts.why_no_link(page, values) or address(page, values)
    place = heading_in or st.container()
    heading = place.container(horizontal=True, vertical_alignment="top", key=f"{page}.{figure.name}.figure_heading")
    if flipbook is None:
        heading.header(escape_markdown(figure.heading), anchor=figure.name)
        if board is None:
            page_head.list_in_contents(figure.name, figure.title)
    else:
        flipbook()
    with heading:
        menu.menu(figure, page, link, method)
    if under_heading is not None:
        under_heading()
    caption, beside = (
        st.columns([3, 1], vertical_alignment="center")
        if beside_caption is not None
        else (st.container(), st.container())
    )
    caption.caption(summary, help=glossary_hint(figure.heading, in_sight))
    if beside_caption is not None:
        with beside:
            beside_caption()
    if board is not None:
        board()
    elif flipbook is None:
        charts(figure, page, on_cell=on_cell, cell=cell)
    if method:
        with st.container(key=f"{page}.{figure.name}.on_paper"):
            st.caption(escape_markdown(method))


def sentences(figure: Figure, page: str, label: str = IN_SENTENCES) -> None:
    """The numbers of a figure in words, folded; nothing where it has none."""
    if figure.sentences:
        with st.expander(label, key=f"{page}.{figure.name}.sentences"):
            st.markdown("\n".join(f"- {escape_markdown(sentence)}" for sentence in figure.sentences))


def _under_heading(figure: Figure) -> tuple[str, str, str]:
    """The line under a figure's heading, as Markdown and as plain text, and the rest of its caption.

    None repeats the finding.
    """
    first, *rest = SENTENCE_END.split(figure.caption)
    if figure.finding and first.startswith(figure.finding):
        if more := first.removeprefix(figure.finding).strip(" ;:,."):
            first = f"{capitalised(more)}."
        elif rest:
            first, *rest = rest
    if not figure.finding:
        return escape_markdown(first), first, " ".join(rest)
    full_stop = "" if figure.title.endswith(("?", ".")) else "."
    summary = f"**{escape_markdown(figure.title)}{full_stop}** {escape_markdown(first)}"
    return summary, f"{figure.title}{full_stop} {first}", " ".join(rest)


def _without_server_paths(figure: Figure) -> Figure:
    """On a hosted server, the figure without the server's folders in its texts."""
    if not settings.hosted():
        return figure
    return replace(
        figure,
        caption=hide_server_paths(figure.caption),
        command=hide_server_paths(figure.command),
        provenance={name: hide_server_paths(value) for name, value in figure.provenance.items()},
    )
