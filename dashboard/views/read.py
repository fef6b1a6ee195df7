"""Guided tour: the question step by step, each with a chart to touch and a sentence computed from the store."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from analysis.claims.statements import stored as statements
from analysis.core.errors import AddendError, NoResults
from analysis.figures import FIGURES, Figure
from analysis.figures.reading.open_questions import OLD_VERDICTS
from analysis.links import VIEWS, Value
from analysis.narrative.reading import Control, Step, ordered
from dashboard.session import live, queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import claim_cards, moving_pictures, show
from dashboard.widgets.flipbook import show_flipbook
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.pickers import Pickers

PAGE = "read"
steps = {step.name: step for step in ordered()}
names = list(steps)


def slider_of(step: Step) -> Control | None:
    """The control of the step that leafs through its chart, where it has one and there is more than one value."""
    last = step.controls[-1]
    return last if last.slides and len(last.options()) > 1 else None


def stops(one: Control) -> list[int]:
    """The values of a slider, and that of the link where it lies between them."""
    options = list(one.options())
    asked = int(picked.get(one.field))
    return sorted({*options, asked}) if options and options[0] < asked < options[-1] else options


def touch(one: Control) -> None:
    """What a reader can change; a slider stands with its pictures."""
    if one.slides:
        picked.fixed(one.field, stops(one))
    elif options := list(one.options()):
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


def figure_of(step: Step, values: Mapping[str, Value]) -> Figure:
    """The step's figure; one of another page links and exports as there. Raises AddendError."""
    request = {**VIEWS[step.page].defaults(), **step.params(values)}
    if FIGURES[step.figure].live:
        return live.figure(step.figure, request, live.decomposition(request))
    return queries.figure(step.figure, request)


def flip(step: Step, one: Control) -> None:
    """The step's chart at every value of its slider."""
    values_of_slider = stops(one)
    show_flipbook(
        f"{PAGE}.flipbook.{step.name}",
        one.label,
        [one.show(value) for value in values_of_slider],
        values_of_slider.index(int(picked.get(one.field))),
        lambda number: figure_of(step, {**values, one.field: values_of_slider[number]}),
        lambda number: picked.set(one.field, values_of_slider[number]),
        request=tuple(sorted({**values, one.field: tuple(values_of_slider)}.items())),
        dark=show.theme().dark,
    )


def chart(step: Step) -> None:
    """The step's chart, or what is missing for it."""
    try:
        figure = figure_of(step, values)
        slider = slider_of(step)
        show.show(
            figure,
            step.page,
            {**VIEWS[step.page].defaults(), **step.params(values)},
            flipbook=partial(flip, step, slider) if slider else None,
        )
    except NoResults as missing:
        st.info(escape_markdown(str(missing)), icon=":material/hourglass_empty:")
    except AddendError as problem:
        show.show_problem(problem)


def moving(step: Step) -> None:
    """The step's moving picture, where it has one; what it lacks, the chart below it says."""
    if step.moving is None:
        return
    try:
        picture = step.moving(values)
    except AddendError:
        return
    moving_pictures.show_shift(picture, dark=show.theme().dark)


def measured(step: Step) -> None:
    """The step's sentence, or what is missing for it."""
    with st.container(border=True):
        try:
            text = queries.step_says(step.name, values)
            st.markdown(f"**What the evidence says.** {escape_markdown(text)}", help=glossary_hint(text))
        except NoResults as missing:
            st.markdown(f"**Not measured yet.** {escape_markdown(str(missing))}")
        except AddendError as problem:
            show.show_problem(problem)


picked = Pickers(PAGE)
show.set_tab_title(VIEWS[PAGE].title)
st.title(VIEWS[PAGE].title, anchor=False)
verdict = str(picked.get("verdict"))
picked.set("verdict", OLD_VERDICTS.get(verdict, verdict))  # Links of the first verdicts say these.
titles = {name: f"{step.place}. {step.title}" for name, step in steps.items()}
name = picked.choice("step", "Step", names, titles, label_visibility="collapsed")
step = steps[name]
st.progress(step.place / len(steps), text=f"Step {step.place} of {len(steps)}")
turn(step, "above")
st.header(step.title, anchor=False)
st.markdown(step.text, help=glossary_hint(step.text))
for one in step.controls:
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
if step.place == len(steps):
    st.page_link("views/claims.py", label="Every claim, with its verdicts", icon=":material/arrow_forward:")
    st.page_link("views/home.py", label="The answer in full", icon=":material/arrow_forward:")
show.copy_link(PAGE, values)
turn(step, "below")
# A new step begins at its top; the browser would stay where the last one ended. Runs when the step changes.
TOP = "document.querySelector('[data-testid=stMain]').scrollTo(0, 0)"
st.html(f"<script>/* {step.name} */ {TOP}</script>", unsafe_allow_javascript=True)
