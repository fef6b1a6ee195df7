"""Vision: patches in the place of words. A real model over drawn images, and any model on one image."""

import streamlit as st

from analysis.core.errors import AddendError
from analysis.figures.terms.data import MEASURES
from analysis.figures.vision.data import model_title
from analysis.probes.drawn_images import CORPUS
from analysis.probes.intervention_probe import ImageInterventionRequest
from dashboard.session import live, queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show, vision_form
from dashboard.widgets.intervention_form import intervention_pickers
from dashboard.widgets.pickers import Pickers

show.header(
    "vision",
    "An image transformer adds a position to every patch, as a text transformer does to every word. This page "
    "separates what a patch shows (called word here) from where it stands (position) in the attention scores.",
)
picked = Pickers("vision")
measured = queries.rows(
    "SELECT DISTINCT model FROM newest_terms JOIN newest_patch_positions USING (model) "
    f"WHERE corpus = '{CORPUS}' ORDER BY model"
)
first, second, third = st.columns([2, 2, 3])
with first:
    picked.choice("stored", "Stored model", list(measured.model))
with second:
    picked.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
with third:
    names = {"four": "The four terms of word and position", "all": "All"}
    picked.segments("group", "Terms", list(names), names)
stored = st.container()
st.header("On one image", anchor=False)
uploaded = vision_form.form(picked)
status = st.status("Starting", expanded=False)
made = None
try:
    with status:
        made = live.image_decomposition(picked.values(), uploaded, live.progress_reporter(status))
        about = made.provenance
        took = f"{len(made.tokens)} tokens, {about.device}, {about.dtype}, {about.seconds:.2f} s"
        status.update(label=escape_markdown(f"{model_title(about.model)}: {took}"), state="complete", expanded=False)
except AddendError as problem:
    status.update(label="Nothing to show of this image", state="error", expanded=False)
    show.show_problem(problem)
pickers, terms = st.container(), st.container()
if made:
    with pickers:
        if picked.get("masked") and not made.masked:
            st.info("This model hides no patches; only ViT-MAE does. All are shown to it.", icon=":material/info:")
        vision_form.map_pickers(picked, made)
        picked.get("key")
    st.header("Interventions", anchor=False)
    intervention_pickers(picked)
values = picked.done()

with stored:
    st.caption("Press a cell to see every term of its layer and head, below.")
    for name in ("vision_layers", "vision_head", "vision_positions"):
        try:
            show.show(queries.figure(name, values), "vision", values, on_cell=picked.both("at_layer", "at_head"))
        except AddendError as problem:
            show.show_problem(problem)
if made:
    with terms:
        show.copy_link("vision", values, why_not=vision_form.why_no_link(uploaded))
        why_not = vision_form.why_no_link(uploaded)
        st.caption("Press a patch in a map to see what each term adds to the score of that key, below the maps.")
        for name, pressed, cell in (
            ("vision_maps", vision_form.key_at(picked, made), show.ROW_AND_COLUMN),
            ("vision_cell", None, show.ROW_AND_COLUMN),
            ("vision_heads", lambda head, _term: picked.set("head", head), ("head", "term")),
            ("vision_table", None, show.ROW_AND_COLUMN),
        ):
            figure = live.figure(name, values, made)
            show.show(figure, "vision", values, why_not=why_not, on_cell=pressed, cell=cell)
    try:
        changed = live.run_request(ImageInterventionRequest.of(values, uploaded))
        for name in ("vision_moved", "vision_kl"):
            show.show(live.figure(name, values, changed), "vision", values, why_not=vision_form.why_no_link(uploaded))
    except AddendError as problem:
        show.show_problem(problem)
