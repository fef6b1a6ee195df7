"""Published ablations: what papers report, as printed, with caveats."""

import streamlit as st

from analysis.links import Value
from dashboard.session import queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import published_table, show
from dashboard.widgets.pickers import Pickers

PAGE = "published"
VIEWS = {"average": "Average", "difference": "Difference to a baseline", "scores": "Scores"}


def show_figure(name: str, values: dict[str, Value], used_values: dict[str, Value] | None = None) -> None:
    """One figure or, where it cannot be made, why not.

    used_values: those of the page's values that it depends on and is cached for; by default all of them.
    """
    with show.reporting_problems():
        result = queries.figure(name, values if used_values is None else used_values)
        for sentence in result.sentences:
            st.markdown(f"- {escape_markdown(sentence)}")
        show.show(result, PAGE, values)


show.header(PAGE, "What papers report about models that do not simply add positions to words. Numbers are as printed.")
index = queries.published_tables()
labels = dict(zip(index.id, index.label, strict=True))
tasks = queries.rows("SELECT task FROM tasks WHERE glue").task.tolist()

pickers = Pickers(PAGE)
table_id = pickers.choice("table", "Table", list(labels), labels, on_change=lambda: pickers.set("baseline", ""))
table = queries.published_table(table_id)
link = st.container()
published_table.show_published(table, PAGE)
published_table.caveats(table)

chart_views = [view for view in VIEWS if view != "average" or len(table.glue_columns) >= 2]
if table.compares:
    default_baseline, *others = table.variants
    if (requested := pickers.get("baseline")) and requested not in others:
        if requested != default_baseline:
            missing = f"The link compares with {requested!r}, which this table does not have"
            st.warning(escape_markdown(f"{missing}; {default_baseline!r} is used instead."))
        pickers.set("baseline", "")
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        view = pickers.segments("view", "Chart", chart_views, VIEWS)
    with right:
        if view == "scores":
            pickers.get("baseline")
        else:
            pickers.choice("baseline", "Compared with", ["", *others], lambda name: name or default_baseline)
    if view == "average":
        columns = dict(table.glue_columns)
        pickers.buttons(
            "without",
            "Columns in the average: press one to leave it out or to take it in (at first CoLA is left out)",
            list(columns),
            tasks,
            columns,
            stores_pressed=False,
        )
    else:
        pickers.get("without")
else:
    view = ""
    st.caption("This table has only one variant or no numbers, so there is nothing to compare.")
    for name in ("view", "baseline", "without"):
        pickers.get(name)
values = pickers.done()
with link:
    show.copy_link(PAGE, values)
if view:
    show_figure(f"published_{view}", values)

st.divider()
show_figure("published_literature", values, used_values={})
published_table.notes(queries.figure("published_literature", {}).content.notes)
