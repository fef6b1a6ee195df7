"""Home: the question, the answer in a few sentences with their evidence, and how sure each part of it is."""

import streamlit as st

from analysis.narrative.hero import after_training
from dashboard.session import queries
from dashboard.widgets import answer_html, moving_pictures, show

steps, cards, apart = queries.answer(), queries.answer_cards(), queries.separated()
answer_html.question()
for step in steps[:1]:
    answer_html.lead(step)
said, moves = st.columns([6, 5], gap="medium")
with said:
    answer_html.sentences(step for step in steps[1:] if step.name != "still_open")
with moves:
    moving_pictures.show_hero(after_training(apart), dark=show.look().dark)
answer_html.cards(cards)
with st.container(horizontal=True, key="ways"):
    st.page_link("views/read.py", label="Walk me through it (10 minutes)", icon=":material/auto_stories:")
    st.page_link("views/probe.py", label="Try my own sentence", icon=":material/experiment:")
    st.page_link("views/claims.py", label="How sure are we? Every statement", icon=":material/fact_check:")
