"""The old address of what is the tab Change of Look inside now."""

from dashboard.session import moved_pages

moved_pages.redirect("interventions")
