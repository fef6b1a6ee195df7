"""Live probe: a model and a text of the reader's own, taken apart at every layer."""

import streamlit as st

from analysis.core.errors import AddendError, NoFamily
from analysis.core.term_names import ADDED_TERMS
from analysis.figures.one_run import unknown_tokens_note
from analysis.figures.terms.data import MEASURES, ORDER, term_label
from analysis.figures.terms.maps import NO_SOURCE
from analysis.probes import text_probe
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import probe_form, show
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.term_pickers import METHODS, cell_pickers, map_pickers, part_pickers, row_names

FREEZES = {"activation": "activation", "other": "other factor", "half": "half of each"}

show.header("probe", "Pick a model, type a text, and see what word and position each add to its attention scores.")
pickers = Pickers("probe")
probe_form.form(pickers)
status = st.status("Starting", expanded=False)
try:
    with status:
        result = live.decomposition(pickers.values(), progress=live.progress_reporter(status))
        provenance = result.provenance
        timing = ""
        if live.default_result(text_probe.TermsRequest.of(pickers.values())) is result:
            timing = f"stored on {provenance.created[:10]}; change the text, the model or the layer to run it again"
        details = probe_form.run_details(provenance, len(result.tokens), timing)
        probe_form.finish(status, f"{provenance.model} ({provenance.revision}): {details}")
except NoFamily as problem:
    status.update(label="This architecture gives no terms: attention patterns", state="complete", expanded=False)
    show.show_problem(problem)
    probe_form.show_patterns(pickers)
    st.stop()
except AddendError as problem:
    probe_form.fail(pickers, status, problem)
    probe_form.offer_truncation(pickers, problem)
    probe_form.offer_ways_out(pickers, problem, "")
    st.stop()

if provenance.truncated_from:
    st.warning(f"The text was cut from {provenance.truncated_from} to {len(result.tokens)} tokens, the model's limit.")
if note := unknown_tokens_note(result):
    st.warning(escape_markdown(note))
if result.position_kind in NO_SOURCE:
    st.info(NO_SOURCE[result.position_kind], icon=":material/info:")
    probe_form.links_to_positions(pickers)
# Of a single term every share is 1, so there is nothing to tell apart.
several_terms = sum(bool(term.any()) for term in result.terms.values()) > 1
first_result = st.container()
with st.container(horizontal=True, gap="large"):
    if several_terms:
        pickers.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
    if result.freeze and not result.probe_id:
        pickers.segments("freeze", "In gated units, hold fixed", list(FREEZES), FREEZES)
overview = st.container()
layer = st.container()
map_pickers(pickers, result.heads)
part_pickers(pickers, result)
maps = st.container()
cell_pickers(pickers, row_names(pickers, result), int(pickers.get("from")), int(pickers.get("to")))

all_layers = None
if not result.probe_id and several_terms:
    with show.reporting_problems():
        all_layers = live.run_request(text_probe.LayersRequest.of(pickers.values()))
if all_layers:
    with overview:
        pickers.choice("term", "Term", [t for t in (*ORDER, *ADDED_TERMS) if t in all_layers.terms], term_label)
    with layer:
        pickers.slider("layer", "Layer", list(range(len(all_layers.values))))
        pickers.segments(
            "method",
            "Method",
            list(METHODS),
            METHODS,
            help="frozen follows word and position through the layers, with attention patterns and norms held at the "
            "model's own values; mean splits hidden states by averages over a reference text, where these are "
            "stored. At layer 0 the two need not agree.",
        )
values = pickers.done()
if all_layers:
    with first_result:
        show.show(live.figure("probe_depth", values, all_layers), "probe", values)
    with overview:
        show.show(
            live.figure("probe_layers", values, all_layers),
            "probe",
            values,
            on_cell=pickers.cell_setter("layer", "head"),
        )
with layer:
    with st.container(horizontal=True):
        show.copy_link("probe", values, without=("text", "pair"), why_not=probe_form.why_no_link(values))
        probe_form.save_button(pickers, result)
    if several_terms:
        heads = live.figure("probe_heads", values, result)
        show.show(heads, "probe", values, on_cell=pickers.cell_setter("head", "term"), cell=("head", "term"))
set_cell = pickers.cell_setter("query", "key", first=int(pickers.get("from")))
if several_terms:
    with maps:
        st.caption("Press a cell of a map to see what each term adds to it, below the maps.")
        show.show(live.figure("probe_maps", values, result), "probe", values, on_cell=set_cell)
    show.show(live.figure("probe_cell", values, result), "probe", values)
show.show(live.figure("probe_total", values, result), "probe", values, on_cell=set_cell)
show.show(live.figure("probe_distance", values, result), "probe", values)
