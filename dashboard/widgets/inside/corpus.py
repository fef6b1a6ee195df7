"""Many texts: the stored results of a measured model over a corpus, in the tabs Scores and Layers."""

from collections.abc import Callable, Container, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.ablation.variants import readable
from analysis.figures import stored_figure
from analysis.figures.depth import measured as stored
from analysis.figures.terms.measures import term_label
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import phone_fold, show
from dashboard.widgets.inside.run import PAGE, choose_once, look, measure
from dashboard.widgets.pickers import Pickers

OVER = {"": "This text", "corpus": "Many texts"}
"""The sources of the numbers of Scores, Layers and Change: the value of `over` -> its name."""
CORPORA = {"probe_set": "the probe set"}
LOOKS = {
    "heads": "One term, every head",
    "terms": "The four terms",
    "decoding": "What can be read back",
    "order": "Word order and reach",
    "basis": "Mean states",
}
"""Figures of the tab Layers: the value of `look` -> its name."""
FIGURES = {
    "decoding": ("depth_decoding",),
    "order": ("depth_equivariance", "depth_locality"),
    "basis": ("depth_basis",),
}


def asked(pickers: Pickers, tabs: Container[str]) -> bool:
    """True where the link asks for numbers of many texts. tabs: those that have them; Scores is opened first."""
    return pickers.get("over") == "corpus" and (pickers.get("tab") or "scores") in tabs


def choose_number(pickers: Pickers, *, many: bool) -> None:
    """Buttons for this text or many texts. many: which of the two is shown."""

    def choose(chosen: str) -> None:
        pickers.set("over", chosen)
        pickers.set("look", "")  # The figures of one are none of the other.

    choose_once("over", "Numbers of", OVER, "corpus" if many else "", choose)


def _models(pickers: Pickers, models: Sequence[str]) -> bool:
    """A drop-down of the models that were measured. False, with a sentence, where the form's model is none of them."""
    key, model = f"{PAGE}.measured", str(pickers.get("model")).strip()
    known = model in models
    st.session_state[key] = model if known else None

    def fill() -> None:
        if (chosen := st.session_state[key]) is not None:
            for field, value in {"model": chosen, "revision": "", "probe": ""}.items():
                pickers.set(field, value)

    st.selectbox(
        "Measured model",
        models,
        index=models.index(model) if known else None,
        format_func=readable,
        key=key,
        on_change=fill,
        placeholder="choose one",
    )
    if not known:
        st.info(
            escape_markdown(f"{model} was not measured over many texts. Choose one of the measured models above."),
            icon=":material/hourglass_empty:",
        )
    return known


def _corpus(pickers: Pickers, corpora: Sequence[str]) -> None:
    """The corpus, where the model was measured over several."""
    if len(corpora) > 1:
        pickers.choice("corpus", "Over", corpora, CORPORA)
    else:
        pickers.fixed("corpus", corpora)


def _pick_measured(pickers: Pickers) -> tuple[str, DeltaGenerator]:
    """The measured model, empty where none is known, and the column beside it, which its measure and texts follow."""
    measured = stored.models_and_corpora()
    first, beside, third = st.columns([2, 2, 3], vertical_alignment="bottom")
    with first:
        known = _models(pickers, list(dict.fromkeys(measured.model)))
    if not known:
        return "", beside
    model = str(pickers.get("model")).strip()
    with third, st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        with phone_fold.folded(PAGE, "measured"):
            measure(pickers)
        _corpus(pickers, list(measured[measured.model == model].corpus))
    return model, beside


def scores(pickers: Pickers) -> None:
    """The tab Scores over many texts: every head's terms at a layer, and the same over heads."""
    model, beside = _pick_measured(pickers)
    if not model:
        show.copy_link(PAGE, pickers.done())
        return
    with beside:
        pickers.slider("layer", "Layer", stored.layers(model))
    show.copy_link(PAGE, pickers.done())

    def to_text(head: int, _term: str) -> None:
        pickers.set("head", head)
        pickers.set("over", "")

    st.caption("Press a cell to see its head on one text.")
    _show(pickers, "terms_heads", to_text, ("head", "term"))
    _fold(pickers, "terms_aggregates")


def layers(pickers: Pickers) -> None:
    """The tab Layers over many texts: terms, decoders, word order and mean states from layer to layer."""
    part = look(pickers, LOOKS)
    if part in FIGURES:
        _models_against_depth(pickers, part)
        return
    model, beside = _pick_measured(pickers)
    if not model:
        show.copy_link(PAGE, pickers.done())
        return
    if part == "heads":
        with beside:
            pickers.choice("term", "Term", stored.terms(model, str(pickers.get("corpus"))), term_label)
    show.copy_link(PAGE, pickers.done())
    if part == "terms":
        _show(pickers, "depth_terms")
        return
    st.caption("Press a cell to see every term of its layer and head.")
    heads, cell = st.columns([7, 4], gap="large")
    with heads:
        _show(pickers, "depth_heads", pickers.cell_setter("at_layer", "at_head"), ("layer", "head"))
    with cell:
        _show(pickers, "depth_cell")


def _models_against_depth(pickers: Pickers, part: str) -> None:
    """Several models together, as far as each was measured."""
    pickers.several("models", "Measured models, together", stored.models(part), stored.all_models(), readable)
    show.copy_link(PAGE, pickers.done())
    for name in FIGURES[part]:
        _show(pickers, name)


def _fold(pickers: Pickers, name: str) -> None:
    """A stored figure under its one fact, which opens to it."""
    with show.reporting_missing_results():
        figure = stored_figure(name, pickers.values())
        with st.expander(escape_markdown(figure.heading), key=f"{PAGE}.{name}.folded"):
            _show(pickers, name)


def _show(
    pickers: Pickers, name: str, on_cell: Callable[..., None] | None = None, cell: tuple[str, str] = show.ROW_AND_COLUMN
) -> None:
    """A stored figure, or the sentence on what is not stored."""
    values = pickers.values()
    with show.reporting_missing_results():
        show.show(stored_figure(name, values), PAGE, values, on_cell=on_cell, cell=cell)
