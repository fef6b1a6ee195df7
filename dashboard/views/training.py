"""Training: what our own pre-trainings show, from learning curves to costs."""

import streamlit as st

from analysis.ablation.variants import VARIANTS
from analysis.errors import AddendError, NoResults
from analysis.figures.training import COMMAND, OBJECTIVES, title, usual_recipe
from analysis.figures.training_curves import AXES
from dashboard import queries, show
from dashboard.pickers import Pickers
from dashboard.plain import plain

PAGE = "training"
PARTS = {
    "curves": "Learning curves",
    "gap": "Final loss",
    "convergence": "Convergence",
    "length": "Longer texts",
    "scores": "Score variance",
    "costs": "Costs",
}
FIGURES = {
    "curves": ["training_curves"],
    "gap": ["training_gap"],
    "convergence": ["training_convergence", "training_plateau"],
    "length": ["training_length"],
    "scores": ["training_scores"],
    "costs": ["training_costs"],
}
SHARED = ("preset", "objective", "recipe", "rate")
MORE = {"training_curves": ("variants", "axis"), "training_length": ("variants",)}


def draw(name: str) -> None:
    """One figure with its sentences above it, or why there is none."""
    fields = ("preset",) if name == "training_costs" else (*SHARED, *MORE.get(name, ()))
    try:
        figure = queries.figure(name, {field: values[field] for field in fields})
    except NoResults as missing:
        st.info(plain(str(missing)), icon=":material/hourglass_empty:")
        return
    except AddendError as problem:
        show.sentence(problem)
        return
    for sentence in figure.content.get("sentences", ()):
        st.markdown(plain(sentence))
    show.show(figure, PAGE, values)
    if "table" in figure.content and name == "training_costs":
        st.dataframe(figure.content["table"], hide_index=True, height="content")


def judge() -> None:
    """Whether these runs were trained long enough to say anything of position."""
    found = queries.verdict({field: values[field] for field in SHARED})
    if found:
        with st.container(border=True):
            colour, icon = ("green", "check_circle") if found.holds else ("orange", "warning")
            st.badge(found.word, color=colour, icon=f":material/{icon}:")
            st.markdown(plain(found.sentence))


show.header(PAGE, "The same small encoder, trained from scratch with every way of combining word and position.")
every = queries.trainings()
picked = Pickers(PAGE)
if every.empty:
    for name in (field.name for field in picked.view.fields):
        picked.get(name)
    values = picked.done()
    st.info(
        "No pre-training of our own is stored yet. This makes some, about ten minutes of one core each; the page "
        "shows them as soon as their results files lie under the data folder.",
        icon=":material/hourglass_empty:",
    )
    st.code(COMMAND, language="bash")
    st.caption("Without options: every variant. --variants bert_a,no_position,tupe_a --seeds 0,1,2 picks some.")
    st.stop()

with st.container(horizontal=True, vertical_alignment="bottom"):
    preset = picked.choice("preset", "Preset", sorted(every.preset.unique()), width=110)
    found = every[every.preset == preset]
    offered = [name for name in OBJECTIVES if name in set(found.objective)]
    objective = picked.choice("objective", "Trained to predict", offered, OBJECTIVES, width=210)
    found = found[found.objective == objective]
    recipes = dict(zip(found.recipe, found.told, strict=True))
    if len(recipes) > 1:
        usual = usual_recipe(found)
        names = ["", *(recipe for recipe in recipes if recipe != usual)]
        recipe = picked.choice("recipe", "Settings", names, lambda one: recipes[one or usual], width=300)
        found = found[found.recipe == (recipe or usual)]
    else:
        picked.fixed("recipe", ["", *recipes])
    rates = sorted(set(found.rate), key=float) if "" not in set(found.rate) else [""]
    if len(rates) > 1:
        picked.choice(
            "rate", "Peak learning rate", ["", *rates], lambda rate: rate or "most seeds, then best", width=210
        )
    else:
        picked.fixed("rate", ["", *rates])
part = picked.segments("part", "Show", list(PARTS), PARTS)
ran = set(found.variant)
if part in ("curves", "length") and objective == "masked":
    known = [*VARIANTS, *sorted(ran - set(VARIANTS))]
    picked.several("variants", "Variants", [name for name in known if name in ran], known, title)
else:
    picked.get("variants")
if part == "curves":
    picked.segments("axis", "Against", list(AXES), AXES)
else:
    picked.get("axis")
values = picked.done()
show.copy_link(PAGE, values)
if part != "costs":
    judge()
for name in FIGURES[part]:
    draw(name)
