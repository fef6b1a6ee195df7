"""Guided reading: the question step by step, each with a chart to touch and a sentence computed from the store."""

import streamlit as st

from analysis.claims.statements import stored as statements
from analysis.core.errors import AddendError, NoResults
from analysis.figures import FIGURES
from analysis.figures.reading.open_questions import FIRST
from analysis.links import VIEWS
from analysis.narrative.reading import Step, Touch, ordered
from dashboard.session import live, queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import claim_cards, moving_pictures, show
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.pickers import Pickers

PAGE = "read"
steps = {step.name: step for step in ordered()}
names = list(steps)


def touch(one: Touch) -> None:
    """The control that a reader changes the chart with."""
    options = list(one.options())
    if not options:
        return
    if one.slides:
        picked.slider(one.field, one.label, options, format_func=one.show)
    else:
        picked.choice(one.field, one.label, options, one.show, width=420)


def turn(step: Step, where: str) -> None:
    """To the step before and to the one after."""
    here = names.index(step.name)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        for label, icon, to in (("Back", "arrow_back", here - 1), ("Next", "arrow_forward", here + 1)):
            st.button(
                label,
                icon=f":material/{icon}:",
                key=f"{PAGE}.{where}.{label}",
                disabled=not 0 <= to < len(names),
                on_click=lambda to=to: picked.set("step", names[to]),
                type="primary" if label == "Next" else "secondary",
            )


def chart(step: Step) -> None:
    """The step's figure; one of another page links and exports as there."""
    request = {**VIEWS[step.page].defaults(), **step.params(values)}
    try:
        if FIGURES[step.figure].live:
            figure = live.figure(step.figure, request, live.decomposition(request))
        else:
            figure = queries.figure(step.figure, request)
    except NoResults as missing:
        st.info(escape_markdown(str(missing)), icon=":material/hourglass_empty:")
    except AddendError as problem:
        show.show_problem(problem)
    else:
        show.show(figure, step.page, request)


def moving(step: Step) -> None:
    """The step's moving picture, where it has one; what it lacks, the chart below it says."""
    if step.moving is None:
        return
    try:
        picture = step.moving(values)
    except AddendError:
        return
    moving_pictures.show_shift(picture, dark=show.look().dark)


def measured(step: Step) -> None:
    """The step's sentence, or what is missing for it."""
    with st.container(border=True):
        try:
            text = queries.step_says(step, values)
            st.markdown(f"**What the evidence says.** {escape_markdown(text)}", help=glossary_hint(text))
        except NoResults as missing:
            st.markdown(f"**Not measured yet.** {escape_markdown(str(missing))}")
        except AddendError as problem:
            show.show_problem(problem)


picked = Pickers(PAGE)
show.set_tab_title(VIEWS[PAGE].title)
st.title(VIEWS[PAGE].title, anchor=False)
verdict = str(picked.get("verdict"))
picked.set("verdict", FIRST.get(verdict, verdict))  # Links of the first verdicts say these.
titles = {name: f"{step.place}. {step.title}" for name, step in steps.items()}
name = picked.choice("step", "Step", names, titles, label_visibility="collapsed")
step = steps[name]
st.progress(step.place / len(steps), text=f"Step {step.place} of {len(steps)}")
turn(step, "above")
st.header(step.title, anchor=False)
st.markdown(step.text, help=glossary_hint(step.text))
for one in step.touches:
    touch(one)
for field in picked.view.fields:
    picked.get(field.name)
values = picked.done()
moving(step)
chart(step)
measured(step)
with st.expander("Sources, and the verdicts on what they claim"):
    documents = queries.claim_documents()
    for number in step.documents:
        one = documents[number]
        st.markdown(escape_markdown(f"{one.title} ({one.kind}, {one.site})."))
    for heading in statements.headings():
        if heading.id in step.claims:
            st.page_link(
                "views/claims.py",
                label=f"**{heading.id}, {escape_markdown(heading.title)}: {escape_markdown(heading.lean)}.**",
                query_params=claim_cards.parameters("claims", {"claim": heading.id}),
            )
            for part in heading.parts:
                st.caption(escape_markdown(f"{part.id}, {part.verdict}. {part.statement} {part.sentence}"))
    show.cite(step.citations)
st.page_link(
    f"views/{step.more.page}.py",
    label=step.more.says,
    icon=":material/arrow_outward:",
    query_params=claim_cards.parameters(step.more.page, step.more.values(values)),
)
show.copy_link(PAGE, values)
turn(step, "below")
# A new step begins at its top; the browser would stay where the last one ended. Runs when the step changes.
TOP = "document.querySelector('[data-testid=stMain]').scrollTo(0, 0)"
st.html(f"<script>/* {step.name} */ {TOP}</script>", unsafe_allow_javascript=True)
