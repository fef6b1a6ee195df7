"""The tab Positions: which layers and bands of wavelengths use position, and each head's scores against distance."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from analysis.core.errors import NoFamily
from analysis.figures.terms.curves import ORDERS, strongest
from analysis.measurements.positions.stored_maps import stored_models
from analysis.measurements.terms.result import Curves
from analysis.probes.position_probe import BASELINES, PositionRequest, UnturnRequest
from analysis.probes.text_probe import CurvesRequest
from dashboard.session import live
from dashboard.widgets import phone_fold, probe_form, show
from dashboard.widgets.inside.run import PAGE, about, adds_up, look, run, show_figure
from dashboard.widgets.pickers import Pickers

FIGURES = {"distance": "Every head", "map": "By layer", "cell": "One cell"}
ROTATED = {
    "map": "By layer",
    "cell": "One cell",
    "distance": "One head",
    "unturned": "Without one band",
}


def draw(pickers: Pickers, facts: Any) -> None:
    """The tab. facts: the place of the line that is true of every figure."""
    controls = st.container(horizontal=True, vertical_alignment="center")
    request = PositionRequest.of(pickers.values() | {"baseline": ""})
    result = run(pickers, lambda progress: request.stored() or live.run_request(request, progress))
    rotates = result.kernels is not None
    stored = "; stored" if result.command else ""
    error = adds_up(float(result.errors.max()), "each of the model's own scores") + " of their range"
    about(result, result.tokens, f"{len(result.power)} layers; {error}{stored}", facts)
    figures = ROTATED if rotates else FIGURES
    asked = str(pickers.get("look"))
    curves = None if rotates or asked in ("map", "cell") else _curves(pickers)
    if isinstance(curves, NoFamily):
        figures = {name: title for name, title in FIGURES.items() if name != "distance"}
        if asked == "distance":
            show.show_problem(curves)
    with controls:
        shown = look(pickers, figures)
        with phone_fold.folded(PAGE, "position_options"):
            if isinstance(curves, Curves):
                pickers.segments("heads_by", "Heads", list(ORDERS), ORDERS, label_visibility="collapsed")
            elif shown == "map":
                none = {"": "This model alone", **BASELINES}
                pickers.segments("baseline", "Compare with", list(none), none, label_visibility="collapsed")
            with st.popover("Stored models", key="inside.stored"):
                probe_form.stored_buttons(pickers, stored_models())
    if isinstance(curves, Curves):
        _every_head(pickers, curves)
        return
    baseline = None
    if shown == "map":
        if pickers.get("baseline"):
            with show.reporting_problems():
                baseline = live.run_request(PositionRequest.of(pickers.values()))
    else:
        pickers.slider("layer", "Layer", list(range(len(result.power))))
    if shown == "distance":
        assert result.kernels is not None
        heads = result.kernels.shape[2]
        pickers.choice("head", "Head", [-1, *range(heads)], {-1: "the one that varies most"})
    values = pickers.done()
    show.copy_link(PAGE, values, without=("text", "pair"))
    if shown == "unturned":
        unturned = run(
            pickers, lambda progress: live.run_request(UnturnRequest.of(values | {"baseline": ""}), progress)
        )
        show_figure("position_unturned", values, unturned)
        return
    pair = (result, baseline)
    if shown != "map":
        show_figure("position_kernels" if shown == "distance" else "position_cell", values, pair)
        return
    position_map = live.figure("position_map", values | ({} if baseline else {"baseline": ""}), pair)
    columns = list(dict.fromkeys(position_map.frame().source))

    def select(row: int, column: int) -> None:
        pickers.set("layer", row)
        pickers.set("band", result.sources.index(columns[column]))
        pickers.set("look", "cell")

    st.caption("Press a cell of the map to see its heads, its score by distance and the tokens that it joins.")
    show.show(position_map, PAGE, values, on_cell=select)
    st.caption(
        "To check that a model rotates its queries and keys as its config says, run `python -m analysis positions "
        "MODEL`: it ends with exit code 1 if the model does not. With `--against OTHER` it compares two exports of a "
        "model."
    )


def _curves(pickers: Pickers) -> Curves | NoFamily:
    """Every head against distance; the reason why there is none, for an architecture whose terms are not known."""

    def compute(progress: Callable[[str], None]) -> Curves | NoFamily:
        try:
            return live.run_request(CurvesRequest.of(pickers.values()), progress)
        except NoFamily as unknown:
            return unknown

    return run(pickers, compute)


def _every_head(pickers: Pickers, curves: Curves) -> None:
    """A small curve a head, and the pressed one with all its terms."""
    layers, heads = curves.shares.shape
    pickers.fixed("layer", list(range(layers)))
    pickers.fixed("head", [-1, *range(heads)])
    values = pickers.done()
    show.copy_link(PAGE, values, without=("text", "pair"))
    small, large = st.columns([6, 5], gap="large")
    with small:
        setter = pickers.cell_setter("layer", "head")

        def press() -> None:
            st.caption("Press a head to see its scores, term by term.")

        show_figure("probe_curves", values, curves, on_cell=setter, cell=("layer", "head"), under_heading=press)
    layer, head = strongest(curves) if values["head"] == -1 else (values["layer"], values["head"])
    shown = values | {"layer": layer, "head": head, "probe": ""}
    with large, show.reporting_problems():
        show_figure("probe_distance", shown, live.decomposition(shown))
