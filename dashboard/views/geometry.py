"""Geometry: where words and positions lie, and where random vectors would."""

import streamlit as st

from analysis.ablation.variants import readable
from analysis.figures.geometry.cosines import DIMENSIONS
from dashboard.session import queries
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers

PAGE = "geometry"
PARTS = {
    "angles": "Near-orthogonality",
    "subspaces": "Subspaces",
    "ranks": "Ranks",
    "heads": "Heads",
    "words": "Words changed",
    "collisions": "Collisions",
    "read": "Read back",
}
FIGURES = {
    "angles": ("geometry_cosines", "geometry_dimension"),
    "subspaces": ("geometry_subspaces", "geometry_layers"),
    "ranks": ("geometry_spectra", "geometry_ranks", "geometry_energies"),
    "heads": ("geometry_heads",),
    "words": ("geometry_kept", "geometry_calls"),
    "collisions": ("geometry_collisions",),
    "read": ("geometry_decoded", "geometry_order"),
}

show.header(
    PAGE,
    "If words and positions used separate directions, adding them would lose nothing. Do they? Every chart shows in "
    "grey what random vectors do.",
)
pickers = Pickers(PAGE)
models = list(queries.rows("SELECT DISTINCT model FROM newest_geometry WHERE model IS NOT NULL ORDER BY model").model)
if not models:
    st.info("No geometry is stored yet. Run: python -m analysis measure geometry", icon=":material/hourglass_empty:")
    st.stop()
with st.container(width=360):
    model = pickers.choice("model", "Model", models, readable)
part = pickers.segments("part", "Look at", list(PARTS), PARTS)
if part == "angles":
    pickers.slider("dim", "Dimensions of the random vectors", list(DIMENSIONS))
elif part == "words":
    words = queries.rows(
        "SELECT word FROM newest_neighbours WHERE model = ? AND measure = 'nearest_word' ORDER BY word", [model]
    )
    with st.container(width=360):
        pickers.choice("word", "Word", ["", *words.word], lambda word: word or "the word that comes nearest to another")
values = pickers.done()
show.copy_link(PAGE, values)
for name in FIGURES[part]:
    with show.reporting_missing_results():
        show.show(queries.figure(name, values), PAGE, values)
