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
from dashboard.session.page_address import query_parameters
from dashboard.widgets import moving_pictures, show
from dashboard.widgets.flipbook import show_flipbook
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.pickers import Pickers

PAGE = "read"
steps = {step.name: step for step in ordered()}
names = list(steps)


def slider_of(step: Step) -> Control | None:
    """The slider of the step's chart, where it has one with more than one value."""
    last = step.controls[-1]
    return last if last.slides and len(last.options()) > 1 else None


def slider_values(control: Control) -> list[int]:
    """The values of a slider, and that of the link where it is between them."""
    options = list(control.options())
    requested = int(pickers.get(control.field))
    return sorted({*options, requested}) if options and options[0] < requested < options[-1] else options


def show_control(control: Control) -> None:
    """A control of the step; a slider is drawn with its pictures."""
    if control.slides:
        pickers.fixed(control.field, slider_values(control))
    elif options := list(control.options()):
        pickers.choice(control.field, control.label, options, control.show, width=420)


def navigation(step: Step, location: str) -> None:
    """Buttons to the previous and the next step."""
    index = names.index(step.name)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        for label, icon, target in (("Back", "arrow_back", index - 1), ("Next", "arrow_forward", index + 1)):
            st.button(
                label,
                icon=f":material/{icon}:",
                key=f"{PAGE}.{location}.{label}",
                disabled=not 0 <= target < len(names),
                on_click=lambda target=target: pickers.set("step", names[target]),
                type="primary" if label == "Next" else "secondary",
            )


def page_values(step: Step, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values of the page that the step's figure belongs to."""
    return {**VIEWS[step.page].defaults(), **step.params(values)}


def figure_of(step: Step, values: Mapping[str, Value]) -> Figure:
    """The step's figure, with the links and exports of its page. Raises AddendError."""
    link_fields = page_values(step, values)
    if FIGURES[step.figure].live:
        return live.figure(step.figure, link_fields, live.decomposition(link_fields))
    return queries.figure(step.figure, link_fields)


def draw_flipbook(step: Step, control: Control) -> None:
    """The step's chart at every value of its slider."""
    values_of_slider = slider_values(control)
    show_flipbook(
        f"{PAGE}.flipbook.{step.name}",
        control.label,
        [control.show(value) for value in values_of_slider],
        values_of_slider.index(int(pickers.get(control.field))),
        lambda index: figure_of(step, {**values, control.field: values_of_slider[index]}),
        lambda index: pickers.set(control.field, values_of_slider[index]),
        request=tuple(sorted({**values, control.field: tuple(values_of_slider)}.items())),
        dark=show.theme().dark,
    )


def show_chart(step: Step) -> None:
    """The step's chart, or what is missing for it."""
    with show.reporting_problems(), show.reporting_missing_results():
        figure = figure_of(step, values)
        slider = slider_of(step)
        flipbook = partial(draw_flipbook, step, slider) if slider else None
        show.show(figure, step.page, page_values(step, values), flipbook=flipbook)


def show_animation(step: Step) -> None:
    """The step's animation, where it has one; missing results are reported by the chart below it."""
    if step.moving is None:
        return
    try:
        picture = step.moving(values)
    except AddendError:
        return
    moving_pictures.show_shift(picture, dark=show.theme().dark)


def show_finding(step: Step) -> None:
    """The step's sentence, or what is missing for it."""
    with st.container(border=True), show.reporting_problems():
        try:
            text = queries.step_sentence(step.name, values)
            st.markdown(f"**What the evidence says.** {escape_markdown(text)}", help=glossary_hint(text))
        except NoResults as error:
            st.markdown(f"**Not measured yet.** {escape_markdown(str(error))}")


pickers = Pickers(PAGE)
show.set_tab_title(VIEWS[PAGE].title)
st.title(VIEWS[PAGE].title, anchor=False)
verdict = str(pickers.get("verdict"))
pickers.set("verdict", OLD_VERDICTS.get(verdict, verdict))  # Links of the first verdicts say these.
titles = {name: f"{step.place}. {step.title}" for name, step in steps.items()}
name = pickers.choice("step", "Step", names, titles, label_visibility="collapsed")
step = steps[name]
st.progress(step.place / len(steps), text=f"Step {step.place} of {len(steps)}")
navigation(step, "above")
st.header(step.title, anchor=False)
st.markdown(step.text, help=glossary_hint(step.text))
for control in step.controls:
    show_control(control)
values = pickers.done()
show_animation(step)
show_chart(step)
show_finding(step)
with st.expander("Sources, and the verdicts on what they claim"):
    documents = queries.claim_documents()
    for key in step.documents:
        document = documents[key]
        st.markdown(escape_markdown(f"{document.title} ({document.kind}, {document.site})."))
    for heading in statements.headings():
        if heading.id in step.claims:
            st.page_link(
                "views/claims.py",
                label=f"**{heading.id}, {escape_markdown(heading.title)}: {escape_markdown(heading.lean)}.**",
                query_params=query_parameters("claims", {"claim": heading.id}),
            )
            for part in heading.parts:
                st.caption(escape_markdown(f"{part.id}, {part.verdict}. {part.statement} {part.sentence}"))
    show.cite(step.citations)
st.page_link(
    f"views/{step.more.page}.py",
    label=step.more.says,
    icon=":material/arrow_outward:",
    query_params=query_parameters(step.more.page, step.more.values(values)),
)
if step.place == len(steps):
    st.page_link("views/claims.py", label="Every claim, with its verdicts", icon=":material/arrow_forward:")
    st.page_link("views/home.py", label="The answer in full", icon=":material/arrow_forward:")
show.copy_link(PAGE, values)
navigation(step, "below")
# A new step begins at its top; the browser would stay where the last one ended. Runs when the step changes.
TOP = "document.querySelector('[data-testid=stMain]').scrollTo(0, 0)"
st.html(f"<script>/* {step.name} */ {TOP}</script>", unsafe_allow_javascript=True)
