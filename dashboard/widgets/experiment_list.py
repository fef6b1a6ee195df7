"""A list of open statements, each with the experiment that would decide it."""

from html import escape

import streamlit as st

from analysis.claims.statements.judgement import Judgement
from analysis.core.formatting import interval_text, unbroken
from analysis.figures.claims.size import size
from analysis.narrative.reading import Experiment, ExperimentList
from dashboard.session.page_address import address

STYLE = """<style>
.experiments { color: var(--ink); line-height: 1.4; }
.experiments h3 { font-size: 1.25rem; line-height: 1.3; font-weight: 600; margin: 0 0 .6rem; padding: 0; }
.experiments ol { list-style: none; margin: 0; padding: 0; display: grid; gap: 10px 14px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 290px), 1fr)); }
.experiments li { margin: 0; padding: 10px 14px; border: 1px solid var(--line); border-radius: 10px; font-size: 1rem; }
.experiments p { margin: 0; }
.experiments small { display: block; color: var(--soft); font-size: .875rem; }
.experiments li > small:last-child { margin-top: 4px; }
.experiments details { margin-top: 8px; color: var(--soft); font-size: .875rem; }
.experiments summary { cursor: pointer; width: fit-content; }
.experiments a { color: var(--accent); text-decoration: none; white-space: nowrap; }
.experiments a:hover { text-decoration: underline; }
.experiments b { font-weight: 650; color: var(--ink); }
</style>"""


def show_experiments(listed: ExperimentList) -> None:
    """The statements in a list, and below it, folded, the rule by which they are chosen; nothing without any."""
    items = "".join(map(_item, listed.choose()))
    if not items:
        return
    st.html(
        f'{STYLE}<div class="experiments"><h3>What would decide more of the answer</h3><ol>{items}</ol>'
        f"<details><summary>How they are chosen</summary>{escape(listed.rule)}</details></div>"
    )


def _so_far(statement: Judgement) -> str:
    """The number that is measured of a statement, with its interval, and why that does not decide it; "" for none."""
    printed = size(statement)
    if not printed.number:
        return ""
    ends = interval_text(statement.low, statement.high, "+.2f") if statement.seeds else ""
    text = "; ".join(filter(None, (f"{printed.number} {printed.unit}{ends}", printed.line_in_words)))
    reason = "" if statement.missing or not statement.reason else f" Not decided, since {statement.reason}."
    return f"<small><b>So far:</b> {escape(unbroken(f'{text}.{reason}'))}</small>"


def _item(experiment: Experiment) -> str:
    """A statement under the point of the first page that it bears on, and above its experiment."""
    statement = experiment.statement
    values = {"claim": statement.parent, "statement": statement.id}
    href = escape(address("claims", values), quote=True)
    return (
        f"<li><small>Bears on “{escape(experiment.bears_on)}”</small>"
        f"<p><b>Open:</b> {escape(unbroken(statement.statement))} "
        f'<a href="{href}" target="_self">{escape(statement.id)}</a></p>'
        f"{_so_far(statement)}<small><b>Would decide it:</b> {escape(unbroken(statement.would_decide))}.</small></li>"
    )
