"""The front page: the question, its answer sentence by sentence, a moving proof, three cards, and ways on."""

import streamlit as st

from analysis.narrative.front_page import FrontPage
from analysis.narrative.hero import after_training
from dashboard.session.page_address import is_dark
from dashboard.widgets import answer_html, moving_pictures


def draw(page: FrontPage) -> None:
    """All of it."""
    answer_html.question()
    for step in page.steps[:1]:
        answer_html.lead(step)
    text_column, picture_column = st.columns([8, 5], gap="medium")
    with text_column:
        answer_html.sentences(step for step in page.steps[1:] if step.name != "still_open")
    with picture_column:
        moving_pictures.show_hero(after_training(page.apart), dark=is_dark())
    answer_html.cards(page.cards)
    with st.container(horizontal=True, key="ways"):
        st.page_link("views/read.py", label="Walk me through it (10 minutes)", icon=":material/auto_stories:")
        st.page_link("views/inside.py", label="Try my own sentence", icon=":material/experiment:")
        st.page_link("views/claims.py", label="How sure are we? Every statement", icon=":material/fact_check:")
