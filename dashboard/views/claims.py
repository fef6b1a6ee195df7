"""Claims: what the documents say, and what the store says to it; or one of them in full."""

import streamlit as st

from dashboard import claim_cards, one_claim, queries, show
from dashboard.pickers import Pickers
from dashboard.plain import plain

PAGE = "claims"
ORDERS = {"question": "By question", "verdict": "By verdict"}

show.header(
    PAGE,
    "Five documents explain why positions are added to words. This is what they claim, guess and doubt, and what the "
    "measurements and papers in the store say to each: for, against, or not yet.",
)
entries = queries.claims()
picked = Pickers(PAGE)
claim = picked.fixed("claim", ["", *(entry.id for entry in entries)])
if claim:
    values = {**picked.values(), **picked.done()}
    show.copy_link(PAGE, values)
    one_claim.shown(next(entry for entry in entries if entry.id == claim), PAGE, values)
    st.stop()

claim_cards.tally(queries.verdict_counts())
documents = queries.claim_documents()
with st.container(horizontal=True, vertical_alignment="bottom"):
    verdict = picked.choice(
        "verdict", "Verdict", ["", *queries.VERDICTS], lambda word: word or "every verdict", width=210
    )
    document = picked.choice(
        "document",
        "Said in",
        ["", *documents],
        lambda key: f"{key}: {documents[key].title}" if key else "any document",
        width=340,
    )
    by = picked.segments("by", "Order", list(ORDERS), ORDERS)
values = picked.done()
show.copy_link(PAGE, values)
st.caption("On a card: dot, what was measured; bar, its 95 % interval; dotted line, what the rule asks for.")
kept = [entry for entry in entries if verdict in ("", entry.verdict) and (not document or document in entry.documents)]
if not kept:
    st.info("No claim has this verdict and document together.")
groups = queries.CLAIM_QUESTIONS if by == "question" else {word: word.capitalize() for word in queries.VERDICTS}
for key, heading in groups.items():
    among = [entry for entry in kept if getattr(entry, by) == key]
    if not among:
        continue
    st.subheader(plain(heading), anchor=False)
    for start in range(0, len(among), 2):
        for place, entry in zip(st.columns(2), among[start : start + 2], strict=False):
            with place:
                claim_cards.card(entry)
show.show(queries.figure("claims_verdicts", {}), PAGE, values)
st.caption("The same as a table: SELECT * FROM claims. Rules, queries and evidence are tables of the store as well.")
