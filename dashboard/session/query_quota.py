"""Limits on readers' SQL queries, imports and saved probes: so many a minute, and one at a time."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

from analysis.core import settings
from analysis.sql.limits import LIMITS
from analysis.sql.run_query import Answer, ask, cached_answer
from dashboard.model_server.rate_limits import KeyedLock, RateLimit
from dashboard.session import live

IMPORT_WAIT_SECONDS = 30.0
"""The time for which a reader's import waits for the one before."""


@dataclass(frozen=True)
class QueryLimits:
    """The limits that all sessions share."""

    sessions: RateLimit
    addresses: RateLimit
    running: KeyedLock


_number = settings.number
_IMPORTS = RateLimit(partial(_number, "ADDEND_IMPORTS_A_MINUTE"), "network address", request_kind="readings of uploads")
_READING = KeyedLock("import")
_SAVES = RateLimit(partial(_number, "ADDEND_SAVES_A_MINUTE"), "network address", request_kind="probes to save")
_SHARED = QueryLimits(
    sessions=RateLimit(partial(_number, "ADDEND_QUERIES_A_MINUTE"), "session", request_kind="queries"),
    addresses=RateLimit(partial(_number, "ADDEND_QUERIES_A_MINUTE_ADDRESS"), "network address", request_kind="queries"),
    running=KeyedLock(),
)


def shared() -> QueryLimits:
    """The one of this process. It is not in Streamlit's cache, which any browser may ask to clear."""
    return _SHARED


@contextmanager
def count_import() -> Iterator[None]:
    """Counts a reading of uploaded files. Raises Busy where this address asks for too many, or still has one read."""
    client = live.client_address()
    _IMPORTS.check(client)
    with _READING.turn(client, IMPORT_WAIT_SECONDS) if settings.hosted() else nullcontext():
        _IMPORTS.count(client)
        yield


def count_save() -> None:
    """Counts a probe that is saved. Raises Busy where this address saves too many."""
    client = live.client_address()
    _SAVES.check(client)
    _SAVES.count(client)


def answer(query: str) -> Answer:
    """The rows of a reader's own query. Only queries whose answer is not cached are counted.

    Raises what `analysis.sql.run_query.ask` does, and Busy.
    """
    if kept := cached_answer(query):
        return kept
    with count_query():
        return ask(query)


@contextmanager
def count_query() -> Iterator[None]:
    """Counts a query of this session and its address. Raises Busy where either asks too often or still runs one.

    Only a hosted server allows an address one query at a time, since strangers open many tabs.
    """
    limits, session_id, client = shared(), live.session_id(), live.client_address()
    limits.sessions.check(session_id)
    limits.addresses.check(client)
    with ExitStack() as turns:
        for name in (session_id, client) if settings.hosted() else (session_id,):
            turns.enter_context(limits.running.turn(name, LIMITS.wait_seconds))
        limits.sessions.count(session_id)
        limits.addresses.count(client)
        yield
