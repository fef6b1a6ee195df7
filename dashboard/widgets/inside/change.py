"""The tab Change: what a model does when its positions, its segments or terms of its scores are changed."""

from typing import Any

import streamlit as st

from analysis.figures import stored_figure
from analysis.probes.intervention_probe import InterventionRequest, PermutationRequest
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import intervention_form, show
from dashboard.widgets.inside.run import PAGE, about, look, run, show_figure
from dashboard.widgets.pickers import Pickers

FIGURES = {
    "tokens": "Output",
    "heads": "Heads",
    "order": "Word order",
}
OF_MANY = {
    "effects": "Every change, over a corpus",
    "surgery": "Sentence similarity",
    "masked": "Masked words",
}
"""Figures of stored results, which need no model and follow no form."""
STORED = {"effects": "intervention_effects", "surgery": "surgery", "masked": "masked_surgery"}


def of_many(pickers: Pickers) -> bool:
    """True where the link asks for stored results: by `over`, or, as older links do, by their figure alone."""
    return pickers.get("over") == "corpus" or pickers.get("look") in STORED


def draw_many(pickers: Pickers) -> None:
    """The tab over many texts: what was measured of stored models before."""
    shown = look(pickers, OF_MANY)
    values = pickers.done()
    show.copy_link(PAGE, values)
    with show.reporting_missing_results(PAGE):
        show.show(stored_figure(STORED[shown], values), PAGE, values)


def draw(pickers: Pickers, facts: Any) -> None:
    """The tab. facts: the place of the line that is true of every figure."""
    row = st.container(horizontal=True, vertical_alignment="center")
    with row:
        shown = look(pickers, FIGURES)
    if shown == "order":
        test = run(pickers, lambda progress: live.run_request(PermutationRequest.of(pickers.values()), progress))
        about(test, len(test.token_info), "tokens permuted, with positions off and on", facts)
        values = pickers.done()
        show.copy_link(PAGE, values, without=("text", "pair"))
        show_figure("intervention_permutation", values, test)
        return
    intervention_form.intervention_pickers(pickers, row)
    result = run(pickers, lambda progress: live.run_request(InterventionRequest.of(pickers.values()), progress))
    about(result, len(result.tokens), f"{result.layers} layers of {result.heads} heads; {result.words}", facts)
    if shown == "heads":
        _heads(pickers, result)
        return
    values = pickers.done()
    show.copy_link(PAGE, values, without=("text", "pair"))
    show_figure("intervention_tokens", values, result)
    if result.predictions:
        frame = live.figure("intervention_tokens", values, result).frame()
        st.dataframe(frame.drop(columns=["place"]), hide_index=True, height=300)


def _heads(pickers: Pickers, result: Any) -> None:
    """The change of every head, and the attention of the pressed one before and after."""
    pickers.fixed("head", [-1, *range(result.heads)])
    count = len(result.tokens)
    for name in ("query", "key"):
        pickers.fixed(name, [-1, *range(count)])
    values = pickers.done()
    values = values | {"layer": result.layer}
    if values["head"] == -1:
        values = values | {"head": int(result.kl[result.layer].argmax())}
    show.copy_link(PAGE, values, without=("text", "pair"))
    st.caption("Press a cell to see the attention of its layer and head before and after.")
    show_figure("intervention_kl", values, result, on_cell=pickers.cell_setter("layer", "head"))
    show_figure("intervention_maps", values, result, on_cell=pickers.cell_setter("query", "key"))
    query, key, head = (int(str(values[name])) for name in ("query", "key", "head"))
    if -1 not in (query, key):
        sentence = (
            f"“{result.tokens[query]}” attends to “{result.tokens[key]}” with probability "
            f"{result.before[head, query, key]:.3f} before and {result.after[head, query, key]:.3f} after. The tab "
            "Scores takes the score before apart."
        )
        st.markdown(escape_markdown(sentence))
