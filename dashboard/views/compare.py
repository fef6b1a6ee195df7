"""Two at once: two models, texts, layers, heads or methods side by side, and their difference on one scale."""

import streamlit as st

from analysis.core.errors import AddendError
from analysis.figures.compare.data import SIDES, common
from analysis.figures.one_run import unknown_tokens_note
from analysis.figures.terms.data import MEASURES, term_label
from analysis.measurements.terms.result import Decomposition
from analysis.probes import text_probe
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import probe_form, show
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.term_pickers import METHODS, map_ways

show.header("compare", "Two models, texts, layers, heads or methods side by side, and the difference on one scale.")
picked = Pickers("compare")
probe_form.two_sided(picked)
status = st.status("Starting", expanded=False)
both: list[Decomposition] = []
try:
    with status:
        for side in text_probe.sides(picked.values()):
            both.append(live.decomposition(side, progress=live.progress_reporter(status)))
        status.update(
            label=escape_markdown(" | ".join(made.provenance.model for made in both)), state="complete", expanded=False
        )
except AddendError as problem:
    status.update(label="Nothing to show", state="error", expanded=False)
    picked.done()
    show.show_problem(problem)
    probe_form.offer_ways_out(picked, problem, "", "2")
    st.stop()

place = st.container()
for column, end, side, made in zip(st.columns(2), ("", "2"), SIDES, both, strict=True):
    with column:
        picked.slider(f"layer{end}", f"Layer ({side})", list(range(made.layers)))
        picked.slider(f"head{end}", f"Head ({side})", list(range(made.heads)))
        picked.segments(f"method{end}", f"Method ({side})", list(METHODS), METHODS)
for side, made in zip(SIDES, both, strict=True):
    if made.provenance.truncated_from:
        st.warning(
            f"The text of the {side} was cut from {made.provenance.truncated_from} to {len(made.tokens)} tokens, "
            "the model's limit."
        )
    if told := unknown_tokens_note(made):
        st.warning(escape_markdown(told))
picked.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
terms = common((both[0], both[1]))
if terms:
    picked.choice("term", "Term", terms, term_label)
map_ways(picked)
values = picked.done()
with place:
    written = ("text", "pair", "text2", "pair2")
    show.copy_link(
        "compare", values, without=written, why_not=probe_form.too_long(*(str(values[name]) for name in written))
    )
    show.show(live.figure("compare_terms", values, (both[0], both[1])), "compare", values)
if terms:
    try:
        show.show(live.figure("compare_maps", values, (both[0], both[1])), "compare", values)
    except AddendError as problem:
        show.show_problem(problem)
else:
    st.info("The two methods split hidden states differently and have no term in common, so there are no maps.")
