"""GLUE ablations: our own fine-tuning scores next to published ones, and a sentence on what they show."""

import streamlit as st

from analysis import links
from analysis.core.errors import AddendError
from analysis.figures.glue.headline import INCONCLUSIVE, SURGERY
from dashboard.session import queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import glue_table, show
from dashboard.widgets.pickers import Pickers

PAGE = "glue"
VIEWS = {"average": "Average", "difference": "Difference", "scores": "Scores"}
OPTIMISTIC = (
    "Each variant's score on a task is the one at its best learning rate. That rate was chosen on the same dev set "
    "as the score, which is optimistic, though equally so for all variants that tried the same rates."
)


def read_titles(sql: str) -> dict[str, str]:
    """Names with their titles."""
    frame = queries.rows(sql)
    return dict(zip(frame.name, frame.title, strict=True))


def show_results() -> None:
    """The sentence, the figure and the table; or why there are none.

    Where nothing can be concluded, figure and table are folded behind the sentence, but for a link that asks for them.
    """
    inconclusive = False
    try:
        study, _ = queries.glue_study(values)
    except AddendError as problem:
        show.show_problem(problem)
        return
    if study:
        finding, *details = queries.glue_headline(study)
        inconclusive = finding.startswith(INCONCLUSIVE)
        summary.markdown(f"**{escape_markdown(finding)}**", width="stretch")
        with summary.popover("Why", icon=":material/help:"):
            st.markdown(escape_markdown(" ".join(details)))
    asked_for = bool(links.VIEWS[PAGE].parameters({**values, "preset": links.VIEWS[PAGE].defaults()["preset"]}))
    place = chart.expander("See the numbers anyway", expanded=asked_for) if inconclusive else chart
    with place:
        with show.reporting_problems():
            show.show(queries.figure(f"glue_{view}", values), PAGE, values)
        st.header("Our scores and published scores in one table" if study else "As published", anchor=False)
        glue_table.show_table(queries.glue_results(values))


show.header(
    PAGE,
    "Encoders that differ in how they are told positions, fine-tuned and scored on GLUE: a trained MiniLM that was "
    "changed, and the small ones that we trained from scratch.",
)
presets = queries.glue_presets()
tasks = read_titles("SELECT task AS name, title FROM tasks WHERE glue")
variants = read_titles("SELECT variant AS name, title FROM variants")
tables = queries.published_tables()
tables = tables[tables.kind == "GLUE"]
labels = {id: label.removeprefix("GLUE: ") for id, label in zip(tables.id, tables.label, strict=True)}

pickers = Pickers(PAGE)
# One real encoder, changed and fine-tuned, stands in front: our own small models cannot be ranked by GLUE.
pickers.set_initial("preset", SURGERY, presets)
summary = st.container(border=True, horizontal=True, vertical_alignment="center")
first, second, third = st.columns([2, 3, 4], vertical_alignment="bottom")
with first:
    if presets:
        preset = pickers.choice("preset", "Our runs", presets, lambda name: f"preset {name}")
    else:
        preset = pickers.get("preset")
        st.caption("Our runs: none yet")
with third:
    table = pickers.choice("table", "Published table to compare with", [*labels, ""], lambda id: labels.get(id, "none"))
baselines = queries.glue_baselines(preset, table)
with second:
    if baselines:
        pickers.choice("baseline", "Baseline", baselines, lambda name: variants.get(name, name))
view = pickers.segments("view", "Show", list(VIEWS), VIEWS)
chart = st.container()
st.header("What is compared, and how", anchor=False)
protocol = "mean"
if presets:
    first, second = st.columns([5, 3], vertical_alignment="bottom")
    with first:
        protocol = pickers.segments("protocol", "Protocol", list(queries.PROTOCOLS), queries.PROTOCOLS, help=OPTIMISTIC)
    with second:
        pickers.segments("margin", "Equivalent within (points)", list(queries.MARGINS), queries.MARGINS)
columns, not_learned = queries.glue_columns(preset, table, protocol)
if columns:
    pickers.buttons(
        "without", "Tasks in the average; untick one to leave it out", columns, list(tasks), tasks, stores_pressed=False
    )
if not_learned:
    label = "Tasks that no variant learned, left out of the average; tick one to include it"
    pickers.buttons("including", label, not_learned, list(tasks), tasks)
values = pickers.done()
with summary:
    if not presets:
        st.markdown(
            "**No results of our own are stored yet.** This command makes them, and the app shows them after "
            "its next start:"
        )
        st.code(queries.GLUE_COMMAND, language="bash")
show.copy_link(PAGE, values)
show_results()
