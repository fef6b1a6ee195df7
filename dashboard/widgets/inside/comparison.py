"""Compare with: a second model, text, layer, head or method, beside the first in Scores and Layers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.core.errors import AddendError
from analysis.core.formatting import at_most, join_names
from analysis.figures.compare.two_sides import (
    SIDES,
    CompareParameters,
    common_terms,
    far_apart,
    side_of_cell,
)
from analysis.figures.figure import STRONGEST
from analysis.figures.one_run import unknown_tokens_note
from analysis.figures.terms.maps import second_head, strongest_head
from analysis.figures.terms.measures import term_label
from analysis.links import SECOND_HEAD, VIEWS, Value
from analysis.measurements.terms.result import Decomposition, Layers
from analysis.probes import text_probe
from analysis.probes.text_probe import FOLLOWING, LayersRequest, differences
from analysis.store import checkpoints
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import phone_fold, probe_form, show
from dashboard.widgets.inside.run import PAGE, look, measure, run, show_figure
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.term_pickers import METHOD_HELP, METHODS, cell_pickers, row_names

AS_LEFT = "as on the left"
ASPECTS: dict[str, tuple[str, ...]] = {
    "model": ("model2", "revision2"),
    "text": ("text2", "pair2"),
    "layer or head": ("layer2", "head2"),
    "method": ("method2", "freeze2"),
}
"""The aspects in which the right side can differ -> the fields that hold them."""
TEXT = "The dogs of the tall man are in the garden."
"""Other words in a sentence of the same build as the text that the page opens with."""
CONTROL = 160
"""Pixels of a control of one side."""
BELOW = {"maps": "Scores", "attention": "Attention", "cell": "One cell", "terms": "All heads"}
"""The maps of a term, and what may stand below them."""
OVER_LAYERS = {"depth": "Against depth", "layers": "One term, every head"}


def compared(pickers: Pickers) -> list[str]:
    """The aspects in which the right side says something for itself."""
    following = _following()
    return [
        name
        for name, fields in ASPECTS.items()
        if any(pickers.get(field) not in ("", following[field]) for field in fields)
    ]


def _following() -> dict[str, Value]:
    """The fields of a right side that is as the left one."""
    return {field: FOLLOWING.get(field, "") for fields in ASPECTS.values() for field in fields}


def pills(pickers: Pickers) -> None:
    """Buttons for what the right side has for itself; pressing one begins with an example of it."""
    key = f"{PAGE}.compared"
    pressed = compared(pickers)
    st.session_state[key] = pressed

    def update() -> None:
        for name, fields in ASPECTS.items():
            wanted = name in st.session_state[key]
            if wanted == (name in pressed):
                continue
            changed = _example(pickers, name) if wanted else {field: _following()[field] for field in fields}
            for field, value in changed.items():
                pickers.set(field, value)
        for field in ("query", "key"):
            pickers.set(field, -1)

    st.pills(
        "Compare with another",
        list(ASPECTS),
        default=pressed,
        selection_mode="multi",
        key=key,
        on_change=update,
        wrap=True,
        disabled=bool(pickers.get("probe")),
        help="A saved probe cannot be compared: send the form to run its text." if pickers.get("probe") else None,
    )


def _example(pickers: Pickers, aspect: str) -> dict[str, Value]:
    """A first value of the right side, which differs from the left one."""
    default = VIEWS[PAGE].defaults()
    match aspect:
        case "model":
            others = [name for name in (str(default["model"]), *checkpoints.names()) if name != pickers.get("model")]
            return {"model2": others[0]}
        case "text":
            return {"text2": TEXT if pickers.get("text") != TEXT else str(default["text"])}
        case "layer or head":
            return _other_head(pickers) or {"layer2": 0 if pickers.get("layer") else 1}
        case _:
            return {"method2": "mean" if pickers.get("method") == "frozen" else "frozen"}


def _other_head(pickers: Pickers) -> dict[str, Value]:
    """The head of the same layer that goes by the term after the left one, or the strongest where that is another.

    Empty where the scores are not at hand or the layer has one head.
    """
    term, shown = str(pickers.get("term")), int(pickers.get("head"))
    try:
        result = live.decomposition(pickers.values())
    except AddendError:
        return {}
    if term not in result.names or result.heads < 2:
        return {}
    strongest = strongest_head(result, term)
    is_strongest = shown in (STRONGEST, strongest)
    return {"head2": SECOND_HEAD if is_strongest else strongest}


def has_boxes(pickers: Pickers) -> bool:
    """True where the right side has a model or a text of its own, which stand in a second row of the form."""
    return not pickers.get("image") and bool({"model", "text"} & set(compared(pickers)))


def boxes(pickers: Pickers) -> dict[str, str]:
    """The boxes of the right side, in the form: its model and texts, where it has its own. Returns their content."""
    aspects = compared(pickers)
    if not has_boxes(pickers):
        return {}
    places = iter(st.columns([2.4, 5.4, 3.2, 2], vertical_alignment="bottom"))
    first, second, third = next(places), next(places), next(places)
    entered: dict[str, str] = {}
    if "model" in aspects:
        entered["model2"] = probe_form.model_box(pickers, first, "2", suffix=" on the right")
    if "text" in aspects:
        entered["text2"] = _text_box(pickers, second, "text2", "Text on the right", AS_LEFT)
        entered["pair2"] = _text_box(pickers, third, "pair2", "Second text on the right", "none")
    return entered


def _text_box(pickers: Pickers, column: DeltaGenerator, name: str, label: str, placeholder: str) -> str:
    return column.text_area(label, key=pickers.box(name), height=68, placeholder=placeholder) or ""


def what_differs(pickers: Pickers) -> str:
    """A sentence on the ways in which the sides differ, and on their consequence for the difference."""
    differing = differences(pickers.values())
    heads: dict[Value, str] = {STRONGEST: "the strongest", SECOND_HEAD: "the second"}
    words = {
        name: [heads.get(side, side) for side in sides] if name == "head" else sides
        for name, sides in differing.items()
    }
    names = [f"{name} ({left} and {right})" if "text" not in name else name for name, (left, right) in words.items()]
    if not names:
        return "Both sides are the same. Change the model, text, layer, head or method of one side."
    text = f"The sides differ in the {join_names(names)}."
    return text if len(names) == 1 else f"{text} Any of these can cause a difference."


def _facts(
    results: Sequence[Decomposition | Layers], tokens: Sequence[int], errors: Sequence[float], place: Any
) -> None:
    """The line that is true of both sides' figures, and warnings on each."""
    sides = " | ".join(
        f"{side}: {result.provenance.model} ({result.provenance.revision}), {count} tokens, off by at most "
        f"{at_most(error)}"
        for side, result, count, error in zip(SIDES, results, tokens, errors, strict=True)
    )
    about = results[0].provenance
    place.caption(
        escape_markdown(f"The parts add up to each side's own scores. {sides}. {about.device}, {about.dtype}.")
    )
    for side, result, count in zip(SIDES, results, tokens, strict=True):
        if result.provenance.truncated_from:
            st.warning(
                f"The text of the {side} was cut from {result.provenance.truncated_from} to {count} tokens, the "
                "model's limit."
            )


