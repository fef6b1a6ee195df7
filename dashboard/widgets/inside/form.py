"""The form of Look inside: model, text and second text; examples; everything else under More."""

import streamlit as st

from analysis.links import GLACIERS, VIEWS
from analysis.probes.text_probe import SIDES
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import probe_form
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.term_pickers import METHODS

EXAMPLES = {
    "agreement": (str(VIEWS["inside"].defaults()["text"]), ""),
    "order alone differs": ("The dog chased the cat.", "The cat chased the dog."),
    "negation": ("The film was good.", "The film was not good."),
    "one word, repeated": ("far far far far far far far far", ""),
    "code": ("for i in range(10): total += i * i", ""),
    "a paragraph": (GLACIERS, ""),
}
"""Texts to begin with: name -> text and second text."""
SIDE_TITLES = {"first": "the first text alone", "second": "the second text alone", "together": "both as one input"}
FREEZES = {"activation": "activation", "other": "other factor", "half": "half of each"}
GROUPS = {"four": "the four of word and position", "all": "all"}


def form(pickers: Pickers) -> None:
    """Asks for what is looked into; the URL changes when the form is sent, an example is pressed or an option set."""
    if saved := str(pickers.get("probe")):
        st.info(
            f"Showing the saved probe {escape_markdown(saved)}. Send the form to run a new probe.",
            icon=":material/bookmark:",
        )
    with st.form("inside.form", border=True):
        first, second, third, last = st.columns([3, 4, 4, 2.4], vertical_alignment="bottom")
        entered = {"model": probe_form.model_box(pickers, first)}
        entered["text"] = second.text_area("Text", key=pickers.box("text"), height=68) or ""
        entered["pair"] = (
            third.text_area(
                "Second text", key=pickers.box("pair"), height=68, placeholder="none; with one, the two are compared"
            )
            or ""
        )
        with last:
            sent = st.form_submit_button("Take apart", type="primary", width="stretch")
        if sent:
            for name, value in entered.items():
                pickers.typed(name, value)
            pickers.set("truncate", False)
            pickers.set("probe", "")
            _forget_cell(pickers)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _examples(pickers)
        with st.popover("More", icon=":material/tune:", key="inside.more"):
            _more(pickers)


def side(pickers: Pickers) -> None:
    """The text of a pair that is read."""
    pickers.segments("side", "The model reads", SIDES, SIDE_TITLES)


def _forget_cell(pickers: Pickers) -> None:
    """Another text has other tokens: what was pressed of the last one is none of it."""
    for name, default in (("query", -1), ("key", -1), ("also", ()), ("from", 0), ("to", -1)):
        pickers.set(name, default)


def set_example(pickers: Pickers, name: str) -> None:
    """Fills the form with an example."""
    text, pair = EXAMPLES[name]
    for field, value in {"text": text, "pair": pair, "probe": "", "side": "first"}.items():
        pickers.set(field, value)
    _forget_cell(pickers)


def _examples(pickers: Pickers) -> None:
    """Chips that fill the form; the one that is shown is pressed."""
    key = "inside.examples"
    entered = (pickers.get("text"), pickers.get("pair"))
    shown = None if pickers.get("probe") else next((name for name in EXAMPLES if EXAMPLES[name] == entered), None)
    st.session_state[key] = shown

    def fill() -> None:
        if (chosen := st.session_state[key]) is not None:
            set_example(pickers, chosen)

    st.pills("Examples", list(EXAMPLES), default=shown, key=key, on_change=fill)


def _more(pickers: Pickers) -> None:
    """The options that nobody needs by default."""
    key = pickers.box("revision")

    def change() -> None:
        pickers.typed("revision", st.session_state[key].strip())

    st.text_input("Revision of the model", key=key, help=probe_form.REVISION, on_change=change)
    pickers.toggle("centred", "Key-centred", help="Softmax ignores what is constant along the keys of a query.")
    pickers.toggle("words", "Whole words", help="Merge word pieces: scores averaged, attention to pieces summed.")
    pickers.toggle("specials", "Special tokens", help="Show [CLS] and [SEP]. They take part either way.")
    pickers.segments("group", "Terms with a map", list(GROUPS), GROUPS)
    pickers.segments(
        "method",
        "Method",
        list(METHODS),
        METHODS,
        help="frozen follows word and position through the layers, with attention patterns and norms held at the "
        "model's own values; mean splits hidden states by averages over a reference text, where these are stored. At "
        "layer 0 the two need not agree.",
    )
    pickers.segments("freeze", "In gated units, hold fixed", list(FREEZES), FREEZES)
