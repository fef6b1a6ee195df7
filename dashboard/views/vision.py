"""The old address of what is Look inside with an image now."""

from dashboard.session import moved_pages

moved_pages.redirect("vision")
