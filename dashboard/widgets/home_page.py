"""The front page: the question, three reasons and a moving proof, what speaks against, three cards, and ways on."""

import streamlit as st

from analysis.narrative.front_page import AnswerStep, FrontPage
from analysis.narrative.hero import after_training
from dashboard.session.page_address import is_dark
from dashboard.widgets import answer_html, moving_pictures


def draw(page: FrontPage) -> None:
    """All of it."""

    def part(name: str) -> list[AnswerStep]:
        return [step for step in page.steps if step.part == name]

    terms = answer_html.Terms()
    answer_html.question()
    for step in part("lead"):
        answer_html.lead(step, terms)
    text_column, picture_column = st.columns([8, 5], gap="medium")
    with text_column, st.container(key="reasons"):
        answer_html.reasons(part("reason"), terms)
    with picture_column, st.container(key="proof"):
        moving_pictures.show_hero(after_training(page.apart), dark=is_dark())
    answer_html.against(part("but"), page.ways, part("more"), terms)
    answer_html.cards(page.cards)
    with st.container(horizontal=True, key="ways"):
        st.page_link(
            "views/read.py", label=f"Walk me through it ({page.minutes} minutes)", icon=":material/auto_stories:"
        )
        st.page_link("views/inside.py", label="Try my own sentence", icon=":material/experiment:")
        st.page_link("views/claims.py", label="How sure are we? Every statement", icon=":material/fact_check:")
