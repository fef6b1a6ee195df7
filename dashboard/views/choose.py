"""The page Which encoding?: facts known of each encoding, to help pick one. Facts are filtered, not weighed."""

import streamlit as st

from analysis.core.errors import AddendError
from analysis.core.formatting import plural
from analysis.narrative.choosing import NEEDS, PARTS
from analysis.rules import training_rules
from dashboard.session import queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import choosing_table, show
from dashboard.widgets.pickers import Pickers

PAGE = "choose"
JUDGED = training_rules().preset
TITLES = {"needs": "Needs and limits", "cost": "Cost", "length": "Longer texts", "evidence": "Evidence"}

show.header(
    PAGE,
    "Choose what you need, and the methods that lack it are left out. Nothing is ranked. Every cell has a "
    "source, named in the cell or under the name of its row, or says that there is none. Variants that only serve an "
    "ablation are on the page Training.",
)
pickers = Pickers(PAGE)
needs = pickers.buttons(
    "needs",
    "I need",
    list(NEEDS),
    list(NEEDS),
    lambda need: NEEDS[need].title,
    help="Press as many as you like: a method must meet all of them.",
)
for need in needs:
    st.caption(f"{NEEDS[need].title}: {NEEDS[need].means}")
left, right = st.columns([4, 2], vertical_alignment="bottom")
with left:
    part = pickers.segments("part", "Show", list(PARTS), TITLES)
with right:
    presets = queries.trained_presets()
    if presets:
        pickers.set_initial("preset", JUDGED, presets)
        pickers.choice(
            "preset",
            "Our trainings with preset",
            presets,
            lambda name: f"{name} (judged by the frozen rules)" if name == JUDGED else name,
        )
preset = pickers.get("preset")
if part in ("length", "evidence") and preset != JUDGED and JUDGED in presets:
    st.info(
        f"**Our trainings of preset {escape_markdown(preset)} decide nothing.** They were begun before the rules were "
        "frozen, or at other settings. In a short training BERT-A leaves the plateau late, and differences from it "
        f"mostly say that. The rules judge preset {JUDGED}, whose numbers may point the other way.",
        icon=":material/warning:",
    )
    st.button(f"Show preset {JUDGED}", on_click=lambda: pickers.set("preset", JUDGED), type="primary")
values = pickers.done()
show.copy_link(PAGE, values)
try:
    lines = queries.choices(values)
except AddendError as problem:
    show.show_problem(problem)
    st.stop()
st.caption(
    f"{plural(len(lines), 'way')} to encode position. Our models are small encoders and, where it says causal, "
    "decoders, all trained in the same way; BERT-A, which adds learned positions, is the baseline. A published result "
    "counts as better or worse by its printed difference, however small, since most tables print no spread."
)
if part == "cost" and (measured := queries.preset_of_costs(str(preset))) != preset:
    st.caption(
        f"Costs were not measured with preset {escape_markdown(str(preset))}: these were measured with preset "
        f"{escape_markdown(measured)}."
    )
st.html(choosing_table.html(lines, PARTS[part], show.address))
