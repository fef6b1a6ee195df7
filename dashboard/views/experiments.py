"""Experiments: every way of telling positions on one board, and what else our trainings and those of papers show."""

import streamlit as st

from analysis import glue_comparison
from analysis.ablation.presets import PRESETS
from analysis.figures.experiments import refit
from analysis.figures.experiments.board_rows import default_preset
from dashboard.session import moved_pages
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show
from dashboard.widgets.experiments import board, glue, papers, refitted, trainings
from dashboard.widgets.pickers import Pickers

PAGE = "experiments"
# Tab -> its title, what draws it, and the values of the link's field `part` that it holds.
TABS = {
    "board": ("Board", board.draw, ("board",)),
    "curves": ("Curves", trainings.draw, ("curves", "gap", "convergence")),
    "parts": ("What the gain is made of", trainings.draw, ("contrasts", "parts", "scores")),
    "conditions": ("Other conditions", trainings.draw, ("length", "widths", "settings")),
    "costs": ("Costs", trainings.draw, ("costs",)),
    "refit": ("Refitted encoder", refitted.draw, ("refit",)),
    "glue": ("GLUE", glue.draw, ("glue",)),
    "published": ("Papers", papers.draw, ("published",)),
}
# The tab that says what the page is about; on the others the finding stands higher.
FIRST = next(iter(TABS))
TAB_OF = {part: tab for tab, (_, _, parts) in TABS.items() for part in parts}


def choose_tab() -> str:
    """The tab that holds the part which the link names, pressed in a row of tabs."""
    part, key = str(pickers.fixed("part", list(TAB_OF))), f"{PAGE}.tab_of_part"
    st.session_state[key] = TAB_OF[part]

    def update() -> None:
        pickers.set("part", TABS[st.session_state[key]][2][0])

    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Show",
            [tab for tab in TABS if tab != "refit" or refit.is_stored() or part == "refit"],
            default=TAB_OF[part],
            format_func=lambda tab: TABS[tab][0],
            key=key,
            required=True,
            wrap=True,
            on_change=update,
            label_visibility="collapsed",
            width="stretch",
        )
        st.page_link("views/import.py", label="Add your results", icon=":material/upload:", width="content")
    return TAB_OF[part]


show.header(PAGE)
pickers = Pickers(PAGE)
for problem in moved_pages.problems():
    st.warning(escape_markdown(problem), icon=":material/link_off:")
if done := st.session_state.pop("import.done", ""):
    st.success(done, icon=":material/check:")
    st.page_link("views/runs.py", label="All runs", icon=":material/list_alt:")
pickers.set_initial("preset", default_preset(), PRESETS)
fine_tuned = glue_comparison.presets()
pickers.set_initial("glue_preset", glue.default_preset(fine_tuned), fine_tuned)
tab = choose_tab()
if tab == FIRST:
    show.say_lead(
        "Small encoders that differ only in how they are told the positions of words, each compared with one that "
        "adds them; and what papers print of the same question."
    )
TABS[tab][1](pickers)
