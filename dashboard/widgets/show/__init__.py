"""The parts of a page that readers see: its head, its figures with their menus, its problems, and citations."""

from dashboard.session.page_address import address
from dashboard.widgets.show.figure import IN_SENTENCES, sentences, show
from dashboard.widgets.show.menu import ONLY, cite, cite_this
from dashboard.widgets.show.page_head import begin, contents, copy_link, header, say_lead, set_tab_title
from dashboard.widgets.show.panels import ROW_AND_COLUMN, charts, shade, theme
from dashboard.widgets.show.problems import reporting_missing_results, reporting_problems, show_failure, show_problem

__all__ = [
    "IN_SENTENCES",
    "ONLY",
    "ROW_AND_COLUMN",
    "address",
    "begin",
    "charts",
    "cite",
    "cite_this",
    "contents",
    "copy_link",
    "header",
    "reporting_missing_results",
    "reporting_problems",
    "say_lead",
    "sentences",
    "set_tab_title",
    "shade",
    "show",
    "show_failure",
    "show_problem",
    "theme",
]
