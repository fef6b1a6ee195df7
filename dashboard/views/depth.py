"""The old address of what the tab Layers of Look inside shows now."""

from dashboard.session import moved_pages

moved_pages.redirect("depth")
