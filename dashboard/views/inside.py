"""Look inside: a model and a text or an image of the reader's own, taken apart into word and position."""

import streamlit as st

from dashboard.session import moved_pages
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show
from dashboard.widgets.inside import change, comparison, corpus, form, image, layers, positions, scores, similarity
from dashboard.widgets.inside.run import choose
from dashboard.widgets.pickers import Pickers

TABS = {
    "scores": ("Scores", scores.draw),
    "layers": ("Layers", layers.draw),
    "positions": ("Positions", positions.draw),
    "change": ("Change", change.draw),
    "similarity": ("Similarity", similarity.draw),
}

show.header("inside", "Take a model's attention apart into word and position, on a text or an image of your own.")
pickers = Pickers("inside")
for problem in moved_pages.problems():
    st.warning(escape_markdown(problem), icon=":material/link_off:")
uploaded = form.form(pickers)
is_image = bool(pickers.get("image"))
facts, tabs = st.empty(), st.container(horizontal=True, vertical_alignment="center")
asked = pickers.get("tab")
if asked and asked not in TABS:
    known = ", ".join(TABS)
    st.warning(escape_markdown(f"The link asks for tab {asked!r}, which is not known; expected one of: {known}."))
    pickers.set("tab", "")
needs_no_model = is_image or pickers.get("over") == "corpus"
tab = asked if asked in TABS else "scores" if needs_no_model else scores.opening_tab(pickers)
with tabs:
    choose(pickers, "tab", "View", {name: title for name, (title, _) in TABS.items()}, tab)
    of_many = not is_image and tab in ("scores", "layers") and corpus.shown(pickers)
    form.options(pickers)
if is_image:
    image.DRAW[tab](pickers, facts, uploaded)
elif of_many:
    (corpus.scores if tab == "scores" else corpus.layers)(pickers)
else:
    if pickers.get("pair") and tab != "similarity":
        form.side(pickers)
    if tab in ("scores", "layers") and comparison.compared(pickers):
        (comparison.scores if tab == "scores" else comparison.layers)(pickers, facts)
    else:
        comparison.only_left(pickers)
        TABS[tab][1](pickers, facts)
