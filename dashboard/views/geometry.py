"""Geometry: four questions to the vectors of a model, each answered in a card, one figure large beneath them."""

import streamlit as st

from analysis.ablation.variants import readable
from analysis.core.errors import NoResults
from analysis.figures import stored_figure
from analysis.figures.geometry.cosines import DIMENSIONS, width_of
from analysis.figures.geometry.estimates import stored_cases, stored_models, tokens_of_others
from analysis.links import VIEWS
from analysis.narrative import geometry
from analysis.narrative.geometry import QUESTIONS
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import question_cards, show
from dashboard.widgets.pickers import Pickers

PAGE = "geometry"
# The parts of the page by the card that they stand in; a card opens on the first.
PARTS = {
    "angles": {"angles": "Cosines"},
    "directions": {
        "directions": "Shares",
        "subspaces": "Angles",
        "ranks": "Ranks",
        "heads": "Heads",
    },
    "states": {"states": "From every state"},
    "words": {"words": "Words changed"},
}
FIGURES_OF = {
    "angles": ("geometry_cosines",),
    "directions": ("geometry_directions",),
    "subspaces": ("geometry_subspaces",),
    "ranks": ("geometry_spectra",),
    "heads": ("geometry_heads",),
    "states": ("geometry_states",),
    "words": ("geometry_calls",),
}
# Figures that a press opens below those of a part.
FOLDED = {
    "angles": {"geometry_dimension": "Mean absolute cosine against dimension"},
    "subspaces": {"geometry_layers": "Shared directions from layer to layer"},
    "ranks": {
        "geometry_ranks": "Four ways of counting directions",
        "geometry_energies": "Do words stay out of the dimensions that positions use?",
    },
    "states": {
        "geometry_decoded": "Six decoders on artificial texts",
        "geometry_order": "What position tables say about position and order",
    },
    "words": {
        "geometry_kept": "Does adding a position turn one word into another?",
        "geometry_collisions": "How near do two sums come to each other?",
    },
}


def draw_meaning(card: str, part: str, model: str) -> None:
    """Says what a part of an answer means for adding, how far the answer goes, and the statements that it decides."""
    question, answer = QUESTIONS[card], geometry.answer(card, model)
    st.caption("**What it means for adding**")
    st.markdown(escape_markdown(question.means_of(part, model)))
    if answer.note and part == card:
        st.caption(escape_markdown(answer.note))
    links = "\n".join(
        f"- [{statement}]({show.address('claims', {'statement': statement})}) {escape_markdown(decided)}"
        for statement, decided in question.verdicts(part, readable(model)).items()
    )
    st.caption(f"What every model measured says of it\n{links}")


def draw_figure(name: str) -> None:
    """One figure, or what is missing for it."""
    with show.reporting_missing_results(PAGE, name):
        show.show(stored_figure(name, values), PAGE, values)


show.header(
    PAGE,
    "One space, two tables: do words and positions get in each other’s way? Four questions to the vectors of a "
    "trained model. The first two answers stand beside what random vectors would give.",
)
pickers = Pickers(PAGE)
models = stored_models()
if not models:
    st.info("No geometry is stored yet. Run: python -m analysis measure geometry", icon=":material/hourglass_empty:")
    st.stop()
# Models of antibodies and of chemical reactions are no models of language, and the menu says so.
tokens = tokens_of_others()
with st.container(width=360):
    model = pickers.choice(
        "model",
        "Model",
        list(models),
        lambda name: readable(name) + (f" ({models[name]} words: {tokens[name]})" if name in tokens else ""),
        label_visibility="collapsed",
    )
cards = geometry.cards(model)
answered = [str(one["part"]) for one in cards if one["answer"] != geometry.NOT_ASKED]
usual = VIEWS[PAGE].defaults()["part"]
if answered and pickers.get("part") == usual and usual not in answered:
    pickers.set("part", answered[0])  # A page opens at an answer, not at a question that the model cannot be asked.
part = pickers.fixed("part", [part for parts in PARTS.values() for part in parts])
card = next(card for card, parts in PARTS.items() if part in parts)
question_cards.show_cards(
    "geometry.cards",
    cards,
    card,
    lambda pressed: pickers.set("part", pressed),
    dark=show.theme().dark,
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    if len(PARTS[card]) > 1:
        part = pickers.segments(
            "part", "Part of this answer", list(PARTS[card]), PARTS[card], label_visibility="collapsed", width="content"
        )
    if part == "words":
        try:
            words = sorted(stored_cases(model, "nearest_word").word)
        except NoResults:
            words = []
        pickers.choice("word", "Word", ["", *words], lambda word: word or "the one with the smallest margin", width=260)
wide, narrow = st.columns([5, 2], gap="large")
with narrow:
    draw_meaning(card, part, model)
with wide:
    chart = st.container()
    if part == "angles" and card in answered:
        own = width_of(model)
        pickers.slider(
            "dim",
            f"Random vectors of other dimensions, from {min(filter(None, DIMENSIONS))} to {max(DIMENSIONS):,}",
            sorted(DIMENSIONS, key=lambda dim: dim or own),
            format_func=lambda dim: f"{dim}" if dim else f"{own}, as the model".removeprefix("0, "),
        )
values = pickers.done()
show.copy_link(PAGE, values)
with chart:
    for name in FIGURES_OF[part]:
        draw_figure(name)
with wide:
    for name, title in FOLDED.get(part, {}).items():
        fold = st.expander(title, key=f"{PAGE}.{name}.fold", on_change="rerun")
        if fold.open:
            with fold:
                draw_figure(name)
