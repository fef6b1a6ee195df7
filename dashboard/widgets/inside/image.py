"""The tabs of Look inside for an image: patches take the place of tokens."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from analysis.core import optional_dependencies
from analysis.core.errors import NotInstalled
from analysis.core.formatting import join_names, sentences
from analysis.figures import stored_figure
from analysis.figures.depth.measured import models_of_images
from analysis.figures.terms.measures import term_label
from analysis.figures.vision.one_image import model_title, strongest_query
from analysis.measurements.terms.image_result import ImageDecomposition
from analysis.measurements.terms.stored_image import stored_layers
from analysis.models import random_vit
from analysis.probes.drawn_images import IMAGES
from analysis.probes.intervention_probe import ImageInterventionRequest
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show
from dashboard.widgets.inside import form
from dashboard.widgets.inside.form import Upload, stored_alone, why_no_link
from dashboard.widgets.inside.run import PAGE, about, adds_up, choose_once, look, measure, run, show_figure
from dashboard.widgets.intervention_form import intervention_pickers
from dashboard.widgets.pickers import Pickers

BELOW = {"": "This head", "heads": "Every head"}
"""Figures that stand below the maps: the value of `look` -> its name."""
POSITIONS = ("stored", "table")
"""The models whose positions can be shown, a trained one and that of the form: the values of `look`."""
THUMBNAIL = 46
"""Pixels of a side of a small picture of an image that stored results are over."""
CONTROL = 200
"""Pixels of a control."""
WORDS_ARE_PATCHES = "A word, in the names of terms, is the content of a patch of the image."
PRESS = {"key": "the key", "patch": "the query (pink)"}
"""The fields of the link that a press on a patch can set, and their names."""
PRESSES = "inside.press"
"""The key in a session's state of the field that a press on a patch sets."""


def scores(pickers: Pickers, facts: Any, uploaded: Upload | None) -> None:
    """The scores of one patch with every other, laid out as the image is, and one of them as a sum."""
    layers = _stored_layers(pickers, uploaded)
    if layers and pickers.get("layer") not in layers:
        pickers.fixed("layer", layers)
    result = _decomposition(pickers, facts, uploaded)
    # Above both figures, since they are of both.
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = f"Layer ({join_names(map(str, layers))} are stored)" if layers else "Layer"
        pickers.slider("layer", label, layers or list(range(result.layers)), width=CONTROL)
        strongest = f"the one that goes most by {term_label(str(pickers.get('term')))}"
        pickers.choice("head", "Head", [-1, *range(result.heads)], {-1: strongest}, width=2 * CONTROL)
        every_head = look(pickers, BELOW) == "heads"
        pressed = str(st.session_state.get(PRESSES, "key"))
        choose_once("press", "A press on a patch picks", PRESS, pressed, lambda one: _set(PRESSES, one), labelled=True)
    maps, beside = st.columns([8, 4], gap="large")
    for name in ("patch", "key"):
        pickers.fixed(name, [-1, *range(len(result.tokens))])
    values = pickers.done()
    why_not = why_no_link(uploaded)
    show.copy_link(PAGE, values, why_not=why_not)
    with maps:
        show_figure("vision_maps", values, result, why_not=why_not, on_cell=_setter(pickers, result, pressed))
    with beside:
        show_figure("vision_cell", values, result, why_not=why_not)
    if every_head:
        measure(pickers)
        values = pickers.done()
        show_figure(
            "vision_heads",
            values,
            result,
            why_not=why_not,
            on_cell=lambda head, _term: pickers.set("head", head),
            cell=("head", "term"),
        )


def layers(pickers: Pickers, _facts: Any, _uploaded: Upload | None) -> None:
    """Every layer and head of a trained model over the drawn images, and the pressed head's terms."""
    with st.container(horizontal=True, vertical_alignment="center"):
        measure(pickers)
        st.caption("Press a cell to see its terms below.", width="content")
    st.caption(_stored_facts(pickers))
    values = pickers.done()
    show.copy_link(PAGE, values)
    with show.reporting_missing_results():
        setter = pickers.cell_setter("at_layer", "at_head")
        show.show(stored_figure("vision_layers", values), PAGE, values, on_cell=setter)
    with show.reporting_missing_results():
        show.show(stored_figure("vision_head", values), PAGE, values)


