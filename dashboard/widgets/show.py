"""Shows a figure: its panels, its caption, the data behind it, its exports and its sources."""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from html import escape
from shlex import quote
from typing import Any

import streamlit as st

from analysis import links
from analysis.core import settings
from analysis.core.colours import Colour
from analysis.core.errors import AddendError, ModelNotDownloaded, NoResults, NotInstalled, ProbeStopped
from analysis.core.formatting import SENTENCE_END
from analysis.figures import FIGURES, Figure, drawings, export
from analysis.links import Value
from analysis.probes import text_probe
from dashboard.hosting import log
from dashboard.session import held_texts, live, queries, rooms
from dashboard.session.markdown_escape import escape_markdown, hide_server_paths
from dashboard.session.page_address import address, is_dark, query_parameters
from dashboard.widgets import exports
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.vega_specs import vega_specs

ROWS_SHOWN = 5_000
SHADE = Colour("#deedf5", "#123a57")
ONLY = "only"
"""The parameter of an address that shows one figure alone."""
CELL = "cell"
"""The name of the selection of a map's cells."""
ROW_AND_COLUMN = ("row", "column")
LONG_PAGE = 3
"""A page of so many figures gets a table of contents."""
CARRIED = ("model", "revision", "text", "pair")
"""Fields that links to the other pages of a room carry."""
ROOM_LINKS, LINK, CONTENTS, CONTENTS_PLACE = "show.doors", "show.link", "show.contents", "show.contents.place"
"""Keys of the session's state for a page's placeholders while it is drawn."""
FORMAT_NAMES = {
    "svg": "SVG",
    "png": "PNG (2x)",
    "pdf": "PDF",
    "json": "Vega-Lite JSON",
    "html": "HTML (interactive)",
    "csv": "CSV (data)",
    "md": "Markdown (table)",
    "tex": "LaTeX (table)",
}


def theme() -> drawings.Theme:
    """Light or dark, as the reader's browser has it."""
    return drawings.Theme(dark=is_dark(), screen=True)


def shade() -> str:
    """The style of a table's cell that is marked: as clear on a dark ground as on a light one."""
    return f"background-color: {SHADE.on(dark=is_dark())}"


def begin() -> None:
    """Forgets the placeholders of the page that was drawn before."""
    for key in (ROOM_LINKS, LINK, CONTENTS, CONTENTS_PLACE):
        st.session_state.pop(key, None)


def header(page: str, lead: str) -> None:
    """A page's title and lead; on a hosted server, also what becomes of the texts or images it takes."""
    set_tab_title(links.VIEWS[page].title)
    room = rooms.room_of(page)
    if room is not None and len(room.pages) > 1:
        with st.container(horizontal=True, vertical_alignment="center", key="doors"):
            st.session_state[ROOM_LINKS] = st.empty()
            _draw_room_links(page, {})
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(links.VIEWS[page].title, anchor=False)
        st.session_state[LINK] = st.container(width="content")
    st.markdown(lead, help=glossary_hint(lead))
    st.session_state[CONTENTS] = []
    st.session_state[CONTENTS_PLACE] = st.empty()
    if settings.hosted() and {"text", "image"} & set(links.VIEWS[page].defaults()):
        retention = (
            "Saved probes are kept with their text." if settings.switch("ADDEND_SAVE_PROBES") else "Nothing is saved."
        )
        st.caption(
            "This server is shared. What you type or upload is sent to it and held in its memory for a while, so "
            f"that the same request need not be computed twice; it is not logged. {retention} A text is also part of "
            "this page's address, unless it is too long for one, and your browser remembers it. Do not probe what is "
            "private."
        )


def set_tab_title(name: str) -> None:
    """Names the page in the browser's tab and history."""
    st.set_page_config(page_title=f"{name} · Addend")


