"""The old address of what Look inside compares now."""

from dashboard.session import moved_pages

moved_pages.redirect("compare")