def positions(pickers: Pickers, facts: Any, uploaded: Upload | None) -> None:
    """The likeness of the positions of patches, in a trained model or in the one of the form."""
    options = positions_of(pickers)
    shown = look(pickers, options) if len(options) > 1 else "stored"
    if shown == "stored":
        st.caption(_stored_facts(pickers))
        values = pickers.done()
        show.copy_link(PAGE, values)
        with show.reporting_missing_results():
            show.show(stored_figure("vision_positions", values), PAGE, values)
        return
    result = _decomposition(pickers, facts, uploaded)
    values = pickers.done()
    show.copy_link(PAGE, values, why_not=why_no_link(uploaded))
    show_figure("vision_table", values, result, why_not=why_no_link(uploaded))


def stored_panel(pickers: Pickers) -> None:
    """The panel in place of the form above stored results: whose they are, the images, and a way to take one apart.

    Nothing in the form would change them.
    """
    with st.container(border=True, key="inside.stored_images"):
        names = models_of_images()
        if len(names) > 1:
            pickers.choice("stored", "Trained model", names)
        else:
            pickers.fixed("stored", names)
        line, action = st.columns([8, 2.4], vertical_alignment="center")
        with line, st.container(horizontal=True, vertical_alignment="center", gap="small"):
            model = escape_markdown(str(pickers.get("stored")))
            st.markdown(f"**{model}**, a trained model, measured before over all of", width="content")
            with st.container(horizontal=True, gap="xsmall", width="content"):
                for name in IMAGES:
                    st.image(IMAGES[name].draw(), width=THUMBNAIL)
        action.button("Take an image apart", type="primary", width="stretch", on_click=lambda: _take_apart(pickers))


def _take_apart(pickers: Pickers) -> None:
    """Opens Scores with the model of the form."""
    pickers.set("tab", "scores")
    pickers.set("look", "")


def positions_of(pickers: Pickers) -> dict[str, str]:
    """The models whose positions can be shown: the stored one first, unless the form has another trained one."""
    form_model = str(pickers.get("model")).strip()
    stored, table = POSITIONS
    names = {stored: f"{pickers.get('stored')}, trained"}
    if form_model not in models_of_images():
        names[table] = model_title(form_model) or "the model of the form"
    is_trained = form_model not in (random_vit.NAME, *models_of_images())
    return dict(reversed(names.items())) if is_trained else names


def shows_stored(pickers: Pickers, tab: str) -> bool:
    """True where a tab shows stored results of a trained model, of which nothing in the form is a part."""
    return tab == "layers" or (tab == "positions" and _shown_positions(pickers) == "stored")


def _shown_positions(pickers: Pickers) -> str:
    options, asked = positions_of(pickers), str(pickers.get("look"))
    return asked if asked in options else next(iter(options))


def change(pickers: Pickers, facts: Any, uploaded: Upload | None) -> None:
    """Each patch's output and each head's attention, before and after an intervention."""
    _refuse_without_weights(pickers)
    intervention_pickers(pickers, st.container(horizontal=True, vertical_alignment="center"))
    request = ImageInterventionRequest.of(pickers.values(), uploaded)
    result = run(pickers, lambda progress: live.run_request(request, progress))
    extra = f"{result.layers} layers of {result.heads} heads; {result.words}"
    about(result, len(result.tokens), extra, facts, title=model_title(result.provenance.model))
    values = pickers.done()
    why_not = why_no_link(uploaded)
    show.copy_link(PAGE, values, why_not=why_not)
    for column, name in zip(st.columns(2, gap="large"), ("vision_moved", "vision_kl"), strict=True):
        with column:
            show_figure(name, values, result, why_not=why_not)


def similarity(pickers: Pickers, _facts: Any, _uploaded: Upload | None) -> None:
    """The reason why there is nothing here."""
    st.info("Similarity compares two texts. Choose Text in the form above.", icon=":material/info:")
    show.copy_link(PAGE, pickers.done())


DRAW: dict[str, Callable[[Pickers, Any, Upload | None], None]] = {
    "scores": scores,
    "layers": layers,
    "positions": positions,
    "change": change,
    "similarity": similarity,
}
"""The tabs, by the names that they have for texts."""


