"""The form of the live probe: model, text, pair; saving, and cutting a text that is too long."""

import streamlit as st

from analysis import catalogue, checkpoints, embedded, probes, settings
from analysis.errors import AddendError, NotInstalled, TextTooLong
from analysis.terms import Decomposition
from dashboard import live, queries, show
from dashboard.links import TEXT_LIMIT_BYTES, Value
from dashboard.pickers import Pickers
from dashboard.plain import plain


def form(picked: Pickers) -> None:
    """Asks for a model and a text; the URL changes when the form is sent."""
    saved = str(picked.get("probe"))
    if saved:
        st.info(f"Showing the saved probe {plain(saved)}. Send the form to probe anew.", icon=":material/bookmark:")
    with st.form("probe.form", border=True):
        asked = asks(picked)
        if st.form_submit_button("Take it apart", type="primary"):
            for name, value in asked.items():
                picked.typed(name, value)
            picked.set("probe", "")
            picked.set("truncate", False)


def asks(picked: Pickers, side: str = "", *, end: str = "", more: str = "") -> dict[str, str]:
    """The boxes of a model, its revision, a text and a second one; `side` ends the names of a second set.

    end: what labels end with. more: what the box of the model says besides.
    """
    key = {name: picked.box(name + side) for name in ("model", "revision", "text", "pair")}
    empty = "as on the left" if side else None
    first, second = st.columns([3, 2] if end else [3, 1])
    asked = {
        "model": first.text_input(
            f"Model{end}",
            key=key["model"],
            help=f"{embedded.NAME} (embedded), one of our own ({', '.join(checkpoints.names())}), {live.folders()}"
            "or a Hugging Face id such as owner/name. Safetensors only; no code of a repository is ever run."
            f"{more}",
            placeholder=empty,
        ),
        "revision": second.text_input(f"Revision{end}", key=key["revision"], help="A branch, tag or commit, on a hub."),
        "text": st.text_area(f"Text{end}", key=key["text"], height=80, placeholder=empty),
        "pair": st.text_area(f"Second text{end or ' (optional)'}", key=key["pair"], height=68),
    }
    return {name + side: value or "" for name, value in asked.items()}


def two_sided(picked: Pickers) -> None:
    """Asks for two models and two texts."""
    with st.form("compare.form", border=True):
        left, right = st.columns(2, gap="large")
        with left:
            asked = asks(picked, end=" (left)")
        with right:
            asked |= asks(picked, "2", end=" (right)")
        if st.form_submit_button("Compare", type="primary"):
            for name, value in asked.items():
                picked.typed(name, value)


def patterns(picked: Pickers) -> None:
    """What can be shown of a model without terms: where it attends."""
    try:
        run = live.made(probes.PatternsRequest.of(picked.values()))
    except AddendError as problem:
        picked.done()
        show.sentence(problem)
        offer_truncation(picked, problem)
        return
    layers, heads = run.patterns.shape[:2]
    picked.slider("layer", "Layer", list(range(layers)))
    picked.slider("head", "Head", list(range(heads)))
    values = picked.done()
    show.copy_link(
        "probe", values, without=("text", "pair"), why_not=too_long(run.provenance.text, run.provenance.text_pair)
    )
    show.show(live.figure("probe_patterns", values, run), "probe", values)


def offer_truncation(picked: Pickers, problem: AddendError) -> None:
    """A button that cuts an over-long text to what the model can take."""
    if isinstance(problem, TextTooLong) and st.button("Cut it and go on"):
        picked.set("truncate", True)
        picked.done()
        st.rerun()


def offer(picked: Pickers, label: str, value: Value, *fields: str) -> None:
    """A button that sets fields to what every model can show, where something else was asked for."""
    asked = [field for field in fields if picked.get(field) != value]
    if asked and st.button(label):
        for field in asked:
            picked.set(field, value)
        picked.done()
        st.rerun()


def offer_ways_out(picked: Pickers, problem: AddendError, *sides: str) -> None:
    """Buttons back to what every model has, where it was the method or the layer that failed."""
    if not isinstance(problem, NotInstalled):
        offer_frozen(picked, *(f"method{side}" for side in sides))
        offer_layer_0(picked, *(f"layer{side}" for side in sides))


def offer_frozen(picked: Pickers, *fields: str) -> None:
    """A button back to the method that every model has."""
    offer(picked, "Use method frozen", "frozen", *fields)


def offer_layer_0(picked: Pickers, *fields: str) -> None:
    """A button to the layer that every model has."""
    offer(picked, "Use layer 0", 0, *fields)


def too_long(*texts: str | None, remedy: str = "Shorten it.") -> str:
    """Why a link cannot carry these texts, and what to do; empty when it can."""
    if len("".join(text or "" for text in texts).encode()) <= TEXT_LIMIT_BYTES:
        return ""
    return f"The text is over {TEXT_LIMIT_BYTES // 1000} kB, too long for a link. {remedy}"


def saving_is_on() -> bool:
    """Whether this server keeps probes: ADDEND_SAVE_PROBES, on unless it is 0."""
    return settings.switch("ADDEND_SAVE_PROBES")


def why_no_link(made: Decomposition) -> str:
    """Why a link cannot carry this probe's text, and what to do; empty when it can."""
    if made.probe_id:
        return ""
    remedy = (
        "Save the probe: its link carries an id instead."
        if saving_is_on()
        else "Saving probes is off on this server (ADDEND_SAVE_PROBES=0), so this view has no link; shorten the text."
    )
    return too_long(made.provenance.text, made.provenance.text_pair, remedy=remedy)


def save_button(picked: Pickers, made: Decomposition) -> None:
    """Keeps the probe in the store, where a link can find it."""
    if made.probe_id:
        return
    if not saving_is_on():
        st.button("Save probe", disabled=True, help="Saving is off on this server (ADDEND_SAVE_PROBES=0).")
        return
    if st.button(
        "Save probe", icon=":material/bookmark_add:", help="Keeps it, with its text, where its link finds it."
    ):
        probe_id = probes.save(made)
        catalogue.refresh()
        queries.ready()
        # The id stands for model and text: a shared link need not show them.
        for name, default in picked.view.defaults().items():
            if name in ("model", "revision", "text", "pair", "truncate"):  # not the layer: its slider is drawn
                picked.set(name, default)
        picked.set("probe", probe_id)
        picked.done()
        st.rerun()
