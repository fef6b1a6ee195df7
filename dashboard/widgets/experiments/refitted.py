"""The tab of Experiments on a finished sentence encoder that is told positions in another way, and trained on."""

from analysis.figures import stored_figure
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers

PAGE = "experiments"


def draw(pickers: Pickers) -> None:
    """The figures of what each way recovers, and how fast."""
    values = pickers.done()
    show.copy_link(PAGE, values)
    for name in ("refit_recovered", "refit_curves"):
        with show.reporting_problems():
            show.show(stored_figure(name, values), PAGE, values)
