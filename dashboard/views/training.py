"""Training: what our own pre-trainings show, from learning curves to costs."""

from contextlib import suppress

import streamlit as st

from analysis.core.errors import AddendError, NoResults
from analysis.figures import Figure
from analysis.figures.training.costs import UNMATCHED, cost_table
from analysis.figures.training.data import COMMAND, MASKED
from analysis.figures.training.learning_curves import AXES
from analysis.links import Value
from analysis.rules import training_rules
from dashboard.session import queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.training_pickers import baseline_picker, run_pickers, variant_picker

PAGE = "training"
PARTS = {
    "curves": "Learning curves",
    "gap": "Final loss",
    "parts": "What untying changes",
    "settings": "Other settings",
    "convergence": "Convergence",
    "length": "Longer texts",
    "scores": "Score variance",
    "costs": "Costs",
}
FIGURES = {
    "curves": ["training_curves"],
    "gap": ["training_gap"],
    "parts": ["training_parts"],
    "settings": ["training_advantage", "training_settings"],
    "convergence": ["training_convergence", "training_plateau"],
    "length": ["training_length"],
    "scores": ["training_scores"],
    "costs": ["training_costs"],
}
USUAL_SETTINGS = {"recipe": "", "rate": "", "baseline": ""}


def shown_figure(name: str) -> tuple[Figure, dict[str, Value], str]:
    """A figure with its values; of another preset, which is named, where the chosen one lacks what it shows.

    Raises NoResults where no preset has it.
    """
    try:
        return queries.figure(name, values), values, ""
    except NoResults as missing:
        for preset in sorted(set(trainings.preset) - {values["preset"]}):
            others = {**values, "preset": preset, **USUAL_SETTINGS}
            with suppress(AddendError):
                return queries.figure(name, others), others, preset
        raise missing


def show_figure(name: str) -> None:
    """One figure with its sentences above it, or a sentence that says why there is none."""
    with show.reporting_problems():
        try:
            figure, figure_values, other_preset = shown_figure(name)
        except NoResults as missing:
            st.info("Nothing of this kind is stored yet.", icon=":material/hourglass_empty:")
            with st.expander("How to measure it"):
                st.markdown(escape_markdown(str(missing)))
            return
        if other_preset:
            st.info(
                f"This is not measured for preset {escape_markdown(str(values['preset']))}. What is shown is of preset "
                f"{escape_markdown(other_preset)}.",
                icon=":material/swap_horiz:",
            )
        for sentence in figure.sentences:
            st.markdown(f"- {escape_markdown(sentence)}")
        show.show(figure, PAGE, figure_values)
        if name == "training_costs":
            columns = {
                "Variant": st.column_config.Column(pinned=True, width=160),
                UNMATCHED: st.column_config.Column(width=510),
            }
            st.dataframe(cost_table(figure.frame()), hide_index=True, height="content", column_config=columns)


def show_verdict() -> None:
    """Shows in one line whether these runs were trained long enough to say something of position; the rest on press."""
    result = queries.verdict(values)
    if result:
        colour, icon = ("green", "check_circle") if result.holds else ("orange", "warning")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(result.word, color=colour, icon=f":material/{icon}:")
            with st.popover("Why", icon=":material/help:"):
                st.markdown(escape_markdown(result.sentence))


show.header(PAGE, "The same small encoder, trained from scratch with many ways of combining word and position.")
trainings = queries.trainings()
pickers = Pickers(PAGE)
judged_preset = training_rules().preset
pickers.set_initial("preset", judged_preset, set(trainings.preset))
if trainings.empty:
    pickers.done()
    st.info(
        "No pre-training of our own is stored yet. The command below makes some, in about ten minutes of one core "
        "each; this page shows them as soon as their results files are in the data folder.",
        icon=":material/hourglass_empty:",
    )
    st.code(COMMAND, language="bash")
    st.caption(
        "The first time, name the texts with --corpus and --valid; --variants and --seeds choose what is trained."
    )
    st.stop()


first = st.container(horizontal=True, vertical_alignment="bottom")
part = pickers.segments("part", "Show", list(PARTS), PARTS)
with first:
    runs = run_pickers(pickers, trainings, one_setting=part != "settings")
    if part in ("curves", "gap", "settings", "convergence"):
        baseline_picker(pickers, runs)
left, right = st.columns([5, 2])
if part in ("curves", "length") and set(runs.objective) == {MASKED}:
    with left:
        variant_picker(pickers, runs.variant.tolist())
if part == "curves":
    with right if set(runs.objective) == {MASKED} else left:
        pickers.segments("axis", "Horizontal axis", list(AXES), AXES)
values = pickers.done()
show.copy_link(PAGE, values)
if part not in ("settings", "costs"):
    show_verdict()
for name in FIGURES[part]:
    show_figure(name)
