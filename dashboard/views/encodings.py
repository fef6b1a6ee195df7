"""Encodings: what each one looks like, and what it tells about order."""

import streamlit as st

from analysis.core import default_model
from analysis.core.errors import AddendError
from analysis.figures.encodings.geometry import COMPARISONS, NUMBERS, shifts
from analysis.figures.encodings.measures import MEASURES, in_words
from dashboard.session import queries
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers

PARTS = {"values": "The values", "distance": "Distance and shifts", "all": "All encodings"}
ENTERS = {
    "added": "added to the words",
    "rotates": "rotates queries and keys",
    "biases scores": "biases the attention scores",
    "untied": "compared separately from the words",
    "absent": "absent",
}
SHARED = ("encoding", "other", "length", "dim")


def describe(one) -> None:
    """What an encoding is and where it is from; and at which size it is shown, if not the one picked."""
    encoding = one.encoding
    st.markdown(f"**{encoding.title}**: {encoding.summary}")
    if one.adapted:
        st.info(one.adapted, icon=":material/straighten:")
    st.caption(f"{encoding.note} Paper: {encoding.paper}.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(ENTERS[encoding.enters], color="gray")
        if encoding.key:
            with st.popover("BibTeX", icon=":material/format_quote:", key=f"encodings.cite.{one.name}"):
                show.cite((encoding.key,))


def numbers(figure) -> None:
    """The similarity's properties, one row per encoding, with their definitions as help."""
    for place, one, like in zip(st.columns(2), figure.content.shown, figure.content.comparisons, strict=False):
        with place:
            st.markdown(f"**{one.title}**, {like.kind}")
            with st.container(horizontal=True, gap="small"):
                for name in NUMBERS:
                    measure = MEASURES[name]
                    st.metric(measure.title, in_words(name, like.numbers[name]), help=measure.definition, width=165)


def draw(name: str, *more: str) -> None:
    """One figure, made anew only when something that it shows changes; or the sentence that says why not."""
    try:
        figure = queries.figure(name, {field: values[field] for field in (*SHARED, *more)})
    except AddendError as problem:
        show.show_problem(problem)
        return
    show.show(
        figure,
        "encodings",
        values,
        under_heading=(lambda: numbers(figure)) if name == "encoding_similarity" else None,
    )


show.header("encodings", "How each encoding represents a position, before any word is added.")
known = queries.rows("SELECT encoding, title FROM encodings")
titles = dict(zip(known.encoding, known.title, strict=True))
if not default_model.is_installed() and (learned := titles.pop("learned", "")):
    st.info(f"{learned} is left out: its table comes from a model that is not installed. {default_model.remedy()}.")

picked = Pickers("encodings")
first, second, third, fourth = st.columns([3, 3, 2, 2])
with first:
    encoding = picked.choice("encoding", "Encoding", list(titles), titles)
with second:
    picked.choice("other", "Compare with", ["", *titles], lambda name: titles.get(name, "nothing"))
with third:
    length = picked.slider("length", "Positions", [16, 32, 64, 128, 256, 512])
with fourth:
    picked.slider("dim", "Dimensions", [16, 32, 64, 128, 256, 384, 512])
part = picked.segments("part", "Show", list(PARTS), PARTS)
if part == "distance":
    left, right = st.columns(2)
    with left:
        picked.segments("compare", "Compare rows by", list(COMPARISONS), COMPARISONS)
    with right:
        picked.segments("shift", "Shift by", shifts(length), lambda k: f"{k}")
values = picked.done()

show.copy_link("encodings", values)
about = queries.figure("encoding_heat", {field: values[field] for field in SHARED})
for place, one in zip(st.columns(2), about.content.shown, strict=False):
    with place:
        describe(one)

if part == "values":
    for name in ("encoding_heat", "encoding_movement", "encoding_spectrum"):
        draw(name)
elif part == "distance":
    draw("encoding_similarity", "compare")
    draw("encoding_shift", "shift")
else:
    draw("encoding_measures")
