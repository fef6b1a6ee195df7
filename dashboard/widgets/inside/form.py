"""The form of Look inside: a model, and a text, a pair or an image; examples; everything else under Options."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from analysis.ablation.variants import readable
from analysis.core import settings
from analysis.figures.depth.measured import models_of_images
from analysis.links import GLACIERS, VIEWS
from analysis.measurements.terms.stored_image import stored_layers
from analysis.models import random_vit
from analysis.probes.drawn_images import IMAGES
from analysis.probes.opening_results import PAIR
from analysis.probes.text_probe import SIDES
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import probe_form
from dashboard.widgets.inside import comparison
from dashboard.widgets.inside.run import choose_once
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.term_pickers import METHOD_HELP, METHODS

Upload = tuple[str, bytes]
"""A file that a reader gave: its name and its bytes, which no link carries."""
EXAMPLES = {
    "agreement": (str(VIEWS["inside"].defaults()["text"]), ""),
    "order alone differs": PAIR,
    "negation": ("The film was good.", "The film was not good."),
    "one word, repeated": ("far far far far far far far far", ""),
    "code": ("for i in range(10): total += i * i", ""),
    "a paragraph": (GLACIERS, ""),
}
"""Texts to begin with: name -> text and second text."""
SIDE_TITLES = {"first": "the first text alone", "second": "the second text alone", "together": "both as one input"}
FREEZES = {"activation": "activation", "other": "other factor", "half": "half of each"}
GROUPS = {"four": "the four of word and position", "all": "all"}
CHANGES = {"shuffle_positions": "shuffle", "zero_positions": "remove", "scale_positions": "weaken"}
"""Changes of positions that every model with added positions takes: the intervention -> what it does."""
INPUTS = {"text": "Text", "image": "Image"}
NAME_HEIGHT = 12
"""Pixels by which the name of a box is higher than the gap above what stands beside it."""
SHORT = 24
"""Letters of the text that the folded form shows."""
OPEN = "inside.form_is_open"
"""The key in a session's state of whether a reader on a narrow page opened the form."""
UPLOADS = "inside.uploads"
"""The key in a session's state of how often its reader went from a file of their own to a drawn image."""
MODELS = "inside.last_models"
"""The key in a session's state of the last model of the other kind of input: kind -> model and revision."""


def form(pickers: Pickers, *, asks: bool) -> Upload | None:
    """Asks for what is looked into; the URL changes when the form is sent, an example is pressed or an option set.

    asks: false where stored results are shown, which no text or image of the reader's own is a part of. Returns the
    file that the reader uploaded in place of a drawn image.
    """
    if saved := str(pickers.get("probe")):
        st.info(
            f"Showing the saved probe {escape_markdown(saved)}. Send the form to run a new probe.",
            icon=":material/bookmark:",
        )
    if not asks:
        return None
    _fold(pickers)
    with st.container(key="inside.ask"):
        # Beside two rows of boxes it stays in the first, below their names.
        rows = "top" if comparison.has_boxes(pickers) else "bottom"
        before, boxes = st.columns([1.7, 9], vertical_alignment=rows)
        with before:
            if rows == "top":
                st.space(NAME_HEIGHT)
            kind(pickers)
        with boxes, st.form("inside.form", border=False):
            return _image_boxes(pickers) if pickers.get("image") else _text_boxes(pickers)


def _fold(pickers: Pickers) -> None:
    """On a narrow page one line in place of the form, which it opens: the style shows the one or the other.

    Where nothing can be shown, the style shows the form as well.
    """
    opened = bool(st.session_state.get(OPEN))
    asked = str(pickers.get("image") or pickers.get("text"))
    short = asked if len(asked) <= SHORT else f"{asked[:SHORT].rstrip()}…"
    model = readable(str(pickers.get("model")).strip())
    line = escape_markdown(f"{model}, “{short}”")

    def change() -> None:
        st.session_state[OPEN] = not opened

    with st.container(key=f"inside.fold.{'open' if opened else 'shut'}"):
        st.button(
            "Close the form" if opened else f"{line}: **change**",
            icon=":material/close:" if opened else ":material/edit:",
            key="inside.fold",
            width="stretch",
            on_click=change,
        )


def _close() -> None:
    st.session_state[OPEN] = False


def kind(pickers: Pickers) -> None:
    """Text or image."""
    now = "image" if pickers.get("image") else "text"
    choose_once("input", "What the model reads", INPUTS, now, lambda chosen: _read(pickers, chosen))


