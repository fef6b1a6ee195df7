"""The tab Papers of Experiments: every paper against its own baseline, and one paper's table with its caveats."""

from contextlib import suppress

import streamlit as st

from analysis.core.errors import AddendError
from analysis.figures import stored_figure
from analysis.figures.glue.study_rows import task_titles
from analysis.figures.literature.gains import caveats
from analysis.figures.published.averages import in_order
from analysis.figures.published.table_parts import other_steps
from analysis.links import VIEWS as PAGES, Value
from analysis.literature import tables
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show
from dashboard.widgets.experiments import published_table
from dashboard.widgets.pickers import Pickers

PAGE = "experiments"
TABLE = "table"
"""Value of the link's field `published_look` that shows one table."""
OF_A_TABLE = ("published_table", "published_baseline", "published_without", "published_view")
"""Fields of a link that say something about one table."""
OTHER_PAPERS = "One cross term removed, and models without positions"
"""The title of the fold in which the second figure of all papers stands."""
VIEWS = {"average": "Average", "difference": "Difference from a baseline", "scores": "Scores"}


def draw(pickers: Pickers) -> None:
    """The figure of all papers, or one paper's table."""
    if _shows_one_table(pickers):
        _draw_table(pickers)
        return
    values = pickers.done()
    show.copy_link(PAGE, values)
    _show_figure("published_literature", values)
    fold = st.expander(OTHER_PAPERS, key=f"{PAGE}.published_literature_others.fold", on_change="rerun")
    if fold.open:
        with fold:
            _show_figure("published_literature_others", values)
    published_table.notes(caveats())


def _shows_one_table(pickers: Pickers) -> bool:
    """True where the reader asks for one table, or a link that says something about one."""
    defaults = PAGES[PAGE].defaults()
    asked = any(pickers.get(name) != defaults[name] for name in OF_A_TABLE)
    if asked and not pickers.get("published_look"):
        pickers.set("published_look", TABLE)
    # A link without the field shows a table if it says something about one, so it must say that it shows none.
    looks = {"papers" if asked else "": "Every paper", TABLE: "One paper's table"}
    return pickers.segments("published_look", "Show", list(looks), looks, label_visibility="collapsed") == TABLE


def _draw_table(pickers: Pickers) -> None:
    """One figure of a table, and the table as printed."""
    index = tables.index()
    labels = dict(zip(index.id, index.label, strict=True))
    table_id = pickers.choice(
        "published_table", "Table", list(labels), labels, on_change=lambda: pickers.set("published_baseline", "")
    )
    table = tables.load(table_id)
    st.caption("Numbers are as the papers print them, of ways to tell positions beside the baseline of each paper.")
    view = _pick_view(pickers, table)
    values = pickers.done()
    show.copy_link(PAGE, values)
    if view:
        _show_figure(f"published_{view}", values)
    published_table.show_published(table, PAGE, _chart_order(table, values) if view == "average" else ())
    published_table.caveats(table)


def _chart_order(table: published_table.Table, values: dict[str, Value]) -> list[str]:
    """The variants as the chart of averages has them below one another; the baseline, which is its zero, first."""
    with suppress(AddendError):  # The chart says why there is none.
        baseline = table.baseline(str(values["published_baseline"]))
        means = in_order(tables.average(table), other_steps(table, baseline))
        return [baseline, *(str(name) for name in means.variant if name != baseline)]
    return []


def _pick_view(pickers: Pickers, table: published_table.Table) -> str:
    """The figure of a table that is chosen; empty where it has one variant or no numbers."""
    if not table.compares:
        st.caption("This table has only one variant or no numbers, so there is nothing to compare.")
        return ""
    offered = [view for view in VIEWS if view != "average" or len(table.glue_columns) >= 2]
    default_baseline, *others = table.variants
    if (requested := pickers.get("published_baseline")) and requested not in others:
        if requested != default_baseline:
            missing = f"The link compares with {requested!r}, which this table does not have"
            st.warning(escape_markdown(f"{missing}; {default_baseline!r} is used instead."))
        pickers.set("published_baseline", "")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = pickers.segments("published_view", "Chart", offered, VIEWS, width="content")
        if view != "scores":
            names = ["", *others]
            pickers.choice(
                "published_baseline", "Compared with", names, lambda name: name or default_baseline, width=240
            )
        if view == "average":
            columns = dict(table.glue_columns)
            with st.popover("Columns of the average", icon=":material/tune:", key=f"{PAGE}.published_columns"):
                pickers.buttons(
                    "published_without",
                    "Press one to leave it out or to take it in; at first CoLA is left out",
                    list(columns),
                    list(task_titles()),
                    columns,
                    stores_pressed=False,
                )
    return view


def _show_figure(name: str, values: dict[str, Value]) -> None:
    """One figure or, where it cannot be made, why not."""
    with show.reporting_problems():
        figure = stored_figure(name, values)
        show.show(figure, PAGE, values)
        show.sentences(figure, PAGE)
