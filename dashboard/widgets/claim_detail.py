"""One claim in full: who makes it, its statements one by one, the first verdict, and the evidence for each."""

from typing import Any

import streamlit as st

from analysis.ablation.variants import readable
from analysis.claims.statements.base import Judgement
from analysis.claims.statements.comparison import rule_in_words
from analysis.claims.statements.stored import Heading
from analysis.claims.stored import Entry
from analysis.core.formatting import interval_text, significant
from analysis.links import Value
from dashboard.session import queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.session.page_address import query_parameters
from dashboard.widgets import show, statement_table
from dashboard.widgets.claim_cards import effect_in_words, show_badge, show_effect
from dashboard.widgets.glossary_hint import glossary_hint

HEADINGS = {"for": "Speaks for it", "against": "Speaks against it", "beside": "Is related, but decides nothing"}
EMPTY_TEXTS = {
    "for": "Nothing in the store supports it.",
    "against": "Nothing in the store contradicts it, though it was looked for.",
}
MAX_ROWS = 200
INITIAL_ROWS = 12
"""Rows of evidence above the expander with the rest."""


def show_claim(heading: Heading, page: str, values: dict[str, Value]) -> None:
    """One claim in full: its statements with their readings, and the first verdict."""
    st.page_link("views/claims.py", label="All claims", icon=":material/arrow_back:")
    st.header(f"{heading.id}. {escape_markdown(heading.title)}", anchor=False)
    entry = next((claim for claim in queries.claims() if claim.id == heading.id), None)
    if heading.statement:
        st.markdown(f"> {escape_markdown(heading.statement)}")
    _documents(heading)
    st.markdown(f"**{escape_markdown(f'Its statements: {heading.lean}')}**")
    for part in heading.parts:
        _statement(part)
    if heading.changes:
        st.markdown("**What changed**")
        st.markdown("\n".join(f"- {escape_markdown(change.words)}" for change in heading.changes))
    if entry is not None:
        st.divider()
        st.subheader("The first verdict, on the claim as a whole", anchor=False)
        st.caption(
            "Version 1 of the rules was exploratory: they were written after the first runs, and many were changed "
            f"while results came in. {queries.first_verdicts_note()} Its evidence is kept as it was: a page that "
            "averages over other tasks today may give another number for the same comparison."
        )
        _first_verdict(entry, page, values)
    with st.expander("How to cite this claim and its verdicts"):
        first = f"; first verdict: {entry.verdict}" if entry is not None else ""
        title = f"{heading.id}. {heading.title}: {heading.lean}{first}"
        show.cite_this(heading.id, title, show.address(page, values))