def _draw_room_links(page: str, values: Mapping[str, Value]) -> None:
    """Links to the other pages of a page's room, with the model and text that those can take."""
    room = rooms.room_of(page)
    assert room is not None, f"{page} is in a room"
    with st.session_state[ROOM_LINKS], st.container(horizontal=True, vertical_alignment="center"):
        for other in room.pages:
            view = links.VIEWS[other]
            if other == page:
                st.markdown(f"**{view.title}**", width="content")
                continue
            accepted = view.defaults() if "text" in view.defaults() else {}
            carried = {field: values[field] for field in CARRIED if field in values and field in accepted}
            if other == "compare" and view.parameters(carried):
                carried |= text_probe.FOLLOWING
            st.page_link(f"views/{other}.py", label=view.title, query_params=query_parameters(other, carried))


def contents() -> None:
    """Links to a long page's figures, under its lead; called once the page is drawn."""
    figures = st.session_state.pop(CONTENTS, [])
    placeholder = st.session_state.pop(CONTENTS_PLACE, None)
    if placeholder is not None and len(figures) >= LONG_PAGE:
        entries = " · ".join(f"[{escape_markdown(title)}](#{name})" for name, title in figures)
        placeholder.caption(f"On this page: {entries}")


def section(title: str, anchor: str) -> None:
    """A heading that the page's table of contents lists."""
    st.header(escape_markdown(title), anchor=anchor)
    st.session_state.setdefault(CONTENTS, []).append((anchor, title))


def copy_link(page: str, values: Mapping[str, Value], *, without: tuple[str, ...] = (), why_not: str = "") -> None:
    """The control that gives the link to this view; links to the other pages of its room carry what they can.

    without: fields of the reader's text, left out of a second link. why_not: why no link can be given, where the
    reason is not the length of the text alone.
    """
    why_not = why_not or held_texts.why_no_link(page, values)
    if ROOM_LINKS in st.session_state:
        _draw_room_links(page, values)
    with (
        st.session_state.get(LINK) or st.container(),
        st.popover("Copy link", icon=":material/link:", key=f"{page}.link"),
    ):
        if why_not:
            st.info(why_not)
        else:
            st.caption("Opens this exact view. Use the copy button at the right of the box.")
            st.code(address(page, values), language=None, wrap_lines=True)
        if without and any(values.get(name) for name in without):
            st.caption("Without your text: links reach server logs and previews, so a text in a link is not private.")
            shared = {name: value for name, value in values.items() if name not in without}
            st.code(address(page, shared), language=None, wrap_lines=True)


def show(
    figure: Figure,
    page: str,
    values: Mapping[str, Value],
    *,
    why_not: str = "",
    under_heading: Callable[[], None] | None = None,
    flipbook: Callable[[], None] | None = None,
    on_cell: Callable[[Any, Any], None] | None = None,
    cell: tuple[str, str] = ROW_AND_COLUMN,
) -> None:
    """One figure with its data, exports and sources.

    why_not: why no link opens this view, which the exports then say. under_heading: draws between heading and caption.
    flipbook: draws heading and panels, where a slider changes them in the browser.
    on_cell: called with the values of the columns `cell` when a cell of a map is pressed, before the page is redrawn.
    """
    figure = _without_server_paths(figure)
    summary, method = _under_heading(figure)
    if flipbook is None:
        st.header(escape_markdown(figure.heading), anchor=figure.name)
        st.session_state.setdefault(CONTENTS, []).append((figure.name, figure.title))
    else:
        flipbook()
    if under_heading is not None:
        under_heading()
    st.caption(summary, help=glossary_hint(figure.finding, figure.title, figure.caption))
    if flipbook is None:
        charts(figure, page, on_cell=on_cell, cell=cell)
    link = why_not or held_texts.why_no_link(page, values) or address(page, values)
    key = f"{page}.{figure.name}"
    with st.container(horizontal=True, gap="small"):
        if method:
            with st.popover("How measured", icon=":material/straighten:", key=f"{key}.how"):
                st.caption(escape_markdown(method))
        for label, icon, draw in (
            ("Data", "table", partial(_data, figure)),
            ("Export", "download", partial(_exports, figure, key, link)),
            ("Source", "format_quote", partial(_sources, figure, page, link)),
        ):
            popover = st.popover(label, icon=f":material/{icon}:", key=f"{key}.{label.lower()}", on_change="rerun")
            if popover.open:  # Its content is made only while it is open.
                with popover:
                    draw()
    if method:
        st.html(f'<p class="on-paper">{escape(method)}</p>')


