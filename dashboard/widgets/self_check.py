"""The self-check at the end of the guided tour."""

from analysis.narrative import self_check
from dashboard.session.page_address import address, is_dark
from dashboard.widgets.moving_pictures import show_component


def show_self_check(page: str) -> None:
    """Questions on the steps of a page, answered in the browser."""
    addresses = {check.step: address(page, {"step": check.step}) for check in self_check.checks()}
    show_component("self_check", f"{page}.self_check", self_check.picture(addresses), dark=is_dark())
