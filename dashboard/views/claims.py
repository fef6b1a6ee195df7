"""Claims: which explanations hold, all in one line each and opened one at a time."""

import streamlit as st

from analysis.claims.statements import stored as statements
from analysis.figures import stored_figure
from analysis.figures.claims.board import board as claims_board, standings
from analysis.figures.reading.open_questions import OLD_VERDICTS
from dashboard.widgets import first_verdicts, show
from dashboard.widgets.claims_board import show_board
from dashboard.widgets.pickers import Pickers

PAGE = "claims"
board, counts = claims_board(), statements.counts()
claims = {claim["id"]: claim for group in board.content["groups"] for claim in group["claims"]}
show.header(
    PAGE,
    f"Of {len(claims)} claims about positions, {standings()}. They are from {len(board.content['documents'])} "
    f"documents and the later literature, in {sum(counts.values())} statements that can be tested.",
)
pickers = Pickers(PAGE)
verdict = str(pickers.get("verdict"))
pickers.set("verdict", OLD_VERDICTS.get(verdict, verdict))
linked = statements.linked_statements()
statement = str(pickers.fixed("statement", ["", *linked]))
if statement:
    pickers.set("claim", linked[statement].claim)
    pickers.set("statement", linked[statement].shown)
for name, options in (
    ("claim", claims),
    ("verdict", statements.WORDS),
    ("document", board.content["documents"]),
    ("evidence", board.content["evidence"]),
):
    pickers.fixed(name, ["", *options])
pickers.fixed("by", ["question", "verdict", "hours"])
first = pickers.fixed("rules", ["2", "1"]) == "1"
values = pickers.done()
claim = str(values["claim"])
if claim:
    show.set_tab_title(claim)
show.copy_link(PAGE, values)
if first:
    first_verdicts.show_page()
    st.stop()
if not claims:
    st.info("The store holds no statements. Run: python -m analysis sync --rebuild", icon=":material/hourglass_empty:")
    st.stop()
figure = stored_figure("claim_strips" if claim else "claims_statements", values)
show.show(figure, PAGE, values, flipbook=lambda: show_board(board, pickers, values))
first_verdicts.mention()
