"""Citations: of a figure or a claim, and of the works that it rests on."""

import streamlit as st

from analysis.figures.citation import bibtex_of, citation_of


def cite_this(key: str, title: str, link: str) -> None:
    """The citation of a chart or a claim, in plain text and in BibTeX."""
    summary = citation_of(key, title, link)
    st.caption("Cite this")
    st.code(summary.plain(), language=None, wrap_lines=True)
    st.code(summary.bibtex(), language="latex", wrap_lines=True)


def cite(keys: tuple[str, ...]) -> None:
    """BibTeX of the works a figure rests on."""
    if not keys:
        return
    st.caption("Works it rests on")
    st.code(bibtex_of(keys), language="latex", wrap_lines=True)
