"""Claims: which explanations hold, all in one line each and opened one at a time."""

import streamlit as st

from analysis.claims.statements import stored as statements
from analysis.figures import stored_figure
from analysis.figures.claims.board import board as claims_board, standings
from analysis.figures.reading.open_questions import OLD_VERDICTS
from dashboard.session.page_address import query_parameters
from dashboard.widgets import show
from dashboard.widgets.claims_board import show_board
from dashboard.widgets.pickers import Pickers

NAME = "addend-first-verdicts.html"
HEIGHT = 900


def show_first_verdicts() -> None:
    """The page itself, for links from when these were the only verdicts."""
    st.page_link("views/claims.py", label="The statements that took their place", icon=":material/arrow_back:")
    path = statements.first_verdicts_page()
    if not path.is_file():
        st.info(f"The page with the first verdicts is not in this data folder: restore data/{path.name}.")
        return
    st.markdown(
        f"The first verdicts, on each claim as a whole, decide nothing any more. {statements.first_verdicts_note()} "
        f"They stand on a page that was made once, `data/{path.name}`."
    )
    st.download_button("Download the page (HTML)", path.read_bytes(), NAME, "text/html", on_click="ignore")
    st.iframe(path, height=HEIGHT, alt="The first verdicts")


def mention_first_verdicts() -> None:
    """A sentence on the first verdicts with the link to them."""
    if note := statements.first_verdicts_note():
        with st.container(horizontal=True, gap="small"):
            st.caption(f"Version 1 of the rules judged each claim as a whole. {note}", width="content")
            st.page_link(
                "views/claims.py", label="The first verdicts", query_params=query_parameters("claims", {"rules": "1"})
            )


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
parents = statements.statement_parents()
statement = pickers.fixed("statement", ["", *parents])
if statement:
    pickers.set("claim", parents[statement])
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
    show_first_verdicts()
    st.stop()
if not claims:
    st.info("The store holds no statements. Run: python -m analysis sync --rebuild", icon=":material/hourglass_empty:")
    st.stop()
figure = stored_figure("claim_strips" if claim else "claims_statements", values)
show.show(figure, PAGE, values, flipbook=lambda: show_board(board, pickers, values))
mention_first_verdicts()
