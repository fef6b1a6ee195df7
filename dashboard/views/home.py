"""Home: the question, a few numbers that bear on it, and the way to each page."""

import streamlit as st

from dashboard import claim_cards, queries, show
from dashboard.links import VIEWS

st.title("Why add positions to words, and not concatenate them?", anchor=False)
st.markdown(
    "A transformer gives every word a vector, every position a vector, and **adds** the two. Metres are not added to "
    "kilograms; why are these? Here is evidence: a real model taken apart, published ablations side by side with their "
    "caveats, contrary results included, and live probes to try for yourself."
)
with st.container(border=True):
    counts = queries.verdict_counts()
    st.markdown(f"**{sum(counts.values())} claims about it, judged by rules written before looking**")
    claim_cards.tally(counts)
    st.caption(f"{queries.changed_rules()} of the rules were changed since, and say how and why.")
    st.page_link("views/claims.py", label="Every claim, its verdict and its evidence", icon=":material/arrow_forward:")
cards = queries.headlines()
for start in range(0, len(cards), 2):
    for column, card in zip(st.columns(2), cards[start : start + 2], strict=False):
        with column.container(border=True, height="stretch"):
            st.markdown(f"## {card.number}")
            st.markdown(f"**{card.label}**")
            st.caption(card.says)
            st.page_link(
                f"views/{card.page}.py",
                label="See it",
                icon=":material/arrow_forward:",
                query_params=[
                    (name, value)
                    for name, values in VIEWS[card.page].parameters(card.values).items()
                    for value in values
                ],
            )
for name in ("home_terms", "home_published"):
    show.show(queries.figure(name, {}), "", {})

st.header("Where to go", anchor=False)
encodings = queries.rows("SELECT count(*) AS n FROM encodings").n.iloc[0]
ways = {
    "read": "New to the question? Walk through it step by step, with a chart to touch at each.",
    "claims": "What five documents say about adding positions, and what the measurements say to each: for and against.",
    "terms": "What word, position, segment and bias each add to every score of a real model: all heads, then one.",
    "depth": "What becomes of position and word from layer to layer: decoded, as means, as terms of every head.",
    "geometry": "Where words and positions lie beside random vectors: angles, subspaces, ranks, collisions.",
    "encodings": f"{encodings} ways to write a position down: how they look, what they tell of distance, their cost.",
    "published": "The ablations in the literature, with their caveats; leave out a task and see what remains.",
    "glue": "Our own trainings: every way of combining word and position, scored on GLUE beside the papers' figures.",
    "training": "Our own pre-trainings: loss by step, token and second, the gap to adding, what it costs.",
    "probe": "Your model, your text: the same terms in a second, with a link to share and figures to export.",
    "compare": "Two models, texts, layers or heads side by side, and their difference.",
    "vision": "The same terms between the patches of an image.",
    "interventions": "Take positions away, shuffle or shift them, and see what a model then does.",
    "choose": "For who must pick an encoding: what each needs and costs, and what speaks for and against it.",
    "runs": "Every run in the store, with its settings, curve, command and code.",
    "sql": "Your own SELECT over everything stored; the result as table, chart or file.",
    "import": "Results made elsewhere, beside ours and labelled as imported.",
    "about": "The method in a page, what the store holds, SQL and Python, how to cite.",
    "status": "Versions, device, memory, the line of probes and the limits in force.",
}
for page, what in ways.items():
    st.page_link(f"views/{page}.py", label=f"**{VIEWS[page].title}.** {what}")
