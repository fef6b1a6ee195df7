"""Position map: which layers, bands of wavelengths and tables of a model use position, on the reader's text."""

from typing import Any

import streamlit as st

from analysis.core.errors import AddendError
from analysis.measurements.positions.stored import stored_models
from analysis.probes.position_probe import BASELINES, PositionRequest, UnturnRequest
from dashboard.session import live
from dashboard.widgets import probe_form, show
from dashboard.widgets.pickers import Pickers

PAGE = "positions"

show.header(
    PAGE,
    "Which layers of a model use position, and how it enters them: added to words, added to scores, or by rotating "
    "queries and keys, shown by bands of wavelengths. This works for almost any architecture.",
)
pickers = Pickers(PAGE)
stored_container = st.container()
probe_form.text_form(pickers, "Map it", height=112)
with stored_container:  # after the form, which decides what is shown
    probe_form.stored_buttons(pickers, stored_models())
status = st.status("Starting", expanded=False)
map_request = PositionRequest.of(pickers.values() | {"baseline": ""})
try:
    with status:
        stored = map_request.stored()
        result = stored or live.run_request(map_request, live.progress_reporter(status))
        provenance = result.provenance
        timing = f"stored {provenance.created[:10]}" if stored else ""
        details = probe_form.run_details(provenance, result.tokens, timing)
        probe_form.finish(status, f"{provenance.model} ({provenance.revision}): {details}")
except AddendError as problem:
    probe_form.fail(pickers, status, problem)
    probe_form.offer_truncation(pickers, problem)
    st.stop()


def run_or_report(request: Any) -> Any:
    """The result of a further request; None where it has failed, which is reported."""
    with show.reporting_problems():
        return live.run_request(request)


def select_cell(row: int, column: int) -> None:
    """Selects a cell of the map: its layer, and its column among the sources."""
    pickers.set("layer", row)
    pickers.set("band", result.sources.index(position_map.content.sources[column]))


map_container, cell_container = st.container(), st.container()
pickers.segments("baseline", "Compare with", ["", *BASELINES], {"": "Nothing", **BASELINES})
baseline = run_or_report(PositionRequest.of(pickers.values())) if pickers.get("baseline") else None
run = (result, baseline)
position_map = live.figure("position_map", pickers.values() | ({} if baseline else {"baseline": ""}), run)
kernels = st.container()
with cell_container:
    st.caption(
        "Press a cell of the map to see its heads, its kernel over distance and the tokens that it joins, below."
    )
    pickers.slider("layer", "Layer", list(range(len(result.power))))
if result.kernels is not None:
    pickers.slider("head", "Head", list(range(result.kernels.shape[2])))
    pickers.toggle("unturn", "Remove the rotation from one band of one layer at a time (one pass for each)")
values = pickers.done()
with map_container:
    show.copy_link(PAGE, values, without=("text", "pair"))
    show.show(position_map, PAGE, values, on_cell=select_cell)
with cell_container:
    show.show(live.figure("position_cell", values, run), PAGE, values)
if result.kernels is not None:
    with kernels:
        show.show(live.figure("position_kernels", values, run), PAGE, values)
    if values["unturn"] and (unrotated := run_or_report(UnturnRequest.of(values | {"baseline": ""}))):
        show.show(live.figure("position_unturned", values, unrotated), PAGE, values)
st.caption(
    "To check that a model rotates its queries and keys as its config says, run `python -m analysis positions "
    "MODEL`: it ends with exit code 1 if the model does not. With `--against OTHER` it compares two exports of a "
    "model."
)
