"""Limits on a reader's query. The operating system enforces them on the child process, not DuckDB alone."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of one query, and of how many run at once."""

    characters: int = 6_000
    rows: int = 10_000
    columns: int = 100
    cells: int = 250_000
    """Rows times columns: a cell can take a hundred bytes here that takes one bit in the child's result."""
    result_mib: int = 8
    memory_mib: int = 1_024
    """Limit on address space, in MiB; Python, Arrow and DuckDB take about half of it."""
    cpu_seconds: int = 8
    seconds: int = 10
    """Limit on elapsed time, in seconds."""
    at_once: int = 2
    wait_seconds: int = 5
    """Seconds that a query waits for its turn before it is rejected."""


LIMITS = Limits()
