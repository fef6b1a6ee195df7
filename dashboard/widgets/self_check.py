"""The self-check at the end of the guided tour."""

from analysis.narrative import self_check
from analysis.store.paths import cached_until_store_changes
from dashboard.session.page_address import address, is_dark
from dashboard.widgets.moving_pictures import show_component


@cached_until_store_changes()
def _picture(page: str) -> dict[str, object]:
    return self_check.picture({check.step: address(page, {"step": check.step}) for check in self_check.checks()})


def show_self_check(page: str) -> None:
    """Questions on the steps of a page, answered in the browser."""
    show_component("self_check", f"{page}.self_check", _picture(page), dark=is_dark())
