"""Training: what our own pre-trainings show, from learning curves to costs."""

import streamlit as st

from analysis.core.errors import AddendError, NoResults
from analysis.figures.training.costs import UNMATCHED
from analysis.figures.training.curves import AXES
from analysis.figures.training.data import COMMAND, MASKED
from analysis.rules import training_rules
from dashboard.session import queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.training_pickers import against, which_runs, which_variants

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
SHARED = ("preset", "objective", "recipe", "rate")
OF_EVERY_RECIPE = {
    "training_costs": ("preset",),
    "training_settings": ("preset", "objective"),
    "training_advantage": ("preset", "objective"),
}
MORE = {
    "training_curves": ("baseline", "variants", "axis"),
    "training_gap": ("baseline",),
    "training_settings": ("baseline",),
    "training_advantage": ("baseline",),
    "training_convergence": ("baseline",),
    "training_length": ("variants",),
}


def draw(name: str) -> None:
    """One figure with its sentences above it, or why there is none."""
    shared = OF_EVERY_RECIPE.get(name, SHARED)
    fields = (*shared, *MORE.get(name, ()))
    try:
        figure = queries.figure(name, {field: values[field] for field in fields})
    except NoResults as missing:
        st.info(escape_markdown(str(missing)), icon=":material/hourglass_empty:")
        return
    except AddendError as problem:
        show.show_problem(problem)
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


def judge() -> None:
    """Whether these runs were trained long enough to say anything of position."""
    result = queries.verdict({field: values[field] for field in SHARED})
    if result:
        with st.container(border=True):
            colour, icon = ("green", "check_circle") if result.holds else ("orange", "warning")
            st.badge(result.word, color=colour, icon=f":material/{icon}:")
            st.markdown(escape_markdown(result.sentence))


show.header(PAGE, "The same small encoder, trained from scratch with many ways of combining word and position.")
every = queries.trainings()
picked = Pickers(PAGE)
judged = training_rules().preset
picked.begin_with("preset", judged, set(every.preset))
if every.empty:
    for name in (field.name for field in picked.view.fields):
        picked.get(name)
    values = picked.done()
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
part = picked.segments("part", "Show", list(PARTS), PARTS)
with first:
    runs = which_runs(picked, every, one_setting=part != "settings")
    if part in ("curves", "gap", "settings", "convergence"):
        against(picked, runs)
left, right = st.columns([5, 2])
for name in ("baseline", "variants", "axis"):
    picked.get(name)
if part in ("curves", "length") and set(runs.objective) == {MASKED}:
    with left:
        which_variants(picked, runs.variant.tolist())
if part == "curves":
    with right if set(runs.objective) == {MASKED} else left:
        picked.segments("axis", "Horizontal axis", list(AXES), AXES)
values = picked.done()
show.copy_link(PAGE, values)
if part not in ("settings", "costs"):
    judge()
for name in FIGURES[part]:
    draw(name)
