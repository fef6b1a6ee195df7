"""How often readers may ask in SQL: so many a minute and one at a time, so that nobody holds every turn there is."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from analysis.core import settings
from analysis.sql.limits import LIMITS
from dashboard.model_server.rate_limits import KeyedLock, RateLimit
from dashboard.session import live


@dataclass(frozen=True)
class Shared:
    """What all sessions share."""

    sessions: RateLimit
    addresses: RateLimit
    running: KeyedLock


_number = settings.number
_IMPORTS = RateLimit(partial(_number, "ADDEND_IMPORTS_A_MINUTE"), "network address", what="readings of uploads")
_SHARED = Shared(
    sessions=RateLimit(partial(_number, "ADDEND_QUERIES_A_MINUTE"), "session", what="queries"),
    addresses=RateLimit(partial(_number, "ADDEND_QUERIES_A_MINUTE_ADDRESS"), "network address", what="queries"),
    running=KeyedLock(),
)


def shared() -> Shared:
    """The one of this process. It is not in Streamlit's cache, which any browser may ask to be cleared."""
    return _SHARED


def count_import() -> None:
    """One more reading of uploaded files. Raises Busy where this address asks for too many."""
    here = live.address()
    _IMPORTS.check(here)
    _IMPORTS.count(here)


@contextmanager
def count_query() -> Iterator[None]:
    """One more query of this session and, for a hosted server has strangers in many tabs, of its address.

    Raises Busy where either asks too often, or has a query that still runs.
    """
    ours, session, here = shared(), live.session(), live.address()
    ours.sessions.check(session)
    ours.addresses.check(here)
    with ExitStack() as turns:
        for who in (session, here) if settings.hosted() else (session,):
            turns.enter_context(ours.running.turn(who, LIMITS.wait_seconds))
        ours.sessions.count(session)
        ours.addresses.count(here)
        yield