def _run_both(pickers: Pickers, compute: Callable[[dict[str, Value], Callable[[str], None]], Any]) -> tuple[Any, Any]:
    """Both sides' results, the left one first."""

    def both(progress: Callable[[str], None]) -> tuple[Any, Any]:
        left, right = text_probe.sides(pickers.values())
        return compute(left, progress), compute(right, progress)

    return run(pickers, both, "", "2")


def scores(pickers: Pickers, facts: Any) -> None:
    """The tab Scores: a term of both sides and their difference, and below it what a reader asks for."""
    results: tuple[Decomposition, Decomposition] = _run_both(
        pickers, lambda side, progress: live.decomposition(side, progress=progress)
    )
    _facts(results, [len(one.tokens) for one in results], [one.max_error for one in results], facts)
    for one in results:
        if note := unknown_tokens_note(one):
            st.warning(escape_markdown(note))
    if len(differences(pickers.values())) != 1:  # What alone differs stands on the button that opens the choice.
        st.markdown(escape_markdown(what_differs(pickers)))
    terms = common_terms(results)
    below = "terms"
    if CompareParameters.of(pickers.values()).takes_cell_apart:
        pickers.set("look", "cell")
    if terms:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            _controls(pickers, results, terms)
            below = look(pickers, BELOW)
            if below == "terms":
                measure(pickers)
            elif below == "cell":
                names = min((row_names(pickers, one) for one in results), key=len)
                side = side_of_cell(CompareParameters.of(pickers.values()), results)
                cell_pickers(pickers, names, f"where the term is largest, {side}")
    else:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            _controls(pickers, results, terms)
        measure(pickers)
    values = pickers.done()
    show.copy_link(PAGE, values, without=("text", "pair", "text2", "pair2"))
    if terms:
        with show.reporting_problems():
            show_figure("compare_maps", values, results, on_cell=partial(_take_apart, pickers))
    else:
        st.info("The two methods split hidden states differently and have no term in common, so there are no maps.")
    if below != "maps":
        with show.reporting_problems():
            show_figure(f"compare_{below}", values, results)


