"""Citations: of a figure or a claim, and of the works that it rests on."""

import streamlit as st

from dashboard.session import queries


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