def _text_boxes(pickers: Pickers) -> None:
    """A model, a text and a second one."""
    first, second, third, last = st.columns([2.4, 5.4, 3.2, 2], vertical_alignment="bottom")
    entered = {"model": probe_form.model_box(pickers, first)}
    entered["text"] = second.text_area("Text", key=pickers.box("text"), height=68) or ""
    entered["pair"] = (
        third.text_area("Second text", key=pickers.box("pair"), height=68, placeholder="none, or one to compare") or ""
    )
    with last:
        sent = st.form_submit_button("Take apart", type="primary", width="stretch", on_click=_close)
    entered |= comparison.boxes(pickers)
    if sent:
        for name, value in entered.items():
            pickers.typed(name, value)
        pickers.set("truncate", False)
        pickers.set("probe", "")
        _forget_cell(pickers)


def _image_boxes(pickers: Pickers) -> Upload | None:
    """A model of images and an image of the reader's own; the drawn ones are examples."""
    first, second, last = st.columns([3, 5, 2.4], vertical_alignment="bottom")
    model = first.text_input(
        "Model",
        key=pickers.box("model"),
        help=f"{random_vit.NAME}, {live.folder_hint()}or a Hugging Face id such as owner/name: ViT, DeiT, DINOv2, "
        f"ViT-MAE or CLIP; only safetensors are read. {random_vit.NAME} is a {random_vit.TITLE}.",
    )
    file = second.file_uploader(
        "An image of your own",
        type=["png", "jpg", "jpeg", "webp", "gif"],
        max_upload_size=settings.number("ADDEND_IMAGE_MB"),
        help="It stays in this server's memory for as long as this view is open, and no link contains it.",
        key=f"inside.upload.{st.session_state.setdefault(UPLOADS, 0)}",
    )
    with last:
        sent = st.form_submit_button("Take apart", type="primary", width="stretch", on_click=_close)
    if sent:
        pickers.typed("model", model or "")
        _forget_cell(pickers)
    return None if file is None else (file.name, file.getvalue())


def why_no_link(uploaded: Upload | None) -> str:
    """The reason why a link cannot carry an image; empty when it can."""
    if uploaded is None:
        return ""
    return "No link contains an uploaded image: it stays in this server's memory. Choose a drawn image to get a link."


def side(pickers: Pickers) -> None:
    """The text of a pair that is read."""
    pickers.segments("side", "The model reads", SIDES, SIDE_TITLES, label_visibility="collapsed")


def stored_alone(model: str) -> bool:
    """True for a model of images whose results are stored by a name by which no weights can be loaded."""
    name = model.strip()
    return name in models_of_images() and "/" not in name and not (Path(name).is_dir() and not settings.hosted())


def check_image(pickers: Pickers) -> None:
    """Corrects a link: the first drawn image for one that there is not, and a model of images where none is named.

    That is the trained model whose results are stored, which opens on them.
    """
    asked, names = str(pickers.get("image")), list(IMAGES)
    if asked and pickers.get("model") == VIEWS["inside"].defaults()["model"]:
        pickers.set("model", first_model())
    if asked and asked not in names:
        st.warning(
            escape_markdown(
                f"The link asks for image {asked!r}, which is not among the drawn ones; {names[0]!r} is shown instead."
            )
        )
        pickers.set("image", names[0])


def first_model() -> str:
    """The model that an image is first shown with: a trained one that is stored, if there is one."""
    return next(iter(models_of_images()), random_vit.NAME)


def _read(pickers: Pickers, kind: str) -> None:
    """Turns the form to a text or to an image, with the model that was last used for it."""
    now = "image" if pickers.get("image") else "text"
    models = st.session_state.setdefault(MODELS, {"image": (first_model(), "")})
    models[now] = (pickers.get("model"), pickers.get("revision"))
    default = VIEWS["inside"].defaults()
    model, revision = models.get(kind, (default["model"], ""))
    image = next(iter(stored_layers(str(model)) or IMAGES)) if kind == "image" else ""
    # Positions need no image to be chosen, and are the simplest thing to see; a link without a tab opens Scores.
    tab = "positions" if kind == "image" and models_of_images() else ""
    changed = {"image": image, "model": model, "revision": revision, "tab": tab}
    changed |= {"probe": "", "look": "", "layer": 0, "head": -1}
    for name, value in changed.items():
        pickers.set(name, value)
    _forget_cell(pickers)


def _forget_cell(pickers: Pickers) -> None:
    """Another text has other tokens, another image other patches: what was pressed of the last one is none of it."""
    for name, default in (("query", -1), ("key", -1), ("also", ()), ("from", 0), ("to", -1), ("patch", -1)):
        pickers.set(name, default)


