"""Look inside: a model and a text or an image of the reader's own, taken apart into word and position."""

import streamlit as st

from analysis.core.term_names import ADDED_TERMS, MEAN_SOURCES, TERMS, terms_among
from analysis.figures.terms.measures import MEASURES
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

LOOKS = (
    *("", *scores.FIGURES, *layers.FIGURES, *positions.FIGURES, *positions.ROTATED, *change.FIGURES, *change.OF_MANY),
    *(*corpus.LOOKS, *comparison.BELOW, *comparison.OVER_LAYERS, *image.BELOW, *image.POSITIONS),
)
KNOWN = {
    "tab": ("", *TABS),
    "over": tuple(corpus.OVER),
    "look": LOOKS,
    "measure": tuple(MEASURES),
    "term": (*TERMS, *ADDED_TERMS, *terms_among(MEAN_SOURCES)),
}

# The tabs that show stored results over many texts, too. A string below would be drawn on the page.
OF_MANY = {"scores": corpus.scores, "layers": corpus.layers, "change": change.draw_many}

show.header("inside", "Take a model's attention apart into word and position, on a text or an image of your own.")
pickers = Pickers("inside")
for name, known in KNOWN.items():  # A tab has its own choice of these, and shows its first for another tab's.
    pickers.fixed(name, known)
similarity.begin(pickers)
for problem in moved_pages.problems():
    st.warning(escape_markdown(problem), icon=":material/link_off:")
form.check_image(pickers)
is_image = bool(pickers.get("image"))
asked = pickers.get("tab")
many = not is_image and (change.of_many(pickers) if asked == "change" else corpus.asked(pickers, OF_MANY))
stored = is_image and image.shows_stored(pickers, asked)
if stored:
    image.stored_panel(pickers)
uploaded = form.form(pickers, asks=not stored and not many)
tabs = st.container(horizontal=True, vertical_alignment="center", gap="xsmall")


def draw_tabs(tab: str) -> None:
    """The tabs of which one is shown, and beside them the examples and options."""
    offered = image.tabs(pickers, tab) if is_image else tuple(TABS)
    with tabs:
        if stored or many:
            form.kind(pickers)
        choose(pickers, "tab", "View", {name: TABS[name][0] for name in offered}, tab)
        if not is_image and tab in OF_MANY:
            corpus.choose_number(pickers, many=many)
        phone_fold.more("inside")
        with phone_fold.folded("inside", "options"):
            form.options(pickers, uploaded, asks=not stored and not many)


# A text that cannot be taken apart leaves the examples to begin with.
tab = asked or ("scores" if is_image or many else scores.opening_tab(pickers, lambda: draw_tabs("scores")))
# The line on where the numbers come from stands below the figures, though it is known before they are drawn.
body, facts = st.container(), st.container().empty()
draw_tabs(tab)
with body:
    if is_image:
        image.DRAW[tab](pickers, facts, uploaded)
    elif many:
        OF_MANY[tab](pickers)
    else:
        if pickers.get("pair") and tab != "similarity":
            form.side(pickers)
        if tab in ("scores", "layers") and comparison.compared(pickers):
            (comparison.scores if tab == "scores" else comparison.layers)(pickers, facts)
        else:
            comparison.only_left(pickers)
            TABS[tab][1](pickers, facts)
