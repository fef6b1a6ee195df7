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
picked = Pickers("probe")
probe_form.form(picked)
status = st.status("Starting", expanded=False)
try:
    with status:
        made = live.decomposition(picked.values(), progress=live.progress_reporter(status))
        about = made.provenance
        how = f"{about.seconds:.2f} s"
        if live.default_result(text_probe.TermsRequest.of(picked.values())) is made:
            how = f"stored on {about.created[:10]}; change the text, the model or the layer to run it again"
        took = f"{len(made.tokens)} tokens, {about.device}, {about.dtype}, {how}"
        status.update(
            label=escape_markdown(f"{about.model} ({about.revision}): {took}"), state="complete", expanded=False
        )
except NoFamily as problem:
    status.update(label="This architecture gives no terms: attention patterns", state="complete", expanded=False)
    show.show_problem(problem)
    probe_form.patterns(picked)
    st.stop()
except AddendError as problem:
    status.update(label="Nothing to show", state="error", expanded=False)
    picked.done()
    show.show_problem(problem)
    probe_form.offer_truncation(picked, problem)
    probe_form.offer_ways_out(picked, problem, "")
    st.stop()

if about.truncated_from:
    st.warning(f"The text was cut from {about.truncated_from} to {len(made.tokens)} tokens, the model's limit.")
if told := unknown_tokens_note(made):
    st.warning(escape_markdown(told))
if made.position_kind in NO_SOURCE:
    st.info(NO_SOURCE[made.position_kind], icon=":material/info:")
first_result = st.container()
with st.container(horizontal=True, gap="large"):
    picked.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
    if made.freeze and not made.probe_id:
        picked.segments("freeze", "In gated units, hold fixed", list(FREEZES), FREEZES)
overview = st.container()
layer = st.container()
map_pickers(picked, made.heads)
part_pickers(picked, made)
maps = st.container()
cell_pickers(picked, row_names(picked, made), int(picked.get("from")), int(picked.get("to")))

everywhere = None
try:
    everywhere = None if made.probe_id else live.run_request(text_probe.LayersRequest.of(picked.values()))
except AddendError as problem:
    show.show_problem(problem)
if everywhere:
    with overview:
        picked.choice("term", "Term", [t for t in (*ORDER, *ADDED_TERMS) if t in everywhere.terms], term_label)
    with layer:
        picked.slider("layer", "Layer", list(range(len(everywhere.values))))
        picked.segments(
            "method",
            "Method",
            list(METHODS),
            METHODS,
            help="frozen follows word and position through the layers, with attention patterns and norms held at the "
            "model's own values; mean splits hidden states by averages over a reference text, where these are "
            "stored. At layer 0 the two need not agree.",
        )
values = picked.done()
if everywhere:
    with first_result:
        show.show(live.figure("probe_depth", values, everywhere), "probe", values)
    with overview:
        show.show(
            live.figure("probe_layers", values, everywhere), "probe", values, on_cell=picked.both("layer", "head")
        )
with layer:
    with st.container(horizontal=True):
        show.copy_link("probe", values, without=("text", "pair"), why_not=probe_form.why_no_link(made))
        probe_form.save_button(picked, made)
    show.show(
        live.figure("probe_heads", values, made),
        "probe",
        values,
        on_cell=picked.both("head", "term"),
        cell=("head", "term"),
    )
with maps:
    shown = picked.both("query", "key", first=int(picked.get("from")))
    st.caption("Press a cell of a map to see what each term adds to it, below the maps.")
    show.show(live.figure("probe_maps", values, made), "probe", values, on_cell=shown)
show.show(live.figure("probe_cell", values, made), "probe", values)
show.show(live.figure("probe_total", values, made), "probe", values, on_cell=shown)
show.show(live.figure("probe_distance", values, made), "probe", values)
