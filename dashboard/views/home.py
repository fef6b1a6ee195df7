"""Home: the question, the answer in a few sentences with their evidence, and how sure each part of it is."""

import streamlit as st

from dashboard import answer, hero, queries, show

steps, cards, apart = queries.answer(), queries.answer_cards(), queries.separated()
answer.question()
for step in steps[:1]:
    answer.lead(step)
said, moves = st.columns([6, 5], gap="medium")
with said:
    answer.sentences(step for step in steps[1:] if step.name != "still_open")
with moves:
    after = hero.Stage(
        "What training makes of it",
        "After training",
        "W · [word ; position]",
        f"Keep the words of a trained MiniLM out of {apart.rank} of its {apart.width} directions and its positions "
        "inside, rotate, and its sum is a concatenation."
        if apart
        else "Training gives positions few directions; where words keep out of them, the sum is a concatenation again.",
        f"measured: {apart.intact:.3f} → {apart.separated:.3f}" if apart else "",
    )
    hero.shown(after, dark=show.look().dark)
answer.cards(cards)
with st.container(horizontal=True, key="ways"):
    st.page_link("views/read.py", label="Walk me through it (10 minutes)", icon=":material/auto_stories:")
    st.page_link("views/probe.py", label="Try my own sentence", icon=":material/experiment:")
    st.page_link("views/claims.py", label="How sure are we? Every statement", icon=":material/fact_check:")
