"""Attention terms: what word and position each add to the scores of a real model, over a corpus and on a text."""

import streamlit as st

from analysis.ablation.variants import readable
from analysis.figures.terms.measures import MEASURES
from dashboard.session import live, queries
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.term_pickers import cell_pickers, map_pickers, row_names

show.header(
    "terms",
    "When positions are added to words, an attention score is a sum of terms: word to word, word to position, position "
    "to word and position to position (the query comes first), and those of segments and biases. At every layer all of "
    "them add up exactly to the model's own score; deeper than the first layer, attention patterns and other "
    "non-linear parts keep the values that they have in the model.",
)
pickers = Pickers("terms")
measured = queries.rows(
    "SELECT DISTINCT model, corpus FROM newest_terms WHERE corpus IN (SELECT corpus FROM corpora) ORDER BY ALL"
)
first, second, third = st.columns([2, 2, 3])
with first:
    model = pickers.choice("model", "Model", list(dict.fromkeys(measured.model)), readable)
with second:
    pickers.choice("corpus", "Over", list(measured[measured.model == model].corpus), {"probe_set": "the probe set"})
with third:
    pickers.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
layers = queries.rows("SELECT DISTINCT layer FROM newest_terms WHERE model = ? ORDER BY layer", [model])
pickers.slider("layer", "Layer", [int(layer) for layer in layers.layer])

overview = st.container()
st.header("On one text", anchor=False)
examples = queries.rows(
    "SELECT probe_id, title, heads FROM saved_probes WHERE model = ? AND probe_id LIKE 'example-%' ORDER BY title",
    [model],
)
titles = dict(zip(examples.probe_id, examples.title, strict=True))
probe = pickers.choice("probe", "Saved probe", list(titles), titles)
heads = int(examples.heads[examples.probe_id == probe].iloc[0]) if titles else 0
map_pickers(pickers, heads)
maps = st.container()
result = live.decomposition(pickers.values()) if probe else None
if result:
    cell_pickers(pickers, row_names(pickers, result))
values = pickers.done()

with overview:
    show.copy_link("terms", values)
    show.show(
        queries.figure("terms_heads", values),
        "terms",
        values,
        on_cell=lambda head, _term: pickers.set("head", head),
        cell=("head", "term"),
    )
    show.show(queries.figure("terms_aggregates", values), "terms", values)
if result:
    set_cell = pickers.cell_setter("query", "key")
    with maps:
        st.text(result.provenance.text + (f"  |  {result.provenance.text_pair}" if result.provenance.text_pair else ""))
        st.caption(
            "Press a cell of a map to see, below the maps, its two tokens and what each term adds to their score."
        )
        show.show(live.figure("probe_maps", values, result), "terms", values, on_cell=set_cell)
    show.show(live.figure("probe_cell", values, result), "terms", values)
    show.show(live.figure("probe_total", values, result), "terms", values, on_cell=set_cell)
st.page_link("views/inside.py", label="Try a text of your own", icon=":material/experiment:")
