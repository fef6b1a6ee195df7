"""Live probe: a model and a text of the reader's own, taken apart."""

import streamlit as st

from analysis.errors import AddendError
from analysis.figures.terms import MEASURES
from dashboard import live, probe_form, show
from dashboard.pickers import Pickers
from dashboard.plain import plain
from dashboard.term_pickers import map_pickers

show.header("probe", "Pick a model, type a text, and see what word and position each add to its attention scores.")
picked = Pickers("probe")
probe_form.form(picked)
status = st.status("Starting", expanded=False)
try:
    with status:
        made = live.decomposition(picked.values(), progress=lambda message: status.update(label=plain(message)))
        about = made.provenance
        took = f"{len(made.tokens)} tokens, {about.device}, {about.dtype}, {about.seconds:.2f} s"
        status.update(label=plain(f"{about.model} ({about.revision}): {took}"), state="complete")
except AddendError as problem:
    status.update(label="Nothing to show", state="error")
    picked.done()
    show.sentence(problem)
    probe_form.offer_truncation(picked, problem)
    st.stop()

if about.truncated_from:
    st.warning(f"The text was cut from {about.truncated_from} to {len(made.tokens)} tokens, the model's limit.")
picked.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
overview = st.container()
map_pickers(picked, made.heads)
values = picked.done()

with overview:
    with st.container(horizontal=True):
        show.copy_link("probe", values, without=("text", "pair"), why_not=probe_form.why_no_link(made))
        probe_form.save_button(picked, made)
    show.show(live.figure("probe_heads", values, made), "probe", values)
for name in ("probe_maps", "probe_total"):
    show.show(live.figure(name, values, made), "probe", values)
