"""The tab Scores: which head, its maps term by term, and the score of one cell as a sum."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from analysis.core.errors import AddendError, NoFamily
from analysis.figures.one_run import unknown_tokens_note
from analysis.figures.terms.maps import NO_SOURCE, MapParameters, shown_head
from analysis.figures.terms.score_maps import MOST_ROWS, opening_cell
from analysis.measurements.terms.result import Decomposition, Layers
from analysis.probes import text_probe
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.session.page_address import is_dark
from dashboard.widgets import probe_form, show
from dashboard.widgets.inside.run import PAGE, about, adds_up, choose_once, look, run, show_figure
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.score_maps import show_score_maps
from dashboard.widgets.term_pickers import part_pickers, row_names

NAMED_ROWS = 40
"""Rows of a map from which a slider offers a part of them."""
FIGURES = {
    "": "No figure",
    "cell": "The cell's terms",
    "total": "Added up",
    "maps": "The maps",
    "heads": "Every head",
    "layers": "Every layer",
}
"""Figures that stand below the maps for whoever exports one: the value of `look` -> its name."""


def decomposition(pickers: Pickers, on_failure: Callable[[], None] = lambda: None) -> Decomposition | NoFamily:
    """The terms of the text; the reason why there are none, for an architecture whose terms are not known.

    on_failure: as of `run`.
    """

    def compute(progress: Callable[[str], None]) -> Decomposition | NoFamily:
        try:
            return live.decomposition(pickers.values(), progress=progress)
        except NoFamily as unknown:
            return unknown

    return run(pickers, compute, on_failure=on_failure)


def opening_tab(pickers: Pickers, on_failure: Callable[[], None]) -> str:
    """The tab that a link without one opens: Positions for a model whose scores have no terms of position.

    on_failure: draws what the page has besides, where the text cannot be taken apart.
    """
    result = decomposition(pickers, on_failure)
    return "positions" if isinstance(result, NoFamily) or result.position_kind == "rotated" else "scores"


def draw(pickers: Pickers, facts: Any) -> None:
    """The tab. facts: the place of the line that is true of every figure."""
    result = decomposition(pickers)
    if isinstance(result, NoFamily):
        show.show_problem(result)
        _patterns(pickers)
        return
    error = adds_up(result.max_error, "each of the model's own scores")
    about(result, len(result.tokens), f"layer {result.layer}, {result.heads} heads; {error}", facts)
    if note := unknown_tokens_note(result):
        st.warning(escape_markdown(note))
    if result.position_kind in NO_SOURCE:
        st.info(NO_SOURCE[result.position_kind], icon=":material/info:")
    if result.position_kind == "rotated":
        _ways_to_positions(pickers, result)
        return
    layers = _all_layers(pickers, result)
    values = _checked(pickers, result, layers)
    figures = FIGURES if layers else {name: title for name, title in FIGURES.items() if name != "layers"}
    shown = str(values["look"]) if values["look"] in figures else ""

    def choose_figure(chosen: str) -> None:
        cell = opening_cell(MapParameters.of(values), result) if chosen == "cell" else (-1, -1)
        if (values["query"], values["key"]) == (-1, -1):  # The cell that stands outlined, not the strongest of all.
            pickers.set("query", cell[0])
            pickers.set("key", cell[1])
        pickers.set("look", chosen)

    show.copy_link(PAGE, values, without=("text", "pair"), why_not=probe_form.why_no_link(values))
    with (
        st.expander("Draw it as papers print it, or save this probe", expanded=bool(shown)),
        st.container(horizontal=True, vertical_alignment="center"),
    ):
        choose_once("look", "Figures as papers print them", figures, shown, choose_figure)
        probe_form.save_button(pickers, result)
    if shown:
        run_of = layers if shown == "layers" else result
        show_figure(f"probe_{shown}", values, run_of)


def _all_layers(pickers: Pickers, result: Decomposition) -> Layers | None:
    """The terms of every layer; of a long text on demand only, since its first maps should not wait for them."""
    if result.probe_id or result.method == "mean" or len(result.tokens) > MOST_ROWS:
        return None
    try:
        return live.run_request(text_probe.LayersRequest.of(pickers.values()))
    except AddendError as problem:
        show.show_problem(problem)
        return None


def _checked(pickers: Pickers, result: Decomposition, layers: Layers | None) -> Mapping[str, Any]:
    """Draws the maps with what the link asks for, and says what this text and model do not have. Returns the state."""
    if layers is None and result.layers > 1 and not result.probe_id:
        pickers.slider("layer", "Layer", list(range(result.layers)))
    pickers.fixed("head", [-1, *range(result.heads)])
    rows = len(row_names(pickers, result))
    maps, slider = st.container(), st.container()
    with slider:
        if rows > NAMED_ROWS or (pickers.get("from"), pickers.get("to")) != (0, -1):
            part_pickers(pickers, result)
    first, last = int(pickers.get("from")), int(pickers.get("to"))
    for name in ("query", "key"):
        pickers.fixed(name, [-1, *range(first, rows if last == -1 else last + 1)])
    values = pickers.done()
    values = values | {"head": shown_head(MapParameters.of(values), result)}

    def draw_maps() -> None:
        show_score_maps(pickers, values, result, layers, dark=is_dark())

    with maps:
        if values["look"] == "maps":  # The figure below has the menu.
            draw_maps()
        else:
            show.show(live.figure("probe_maps", values, result), PAGE, values, flipbook=draw_maps)
    return values


def _patterns(pickers: Pickers) -> None:
    """Attention patterns: all that can be shown of the scores of a model without terms."""
    patterns = run(
        pickers, lambda progress: live.run_request(text_probe.PatternsRequest.of(pickers.values()), progress)
    )
    layers, heads = patterns.patterns.shape[:2]
    pickers.slider("layer", "Layer", list(range(layers)))
    if int(pickers.get("head")) == -1:
        pickers.set("head", 0)
    pickers.slider("head", "Head", list(range(heads)))
    values = pickers.done()
    show.copy_link(PAGE, values, without=("text", "pair"))
    show_figure("probe_patterns", values, patterns)


def _ways_to_positions(pickers: Pickers, result: Decomposition) -> None:
    """Buttons to the tabs that show the positions of a model whose hidden states have none; figures on demand."""
    with st.container(horizontal=True):
        for tab, label, icon in (
            ("positions", "Map its positions", "grid_on"),
            ("change", "Change its positions", "experiment"),
        ):
            if st.button(label, icon=f":material/{icon}:"):
                pickers.set("tab", tab)
                pickers.done()
                st.rerun()
    figures = {name: title for name, title in FIGURES.items() if name != "layers"}
    shown = look(pickers, figures, "Its scores as they are, in which position sits inside every term")
    pickers.fixed("head", [-1, *range(result.heads)])
    values = pickers.done()
    values = values | {"head": shown_head(MapParameters.of(values), result)}
    show.copy_link(PAGE, values, without=("text", "pair"))
    if shown:
        show_figure(f"probe_{shown}", values, result)
