"""The old address of what is a tab of Which encoding? now."""

from dashboard.session import moved_pages

moved_pages.redirect("encodings")
