"""The page Which encoding?: the methods in use, and the pictures of every encoding."""

import streamlit as st

from analysis.encodings import ENCODINGS
from analysis.narrative.choosing.settings import IN_USE
from dashboard.session import moved_pages
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import encoding_methods, encoding_pictures, show
from dashboard.widgets.pickers import Pickers

PAGE = "choose"
METHODS = "methods"
LOOKS = {METHODS: "Methods", **encoding_pictures.LOOKS}

show.header(
    PAGE,
    f"How to tell a transformer the order of words: what each of {len(IN_USE)} methods can do, how it trains and "
    f"costs, and its code; and pictures of {len(ENCODINGS)} encodings, some of which are forms of one method.",
)
pickers = Pickers(PAGE)
for problem in moved_pages.problems():
    st.warning(escape_markdown(problem), icon=":material/link_off:")
look = pickers.segments("look", "Show", list(LOOKS), LOOKS, label_visibility="collapsed")
if look == METHODS:
    encoding_methods.draw(pickers)
else:
    encoding_pictures.draw(pickers, look)