def set_example(pickers: Pickers, name: str) -> None:
    """Fills the form with an example."""
    text, pair = EXAMPLES[name]
    for field, value in {"text": text, "pair": pair, "probe": "", "side": "first"}.items():
        pickers.set(field, value)
    _forget_cell(pickers)


def _examples(pickers: Pickers) -> None:
    """Chips that fill the form; the one that is shown is pressed."""
    entered = (pickers.get("text"), pickers.get("pair"))
    shown = None if pickers.get("probe") else next((name for name in EXAMPLES if EXAMPLES[name] == entered), None)
    _chips("Examples", list(EXAMPLES), shown, "inside.examples", lambda name: set_example(pickers, name))


def _chips(label: str, names: list[str], shown: str | None, key: str, choose: Callable[[str], None]) -> None:
    """Chips of which a press chooses one; the one that is shown is pressed."""
    st.session_state[key] = shown

    def fill() -> None:
        _close()
        if (chosen := st.session_state[key]) is not None:
            choose(chosen)

    st.pills(label, names, default=shown, key=key, on_change=fill, wrap=True, label_visibility="collapsed")


def choose_image(pickers: Pickers, name: str) -> None:
    """Puts a drawn image in the place of the one that is shown, or of a file of the reader's own."""
    pickers.set("image", name)
    st.session_state[UPLOADS] += 1
    _forget_cell(pickers)


def _image_examples(pickers: Pickers, uploaded: Upload | None) -> None:
    """Chips of the drawn images; the one that is shown is pressed, and none while a file of the reader's own is."""
    shown = None if uploaded else str(pickers.get("image"))
    _chips("Drawn images", list(IMAGES), shown, "inside.images", lambda name: choose_image(pickers, name))


def options(pickers: Pickers, uploaded: Upload | None, *, asks: bool) -> None:
    """Buttons that open to examples, where the form asks for something, and to options.

    Those of a text hold comparisons and changes of its positions, too.
    """
    is_image = bool(pickers.get("image"))
    if asks:
        with st.popover("Examples", key="inside.examples_of"):
            if is_image:
                _image_examples(pickers, uploaded)
            else:
                _examples(pickers)
    compares = asks and not is_image
    compared = comparison.compared(pickers) if compares else []
    label = f"Compared: {', '.join(compared)}" if compared else "Compare and more" if compares else "Options"
    with st.popover(label, key="inside.more"):
        if compares:
            comparison.pills(pickers)
            if not compared:  # Changes are shown of one side alone.
                _changes(pickers)
        _more(pickers, is_image=is_image)


def _changes(pickers: Pickers) -> None:
    """Chips that change the positions and open the tab Change, which has every other change; one goes back."""
    key, done = "inside.changes", tuple(pickers.get("do"))
    shown = done[0] if pickers.get("tab") == "change" and len(done) == 1 and done[0] in CHANGES else None
    st.session_state[key] = shown

    def change() -> None:
        chosen = st.session_state[key]
        pickers.set("tab", "change" if chosen else "")
        pickers.set("look", "")
        if chosen:
            pickers.set("do", (chosen,))

    st.pills(
        "Change positions",
        list(CHANGES),
        default=shown,
        format_func=CHANGES.__getitem__,
        key=key,
        on_change=change,
        wrap=True,
    )


def _more(pickers: Pickers, *, is_image: bool) -> None:
    """The options that nobody needs by default."""
    key = pickers.box("revision")

    def change() -> None:
        pickers.typed("revision", st.session_state[key].strip())

    st.text_input("Revision of the model", key=key, help=probe_form.REVISION, on_change=change)
    if pickers.get("model2"):
        right = pickers.box("revision2")
        st.text_input(
            "Revision of the model on the right",
            key=right,
            help=probe_form.REVISION,
            on_change=lambda: pickers.typed("revision2", st.session_state[right].strip()),
        )
    pickers.toggle("centred", "Key-centred", help="Softmax ignores what is constant along the keys of a query.")
    if is_image:
        pickers.toggle("masked", "Hide patches, as a masked autoencoder's training did", help="ViT-MAE only.")
    else:
        pickers.toggle("words", "Whole words", help="Merge word pieces: scores averaged, attention to pieces summed.")
        pickers.toggle("specials", "Special tokens", help="Show [CLS] and [SEP]. They take part either way.")
    pickers.segments("group", "Terms with a map", list(GROUPS), GROUPS)
    if is_image:
        return
    if pickers.get("method") != METHODS[0]:  # As a link asks; Compare with has both, side by side.
        pickers.segments("method", "Method", METHODS, help=METHOD_HELP)
    pickers.segments("freeze", "In gated units, hold fixed", list(FREEZES), FREEZES)
