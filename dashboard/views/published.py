"""The old address of what is the tab Papers of Experiments now."""

from dashboard.session import moved_pages

moved_pages.redirect("published")
