"""Two at once: two models, texts, layers, heads or methods side by side, and their difference on one scale."""

import streamlit as st

from analysis.core.errors import AddendError
from analysis.core.formatting import join_names
from analysis.figures.compare.two_sides import SIDES, common_terms
from analysis.figures.one_run import unknown_tokens_note
from analysis.figures.terms.measures import MEASURES, term_label
from analysis.probes import text_probe
from analysis.probes.text_probe import FOLLOWING, differences
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import probe_form, show
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.term_pickers import METHODS, cell_pickers, map_options, row_names

AS_LEFT = "as on the left"
# What a fresh visit compares with: other words in a sentence of the same build.
EXAMPLE = {"text2": "The dogs of the tall man are in the garden."}


def left_or_number(number: int) -> str:
    """A layer or head, or that it is as on the left."""
    return AS_LEFT if number < 0 else str(number)


def what_differs() -> str:
    """A sentence on the ways in which the sides differ, and on their consequence for the difference."""
    differing = differences(pickers.values())
    short_differences = {name: pair for name, pair in differing.items() if "text" not in name}
    names = [
        f"{name} ({left} and {right})" if name in short_differences else name
        for name, (left, right) in differing.items()
    ]
    if not names:
        return "Both sides are the same. Change the model, text, layer, head or method of one side."
    text = f"The sides differ in the {join_names(names)}."
    return text if len(names) == 1 else f"{text} Any of these can cause a difference."


show.header(
    "compare",
    "Compare two models, texts, layers, heads or methods: each side by itself, and the difference on the same scale.",
)
pickers = Pickers("compare")
if pickers.fresh:
    for name, value in {**FOLLOWING, **EXAMPLE}.items():
        pickers.set(name, value)
probe_form.comparison_form(pickers)
status = st.status("Starting", expanded=False)
try:
    with status:
        progress = live.progress_reporter(status)
        results = [live.decomposition(side, progress=progress) for side in text_probe.sides(pickers.values())]
        probe_form.finish(status, " | ".join(result.provenance.model for result in results))
except AddendError as problem:
    probe_form.fail(pickers, status, problem)
    probe_form.offer_ways_out(pickers, problem, "", "2")
    st.stop()

summary = st.container()
for column, suffix, side, result in zip(st.columns(2), ("", "2"), SIDES, results, strict=True):
    with column:
        for name, count in (("layer", result.layers), ("head", result.heads)):
            options = range(-1 if suffix else 0, count)
            pickers.slider(f"{name}{suffix}", f"{name.capitalize()} ({side})", options, format_func=left_or_number)
        methods = {"": AS_LEFT, **METHODS} if suffix else METHODS
        pickers.segments(f"method{suffix}", f"Method ({side})", list(methods), methods)
for side, result in zip(SIDES, results, strict=True):
    if result.provenance.truncated_from:
        st.warning(
            f"The text of the {side} was cut from {result.provenance.truncated_from} to {len(result.tokens)} tokens, "
            "the model's limit."
        )
    if note := unknown_tokens_note(result):
        st.warning(escape_markdown(note))
pickers.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
terms = common_terms((results[0], results[1]))
if terms:
    pickers.choice("term", "Term", terms, term_label)
map_options(pickers)
maps = st.container()
if terms:
    cell_pickers(pickers, min((row_names(pickers, result) for result in results), key=len))
values = pickers.done()
with summary:
    st.markdown(escape_markdown(what_differs()))
    text_fields = ("text", "pair", "text2", "pair2")
    show.copy_link("compare", values, without=text_fields)
    show.show(live.figure("compare_terms", values, (results[0], results[1])), "compare", values)
if terms:
    with show.reporting_problems():
        with maps:
            st.caption("Press a cell of a map to see its terms on both sides, below the maps.")
            figure = live.figure("compare_maps", values, (results[0], results[1]))
            show.show(figure, "compare", values, on_cell=pickers.cell_setter("query", "key"))
        show.show(live.figure("compare_cell", values, (results[0], results[1])), "compare", values)
else:
    st.info("The two methods split hidden states differently and have no term in common, so there are no maps.")
