"""Live probe: a model and a text of the reader's own, taken apart at every layer."""

import streamlit as st

from analysis import probes
from analysis.errors import AddendError, NoFamily
from analysis.figures.one_run import unknown
from analysis.figures.term_maps import NO_SOURCE
from analysis.figures.terms import MEASURES, ORDER, spoken
from analysis.sources import ADDED_TERMS
from dashboard import live, probe_form, show
from dashboard.pickers import Pickers
from dashboard.plain import plain
from dashboard.term_pickers import METHODS, cell_pickers, map_pickers, part_pickers

FREEZES = {"activation": "activation", "other": "other factor", "half": "half of each"}

show.header("probe", "Pick a model, type a text, and see what word and position each add to its attention scores.")
picked = Pickers("probe")
probe_form.form(picked)
status = st.status("Starting", expanded=False)
try:
    with status:
        made = live.decomposition(picked.values(), progress=live.telling(status))
        about = made.provenance
        took = f"{len(made.tokens)} tokens, {about.device}, {about.dtype}, {about.seconds:.2f} s"
        status.update(label=plain(f"{about.model} ({about.revision}): {took}"), state="complete", expanded=False)
except NoFamily as problem:
    status.update(label="No terms for this architecture; its attention patterns", state="complete", expanded=False)
    show.sentence(problem)
    probe_form.patterns(picked)
    st.stop()
except AddendError as problem:
    status.update(label="Nothing to show", state="error", expanded=False)
    picked.done()
    show.sentence(problem)
    probe_form.offer_truncation(picked, problem)
    probe_form.offer_ways_out(picked, problem, "")
    st.stop()

if about.truncated_from:
    st.warning(f"The text was cut from {about.truncated_from} to {len(made.tokens)} tokens, the model's limit.")
if told := unknown(made):
    st.warning(plain(told))
if made.position_kind in NO_SOURCE:
    st.info(NO_SOURCE[made.position_kind], icon=":material/info:")
with st.container(horizontal=True, gap="large"):
    picked.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
    if made.freeze and not made.probe_id:
        picked.segments("freeze", "Of gated units, hold", list(FREEZES), FREEZES)
overview = st.container()
layer = st.container()
map_pickers(picked, made.heads)
part_pickers(picked, made)
maps = st.container()
cell_pickers(picked, made)

everywhere = None
try:
    everywhere = None if made.probe_id else live.made(probes.LayersRequest.of(picked.values()))
except AddendError as problem:
    show.sentence(problem)
if everywhere:
    with overview:
        st.header("Every layer", anchor=False)
        picked.choice("term", "Term", [t for t in (*ORDER, *ADDED_TERMS) if t in everywhere.terms], spoken)
    with layer:
        st.header("One layer", anchor=False)
        picked.slider("layer", "Layer", list(range(len(everywhere.values))))
        picked.segments(
            "method",
            "Method",
            list(METHODS),
            METHODS,
            help="frozen follows word and position through the layers; mean splits hidden states by averages over a "
            "reference text, where the store has them. At layer 0 the two need not agree.",
        )
values = picked.done()
if everywhere:
    with overview:
        for name in ("probe_depth", "probe_layers"):
            show.show(live.figure(name, values, everywhere), "probe", values)
with layer:
    with st.container(horizontal=True):
        show.copy_link("probe", values, without=("text", "pair"), why_not=probe_form.why_no_link(made))
        probe_form.save_button(picked, made)
    show.show(live.figure("probe_heads", values, made), "probe", values)
with maps:
    for name in ("probe_maps", "probe_total"):
        show.show(live.figure(name, values, made), "probe", values)
    st.header("One cell", anchor=False)
for name in ("probe_cell", "probe_distance"):
    show.show(live.figure(name, values, made), "probe", values)
