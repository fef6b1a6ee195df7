"""Two at once: two models, texts, layers, heads or methods side by side, and their difference on one scale."""

import streamlit as st

from analysis import probes
from analysis.errors import AddendError
from analysis.figures.compare import SIDES, common
from analysis.figures.one_run import unknown
from analysis.figures.terms import MEASURES, spoken
from analysis.terms.result import Decomposition
from dashboard import live, probe_form, show
from dashboard.pickers import Pickers
from dashboard.plain import plain
from dashboard.term_pickers import METHODS, map_ways

show.header("compare", "Two models, texts, layers, heads or methods side by side, and the difference on one scale.")
picked = Pickers("compare")
probe_form.two_sided(picked)
status = st.status("Starting", expanded=False)
both: list[Decomposition] = []
try:
    with status:
        for side in probes.sides(picked.values()):
            both.append(live.decomposition(side, progress=live.telling(status)))
        status.update(label=plain(" | ".join(made.provenance.model for made in both)), state="complete", expanded=False)
except AddendError as problem:
    status.update(label="Nothing to show", state="error", expanded=False)
    picked.done()
    show.sentence(problem)
    probe_form.offer_ways_out(picked, problem, "", "2")
    st.stop()

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
    if told := unknown(made):
        st.warning(plain(told))
picked.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
place = st.container()
terms = common((both[0], both[1]))
if terms:
    picked.choice("term", "Term", terms, spoken)
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
        show.sentence(problem)
else:
    st.info("The two methods split hidden states differently and have no term in common, so there are no maps.")
