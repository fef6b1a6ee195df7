"""Interventions: what a model does when its positions, its segments or terms of its scores are changed."""

import streamlit as st

from analysis.core.errors import AddendError, NoResults, NotInstalled
from analysis.probes.intervention_probe import InterventionRequest, PermutationRequest
from dashboard.session import live, queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import intervention_form, probe_form, show
from dashboard.widgets.pickers import Pickers

show.header(
    "interventions",
    "Terms describe what a model computes; interventions show what causes its output. Take positions away from a real "
    "model, share, shuffle, shift, scale or replace them, or take terms out of its scores, and see how its output "
    "changes.",
)


STORED = {
    "surgery": "On a sentence encoder's own task",
    "masked_surgery": "On masked words, in our own encoders",
    "intervention_effects": "Over many texts",
}


def show_stored(values) -> None:
    """Figures of stored results over many texts, which need no model."""
    for name, title in STORED.items():
        st.header(title, anchor=False)
        try:
            show.show(queries.figure(name, values), "interventions", values)
        except NoResults as error:
            st.info(escape_markdown(str(error)))


pickers = Pickers("interventions")
probe_form.text_form(pickers, "Run it", extra_help=" With a head that predicts tokens, outcomes are its predictions.")
intervention_form.intervention_pickers(pickers)
status = st.status("Starting", expanded=False)
try:
    with status:
        result = live.run_request(InterventionRequest.of(pickers.values()), progress=live.progress_reporter(status))
        provenance = result.provenance
        details = probe_form.run_details(provenance, len(result.tokens))
        probe_form.finish(status, f"{provenance.model} ({provenance.revision}): {result.words}; {details}")
except AddendError as problem:
    values = probe_form.fail(pickers, status, problem)
    probe_form.offer_truncation(pickers, problem)
    if isinstance(problem, NotInstalled):
        show_stored(values)
    else:
        probe_form.offer_layer_0(pickers, "layer")
    st.stop()

if provenance.truncated_from:
    st.warning(f"The text was cut from {provenance.truncated_from} to {len(result.tokens)} tokens, the model's limit.")
outcome = st.container()
first, second = st.columns(2)
with first:
    pickers.slider("layer", "Layer", list(range(result.layers)))
with second:
    pickers.slider("head", "Head", list(range(result.heads)))
maps = st.container()
st.header("Does the order show without positions?", anchor=False)
permute = pickers.toggle(
    "permute",
    "Permute the tokens, with positions off and on",
    help="Segments and mask are permuted with the tokens. Without positions, permuting an encoder's input permutes its "
    "output and changes nothing else.",
)
values = pickers.done()

with outcome:
    text_fields = ("text", "pair")
    show.copy_link("interventions", values, without=text_fields)
    figure = live.figure("intervention_tokens", values, result)
    show.show(figure, "interventions", values)
    if result.predictions:
        st.dataframe(figure.frame().drop(columns=["place"]), hide_index=True, height=300)
    st.caption("Press a cell to see the attention of its layer and head, below.")
    set_cell = pickers.cell_setter("layer", "head")
    show.show(live.figure("intervention_kl", values, result), "interventions", values, on_cell=set_cell)
with maps:
    st.caption("Press a cell to see its attention before and after, and the terms of its score before, below.")
    set_cell = pickers.cell_setter("query", "key")
    show.show(live.figure("intervention_maps", values, result), "interventions", values, on_cell=set_cell)
    intervention_form.show_cell(values, result)
if permute:
    with show.reporting_problems():
        test = live.run_request(PermutationRequest.of(values))
        show.show(live.figure("intervention_permutation", values, test), "interventions", values)
show_stored(values)
