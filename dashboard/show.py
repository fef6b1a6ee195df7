"""Shows a figure: its panels, its caption, the data behind it, its exports and its sources."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from shlex import quote
from typing import Any

import streamlit as st

from analysis import settings
from analysis.errors import AddendError, NotHere, NotInstalled, Stopped
from analysis.figures import Figure
from dashboard import charts, exports, links, live, log, queries, rooms
from dashboard.charts import render
from dashboard.drawn import specifications
from dashboard.links import Value
from dashboard.plain import plain, public

ROWS_SHOWN = 5_000
FORMAT_NAMES = {"svg": "SVG", "png": "PNG (2x)", "pdf": "PDF", "json": "Vega-Lite JSON", "csv": "CSV (data)"}


def look() -> charts.Look:
    """Light or dark, as the reader's browser has it."""
    return charts.Look(dark=st.context.theme.type == "dark", screen=True)


def address(page: str, values: Mapping[str, Value]) -> str:
    """The link to a page in a state, at the address the reader came by (which may end in the path of a page)."""
    seen = (st.context.url or "").rstrip("/")
    stem, _, last = seen.rpartition("/")
    return links.link(page, values, stem if last in links.VIEWS else seen)


def header(page: str, lead: str) -> None:
    """A page's title and what it answers; on a hosted server, what becomes of the texts or images it takes."""
    titled(links.VIEWS[page].title)
    _doors(page)
    st.title(links.VIEWS[page].title, anchor=False)
    st.markdown(lead)
    if settings.hosted() and {"text", "image"} & set(links.VIEWS[page].defaults()):
        kept = (
            "Saved probes are kept with their text." if settings.switch("ADDEND_SAVE_PROBES") else "Nothing is saved."
        )
        st.caption(
            f"This server is shared. What you type or upload is sent to it and held in its memory for a while, so that "
            f"the same need not be computed twice; it is not logged. {kept} A text also stands in this page's address, "
            "which your browser remembers. Do not probe what is private.",
        )


def titled(name: str) -> None:
    """What the browser's tab and its history call the page."""
    st.set_page_config(page_title=f"{name} · Addend")


def _doors(page: str) -> None:
    """Links to the other pages of a page's room."""
    room = rooms.room_of(page)
    if room is None or len(room.pages) < 2:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="doors"):
        for other in room.pages:
            name = links.VIEWS[other].title
            if other == page:
                st.markdown(f"**{name}**", width="content")
            else:
                st.page_link(f"views/{other}.py", label=name)


def below_the_list() -> None:
    """What stands under the list of rooms."""
    st.sidebar.page_link(f"views/{rooms.FOOTER}.py", label="Status", icon=":material/monitor_heart:")


def copy_link(page: str, values: Mapping[str, Value], *, without: tuple[str, ...] = (), why_not: str = "") -> None:
    """The control that gives the link to this very view."""
    with st.popover("Copy link", icon=":material/link:", key=f"{page}.link"):
        if why_not:
            st.info(why_not)
        else:
            st.caption("Opens this exact view. Use the copy button at the right of the box.")
            st.code(address(page, values), language=None, wrap_lines=True)
        if without and any(values.get(name) for name in without):
            st.caption("Without your text: links reach server logs and previews, so a text in a link is not private.")
            shared = {name: value for name, value in values.items() if name not in without}
            st.code(address(page, shared), language=None, wrap_lines=True)


def show(figure: Figure, page: str, values: Mapping[str, Value], *, title: bool = True, why_not: str = "") -> None:
    """One figure with all that stands behind it. why_not: why no link opens this view, which its exports then say."""
    if title:
        st.subheader(plain(figure.title), anchor=False)
    drawn = specifications(figure, look())
    columns = charts.columns(figure)
    for start in range(0, len(drawn), columns):
        row = drawn[start : start + columns]
        places = st.columns(columns) if columns > 1 else [st.container()]
        for number, (place, panel) in enumerate(zip(places, row, strict=False), start):
            place.vega_lite_chart(
                dict(panel), width="stretch", alt=_alt(panel, figure), key=f"{page}.{figure.name}.{number}"
            )
    figure = _public(figure)
    st.caption(plain(figure.caption))
    with st.container(horizontal=True, gap="small"):
        _data(figure, page)
        link = why_not or address(page, values)
        _exports(figure, page, link)
        _sources(figure, page, link)


def _public(figure: Figure) -> Figure:
    """On a hosted server, the figure without the server's folders in what is said of it."""
    if not settings.hosted():
        return figure
    return replace(
        figure,
        caption=public(figure.caption),
        command=public(figure.command),
        provenance={name: public(value) for name, value in figure.provenance.items()},
    )


