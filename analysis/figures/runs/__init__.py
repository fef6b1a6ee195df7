"""The list of stored runs, and the figure of one run."""
