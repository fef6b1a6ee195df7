"""Look inside: a model and a text or an image of the reader's own, taken apart into word and position."""

import streamlit as st

from dashboard.session import moved_pages
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import phone_fold, show
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

# The tabs that show stored results over many texts, too. A string below would be drawn on the page.
OF_MANY = {"scores": corpus.scores, "layers": corpus.layers, "change": change.draw_many}

show.header("inside", "Take a model's attention apart into word and position, on a text or an image of your own.")
pickers = Pickers("inside")
similarity.begin(pickers)
for problem in moved_pages.problems():
    st.warning(escape_markdown(problem), icon=":material/link_off:")
form.check_image(pickers)
is_image = bool(pickers.get("image"))
asked = pickers.get("tab")
stored = is_image and image.shows_stored(pickers, asked)
uploaded = form.form(pickers, (lambda: image.stored_panel(pickers)) if stored else None)
with st.container(key="inside.facts"):  # The style keeps its height while it is empty.
    facts = st.empty()
tabs = st.container(horizontal=True, vertical_alignment="center")
if asked and asked not in TABS:
    known = ", ".join(TABS)
    st.warning(escape_markdown(f"The link asks for tab {asked!r}, which is not known; expected one of: {known}."))
    pickers.set("tab", "")
many = pickers.get("over") == "corpus"
needs_no_model = is_image or many
tab = asked if asked in TABS else "scores" if needs_no_model else scores.opening_tab(pickers)
with tabs:
    choose(pickers, "tab", "View", {name: title for name, (title, _) in TABS.items()}, tab)
    many = change.of_many(pickers) if tab == "change" else many and tab in OF_MANY
    many = not is_image and tab in OF_MANY and corpus.shown(pickers, many=many)
    if not is_image:
        phone_fold.more("inside")
        with phone_fold.folded("inside", "options"):
            form.options(pickers)
if is_image:
    image.DRAW[tab](pickers, facts, uploaded)
elif many:
    facts.caption(corpus.facts(pickers))
    OF_MANY[tab](pickers)
else:
    if pickers.get("pair") and tab != "similarity":
        form.side(pickers)
    if tab in ("scores", "layers") and comparison.compared(pickers):
        (comparison.scores if tab == "scores" else comparison.layers)(pickers, facts)
    else:
        comparison.only_left(pickers)
        TABS[tab][1](pickers, facts)
