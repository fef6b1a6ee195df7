"""The old address of what is the tabs Curves to Costs of Experiments now."""

from dashboard.session import moved_pages

moved_pages.redirect("training")
