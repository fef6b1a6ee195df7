"""The exception that ends a forward pass early. It has a file of its own since errors are told from it."""


class StopForward(Exception):
    """Ends a forward pass once the requested layer has run."""
