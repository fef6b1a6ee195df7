"""Vision: patches in the place of words. A real model over drawn images, and any model on one image."""

import streamlit as st

from analysis.core.errors import AddendError
from analysis.figures.terms.measures import MEASURES
from analysis.figures.vision.one_image import model_title
from analysis.probes.drawn_images import CORPUS
from analysis.probes.intervention_probe import ImageInterventionRequest
from dashboard.session import live, queries
from dashboard.widgets import probe_form, show, vision_form
from dashboard.widgets.intervention_form import intervention_pickers
from dashboard.widgets.pickers import Pickers

show.header(
    "vision",
    "An image transformer adds a position to every patch, as a text transformer does to every word. This page "
    "separates what a patch shows (called word here) from where it stands (position) in the attention scores.",
)
pickers = Pickers("vision")
measured = queries.rows(
    "SELECT DISTINCT model FROM newest_terms JOIN newest_patch_positions USING (model) "
    f"WHERE corpus = '{CORPUS}' ORDER BY model"
)
first, second, third = st.columns([2, 2, 3])
with first:
    pickers.choice("stored", "Stored model", list(measured.model))
with second:
    pickers.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
with third:
    names = {"four": "The four terms of word and position", "all": "All"}
    pickers.segments("group", "Terms", list(names), names)
stored = st.container()
st.header("On one image", anchor=False)
uploaded = vision_form.form(pickers)
status = st.status("Starting", expanded=False)
result = None
try:
    with status:
        result = live.image_decomposition(pickers.values(), uploaded, live.progress_reporter(status))
        provenance = result.provenance
        details = probe_form.run_details(provenance, len(result.tokens))
        probe_form.finish(status, f"{model_title(provenance.model)}: {details}")
except AddendError as problem:
    status.update(label="Nothing to show of this image", state="error", expanded=False)
    show.show_problem(problem)
picker_container, terms = st.container(), st.container()
if result:
    with picker_container:
        if pickers.get("masked") and not result.masked:
            st.info("This model hides no patches; only ViT-MAE does. All are shown to it.", icon=":material/info:")
        vision_form.map_pickers(pickers, result)
    st.header("Interventions", anchor=False)
    intervention_pickers(pickers)
values = pickers.done()

with stored:
    st.caption("Press a cell to see every term of its layer and head, below.")
    for name in ("vision_layers", "vision_head", "vision_positions"):
        with show.reporting_problems():
            figure, on_cell = queries.figure(name, values), pickers.cell_setter("at_layer", "at_head")
            show.show(figure, "vision", values, on_cell=on_cell)
if result:
    with terms:
        why_not = vision_form.why_no_link(uploaded)
        show.copy_link("vision", values, why_not=why_not)
        st.caption("Press a patch in a map to see what each term adds to the score of that key, below the maps.")
        for name, on_cell, cell in (
            ("vision_maps", vision_form.key_setter(pickers, result), show.ROW_AND_COLUMN),
            ("vision_cell", None, show.ROW_AND_COLUMN),
            ("vision_heads", lambda head, _term: pickers.set("head", head), ("head", "term")),
            ("vision_table", None, show.ROW_AND_COLUMN),
        ):
            figure = live.figure(name, values, result)
            show.show(figure, "vision", values, why_not=why_not, on_cell=on_cell, cell=cell)
    with show.reporting_problems():
        intervention = live.run_request(ImageInterventionRequest.of(values, uploaded))
        for name in ("vision_moved", "vision_kl"):
            show.show(live.figure(name, values, intervention), "vision", values, why_not=why_not)
