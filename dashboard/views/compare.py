"""Two at once: two models, texts, layers, heads or methods side by side, and their difference on one scale."""

import streamlit as st

from analysis.core.errors import AddendError
from analysis.core.formatting import join_names
from analysis.figures.compare.data import SIDES, common_terms
from analysis.figures.one_run import unknown_tokens_note
from analysis.figures.terms.data import MEASURES, term_label
from analysis.measurements.terms.result import Decomposition
from analysis.probes import text_probe
from analysis.probes.text_probe import FOLLOWING, differences
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import probe_form, show
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.term_pickers import METHODS, cell_pickers, map_ways, row_names

AS_LEFT = "as on the left"
# What a fresh visit compares with: other words in a sentence of the same build.
EXAMPLE = {"text2": "The dogs of the tall man are in the garden."}


def as_on_left(number: int) -> str:
    """A layer or head, or that it is as on the left."""
    return AS_LEFT if number < 0 else str(number)


def what_differs() -> str:
    """In which ways the sides differ, and what follows for the difference."""
    ways = differences(picked.values())
    short = {name: pair for name, pair in ways.items() if "text" not in name}
    named = [f"{name} ({left} and {right})" if name in short else name for name, (left, right) in ways.items()]
    if not named:
        return "Both sides are the same. Change the model, text, layer, head or method of one side."
    text = f"The sides differ in the {join_names(named)}."
    return text if len(named) == 1 else f"{text} Any of these can cause a difference."


show.header(
    "compare",
    "Compare two models, texts, layers, heads or methods: each side by itself, and the difference on the same scale.",
)
picked = Pickers("compare")
if picked.fresh:
    for name, value in {**FOLLOWING, **EXAMPLE}.items():
        picked.set(name, value)
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
        layers, heads = list(range(made.layers)), list(range(made.heads))
        if end:
            layers, heads = [-1, *layers], [-1, *heads]
        picked.slider(f"layer{end}", f"Layer ({side})", layers, format_func=as_on_left)
        picked.slider(f"head{end}", f"Head ({side})", heads, format_func=as_on_left)
        methods = {"": AS_LEFT, **METHODS} if end else METHODS
        picked.segments(f"method{end}", f"Method ({side})", list(methods), methods)
for side, made in zip(SIDES, both, strict=True):
    if made.provenance.truncated_from:
        st.warning(
            f"The text of the {side} was cut from {made.provenance.truncated_from} to {len(made.tokens)} tokens, "
            "the model's limit."
        )
    if told := unknown_tokens_note(made):
        st.warning(escape_markdown(told))
picked.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
terms = common_terms((both[0], both[1]))
if terms:
    picked.choice("term", "Term", terms, term_label)
map_ways(picked)
maps = st.container()
if terms:
    cell_pickers(picked, min((row_names(picked, made) for made in both), key=len))
values = picked.done()
with place:
    st.markdown(escape_markdown(what_differs()))
    written = ("text", "pair", "text2", "pair2")
    show.copy_link(
        "compare", values, without=written, why_not=probe_form.too_long(*(str(values[name]) for name in written))
    )
    show.show(live.figure("compare_terms", values, (both[0], both[1])), "compare", values)
if terms:
    try:
        with maps:
            st.caption("Press a cell of a map to see its terms on both sides, below the maps.")
            figure = live.figure("compare_maps", values, (both[0], both[1]))
            show.show(figure, "compare", values, on_cell=picked.both("query", "key"))
        show.show(live.figure("compare_cell", values, (both[0], both[1])), "compare", values)
    except AddendError as problem:
        show.show_problem(problem)
else:
    st.info("The two methods split hidden states differently and have no term in common, so there are no maps.")
