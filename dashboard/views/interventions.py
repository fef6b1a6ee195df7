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


def stored(values) -> None:
    """What was measured over many texts; it waits for no model."""
    for name, title in STORED.items():
        st.header(title, anchor=False)
        try:
            show.show(queries.figure(name, values), "interventions", values)
        except NoResults as nothing:
            st.info(escape_markdown(str(nothing)))


picked = Pickers("interventions")
probe_form.text_form(picked, "Run it", more=" With a head that predicts tokens, outcomes are its predictions.")
intervention_form.intervention_pickers(picked)
status = st.status("Starting", expanded=False)
try:
    with status:
        made = live.run_request(InterventionRequest.of(picked.values()), progress=live.progress_reporter(status))
        about = made.provenance
        took = f"{len(made.tokens)} tokens, {about.device}, {about.dtype}, {about.seconds:.2f} s"
        status.update(
            label=escape_markdown(f"{about.model} ({about.revision}): {made.words}; {took}"),
            state="complete",
            expanded=False,
        )
except AddendError as problem:
    status.update(label="Nothing to show", state="error", expanded=False)
    values = picked.done()
    show.show_problem(problem)
    probe_form.offer_truncation(picked, problem)
    if isinstance(problem, NotInstalled):
        stored(values)
    else:
        probe_form.offer_layer_0(picked, "layer")
    st.stop()

if about.truncated_from:
    st.warning(f"The text was cut from {about.truncated_from} to {len(made.tokens)} tokens, the model's limit.")
outcome = st.container()
first, second = st.columns(2)
with first:
    picked.slider("layer", "Layer", list(range(made.layers)))
with second:
    picked.slider("head", "Head", list(range(made.heads)))
maps = st.container()
for name in ("query", "key"):
    picked.get(name)
st.header("Does the order show without positions?", anchor=False)
permute = picked.toggle(
    "permute",
    "Permute the tokens, with positions off and on",
    help="Segments and mask are permuted with the tokens. Without positions, permuting an encoder's input permutes its "
    "output and changes nothing else.",
)
values = picked.done()

with outcome:
    written = ("text", "pair")
    why_not = probe_form.too_long(*(str(values[name]) for name in written))
    show.copy_link("interventions", values, without=written, why_not=why_not)
    figure = live.figure("intervention_tokens", values, made)
    show.show(figure, "interventions", values)
    if made.predictions:
        st.dataframe(figure.frame().drop(columns=["place"]), hide_index=True, height=300)
    st.caption("Press a cell to see the attention of its layer and head, below.")
    chosen = picked.both("layer", "head")
    show.show(live.figure("intervention_kl", values, made), "interventions", values, on_cell=chosen)
with maps:
    st.caption("Press a cell to see its attention before and after, and the terms of its score before, below.")
    chosen = picked.both("query", "key")
    show.show(live.figure("intervention_maps", values, made), "interventions", values, on_cell=chosen)
    intervention_form.one_cell(values, made)
if permute:
    try:
        test = live.run_request(PermutationRequest.of(values))
        show.show(live.figure("intervention_permutation", values, test), "interventions", values)
    except AddendError as problem:
        show.show_problem(problem)
stored(values)