def tabs(pickers: Pickers, shown: str) -> tuple[str, ...]:
    """The tabs that have something to show, and the one that is shown: a link may ask for one that says why not."""
    empty = {"similarity", "change"} if stored_alone(str(pickers.get("model"))) else {"similarity"}
    return tuple(name for name in DRAW if name not in empty or name == shown)


def _stored_layers(pickers: Pickers, uploaded: Upload | None) -> list[int]:
    """The layers of the form's model whose scores on its image are stored; empty where they have to be computed."""
    if uploaded is not None:
        return []
    return stored_layers(str(pickers.get("model")).strip()).get(str(pickers.get("image")), [])


def _refuse_without_weights(pickers: Pickers) -> None:
    """Ends the page with what can be done, where the form names a model of which results alone are at hand."""
    model = str(pickers.get("model"))
    try:
        optional_dependencies.models_can_run()
    except NotInstalled:
        return  # What runs the model says so.
    if not stored_alone(model):
        return
    pickers.done()
    images = list(stored_layers(model))
    shown = f" Its scores are stored on the drawn image {join_names(images)}." if images else ""
    st.info(
        escape_markdown(
            f"This needs the weights of {model}, which are not on this server.{shown} Layers and Positions show what "
            "was measured of it before. To take any image apart, give a model folder or a Hugging Face id above."
        ),
        icon=":material/info:",
    )
    with st.container(horizontal=True):
        for image in images:
            label = f"Show {model} on the {image}"
            st.button(label, type="primary", on_click=partial(_show, pickers, model, image))
        st.button("Use random weights instead", on_click=lambda: pickers.set("model", random_vit.NAME))
    st.stop()


def _show(pickers: Pickers, model: str, image: str) -> None:
    """Opens the scores of a model on an image on which they are stored."""
    pickers.set("model", model)
    form.choose_image(pickers, image)
    pickers.set("tab", "scores")


def _say_what_weights(pickers: Pickers, result: ImageDecomposition) -> None:
    """Says above all figures that a model with random weights has learned nothing, with a way to a trained one."""
    if result.provenance.model != random_vit.NAME:
        return
    st.info(
        "The weights of this model are random: it has learned nothing. What you see shows how an image is taken "
        "apart, and says nothing about trained models.",
        icon=":material/casino:",
    )
    for model in models_of_images():
        for image in stored_layers(model):
            st.button(
                f"Show {model}, a trained model, on the {image}",
                key=f"inside.trained.{model}.{image}",
                on_click=partial(_show, pickers, model, image),
            )


def _decomposition(pickers: Pickers, facts: Any, uploaded: Upload | None) -> ImageDecomposition:
    """One layer's scores between the patches of the image, and the line that is true of every figure of them."""
    if not _stored_layers(pickers, uploaded):
        _refuse_without_weights(pickers)
    result: ImageDecomposition = run(
        pickers, lambda progress: live.image_decomposition(pickers.values(), uploaded, progress)
    )
    rows, columns = result.grid
    error = adds_up(result.max_error, "each of the model's own scores")
    about(
        result,
        len(result.tokens),
        f"layer {result.layer}, {result.heads} heads; {rows} by {columns} patches; {error}",
        facts,
        title=model_title(result.provenance.model),
    )
    _say_what_weights(pickers, result)
    if pickers.get("masked") and not result.masked:
        st.info("This model hides no patches; only ViT-MAE does. All are shown to it.", icon=":material/info:")
    return result


def _setter(pickers: Pickers, result: ImageDecomposition, field: str) -> Callable[[int, int], None]:
    """A callback for a press on a patch of a map: it becomes the query or the key. field: which of the two."""
    columns, visible = result.grid[1], list(result.kept)
    head = int(pickers.get("head"))

    def pressed(row: int, column: int) -> None:
        if field == "key" and pickers.get("patch") == -1 and head >= 0:
            pickers.set("patch", strongest_query(result, head))
        pickers.set(field, result.specials + visible.index(row * columns + column))

    return pressed


def _stored_facts(pickers: Pickers) -> str:
    """A line that says what a word of an image is, and that another model of the form is no part of stored results."""
    model = str(pickers.get("stored"))
    other = model_title(str(pickers.get("model")).strip())
    measured = f"All of this was measured of {model}; {other} plays no part in it."
    return escape_markdown(sentences(WORDS_ARE_PATCHES, "" if other in ("", model, random_vit.TITLE) else measured))


def _set(key: str, value: str) -> None:
    st.session_state[key] = value
