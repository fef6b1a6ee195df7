"""The pictures of encodings, one or two at a time: their values, their distances, and all of them by every measure."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from analysis.core import default_model
from analysis.encodings import ENCODINGS
from analysis.figures import stored_figure
from analysis.figures.encodings.compared_rows import COMPARISONS, RowSimilarityParameters
from analysis.figures.encodings.measures import HEADINGS, SAYS
from analysis.figures.encodings.shift import shifts
from analysis.figures.encodings.sized import SizedEncoding, pair
from analysis.links import Value
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers

PAGE = "choose"
LOOKS = {"values": "Values", "distance": "Distances", "all": "Measures"}
"""Values of the link's field `look`, with their titles."""
FIGURES = {
    "values": ("encoding_heat",),
    "distance": ("encoding_similarity",),
    "all": ("encoding_measures",),
}
FOLDED = {
    "values": {
        "encoding_movement": "How much each dimension moves",
        "encoding_spectrum": "How fast the dimensions vary",
    },
    "distance": {
        "encoding_pairs": "Every pair of positions, in a map",
        "encoding_shift": "Can one matrix shift every position?",
    },
    "all": {"encoding_other_measures": "Six measures more, in a table"},
}
"""Figures that a press opens below those of a look."""
CONTROL = 170
"""Pixels of a control."""
ENTERS = {
    "added": "added to the words",
    "rotates": "rotates queries and keys",
    "biases scores": "biases the attention scores",
    "untied": "compared separately from the words",
    "absent": "absent",
}


def draw(pickers: Pickers, look: str) -> None:
    """The figures of a look, with their pickers."""
    titles = {name: encoding.title for name, encoding in ENCODINGS.items()}
    if not default_model.is_installed() and (learned := titles.pop("learned", "")):
        st.info(f"{learned} is left out: its table comes from a model that is not installed. {default_model.remedy()}.")
    # Side by side as far as there is room, on a phone the two encodings alone.
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pickers.choice("encoding", "Encoding", list(titles), titles, width=CONTROL)
        pickers.choice("other", "Compare with", ["", *titles], lambda name: titles.get(name, "nothing"), width=CONTROL)
        _draw_setting(pickers, look)
    values = pickers.done()
    show.copy_link(PAGE, values)
    shown = pair(RowSimilarityParameters.of(values)) if look != "all" else []
    for column, entry in zip(st.columns(2), shown, strict=False):
        with column:
            describe(entry)
    for name in FIGURES[look]:
        _draw_figure(name, values)
    for name, title in FOLDED.get(look, {}).items():
        fold = st.expander(title, key=f"{PAGE}.{name}.fold", on_change="rerun")
        if fold.open:
            with fold:
                _draw_figure(name, values, _columns if look == "all" else None)
    if shown:
        show_sources(shown)


def _draw_setting(pickers: Pickers, look: str) -> None:
    """The size of the tables and how their rows are compared, in a popover whose button says both."""
    size = f"{pickers.get('encoding_length')} positions × {pickers.get('dim')} dimensions"
    compare = COMPARISONS.get(str(pickers.get("compare")), "") if look != "values" else ""
    label = ", ".join(filter(None, [size, compare.lower()]))
    with st.popover(f"{label}: change", icon=":material/tune:", key=f"{PAGE}.setting"):
        length = pickers.slider("encoding_length", "Positions", [16, 32, 64, 128, 256, 512])
        pickers.slider("dim", "Dimensions", [16, 32, 64, 128, 256, 384, 512])
        if look != "values":
            pickers.segments("compare", "Compare rows by", list(COMPARISONS), COMPARISONS)
            pickers.segments("shift", "Shift by", shifts(length), lambda k: f"{k}")


def describe(entry: SizedEncoding) -> None:
    """Shows an encoding's description in a sentence; and its size, if it is not the selected one."""
    st.markdown(f"**{entry.source}**, {ENTERS[entry.encoding.enters]}: {entry.encoding.summary}")
    if entry.adapted:
        st.info(entry.adapted, icon=":material/straighten:")


def show_sources(shown: Sequence[SizedEncoding]) -> None:
    """The origin of each encoding's values with its paper, below a press."""
    fold = st.expander("Where these encodings come from", key=f"{PAGE}.sources.fold", on_change="rerun")
    if fold.open:
        with fold:
            for entry in shown:
                st.markdown(f"**{entry.title}**: {entry.encoding.note} Paper: {entry.encoding.paper}.")
                if entry.encoding.key:
                    show.cite((entry.encoding.key,))


def _columns() -> None:
    """A line on each column of the table of measures."""
    st.caption("\n".join(f"- **{heading}**: {SAYS[name]}." for name, heading in HEADINGS.items()))


def _draw_figure(name: str, values: Mapping[str, Value], under_heading: Callable[[], None] | None = None) -> None:
    """One figure, or why there is none."""
    with show.reporting_problems():
        show.show(stored_figure(name, values), PAGE, values, under_heading=under_heading)
