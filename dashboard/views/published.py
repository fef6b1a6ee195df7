"""Published ablations: what papers report, as printed, with caveats."""

import streamlit as st

from analysis.figures.literature.gains import caveats
from dashboard.session import queries
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import published_table, show
from dashboard.widgets.pickers import Pickers

PAGE = "published"
VIEWS = {"average": "Average", "difference": "Difference to a baseline", "scores": "Scores"}


def show_figure(name: str) -> None:
    """One figure or, where it cannot be made, why not."""
    with show.reporting_problems():
        result = queries.figure(name, values)
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
        if view != "scores":
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
    view = ""
    st.caption("This table has only one variant or no numbers, so there is nothing to compare.")
values = pickers.done()
with link:
    show.copy_link(PAGE, values)
if view:
    show_figure(f"published_{view}")

with st.expander("Every table at once: each paper against its own baseline", icon=":material/stacked_line_chart:"):
    show_figure("published_literature")
    published_table.notes(caveats())
