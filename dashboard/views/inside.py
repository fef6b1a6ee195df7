"""Look inside: a model and a text of the reader's own, taken apart into word and position in five views."""

import streamlit as st

from dashboard.widgets import show
from dashboard.widgets.inside import change, form, layers, positions, scores
from dashboard.widgets.inside.run import choose
from dashboard.widgets.pickers import Pickers

TABS = {
    "scores": ("Scores", scores.draw),
    "layers": ("Layers", layers.draw),
    "positions": ("Positions", positions.draw),
    "change": ("Change", change.draw),
}

show.header("inside", "Take a model's attention apart into word and position, on a text of your own.")
pickers = Pickers("inside")
form.form(pickers)
facts, tabs = st.empty(), st.container()
asked = pickers.get("tab")
tab = asked if asked in TABS else scores.opening_tab(pickers)
with tabs:
    choose(pickers, "tab", "View", {name: title for name, (title, _) in TABS.items()}, tab)
TABS[tab][1](pickers, facts)
