"""Probes: what a reader asks of a model now. Each module has one kind of request; none imports torch until it runs."""
