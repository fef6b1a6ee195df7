"""Every experiment on ways of combining word and position, on one board."""