def charts(
    figure: Figure,
    page: str,
    *,
    on_cell: Callable[[Any, Any], None] | None = None,
    cell: tuple[str, str] = ROW_AND_COLUMN,
) -> None:
    """The panels of a figure, in its columns."""
    panels = vega_specs(figure, theme())
    columns = drawings.columns(figure)
    for start in range(0, len(panels), columns):
        row = panels[start : start + columns]
        places = st.columns(columns) if columns > 1 else [st.container()]
        for number, (placeholder, panel) in enumerate(zip(places, row, strict=False), start):
            key = f"{page}.{figure.name}.{number}"
            pressable: dict[str, Any] = {}
            if on_cell and (clickable := _clickable(panel, cell)):
                panel = clickable
                pressable = {"on_select": partial(_on_press, key, on_cell, cell), "selection_mode": CELL}
            placeholder.vega_lite_chart(panel, width="stretch", alt=_alt(panel, figure), key=key, **pressable)


def _under_heading(figure: Figure) -> tuple[str, str]:
    """The line under a figure's heading, as Markdown, and the rest of its caption; neither repeats the finding."""
    first, *rest = SENTENCE_END.split(figure.caption)
    if rest and first.removesuffix(".") == figure.finding:
        first, *rest = rest
    if not figure.finding:
        return escape_markdown(first), " ".join(rest)
    full_stop = "" if figure.title.endswith(("?", ".")) else "."
    return f"**{escape_markdown(figure.title)}{full_stop}** {escape_markdown(first)}", " ".join(rest)


def _clickable(panel: Mapping[str, Any], cell: tuple[str, str]) -> dict[str, Any]:
    """The panel with cells that answer to a press; empty where it has none whose data have both columns."""
    layers = [dict(layer) for layer in panel.get("layer", [])]
    for part in layers or [dict(panel)]:
        frame = panel["datasets"].get(part.get("data", panel.get("data", {})).get("name"))
        mark = part.get("mark")
        if frame is None or not isinstance(mark, dict) or mark.get("type") != "rect" or not set(cell) <= set(frame):
            continue
        part |= {"name": "cells", "mark": {**mark, "cursor": "pointer"}}
        select = {"type": "point", "fields": list(cell), "clear": "dblclick"}
        param = {"name": CELL, "select": select, **({"views": ["cells"]} if layers else {})}
        return {**panel, **({"layer": layers} if layers else part), "params": [param]}
    return {}


def _on_press(key: str, on_cell: Callable[[Any, Any], None], cell: tuple[str, str]) -> None:
    if cells := st.session_state[key]["selection"][CELL]:
        on_cell(*(int(value) if isinstance(value, int | float) else value for value in map(cells[0].get, cell)))


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


def _alt(panel: Mapping[str, Any], figure: Figure) -> str:
    """The alternative text of a panel: which one it is, and what the figure shows."""
    heading = panel.get("title")
    title = heading.get("text", "") if isinstance(heading, dict) else heading or ""
    panel_name = ", ".join(title) if isinstance(title, list) else str(title)
    return f"{panel_name}. {figure.alt}" if panel_name else figure.alt


def _data(figure: Figure) -> None:
    frame = figure.frame()
    if len(frame) > ROWS_SHOWN:
        st.caption(f"The first {ROWS_SHOWN:,} of {len(frame):,} rows; the CSV export holds all.")
    st.dataframe(frame.head(ROWS_SHOWN), hide_index=True)


def _exports(figure: Figure, key: str, link: str) -> None:
    stem = f"addend-{_file_stem(figure)}"

    def button(label: str, make: Callable[[], bytes], suffix: str, media: str, key: str) -> None:
        st.download_button(
            label, exports.deferred(make), f"{stem}.{suffix}", media, on_click="ignore", key=key, width="stretch"
        )

    for form, (media, _) in export.FORMATS.items():
        suffix = "vl.json" if form == "json" else form
        button(FORMAT_NAMES[form], partial(export.render, figure, form, link), suffix, media, f"{key}.export.{form}")
    button(
        "Manifest (JSON)",
        lambda: json.dumps(export.manifest(figure, link), indent=2).encode(),
        "manifest.json",
        "application/json",
        f"{key}.manifest",
    )
    st.caption("Pictures and pages contain the manifest: link, versions, model, input, command.")
    exports.export_notice()


