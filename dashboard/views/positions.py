"""Position map: which layers, bands of wavelengths and tables of a model use position, on the reader's text."""

import streamlit as st

from analysis.core.errors import AddendError
from analysis.probes.position_probe import BASELINES, PositionRequest, UnturnRequest
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import probe_form, show
from dashboard.widgets.pickers import Pickers

PAGE = "positions"

show.header(
    PAGE,
    "Which layers of a model use position, and by which way it comes in: added to words, added to scores, or by "
    "turning "
    "queries and keys, band by band of wavelengths. For models of almost any architecture.",
)
picked = Pickers(PAGE)
with st.form("positions.form", border=True):
    request, sent = probe_form.text_inputs(picked, "Map it")
    if sent:
        for name, value in request.items():
            picked.typed(name, value)
        picked.set("truncate", False)
status = st.status("Starting", expanded=False)
made = beside = None
try:
    with status:
        progress = live.progress_reporter(status)
        made = live.run_request(PositionRequest.of(picked.values() | {"baseline": ""}), progress)
        if picked.get("baseline"):
            beside = live.run_request(PositionRequest.of(picked.values()), progress)
        about = made.provenance
        took = f"{made.tokens} tokens, {about.device}, {about.dtype}, {about.seconds:.2f} s"
        status.update(
            label=escape_markdown(f"{about.model} ({about.revision}): {took}"), state="complete", expanded=False
        )
except AddendError as problem:
    status.update(label="Nothing to show", state="error", expanded=False)
    picked.done()
    show.show_problem(problem)
    probe_form.offer_truncation(picked, problem)
    st.stop()

place = st.container()
picked.segments("baseline", "Beside it", ["", *BASELINES], {"": "Nothing", **BASELINES})
kernels = st.container()
if made.kernels is not None:
    left, right = st.columns(2)
    with left:
        picked.slider("layer", "Layer", list(range(made.kernels.shape[0])))
    with right:
        picked.slider("head", "Head", list(range(made.kernels.shape[2])))
    picked.toggle("unturn", "Leave each band of each layer unturned, one at a time: a pass for each")
values = picked.done()
with place:
    show.copy_link(PAGE, values, without=("text", "pair"), why_not=probe_form.too_long(about.text, about.text_pair))
    show.show(live.figure("position_map", values, (made, beside)), PAGE, values)
with kernels:
    if made.kernels is not None:
        show.show(live.figure("position_kernels", values, (made, beside)), PAGE, values)
if made.kernels is not None and values["unturn"]:
    try:
        with st.spinner("Leaving each band unturned"):
            lost = live.run_request(UnturnRequest.of(values | {"baseline": ""}))
        show.show(live.figure("position_unturned", values, lost), PAGE, values)
    except AddendError as problem:
        show.show_problem(problem)
st.caption(
    f"Whether it turns what its config says: `python -m analysis positions {escape_markdown(about.model)}` ends with "
    "exit code 1 where it does not, and `--against OTHER` compares two exports of a model."
)
