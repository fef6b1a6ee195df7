"""The menu of a figure: how it was measured, its data, its exports, its sources and its link, each in a window."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from shlex import quote

import pandas as pd
import streamlit as st
from pandas.api.types import is_float_dtype

from analysis import links
from analysis.figures import FIGURES, Figure, drawing, export
from analysis.figures.citation import bibtex_of, citation_of
from analysis.figures.paper import paper_caption
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import exports
from dashboard.widgets.show.panels import theme
from dashboard.widgets.vega_specs import vega_specs

ONLY = "only"
"""The parameter of an address that shows one figure alone."""
ROWS_SHOWN = 5_000
TINY = 1e-9
"""The size below which a number is shown with four digits and a power of ten."""
CHIPS: Mapping[str, Mapping[str, str]] = {
    "Picture": {"svg": "SVG", "png": "PNG (2x)", "pdf": "PDF", "html": "HTML (interactive)", "json": "Vega-Lite JSON"},
    "For a paper": {"1-column.pdf": "PDF, 1 column", "1-column.svg": "SVG, 1 column"}
    | {"2-columns.pdf": "PDF, 2 columns", "2-columns.svg": "SVG, 2 columns"},
    "Data": {"csv": "CSV (all rows)", "tex": "LaTeX (table)", "md": "Markdown (table)"},
}
"""The formats of exports by kind, with their labels."""


def menu(figure: Figure, page: str, link: str, method: str) -> None:
    """The button that opens the menu, and the window of what is chosen in it.

    link: opens the view, or the sentence that says why no link does. method: the part of the caption that is not shown.
    """
    windows: dict[str, Callable[[], None]] = {
        **({"How measured": partial(_method, method)} if method else {}),
        "Data": partial(_data, figure),
        "Export": partial(_exports, figure, f"{page}.{figure.name}", link),
        "Source": partial(_sources, figure, page, link),
        "Copy link": partial(_link, figure, link),
    }
    chosen = st.menu_button(
        "More about this figure",
        list(windows),
        icon=":material/more_horiz:",
        type="tertiary",
        key=f"{page}.{figure.name}.menu",
    )
    if chosen:
        # Prose is read in lines of some 80 letters; tables and code need more room.
        width = "medium" if chosen == "How measured" else "large"
        st.dialog(chosen, width=width)(windows[chosen])()


def _method(method: str) -> None:
    st.markdown(escape_markdown(method))


def _data(figure: Figure) -> None:
    frame = figure.frame()
    if len(frame) > ROWS_SHOWN:
        st.caption(f"The first {ROWS_SHOWN:,} of {len(frame):,} rows; the CSV export holds all.")
    shown = frame.head(ROWS_SHOWN)
    # Printed in full, a value such as 5.8e-285 is eighty digits, of which the last are seen.
    small = {name: st.column_config.NumberColumn(format="%.4g") for name in tiny_columns(shown)}
    st.dataframe(shown, hide_index=True, column_config=small)


def tiny_columns(frame: pd.DataFrame) -> list[str]:
    """The columns of numbers that hold values nearer to zero than `TINY`, other than zero."""
    numbers = [name for name in frame.columns if is_float_dtype(frame[name])]
    return [name for name in numbers if ((frame[name] != 0) & (frame[name].abs() < TINY)).any()]


def _exports(figure: Figure, key: str, link: str) -> None:
    stem = f"addend-{_file_stem(figure)}"

    def button(label: str, make: Callable[[], bytes], suffix: str, media: str, name: str) -> None:
        st.download_button(
            label, exports.deferred(make), f"{stem}.{suffix}", media, on_click="ignore", key=f"{key}.export.{name}"
        )

    for kind, labels in CHIPS.items():
        st.markdown(f"**{kind}**")
        with st.container(horizontal=True, gap="small"):
            for form, label in labels.items():
                suffix = "vl.json" if form == "json" else form
                button(label, partial(export.render, figure, form, link), suffix, export.FORMATS[form][0], form)
            if kind == "Data":
                manifest = partial(export.manifest, figure, link)
                make = partial(_as_json, manifest)
                button("Manifest (JSON)", make, "manifest.json", "application/json", "manifest")
    st.caption(
        "A picture for a paper is 3.3 or 6.9 inches wide, has letters of 8 points and no title. Its caption, to copy:"
    )
    st.code(paper_caption(figure, link), language=None, wrap_lines=True)
    _note_local(link)
    st.caption("Pictures and pages contain the manifest: link, versions, model, input, command.")
    exports.export_notice()


def _as_json(make: Callable[[], Mapping[str, object]]) -> bytes:
    return json.dumps(make(), indent=2).encode()


def _link(figure: Figure, link: str) -> None:
    if not link.startswith("http"):  # Then it is the sentence that says why there is no link.
        st.info(escape_markdown(link))
        return
    st.caption("Opens this exact view. Use the copy button at the right of the box.")
    st.code(link, language=None, wrap_lines=True)
    if FIGURES[figure.name].live is None:
        st.caption("Embeds this figure in a page of your own.")
        st.code(embedded_frame(figure, link), language="html", wrap_lines=True)


def _sources(figure: Figure, page: str, link: str) -> None:
    st.caption("The command that reproduces these numbers")
    st.code(figure.command, language="bash", wrap_lines=True)
    if link.startswith("http") and figure.name in links.VIEWS[page].figures:
        st.caption("The command that writes this very figure's data")
        command = f"python -m analysis export {quote(link)} --figure {figure.name} -o {_file_stem(figure)}.csv"
        st.code(command, language="bash", wrap_lines=True)
    if figure.provenance:
        st.caption("Where they come from")
        for name, value in figure.provenance.items():
            st.text(f"{name}: {value}")
    st.caption("Cite this")
    cite_this(figure.name, figure.title, link)
    _note_local(link)
    cite(figure.citation_keys)


def _note_local(link: str) -> None:
    """Says of an address that leads to the reader's own machine that nobody else can open it, and what helps."""
    if links.is_local(link):
        st.caption(
            "The address leads to this machine, and nobody else can open it. For one to cite, set ADDEND_PUBLIC_URL "
            "to the address of a copy that others reach; the command under Source makes the same figure anywhere."
        )


def _file_stem(figure: Figure) -> str:
    return figure.name.replace("_", "-")


def embedded_frame(figure: Figure, link: str) -> str:
    """The HTML that shows a figure alone, in a frame of its size, in another page."""
    panels = vega_specs(figure, theme())
    rows = -(-len(panels) // drawing.columns(figure))
    tallest = max((panel.get("height", 0) for panel in panels), default=0)
    height = 150 + rows * (int(tallest) if isinstance(tallest, int | float) else 400)
    source = f"{link}{'&' if '?' in link else '?'}{ONLY}={figure.name}&embed=true"
    title = escape(figure.heading, quote=True)
    return f'<iframe src="{escape(source, quote=True)}" title="{title}" width="100%" height="{height}"></iframe>'


def cite_this(key: str, title: str, link: str) -> None:
    """The citation of a chart or a claim, in plain text and in BibTeX."""
    summary = citation_of(key, title, link)
    st.code(summary.plain(), language=None, wrap_lines=True)
    st.code(summary.bibtex(), language="latex", wrap_lines=True)


def cite(keys: tuple[str, ...]) -> None:
    """BibTeX of the works a figure rests on."""
    if not keys:
        return
    st.caption("Works it rests on")
    st.code(bibtex_of(keys), language="latex", wrap_lines=True)