def _sources(figure: Figure, page: str, link: str) -> None:
    has_link = link.startswith("http")  # Otherwise it is the sentence that says why there is no link.
    if has_link and FIGURES[figure.name].live is None:
        st.caption("Embed it in your own page")
        st.code(embedded_frame(figure, link), language="html", wrap_lines=True)
    st.caption("The command that reproduces these numbers")
    st.code(figure.command, language="bash", wrap_lines=True)
    if has_link and figure.name in links.VIEWS[page].figures:
        st.caption("The command that writes this very figure's data")
        command = f"python -m analysis export {quote(link)} --figure {figure.name} -o {_file_stem(figure)}.csv"
        st.code(command, language="bash", wrap_lines=True)
    if figure.provenance:
        st.caption("Where they come from")
        for name, value in figure.provenance.items():
            st.text(f"{name}: {value}")
    cite_this(figure.name, figure.title, link)
    cite(figure.citation_keys)


def _file_stem(figure: Figure) -> str:
    return figure.name.replace("_", "-")


def embedded_frame(figure: Figure, link: str) -> str:
    """The HTML that shows a figure alone, in a frame of its size, in another page."""
    panels = vega_specs(figure, theme())
    rows = -(-len(panels) // drawings.columns(figure))
    tallest = max((panel.get("height", 0) for panel in panels), default=0)
    height = 150 + rows * (int(tallest) if isinstance(tallest, int | float) else 400)
    source = f"{link}{'&' if '?' in link else '?'}{ONLY}={figure.name}&embed=true"
    title = escape(figure.heading, quote=True)
    return f'<iframe src="{escape(source, quote=True)}" title="{title}" width="100%" height="{height}"></iframe>'


def cite_this(key: str, title: str, link: str) -> None:
    """The citation of a chart or a claim, in plain text and in BibTeX."""
    summary = queries.citation_for(key, title, link)
    st.caption("Cite this")
    st.code(summary.plain(), language=None, wrap_lines=True)
    st.code(summary.bibtex(), language="latex", wrap_lines=True)


def cite(keys: tuple[str, ...]) -> None:
    """BibTeX of the works a figure rests on."""
    if not keys:
        return
    st.caption("Works it rests on")
    marks = ", ".join("?" * len(keys))
    frame = queries.rows(f"SELECT bibtex FROM citations WHERE citation_key IN ({marks}) ORDER BY citation_key", keys)
    st.code("\n\n".join(frame.bibtex), language="latex", wrap_lines=True)


def show_problem(problem: AddendError) -> None:
    """Says what went wrong, at this place of the page."""
    text = escape_markdown(hide_server_paths(str(problem)))
    if not isinstance(problem, ModelNotDownloaded | ProbeStopped | NotInstalled):
        st.error(text, icon=":material/error:")
        return
    st.info(text, icon=":material/info:")  # nothing went wrong: it waits for a press, or for an installation
    if isinstance(problem, ModelNotDownloaded):
        live.download_button(problem)
    elif isinstance(problem, ProbeStopped):
        live.resume_button(problem)


@contextmanager
def reporting_problems() -> Iterator[None]:
    """Reports a problem of the block at this place; the page goes on."""
    try:
        yield
    except AddendError as problem:
        show_problem(problem)


@contextmanager
def reporting_missing_results() -> Iterator[None]:
    """Says which stored results the block lacks; the page goes on."""
    try:
        yield
    except NoResults as missing:
        st.info(escape_markdown(str(missing)), icon=":material/hourglass_empty:")


def show_failure(error: Exception) -> None:
    """Reports an unexpected exception and logs where it arose, without its message, which may quote a reader's text."""
    reference = uuid.uuid4().hex[:8]
    log.log_event("broken", reference=reference, kind=type(error).__name__, at=log.code_locations(error))
    st.error(
        f"Something in Addend failed (reference {reference}, in the server's log). Change a setting, or reload the "
        "page."
    )
