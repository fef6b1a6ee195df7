"""The tab of Experiments on a finished sentence encoder that is told positions in another way, and trained on."""

from collections.abc import Sequence

import streamlit as st

from analysis.claims.statements import OPEN, SIGNS, Judgement, stored
from analysis.claims.statements.refitted import UNITS
from analysis.core.formatting import plural
from analysis.figures import stored_figure
from analysis.figures.experiments import refit
from dashboard.session.markdown_escape import escape_markdown
from dashboard.session.page_address import query_parameters
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers

PAGE = "experiments"
FOLDED = {
    "refit_pilots": "Pilots of the others, which decide nothing",
    "refit_curves": "How the loss falls while they are trained on",
}
"""Figure -> the title of the fold in which it stands."""


def draw(pickers: Pickers) -> None:
    """The figure of what each way recovers, in folds the pilots and how fast it does, and what they decide."""
    values = pickers.done()
    show.copy_link(PAGE, values)
    if not refit.is_stored():
        st.info("No encoder was refitted yet. The first command chooses the rate of each arm, the second trains them.")
        st.code(f"{refit.COMMAND} --purpose pilot\n{refit.COMMAND}", language="bash")
        return
    with show.reporting_problems():
        show.show(stored_figure("refit_recovered", values), PAGE, values)
    for name, title in FOLDED.items():
        fold = st.expander(title, key=f"{PAGE}.{name}.fold", on_change="rerun")
        if fold.open:
            with fold, show.reporting_problems():
                show.show(stored_figure(name, values), PAGE, values)
    _show_statements()


def _show_statements() -> None:
    """The statements that these trainings decide, each with its verdict and a link; folded those that still wait."""
    statements = [statement for statement in stored.statements() if statement.kind in UNITS]
    decided = [statement for statement in statements if statement.verdict != OPEN]
    waiting = [statement for statement in statements if statement.verdict == OPEN]
    if decided:
        st.markdown("**What these trainings decide**, by rules that were fixed before them")
        _show_links(decided, "decided")
    if waiting:
        count = plural(len(waiting), "statement")
        with st.expander(f"{count} that wait{'s' if len(waiting) == 1 else ''} for more of these trainings"):
            _show_links(waiting, "waiting")


def _show_links(statements: Sequence[Judgement], key: str) -> None:
    with st.container(gap="small", key=f"refit_statements_{key}"):
        for statement in statements:
            waits = f" Waits for {statement.would_decide}." if statement.verdict == OPEN else ""
            st.page_link(
                "views/claims.py",
                label=f"{SIGNS[statement.verdict]} **{statement.id} {statement.verdict}.** "
                + escape_markdown(f"{statement.statement}{waits}"),
                query_params=query_parameters("claims", {"claim": statement.parent, "statement": statement.id}),
            )