def _take_apart(pickers: Pickers, query: int, key: int) -> None:
    """Shows a cell that was pressed, term by term."""
    for name, value in (("query", query), ("key", key), ("look", "cell")):
        pickers.set(name, value)


def _controls(pickers: Pickers, results: Sequence[Decomposition], terms: Sequence[str]) -> None:
    """Term, layer and head of the left side; of the right one, where it has its own; the method where that differs."""
    aspects = compared(pickers)
    own = "layer or head" in aspects
    of_sides = text_probe.sides(pickers.values())
    if terms:
        pickers.choice("term", "Term", terms, term_label, width=CONTROL + 30)
    with phone_fold.folded(PAGE, "sides"):
        suffixes = ("", "2") if own else ("",)
        for suffix, side, result, values in zip(suffixes, SIDES, results, of_sides, strict=False):
            _side_pickers(pickers, suffix, f", {side}" if own else "", result, values)
        # Sides that lie far apart have scales of their own at first.
        if terms and far_apart(CompareParameters.of(pickers.values()), (results[0], results[1])):
            pickers.toggle(
                "one_scale", "One scale", help="Else each map has its own, since one is pale beside the other."
            )
        elif terms:
            pickers.toggle("own_scale", "Own scales", help="Else one scale holds for all.")
    if "method" in aspects:
        pickers.segments("method2", "Method on the right", ["", *METHODS], {"": AS_LEFT}, help=METHOD_HELP)


def _side_pickers(
    pickers: Pickers, suffix: str, where: str, result: Decomposition, values: Mapping[str, Value]
) -> None:
    """Layer and head of one side. suffix: of its fields. where: the words that name the side."""
    # A stored result does not say how many layers its model has.
    count = result.layers or len(live.run_request(LayersRequest.of(values)).values)
    options = range(-1 if suffix else 0, count)
    pickers.slider(f"layer{suffix}", f"Layer{where}", options, format_func=_left_or_number, width=CONTROL)
    term = str(pickers.get("term"))
    first = f"{strongest_head(result, term)}, the strongest"
    if suffix and pickers.get("head") != STRONGEST:
        first = AS_LEFT
    names = {STRONGEST: first} | ({SECOND_HEAD: f"{second_head(result, term)}, the second"} if suffix else {})
    help = f"The strongest is the one whose scores vary most by {term_label(term)}."
    heads = [*names, *range(result.heads)]
    pickers.choice(f"head{suffix}", f"Head{where}", heads, names, help=help, width=CONTROL)


def _left_or_number(number: int) -> str:
    """A layer, or that it is as on the left."""
    return AS_LEFT if number < 0 else str(number)


def layers(pickers: Pickers, facts: Any) -> None:
    """The tab Layers: every layer of both sides on one scale, and their difference."""
    left, right = (LayersRequest.of(side) for side in text_probe.sides(pickers.values()))
    results: tuple[Layers, Layers] = _run_both(
        pickers, lambda side, progress: live.run_request(LayersRequest.of(side), progress)
    )
    errors = [float(one.errors[:, 0].max()) for one in results]
    _facts(results, [one.tokens for one in results], errors, facts)
    if left == right:
        st.info(
            f"{what_differs(pickers)} Every layer is the same on both sides: layer, head and method make a difference "
            "in Scores alone.",
            icon=":material/info:",
        )
    elif len(differences(pickers.values())) > 1:
        st.markdown(escape_markdown(what_differs(pickers)))
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        shown = look(pickers, OVER_LAYERS)
        with phone_fold.folded(PAGE, "measure"):
            measure(pickers)
    if shown == "layers":
        common = [term for term in results[0].terms if term in results[1].terms]
        pickers.choice("term", "Term", common, term_label)
    values = pickers.done()
    show.copy_link(PAGE, values, without=("text", "pair", "text2", "pair2"))
    with show.reporting_problems():
        show_figure(f"compare_{'depth' if shown == 'depth' else 'layers'}", values, results)


def only_left(pickers: Pickers) -> None:
    """A note on the tabs that show one side."""
    if compared(pickers):
        st.caption("Scores and Layers compare both sides; this tab shows the left one.")
