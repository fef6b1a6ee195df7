"""Encodings: what each one looks like, and what it tells about order."""

from functools import partial

import streamlit as st

from analysis.core import default_model
from analysis.figures.encodings.measures import MEASURES, in_words
from analysis.figures.encodings.shift import shifts
from analysis.figures.encodings.similarity import COMPARISONS, NUMBERS, compare_rows
from analysis.figures.encodings.sized import EncodingPairParameters, pair
from dashboard.session import queries
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers

PARTS = {"values": "The values", "distance": "Distance and shifts", "all": "All encodings"}
FIGURES = {
    "values": ("encoding_heat", "encoding_movement"),
    "distance": ("encoding_similarity", "encoding_shift"),
    "all": ("encoding_measures",),
}
# Figures that a press opens below those of a part.
FOLDED = {"values": {"encoding_spectrum": "How fast the dimensions vary"}}
ENTERS = {
    "added": "added to the words",
    "rotates": "rotates queries and keys",
    "biases scores": "biases the attention scores",
    "untied": "compared separately from the words",
    "absent": "absent",
}


def describe(entry) -> None:
    """Shows an encoding's description and paper; and its size, if it is not the selected one."""
    encoding = entry.encoding
    st.markdown(f"**{encoding.title}**: {encoding.summary}")
    if entry.adapted:
        st.info(entry.adapted, icon=":material/straighten:")
    st.caption(f"{encoding.note} Paper: {encoding.paper}.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(ENTERS[encoding.enters], color="gray")
        if encoding.key:
            with st.popover("BibTeX", icon=":material/format_quote:", key=f"encodings.cite.{entry.name}"):
                show.cite((encoding.key,))


def show_numbers(shown, compare: str) -> None:
    """The similarity's properties, one row per encoding, with their definitions as help."""
    for column, entry in zip(st.columns(2), shown, strict=False):
        similarity = compare_rows(entry, compare)
        with column:
            st.markdown(f"**{entry.title}**, {similarity.kind}")
            with st.container(horizontal=True, gap="small"):
                for name in NUMBERS:
                    measure = MEASURES[name]
                    st.metric(
                        measure.title, in_words(name, similarity.numbers[name]), help=measure.definition, width=165
                    )


def draw(name: str) -> None:
    """One figure, made anew only when something that it shows changes; or why there is none."""
    with show.reporting_problems():
        figure = queries.figure(name, values)
        under_heading = partial(show_numbers, shown, str(values["compare"])) if name == "encoding_similarity" else None
        show.show(figure, "encodings", values, under_heading=under_heading)


show.header("encodings", "How each encoding represents a position, before any word is added.")
encodings = queries.rows("SELECT encoding, title FROM encodings")
titles = dict(zip(encodings.encoding, encodings.title, strict=True))
if not default_model.is_installed() and (learned := titles.pop("learned", "")):
    st.info(f"{learned} is left out: its table comes from a model that is not installed. {default_model.remedy()}.")

pickers = Pickers("encodings")
first, second, third, fourth = st.columns([3, 3, 2, 2])
with first:
    encoding = pickers.choice("encoding", "Encoding", list(titles), titles)
with second:
    pickers.choice("other", "Compare with", ["", *titles], lambda name: titles.get(name, "nothing"))
with third:
    length = pickers.slider("length", "Positions", [16, 32, 64, 128, 256, 512])
with fourth:
    pickers.slider("dim", "Dimensions", [16, 32, 64, 128, 256, 384, 512])
part = pickers.segments("part", "Show", list(PARTS), PARTS)
if part == "distance":
    left, right = st.columns(2)
    with left:
        pickers.segments("compare", "Compare rows by", list(COMPARISONS), COMPARISONS)
    with right:
        pickers.segments("shift", "Shift by", shifts(length), lambda k: f"{k}")
values = pickers.done()

show.copy_link("encodings", values)
shown = pair(EncodingPairParameters.of(values))
for column, entry in zip(st.columns(2), shown, strict=False):
    with column:
        describe(entry)

for name in FIGURES[part]:
    draw(name)
for name, title in FOLDED.get(part, {}).items():
    fold = st.expander(title, key=f"encodings.{name}.fold", on_change="rerun")
    if fold.open:
        with fold:
            draw(name)
