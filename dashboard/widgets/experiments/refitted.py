"""The tab of Experiments on a finished sentence encoder that is told positions in another way, and trained on."""

import streamlit as st

from analysis.figures import stored_figure
from analysis.figures.experiments import refit
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers

PAGE = "experiments"


def draw(pickers: Pickers) -> None:
    """The figures of what each way recovers, and how fast."""
    values = pickers.done()
    show.copy_link(PAGE, values)
    if not refit.is_stored():
        st.info("No encoder was refitted yet. The first command chooses the rate of each arm, the second trains them.")
        st.code(f"{refit.COMMAND} --purpose pilot\n{refit.COMMAND}", language="bash")
        return
    for name in ("refit_recovered", "refit_curves"):
        with show.reporting_problems():
            show.show(stored_figure(name, values), PAGE, values)
