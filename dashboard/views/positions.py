"""Position map: which layers, bands of wavelengths and tables of a model use position, on the reader's text."""

from typing import Any

import streamlit as st

from analysis.core.errors import AddendError
from analysis.measurements.positions.stored import stored_models
from analysis.probes.position_probe import BASELINES, PositionRequest, UnturnRequest
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import probe_form, show
from dashboard.widgets.pickers import Pickers

PAGE = "positions"

show.header(
    PAGE,
    "Which layers of a model use position, and how it enters them: added to words, added to scores, or by rotating "
    "queries and keys, shown by bands of wavelengths. This works for almost any architecture.",
)
picked = Pickers(PAGE)
probe_form.stored_ones(picked, stored_models())
probe_form.text_form(picked, "Map it", height=112)
status = st.status("Starting", expanded=False)
own = PositionRequest.of(picked.values() | {"baseline": ""})
try:
    with status:
        stored = own.stored()
        made = stored or live.run_request(own, live.progress_reporter(status))
        about = made.provenance
        how = f"stored {about.created[:10]}" if stored else f"{about.seconds:.2f} s"
        took = f"{made.tokens} tokens, {about.device}, {about.dtype}, {how}"
        status.update(
            label=escape_markdown(f"{about.model} ({about.revision}): {took}"), state="complete", expanded=False
        )
except AddendError as problem:
    status.update(label="Nothing to show", state="error", expanded=False)
    picked.done()
    show.show_problem(problem)
    probe_form.offer_truncation(picked, problem)
    st.stop()


def also(request: Any) -> Any:
    """What a request gives beside the map; None where it has failed, which is said."""
    try:
        return live.run_request(request)
    except AddendError as problem:
        show.show_problem(problem)
        return None


def press(row: int, column: int) -> None:
    """A cell of the map: its layer, and its column among the sources."""
    picked.set("layer", row)
    picked.set("band", made.sources.index(drawn.content.sources[column]))


place, cell = st.container(), st.container()
picked.segments("baseline", "Compare with", ["", *BASELINES], {"": "Nothing", **BASELINES})
beside = also(PositionRequest.of(picked.values())) if picked.get("baseline") else None
run = (made, beside)
drawn = live.figure("position_map", picked.values() | ({} if beside else {"baseline": ""}), run)
kernels = st.container()
with cell:
    st.caption(
        "Press a cell of the map to see its heads, its kernel over distance and the tokens that it joins, below."
    )
    picked.slider("layer", "Layer", list(range(len(made.power))))
if made.kernels is not None:
    picked.slider("head", "Head", list(range(made.kernels.shape[2])))
    picked.toggle("unturn", "Remove the rotation from one band of one layer at a time (one pass for each)")
values = picked.done()
with place:
    show.copy_link(PAGE, values, without=("text", "pair"), why_not=probe_form.too_long(about.text, about.text_pair))
    show.show(drawn, PAGE, values, on_cell=press)
with cell:
    show.show(live.figure("position_cell", values, run), PAGE, values)
if made.kernels is not None:
    with kernels:
        show.show(live.figure("position_kernels", values, run), PAGE, values)
    if values["unturn"] and (lost := also(UnturnRequest.of(values | {"baseline": ""}))):
        show.show(live.figure("position_unturned", values, lost), PAGE, values)
st.caption(
    "To check that a model rotates its queries and keys as its config says, run `python -m analysis positions "
    "MODEL`: it ends with exit code 1 if the model does not. With `--against OTHER` it compares two exports of a "
    "model."
)
