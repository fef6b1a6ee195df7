"""The tab Similarity: the cosine of two texts as a sum over sources, and over pairs of tokens."""

from typing import Any

import streamlit as st

from analysis.figures.similarity.run import POOLING_TITLES
from analysis.measurements.similarity.result import POOLINGS
from analysis.probes.similarity_probe import SimilarityRequest
from dashboard.session import live
from dashboard.widgets import phone_fold, show
from dashboard.widgets.inside.form import EXAMPLES, set_example
from dashboard.widgets.inside.run import PAGE, about, adds_up, run, show_figure
from dashboard.widgets.pickers import Pickers

EXAMPLE = "order alone differs"


def begin(pickers: Pickers) -> None:
    """Fills the form with the example where it has another example, of one text; called before the form is drawn."""
    one_text = pickers.get("text") in {text for text, pair in EXAMPLES.values() if not pair}
    other_input = pickers.get("pair") or pickers.get("image") or pickers.get("probe")
    if pickers.get("tab") == "similarity" and one_text and not other_input:
        set_example(pickers, EXAMPLE)


def draw(pickers: Pickers, facts: Any) -> None:
    """The tab. facts: the place of the line that is true of every figure."""
    if not pickers.get("pair"):
        st.info("Similarity compares two texts: type a second one above, or take an example.", icon=":material/info:")
        st.button(f"Example: {EXAMPLE}", on_click=lambda: set_example(pickers, EXAMPLE))
        pickers.done()
        return
    with phone_fold.folded(PAGE, "pooling"):
        pickers.segments("pooling", "The vector of a text is", POOLINGS, POOLING_TITLES)
    result = run(pickers, lambda progress: live.run_request(SimilarityRequest.of(pickers.values()), progress))
    counts = len(result.first), len(result.second)
    for name, count in zip(("query", "key"), counts, strict=True):
        pickers.fixed(name, [-1, *range(count)])
    about(
        result,
        sum(counts),
        "each text read by itself; " + adds_up(result.error, "the model's own cosine"),
        facts,
    )
    values = pickers.done()
    show.copy_link(PAGE, values, without=("text", "pair"))
    sources, pairs = st.columns(2, gap="large")
    with sources:
        show_figure("similarity_sources", values, result)
    with pairs:
        show_figure("similarity_pairs", values, result, on_cell=pickers.cell_setter("query", "key"))