def _alt(panel: Mapping[str, Any], figure: Figure) -> str:
    """What a reader who cannot see the panel is told: which one it is, and what the figure shows."""
    heading = panel.get("title")
    text = heading.get("text", "") if isinstance(heading, dict) else heading or ""
    name = ", ".join(text) if isinstance(text, list) else str(text)
    return f"{name}. {figure.alt}" if name else figure.alt


def _popover(figure: Figure, page: str, label: str, icon: str) -> Any:
    """A popover whose content is made only while it is open."""
    return st.popover(label, icon=icon, key=f"{page}.{figure.name}.{label.lower()}", on_change="rerun")


def _data(figure: Figure, page: str) -> None:
    popover = _popover(figure, page, "Data", ":material/table:")
    if not popover.open:
        return
    with popover:
        frame = figure.frame()
        if len(frame) > ROWS_SHOWN:
            st.caption(f"The first {ROWS_SHOWN:,} of {len(frame):,} rows; the CSV export holds all.")
        st.dataframe(frame.head(ROWS_SHOWN), hide_index=True)


def _exports(figure: Figure, page: str, link: str) -> None:
    popover = _popover(figure, page, "Export", ":material/download:")
    if not popover.open:
        return
    with popover:
        for form, (media, _) in render.FORMATS.items():
            st.download_button(
                FORMAT_NAMES[form],
                data=exports.maker(partial(render.render, figure, form, link)),
                file_name=f"addend-{figure.name.replace('_', '-')}.{'vl.json' if form == 'json' else form}",
                mime=media,
                on_click="ignore",
                key=f"{page}.{figure.name}.export.{form}",
                width="stretch",
            )
        st.download_button(
            "Manifest (JSON)",
            data=exports.maker(lambda: json.dumps(render.manifest(figure, link), indent=2).encode()),
            file_name=f"addend-{figure.name.replace('_', '-')}.manifest.json",
            mime="application/json",
            on_click="ignore",
            key=f"{page}.{figure.name}.manifest",
            width="stretch",
        )
        st.caption("Every format but CSV carries the manifest inside: link, versions, model, input, command.")
        exports.told()


def _sources(figure: Figure, page: str, link: str) -> None:
    popover = _popover(figure, page, "Source", ":material/format_quote:")
    if not popover.open:
        return
    with popover:
        st.caption("The command that reproduces these numbers")
        st.code(figure.command, language="bash", wrap_lines=True)
        # Where no link opens this view, a sentence stands in its place.
        if link.startswith("http") and figure.name in links.VIEWS[page].figures:
            st.caption("The command that writes this very figure's data")
            named = figure.name.replace("_", "-")
            st.code(
                f"python -m analysis export {quote(link)} --figure {figure.name} -o {named}.csv",
                language="bash",
                wrap_lines=True,
            )
        if figure.provenance:
            st.caption("Where they come from")
            for name, value in figure.provenance.items():
                st.text(f"{name}: {value}")
        cite_this(figure.name, figure.title, link)
        cite(figure.citation_keys)


def cite_this(key: str, title: str, link: str) -> None:
    """How to cite a chart or a claim, in plain text and in BibTeX: link, date, versions of store and code."""
    about = queries.cited(key, title, link)
    st.caption("Cite this")
    st.code(about.plain(), language=None, wrap_lines=True)
    st.code(about.bibtex(), language="latex", wrap_lines=True)


def cite(keys: tuple[str, ...]) -> None:
    """BibTeX of the works a figure rests on."""
    if not keys:
        return
    st.caption("Works it rests on")
    marks = ", ".join("?" for _ in keys)
    found = queries.rows(f"SELECT bibtex FROM citations WHERE citation_key IN ({marks}) ORDER BY citation_key", keys)
    st.code("\n\n".join(found.bibtex), language="latex", wrap_lines=True)


def sentence(problem: AddendError) -> None:
    """What went wrong, in the page's own flow; the app goes on."""
    said = plain(public(str(problem)))
    if not isinstance(problem, NotHere | Stopped | NotInstalled):
        st.error(said, icon=":material/error:")
        return
    st.info(said, icon=":material/info:")  # nothing went wrong: it waits for a press, or for an installation
    if isinstance(problem, NotHere):
        live.download(problem)
    elif isinstance(problem, Stopped):
        live.go_on(problem)


def broken(failed: Exception) -> None:
    """Says that something of ours broke, and logs where. What the exception says may quote a reader: nobody sees it."""
    reference = uuid.uuid4().hex[:8]
    log.line("broken", reference=reference, kind=type(failed).__name__, at=log.where(failed))
    st.error(f"Addend broke at this (reference {reference}, in the server's log). Change something, or start anew.")
