"""Guided tour: the question step by step, each with a picture to touch and a sentence computed from the store."""

from collections.abc import Mapping
from functools import partial
from typing import Literal

import streamlit as st

from analysis.claims.statements import stored as statements
from analysis.core.errors import NoResults
from analysis.core.formatting import SENTENCE_END
from analysis.figures import FIGURES, Figure, stored_figure
from analysis.figures.reading.open_questions import OLD_VERDICTS
from analysis.links import VIEWS, Value
from analysis.moved_links import moved
from analysis.narrative import self_check
from analysis.narrative.reading import Control, Picture, Step, ordered
from analysis.narrative.reading.moved import MOVED
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.session.page_address import address, is_dark, query_parameters
from dashboard.widgets import show
from dashboard.widgets.experiment_list import show_experiments
from dashboard.widgets.flipbook import show_flipbook
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.moving_pictures import show_component
from dashboard.widgets.pickers import Pickers

PAGE = "read"
MOST_IN_A_PARAGRAPH = 5  # Sentences; more are read more easily as a list.
STYLE = """<style>
.st-key-steps h1 { padding: 0; font-size: 1.5rem; white-space: nowrap; }
.st-key-steps [data-testid=stButtonGroup] button { min-width: 2.1rem; padding: 0 .5rem; justify-content: center; }
@media (max-width: 640px) {
  .st-key-steps { gap: .5rem; }
  .st-key-steps [data-testid=stButtonGroup] button { min-width: 1.75rem; padding: 0 .3rem; }
}
/* A picture stays as it is while those of the slider's other values are drawn. */
.st-key-picture [data-stale=true]:has([data-testid^=stBidiComponent]) { opacity: 1 !important; }
/* Where there is no room for two columns, the picture stands between the prose and what follows from it. */
@media (max-width: 1100px) {
  [data-testid=stHorizontalBlock]:has(> [data-testid=stColumn] .st-key-prose) { flex-direction: column; }
  [data-testid=stColumn]:has(.st-key-picture) { width: 100%; flex: none; }
  [data-testid=stColumn]:has(.st-key-prose), [data-testid=stColumn]:has(.st-key-prose) > [data-testid=stVerticalBlock] {
    display: contents;
  }
  [data-testid=stLayoutWrapper]:has(> .st-key-prose), .st-key-prose { order: 1; }
  [data-testid=stColumn]:has(.st-key-picture) { order: 2; }
  [data-testid=stLayoutWrapper]:has(> .st-key-after), .st-key-after { order: 3; }
}
@media print { .st-key-steps [data-testid=stButtonGroup] { display: none; } }
</style>"""
steps = {step.name: step for step in ordered()}
names = list(steps)
numbers = {name: str(step.place) for name, step in steps.items()}


def slider_of(picture: Picture) -> Control | None:
    """The slider of a picture, where it has one with more than one value."""
    last = picture.controls[-1]
    return last if last.slides and len(last.options()) > 1 else None


def slider_values(control: Control) -> list[int]:
    """The values of a slider, and that of the link where it may be between them."""
    options = list(control.options())
    requested = int(pickers.get(control.field))
    between = control.between and options[0] < requested < options[-1]
    return sorted({*options, requested}) if between else options


def show_control(control: Control) -> None:
    """A control of the picture; a slider is drawn with its pictures."""
    if control.slides:
        pickers.fixed(control.field, slider_values(control))
    elif options := list(control.options()):
        pickers.choice(control.field, control.label, options, control.show, width=420)


def step_button(label: str, target: int, key: str, kind: Literal["primary", "secondary"]) -> None:
    """A button that leads to another step."""
    st.button(
        label,
        icon=":material/arrow_forward:",
        icon_position="right",
        key=f"{PAGE}.{key}",
        disabled=not 0 <= target < len(names),
        on_click=lambda: turn_to(names[target]),
        type=kind,
    )


def turn_to(name: str) -> None:
    """Opens a step at its first picture."""
    pickers.set("step", name)
    pickers.set("part", "")


