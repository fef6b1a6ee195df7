"""The old address of what Look inside shows of scores now."""

from dashboard.session import moved_pages

moved_pages.redirect("terms")
