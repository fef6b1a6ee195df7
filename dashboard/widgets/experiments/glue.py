"""The tab GLUE of Experiments: encoders that were fine-tuned, and a sentence on what their scores show.

A trained encoder that was changed stands in front. Our own small ones are folded behind the sentence that says why
their scores rank nothing.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import glue_comparison, links
from analysis.core.errors import AddendError
from analysis.figures import stored_figure
from analysis.figures.glue import study_rows
from analysis.figures.glue.headline import CHANGED_MODELS, INCONCLUSIVE, REFITTED, headline, ranks
from analysis.figures.glue.table import GlueTable, table as scores_table
from analysis.glue_comparison import MARGINS, PROTOCOLS, Study
from analysis.links import Value
from analysis.literature.tables import index as published_tables
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show
from dashboard.widgets.experiments.board import recipe
from dashboard.widgets.pickers import Pickers

PAGE = "experiments"
VIEWS = {"difference": "Differences", "average": "Averages", "scores": "Scores"}
FIELDS = ("glue_baseline", "glue_view", "glue_table", "protocol", "margin", "glue_without", "including")
"""Fields of a link that say which numbers it shows: one that names any opens what is folded."""
USUAL = {"glue_baseline": "bert_a", "glue_without": (), "including": ()}
"""The fields of runs that are not chosen, whose baseline and tasks others have no say in."""
OPTIMISTIC = (
    "Each variant's score on a task is the one at its best learning rate. That rate was chosen on the same dev set "
    "as the score, which is optimistic, though equally so for all variants that tried the same rates."
)


def default_preset(offered: Sequence[str]) -> str:
    """The runs that the tab opens on: those of the model that was trained on after each change, where there are any."""
    usual = str(links.VIEWS[PAGE].defaults()["glue_preset"])
    return REFITTED if REFITTED in offered else usual


def draw(pickers: Pickers) -> None:
    """The sentence, the figure and the table of the chosen runs, with their pickers."""
    presets = glue_comparison.presets()
    top, summary = st.container(), st.container()
    beside = _pick(pickers, presets)
    values = pickers.done()
    show.copy_link(PAGE, values)
    if not presets:
        with summary:
            st.markdown(
                "**No results of our own are stored yet.** This command makes them, and the app shows them after "
                "its next start:"
            )
            st.code(glue_comparison.MAKE, language="bash")
    try:
        study, comparison = study_rows.study_and_table(study_rows.GlueParameters.of(values))
    except AddendError as problem:
        show.show_problem(problem)
        return
    inconclusive = False
    if study:
        finding = headline(study)[0]
        inconclusive = finding.startswith(INCONCLUSIVE)
        if inconclusive:
            top.markdown(escape_markdown(finding))
        with summary:
            _say_what_ranks(str(values["glue_preset"]), study, presets, values)
    default = links.VIEWS[PAGE].defaults()
    asked_for = any(values[name] != default[name] for name in FIELDS)
    place = st.expander("See the numbers anyway", expanded=asked_for) if inconclusive else st.container()
    with place if inconclusive else beside:
        view = pickers.segments("glue_view", "Show", list(VIEWS), VIEWS, label_visibility="collapsed", width="content")
    values = pickers.done()
    with place, show.reporting_problems():
        heading_in = None if inconclusive else top
        show.show(stored_figure(f"glue_{view}", values), PAGE, values, heading_in=heading_in)
    title = "Our scores and published scores in one table" if study else "As published"
    with st.expander(title, expanded=not study):
        _show_table(scores_table(study, comparison, relative=values["glue_view"] == "difference"))


def _say_what_ranks(chosen: str, study: Study, presets: Sequence[str], values: Mapping[str, Value]) -> None:
    """A chip for the chosen runs: whether GLUE can rank their variants; behind a press why, and of the other runs."""
    studies = {chosen: study}
    for preset in presets:
        if preset != chosen:
            with suppress(AddendError):
                other = study_rows.study_and_table(
                    study_rows.GlueParameters.of({**values, **USUAL, "glue_preset": preset})
                )
                studies |= {preset: other[0]} if other[0] else {}
    reasons = []
    with st.container(horizontal=True, vertical_alignment="center", key=f"{PAGE}.ranks"):
        for preset, found in studies.items():
            can, sentence = ranks(found)
            if preset == chosen:
                st.badge(
                    escape_markdown(f"{'Can' if can else 'Cannot'} be ranked: {_runs_in_short(preset)}"),
                    color="green" if can else "gray",
                    icon=f":material/{'check_circle' if can else 'block'}:",
                )
            shown = " (shown below)" if preset == chosen and len(studies) > 1 else ""
            reasons.append(f"**{escape_markdown(_runs_in_full(preset))}{shown}.** {escape_markdown(sentence)}")
        with st.popover(
            "Why, and the other runs" if len(studies) > 1 else "Why", icon=":material/help:", key=f"{PAGE}.headline"
        ):
            st.markdown("\n\n".join([*reasons, escape_markdown(" ".join(headline(study)))]))


def _pick(pickers: Pickers, presets: Sequence[str]) -> DeltaGenerator:
    """The runs and their baseline; in a popover how they are compared. Returns the place beside them."""
    tasks = study_rows.task_titles()
    variants = study_rows.variant_titles()
    tables = published_tables()
    tables = tables[tables.kind == "GLUE"]
    labels = {id: label.removeprefix("GLUE: ") for id, label in zip(tables.id, tables.label, strict=True)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if presets:
            preset = pickers.choice("glue_preset", "Runs", presets, _runs, width=430)
        else:
            preset = str(pickers.get("glue_preset"))
        baseline = st.container(width=210)
        with st.popover("More", icon=":material/tune:", key=f"{PAGE}.glue_more"):
            table = pickers.choice(
                "glue_table", "Published table to compare with", [*labels, ""], lambda id: labels.get(id, "none")
            )
            protocol = "mean"
            if presets:
                protocol = pickers.segments("protocol", "Protocol", list(PROTOCOLS), PROTOCOLS, help=OPTIMISTIC)
                pickers.segments("margin", "Equivalent within (points)", list(MARGINS), MARGINS)
            columns, not_learned = study_rows.columns(preset, table, protocol)
            if columns:
                pickers.buttons(
                    "glue_without",
                    "Tasks in the average; untick one to leave it out",
                    columns,
                    list(tasks),
                    tasks,
                    stores_pressed=False,
                )
            if not_learned:
                label = "Tasks that no variant learned, left out of the average; tick one to include it"
                pickers.buttons("including", label, not_learned, list(tasks), tasks)
        with baseline:
            if offered := study_rows.baselines(preset, table):
                pickers.choice("glue_baseline", "Baseline", offered, lambda name: variants.get(name, name))
        return st.container(width="content")


def _runs_in_full(preset: str) -> str:
    """A preset in a sentence, which says whose encoders they are."""
    return CHANGED_MODELS.get(preset) or f"Our own small encoders, {recipe(preset)}"


def _runs_in_short(preset: str) -> str:
    """A preset on a chip."""
    return f"{'A trained MiniLM' if preset in CHANGED_MODELS else 'Our own small encoders'} ({preset})"


def _runs(preset: str) -> str:
    """A preset in the words of its picker."""
    return CHANGED_MODELS.get(preset) or recipe(preset)


def _show_table(table: GlueTable) -> None:
    """The table; our own rows are shaded."""
    cells = table.cells
    shade = pd.DataFrame("", index=cells.index, columns=cells.columns)
    shade.loc[cells["from"] == table.own_source, :] = show.shade()
    wide = f"{len(cells.columns)} columns: scroll the table sideways, or enlarge it with the button above its corner."
    st.caption(escape_markdown(" ".join(filter(None, (table.signs, wide)))))
    st.dataframe(
        cells.style.apply(lambda _: shade, axis=None),
        hide_index=True,
        height="content",
        key="glue.table",
        column_config={"variant": st.column_config.TextColumn(pinned=True)},
    )
    sentences = ([" Shaded: what we fine-tuned."] if shade.to_numpy().any() else []) + list(table.notes)
    st.caption("  \n".join(escape_markdown(note) for note in sentences))