def page_values(picture: Picture, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values of the page that the picture's figure belongs to."""
    return {**VIEWS[picture.page].defaults(), **picture.params(values)}


def figure_of(picture: Picture, values: Mapping[str, Value]) -> Figure:
    """The picture's figure, with the links and exports of its page. Raises AddendError."""
    link_fields = page_values(picture, values)
    if FIGURES[picture.figure].live:
        return live.figure(picture.figure, link_fields, live.decomposition(link_fields))
    return stored_figure(picture.figure, link_fields)


def draw_flipbook(picture: Picture, control: Control) -> None:
    """The picture at every value of its slider."""
    values_of_slider = slider_values(control)
    show_flipbook(
        f"{PAGE}.flipbook.{picture.figure}",
        control.label,
        [control.show(value) for value in values_of_slider],
        values_of_slider.index(int(pickers.get(control.field))),
        lambda index: figure_of(picture, {**values, control.field: values_of_slider[index]}),
        lambda index: pickers.set(control.field, values_of_slider[index]),
        request=tuple(sorted({**values, control.field: tuple(values_of_slider)}.items())),
        dark=show.theme().dark,
    )


def show_picture(picture: Picture) -> None:
    """The figure with its controls, or what is missing for it."""
    with show.reporting_problems(), show.reporting_missing_results():
        figure = figure_of(picture, values)
        slider = slider_of(picture)
        flipbook = partial(draw_flipbook, picture, slider) if slider else None
        show.show(figure, picture.page, page_values(picture, values), flipbook=flipbook)


def _in_lines(text: str) -> str:
    """Sentences as Markdown: one paragraph of a few, a list of many. Lines stay lines, with their questions in bold."""
    if "\n" in text:
        lines = [line.rpartition("? ") for line in text.splitlines()]
        paragraphs = [
            f"**{escape_markdown(question)}?** {_listed(rest)}" if sign else escape_markdown(rest)
            for question, sign, rest in lines
        ]
        # An answer stands in the first line, a question begins one.
        return "\n\n".join(["", *paragraphs] if lines[0][1] else paragraphs)
    found = SENTENCE_END.split(text)
    if len(found) <= MOST_IN_A_PARAGRAPH:
        return escape_markdown(text)
    return "".join(f"\n- {escape_markdown(sentence)}" for sentence in found)


def _listed(answer: str) -> str:
    """The one sentence of an answer, or the list of its several ones, as Markdown."""
    found = SENTENCE_END.split(answer)
    return escape_markdown(answer) if len(found) == 1 else "".join(f"\n- {escape_markdown(one)}" for one in found)


def show_finding(step: Step) -> None:
    """The step's sentence, or what is missing for it."""
    with st.container(border=True), show.reporting_problems():
        try:
            text = step.says(values)
            st.markdown(f"**What the evidence says.** {_in_lines(text)}", help=glossary_hint(text))
        except NoResults as error:
            st.markdown(f"**Not measured yet.** {escape_markdown(str(error))}")


def show_more(step: Step) -> None:
    """The further answers of a step, folded; none where they are empty."""
    for heading, says in step.says_more.items():
        if text := says(values):
            with st.expander(heading):
                st.markdown(_in_lines(text).strip(), help=glossary_hint(text))


def show_sources(step: Step) -> None:
    """The documents that a step answers, the verdicts on what they claim, and the papers it names; folded."""
    with st.expander("Sources, and the verdicts on what they claim"):
        documents = statements.documents()
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
        show.cite(step.citations)


pickers = Pickers(PAGE)
if (destination := MOVED.get(str(pickers.get("step")))) is not None:
    elsewhere = destination.values(pickers.values())
    st.switch_page(f"views/{destination.page}.py", query_params=query_parameters(destination.page, elsewhere))
show.set_tab_title(VIEWS[PAGE].title)
st.html(STYLE)
number = str(pickers.get("step"))
if number in numbers.values():  # The buttons read like this, and a reader may write a link by hand.
    pickers.set("step", names[int(number) - 1])
verdict = str(pickers.get("verdict"))
pickers.set("verdict", OLD_VERDICTS.get(verdict, verdict))  # Links of the first verdicts say these.
with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="steps"):
    st.title(VIEWS[PAGE].title, anchor=False)
    name = pickers.segments(
        "step", "Step", names, numbers, label_visibility="collapsed", on_change=lambda: pickers.set("part", "")
    )
    step = steps[name]
    if step.place < len(names):
        step_button("Next", step.place, "next", "primary")
    else:
        st.page_link("views/home.py", label="The answer in full", icon=":material/arrow_forward:")
prose, place = st.columns([5, 7], gap="large")
with place, st.container(key="picture"):
    picture = step.picture(pickers.values())
    if len(step.pictures) > 1:
        labels = {one.name: one.label for one in step.pictures}
        shown = pickers.segments("part", "Picture", list(labels), labels, label_visibility="collapsed")
        picture = next(one for one in step.pictures if one.name == shown)
    else:
        pickers.set("part", "")
    for control in picture.controls:
        if control.when(pickers.values()):
            show_control(control)
    values = pickers.done()
    show_picture(picture)
with prose, st.container(key="prose"):
    st.header(f"{step.place}. {step.title}", anchor=False)
    st.markdown(step.text, help=glossary_hint(step.text))
with prose, st.container(key="after"):
    show_finding(step)
    show_more(step)
    page, there = moved(step.more.page, step.more.values(values))
    st.page_link(
        f"views/{page}.py",
        label=step.more.says,
        icon=":material/arrow_outward:",
        query_params=query_parameters(page, there),
    )
    show_sources(step)
    if step.place < len(names):
        following = steps[names[step.place]]
        step_button(f"{following.place}. {following.title}", step.place, "below", "secondary")
    show.copy_link(PAGE, values)
if step.experiments is not None:
    show_experiments(step.experiments)
if step.place == len(steps):
    addresses = {check.step: address(PAGE, {"step": check.step}) for check in self_check.checks()}
    show_component("self_check", f"{PAGE}.self_check", self_check.picture(addresses), dark=is_dark())
    with st.container(horizontal=True):
        st.page_link("views/claims.py", label="Every claim, with its verdicts", icon=":material/arrow_forward:")
        st.page_link("views/home.py", label="The answer in full", icon=":material/arrow_forward:")
# A new step begins at its top; the browser would stay where the last one ended. Runs when the step changes.
TOP = "document.querySelector('[data-testid=stMain]').scrollTo(0, 0)"
st.html(f"<script>/* {step.name} */ {TOP}</script>", unsafe_allow_javascript=True)