def _statement(judgement: Judgement) -> None:
    """One statement: its row, the finding in words, the readings and the query behind it."""
    statement_table.show_statements([judgement], linked=False)
    st.markdown(escape_markdown(judgement.sentence), help=glossary_hint(judgement.statement, judgement.sentence))
    name = statement_table.evidence(judgement)
    box = st.expander(
        f"Behind {judgement.id}: {name}, rule and query", key=f"claims.statement.{judgement.id}", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        rule = rule_in_words(judgement)
        st.markdown(f"**The rule.** {escape_markdown(rule)}", help=glossary_hint(rule))
        timing = (
            "was written when most of these data were known"
            if judgement.exploratory
            else "was frozen before these runs"
        )
        version = f"Version {judgement.rules_version} of the rules (SHA-256 {judgement.rules_sha[:12]})"
        st.caption(escape_markdown(f"{version}, which {timing}."))
        if judgement.readings:
            columns = ("source", "standing", "value", "low", "high", "line", "note")
            rows = [{name: getattr(reading, name) for name in columns} for reading in judgement.readings]
            st.dataframe(rows, hide_index=True)
        if judgement.page:
            st.page_link(f"views/{judgement.page}.py", label="See the figure", icon=":material/arrow_forward:")
        if judgement.command:
            st.caption("This command makes the missing results; then the verdict is computed again:")
            st.code(judgement.command, language="bash", wrap_lines=True)
        if judgement.query:
            st.code(judgement.query, language="sql", wrap_lines=True)


def _first_verdict(entry: Entry, page: str, values: dict[str, Value]) -> None:
    """Version 1's verdict: the rule, the evidence for and against, and every query."""
    show_badge(entry.verdict)
    with st.container(border=True):
        st.markdown(f"**{escape_markdown(readable(entry.sentence))}**")
        if words := effect_in_words(entry):
            show_effect(entry)
            st.caption(escape_markdown(words))
        if entry.models:
            st.caption(escape_markdown(f"Measured on: {', '.join(map(readable, entry.models))}"))
        if entry.command:
            closed = "This command measures it, but the first verdict is closed and stays as it is:"
            st.caption(escape_markdown(f"Missing: {entry.missing}. {closed}"))
            st.code(entry.command, language="bash", wrap_lines=True)
    st.subheader("Its rule", anchor=False)
    st.markdown(escape_markdown(entry.rule))
    if entry.changed:
        st.markdown("**Changed after its verdict was known**")
        st.markdown("\n".join(f"- {escape_markdown(change)}" for change in entry.changed))
    st.caption(escape_markdown(f"Measurements that decided it: {entry.asks}"))
    if entry.views:
        st.markdown("**See it yourself**")
        with st.container(horizontal=True):
            for view in entry.views:
                st.page_link(
                    f"views/{view.page}.py",
                    label=view.label,
                    icon=":material/arrow_forward:",
                    query_params=query_parameters(view.page, view.values),
                )
    with show.reporting_missing_results():
        show.show(queries.figure("claim_evidence", {"claim": entry.id}), page, values)
    _evidence(entry)
    _queries(entry)


def _documents(heading: Heading) -> None:
    documents = queries.claim_documents()
    for key in heading.documents:
        document = documents[key]
        title = escape_markdown(document.title)
        name = f"[{title}]({document.url})" if document.url else title
        st.caption(f"Claimed in: {name}, {escape_markdown(document.kind)}, {escape_markdown(document.site)}")


def _evidence(entry: Entry) -> None:
    frame = queries.claim_evidence(entry.id)
    for side, heading in HEADINGS.items():
        rows = frame[frame.side == side]
        if rows.empty and side not in EMPTY_TEXTS:
            continue
        st.subheader(f"{heading} ({len(rows)})", anchor=False)
        if rows.empty:
            st.caption(EMPTY_TEXTS[side])
            continue
        caveat_rows: dict[str, int] = {}
        lines = [_line(row, caveat_rows) for row in rows.itertuples()]
        st.markdown("\n".join(lines[:INITIAL_ROWS]))
        if rest := lines[INITIAL_ROWS:]:
            with st.expander(f"{len(rest)} more", key=f"claims.more.{side}"):
                st.markdown("\n".join(rest))


def _line(row: Any, caveat_rows: dict[str, int]) -> str:
    """One piece of evidence as an item of a list: what, how much, from where, its page and its caveat.

    caveat_rows: the number of the first row with a caveat; later rows refer to it.
    """
    parts = [f"{row.number}. {escape_markdown(readable(row.says))}"]
    if row.value == row.value:
        interval = f"{interval_text(row.low, row.high, '.3g')} {row.unit}"
        parts.append(f"**{significant(row.value)}**{escape_markdown(interval)}")
    parts.append(escape_markdown(readable(row.source)) + (" (published)" if row.kind == "published" else ""))
    if isinstance(row.page, str):
        parts.append(f"[see the figure]({show.address(row.page, row.values)})")
    line = " · ".join(parts)
    if not row.caveat:
        return line
    first = caveat_rows.setdefault(row.caveat, row.number)
    return f"{line} *{escape_markdown(row.caveat)}*" if first == row.number else f"{line} *Caveat: see {first}.*"


def _queries(entry: Entry) -> None:
    st.subheader("Every row behind it", anchor=False)
    st.caption(
        "You can run each query as it is, here or on the command line, over the results as they are stored today."
    )
    for name, sql in entry.queries.items():
        box = st.expander(name.replace("_", " "), key=f"claims.query.{name}", on_change="rerun")
        if not box.open:
            continue
        with box:
            st.code(f'python -m analysis query "{sql}"', language="bash", wrap_lines=True)
            rows = queries.rows(sql)
            st.caption(f"{len(rows):,} rows" + (f", the first {MAX_ROWS}" if len(rows) > MAX_ROWS else ""))
            st.dataframe(rows.head(MAX_ROWS), hide_index=True)
