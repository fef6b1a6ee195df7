"""Training: what our own pre-trainings show, from learning curves to costs."""

from collections.abc import Iterator
from contextlib import suppress

import streamlit as st

from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import join_names
from analysis.figures.training.costs import UNMATCHED
from analysis.figures.training.curves import AXES
from analysis.figures.training.data import COMMAND, MASKED
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


def presets_with(name: str) -> Iterator[str]:
    """The other presets whose runs have what a figure shows."""
    for preset in sorted(set(trainings.preset) - {values["preset"]}):
        with suppress(AddendError):
            queries.figure(name, {**values, "preset": preset, **USUAL_SETTINGS})
            yield preset


def show_preset(preset: str) -> None:
    """Shows the runs of another preset, at its usual settings."""
    for field, value in {"preset": preset, **USUAL_SETTINGS}.items():
        pickers.set(field, value)


def show_missing(name: str, missing: NoResults) -> None:
    """Shows that these runs lack a result, and leads to the runs that have it."""
    others = list(presets_with(name))
    if not others:
        st.info(escape_markdown(str(missing)), icon=":material/hourglass_empty:")
        return
    st.info(
        f"This is not measured for preset {escape_markdown(str(values['preset']))}. It is for "
        f"{escape_markdown(join_names(f'preset {preset}' for preset in others))}.",
        icon=":material/hourglass_empty:",
    )
    with st.container(horizontal=True):
        for preset in others:
            st.button(f"Show preset {preset}", key=f"{PAGE}.{name}.{preset}", on_click=show_preset, args=(preset,))


def show_figure(name: str) -> None:
    """One figure with its sentences above it, or why there is none."""
    with show.reporting_problems():
        try:
            figure = queries.figure(name, values)
        except NoResults as missing:
            show_missing(name, missing)
            return
        for sentence in figure.sentences:
            st.markdown(f"- {escape_markdown(sentence)}")
        show.show(figure, PAGE, values)
        if name == "training_costs":
            columns = {
                "Variant": st.column_config.Column(pinned=True, width=160),
                UNMATCHED: st.column_config.Column(width=510),
            }
            st.dataframe(figure.content.table, hide_index=True, height="content", column_config=columns)


def show_verdict() -> None:
    """Shows the verdict on these runs: trained long enough to say something of position, or not."""
    result = queries.verdict(values)
    if result:
        colour, icon = ("green", "check_circle") if result.holds else ("orange", "warning")
        with st.container(border=True):
            st.badge(result.word, color=colour, icon=f":material/{icon}:")
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
