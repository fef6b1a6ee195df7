"""The form of the vision page: model, layer and image, drawn or uploaded; then head and patch."""

from collections.abc import Callable

import streamlit as st

from analysis.core import settings
from analysis.measurements.terms.image_result import ImageDecomposition
from analysis.models import random_vit_name as random_vit
from analysis.probes.drawn_images import IMAGES
from dashboard.session import live
from dashboard.widgets.pickers import Pickers


def form(pickers: Pickers) -> tuple[str, bytes] | None:
    """Asks for a model and an image. Returns an uploaded file's name and bytes, which no link carries."""
    with st.form("vision.form", border=True):
        first, second, third = st.columns([3, 1, 1])
        model = first.text_input(
            "Model",
            key=pickers.box("model"),
            help=f"{random_vit.NAME}, {live.folder_hint()}or a Hugging Face id such as owner/name: ViT, DeiT, DINOv2, "
            f"ViT-MAE or CLIP; only safetensors are read. {random_vit.NAME} is a {random_vit.TITLE}.",
        )
        revision = second.text_input("Revision", key=pickers.box("revision"), help="A branch, tag or commit, on a hub.")
        layer = third.number_input(
            "Layer",
            min_value=0,
            step=1,
            key=pickers.box("layer"),
            help="Layer 0 is exact; deeper layers use the method frozen.",
        )
        names = list(IMAGES)
        current = pickers.get("image")
        if current not in names:
            st.warning("The link asks for an image that is not among the drawn ones; the first one is shown instead.")
        image = st.selectbox(
            "Image",
            names,
            key=pickers.box("image", current if current in names else names[0]),
            format_func=lambda name: IMAGES[name].title,
        )
        file = st.file_uploader(
            "Or an image of your own",
            type=["png", "jpg", "jpeg", "webp", "gif"],
            max_upload_size=settings.number("ADDEND_IMAGE_MB"),
            help="It stays in this server's memory for as long as this view is open, and no link contains it.",
        )
        masked = st.checkbox(
            "Hide patches, as a masked autoencoder's training did", key=pickers.box("masked"), help="ViT-MAE only."
        )
        if st.form_submit_button("Take it apart", type="primary") or current not in names:
            entered = {"model": model, "revision": revision, "layer": int(layer), "image": image, "masked": masked}
            for name, value in entered.items():
                pickers.typed(name, value)
    if pickers.get("model").strip() == random_vit.NAME:
        st.info(
            f"This is the {random_vit.TITLE}. Name a model above to see one that was trained.", icon=":material/casino:"
        )
    return None if file is None else (file.name, file.getvalue())


def map_pickers(pickers: Pickers, decomposition: ImageDecomposition) -> None:
    """Head, query patch, and whether scores are centred."""
    first, second = st.columns(2)
    with first:
        pickers.slider("head", "Head", list(range(decomposition.heads)))
    with second:
        pickers.slider(
            "patch",
            "Query patch",
            list(range(len(decomposition.tokens))),
            format_func=lambda index: decomposition.tokens[index],
        )
    pickers.toggle("centred", "Key-centred", help="Softmax ignores what is constant along the keys of a query.")


def key_setter(pickers: Pickers, decomposition: ImageDecomposition) -> Callable[[int, int], None]:
    """A callback for a press on a patch of a map: that patch becomes the key whose terms are shown."""
    columns, visible = decomposition.grid[1], list(decomposition.kept)

    def pressed(row: int, column: int) -> None:
        pickers.set("key", decomposition.specials + visible.index(row * columns + column))

    return pressed


def why_no_link(uploaded: tuple[str, bytes] | None) -> str:
    """The reason why a link cannot carry this image; empty when it can."""
    if uploaded is None:
        return ""
    return "No link contains an uploaded image: it stays in this server's memory. Remove it to link to a drawn image."
