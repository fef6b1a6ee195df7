"""Claims: which explanations hold, one statement at a time; or one claim in full."""

import streamlit as st

from analysis.core.formatting import plural
from dashboard.session import queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import claim_cards, claim_detail, show, statement_table
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.pickers import Pickers

PAGE = "claims"
ORDERS = {"question": "By question", "verdict": "By verdict"}
VERSIONS = {"2": "Statements", "1": "First verdicts (version 1, exploratory)"}

show.header(
    PAGE,
    "Five documents explain why positions are added to words. Here is what they claim, split into statements that "
    "say one thing each, and what measurements and papers say about each of them.",
)
headings = queries.headings()
pickers = Pickers(PAGE)
claim = pickers.fixed("claim", ["", *(heading.id for heading in headings)])
if claim:
    values = pickers.done()
    show.set_tab_title(claim)
    show.copy_link(PAGE, values)
    claim_detail.show_claim(next(heading for heading in headings if heading.id == claim), PAGE, values)
    st.stop()

if pickers.get("verdict") in set(queries.FIRST_VERDICTS) - set(queries.VERDICTS):
    pickers.set("rules", "1")  # A link from when these were the only verdicts.
documents = queries.claim_documents()
rules = pickers.segments("rules", "Verdicts", list(VERSIONS), VERSIONS)
verdict_names = queries.VERDICTS if rules == "2" else queries.FIRST_VERDICTS
counts = queries.statement_counts() if rules == "2" else queries.verdict_counts()
if rules == "2":
    total = sum(counts.values())
    st.markdown(f"**{len(headings)} claims are split into {total} statements: {statement_table.tally(counts)}.**")
    st.caption(
        "The rules for our own trainings were frozen before those trainings began. The rules for other measurements "
        "were written when most of these were known. A statement is open until what it asks for has been measured; it "
        "then says what would decide it. "
        f"{plural(sum(len(heading.changes) for heading in headings), 'statement')} of before, corrected or withdrawn, "
        "stand with their verdicts under the claims that they belong to."
    )
else:
    claim_cards.show_counts(counts)
    st.caption(
        f"Version 1 was exploratory: its rules were written after the first runs, and {queries.changed_rules()} of "
        f"them have changed since. It judged each claim as a whole. {queries.first_verdicts_note()}"
    )
with st.container(horizontal=True, vertical_alignment="bottom"):
    verdict = pickers.choice(
        "verdict", "Verdict", ["", *verdict_names], lambda word: word or "every verdict", width=210
    )
    document = pickers.choice(
        "document",
        "Document",
        ["", *documents],
        lambda key: f"{documents[key].title}" if key else "any document",
        width=340,
    )
    order = pickers.segments("by", "Order", list(ORDERS), ORDERS)
values = pickers.done()
show.copy_link(PAGE, values)
groups = queries.CLAIM_QUESTIONS if order == "question" else {word: word.capitalize() for word in verdict_names}
found_any = False
if rules == "2":
    st.caption(
        "In each picture, the large dot is the value that decides, the bar its 95 % confidence interval, and small "
        "dots are the other readings. A dashed line is what the rule compares with, the shaded side of it supports the "
        "statement, and a thin line marks no difference. A result that the rule asks to lie in the shaded part must do "
        "so with its interval.",
        help=glossary_hint(
            *(f"{part.statement} {part.unit} {part.scope}" for heading in headings for part in heading.parts)
        ),
    )
    for key, title in groups.items():
        matching = [
            (heading, [part for part in heading.parts if verdict in ("", part.verdict)])
            for heading in headings
            if (order == "verdict" or heading.question == key) and (not document or document in heading.documents)
        ]
        if order == "verdict":
            matching = [(heading, [part for part in parts if part.verdict == key]) for heading, parts in matching]
        matching = [(heading, parts) for heading, parts in matching if parts]
        if not matching:
            continue
        found_any = True
        show.section(title, f"group-{key}".replace(" ", "-"))
        for heading, parts in matching:
            st.markdown(f"**{escape_markdown(statement_table.heading(heading))}**")
            statement_table.show_statements(parts)
else:
    entries = [
        entry
        for entry in queries.claims()
        if verdict in ("", entry.verdict) and (not document or document in entry.documents)
    ]
    for key, title in groups.items():
        group_entries = [entry for entry in entries if getattr(entry, order) == key]
        if not group_entries:
            continue
        found_any = True
        show.section(title, f"group-{key}".replace(" ", "-"))
        for start in range(0, len(group_entries), 2):
            for column, entry in zip(st.columns(2), group_entries[start : start + 2], strict=False):
                with column:
                    claim_cards.show_card(entry)
if not found_any:
    st.info("No claim of this document has this verdict.")
figure = "claims_statements" if rules == "2" else "claims_verdicts"
show.show(queries.figure(figure, values), PAGE, values)
st.caption(
    "The same as a table: `SELECT * FROM claims`. The store also holds the rules, queries and evidence as tables."
)
