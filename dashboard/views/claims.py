"""Claims: which explanations hold, one statement at a time; or one claim in full."""

import streamlit as st

from dashboard.session import queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import claim_cards, one_claim, show, statement_table
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.pickers import Pickers

PAGE = "claims"
ORDERS = {"question": "By question", "verdict": "By verdict"}
VERSIONS = {"2": "Statements (rules, version 2)", "1": "First verdicts (version 1, exploratory)"}

show.header(
    PAGE,
    "Five documents explain why positions are added to words. Here is what they claim, split into statements that "
    "say one thing each, and what measurements and papers say about each of them.",
)
headings = queries.headings()
picked = Pickers(PAGE)
claim = picked.fixed("claim", ["", *(one.id for one in headings)])
if claim:
    values = {**picked.values(), **picked.done()}
    show.set_tab_title(claim)
    show.copy_link(PAGE, values)
    one_claim.show_claim(next(one for one in headings if one.id == claim), PAGE, values)
    st.stop()

if picked.get("verdict") in set(queries.FIRST_VERDICTS) - set(queries.VERDICTS):
    picked.set("rules", "1")  # A link from when these were the only verdicts.
documents = queries.claim_documents()
rules = picked.segments("rules", "Verdicts", list(VERSIONS), VERSIONS)
words = queries.VERDICTS if rules == "2" else queries.FIRST_VERDICTS
counts = queries.statement_counts() if rules == "2" else queries.verdict_counts()
if rules == "2":
    total = sum(counts.values())
    st.markdown(f"**{len(headings)} claims are split into {total} statements: {statement_table.tally(counts)}.**")
    st.caption(
        "The rules for our own trainings were frozen before those trainings began. The rules for other measurements "
        "were written when most of these were known. A statement is open until what it asks for has been measured; it "
        "then says what would decide it."
    )
else:
    claim_cards.tally(counts)
    st.caption(
        f"Version 1 was exploratory: its rules were written after the first runs, and {queries.changed_rules()} of "
        f"them have changed since. It judged each claim as a whole. {queries.first_verdicts_closed()}"
    )
with st.container(horizontal=True, vertical_alignment="bottom"):
    verdict = picked.choice("verdict", "Verdict", ["", *words], lambda word: word or "every verdict", width=210)
    document = picked.choice(
        "document",
        "Document",
        ["", *documents],
        lambda key: f"{documents[key].title}" if key else "any document",
        width=340,
    )
    by = picked.segments("by", "Order", list(ORDERS), ORDERS)
values = picked.done()
show.copy_link(PAGE, values)
groups = queries.CLAIM_QUESTIONS if by == "question" else {word: word.capitalize() for word in words}
anything = False
if rules == "2":
    st.caption(
        "In each picture, the large dot is the value that decides, the bar its 95 % confidence interval, and small "
        "dots are the other readings. A dashed line is what the rule compares with, the shaded side of it supports the "
        "statement, and a thin line marks no difference. A result that the rule asks to lie in the shaded part must do "
        "so with its interval.",
        help=glossary_hint(*(f"{part.statement} {part.unit} {part.scope}" for one in headings for part in one.parts)),
    )
    for key, title in groups.items():
        among = [
            (one, [part for part in one.parts if verdict in ("", part.verdict)])
            for one in headings
            if (by == "verdict" or one.question == key) and (not document or document in one.documents)
        ]
        if by == "verdict":
            among = [(one, [part for part in parts if part.verdict == key]) for one, parts in among]
        among = [(one, parts) for one, parts in among if parts]
        if not among:
            continue
        anything = True
        show.section(title, f"group-{key}".replace(" ", "-"))
        for one, parts in among:
            st.markdown(f"**{escape_markdown(statement_table.heading(one))}**")
            statement_table.show_statements(parts)
else:
    entries = [
        entry
        for entry in queries.claims()
        if verdict in ("", entry.verdict) and (not document or document in entry.documents)
    ]
    for key, title in groups.items():
        chosen = [entry for entry in entries if getattr(entry, by) == key]
        if not chosen:
            continue
        anything = True
        show.section(title, f"group-{key}".replace(" ", "-"))
        for start in range(0, len(chosen), 2):
            for place, entry in zip(st.columns(2), chosen[start : start + 2], strict=False):
                with place:
                    claim_cards.card(entry)
if not anything:
    st.info("No claim of this document has this verdict.")
figure = "claims_statements" if rules == "2" else "claims_verdicts"
show.show(queries.figure(figure, {}), PAGE, values)
st.caption(
    "The same as a table: `SELECT * FROM claims`. The store also holds the rules, queries and evidence as tables."
)
