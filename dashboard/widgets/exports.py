"""Files that readers download, made outside of any page's run and one at a time, since a large map takes much memory.

On a hosted server one address has few slots in that queue, and nobody waits in it for long.
"""

import threading
from collections.abc import Callable
from contextlib import nullcontext

import streamlit as st

from analysis.core import settings
from analysis.core.errors import Busy
from dashboard.model_server.rate_limits import ConcurrencyLimit
from dashboard.session import live

MAX_PENDING = 2
"""Files of one network address that are made or wait: the server has few threads for downloads."""
WAIT_SECONDS = 20.0

_lock = threading.Lock()
_slots = ConcurrencyLimit(lambda: MAX_PENDING, "network address", "files")


def deferred(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """The data of a download button whose file is made once it is pressed."""
    client = live.client_address()
    return lambda: take_turn(make, client)


def export_notice() -> None:
    """Explains a failed export, for which a button has only one fixed sentence."""
    if settings.hosted():
        st.caption(
            f"This server makes one file at a time, and accepts {MAX_PENDING} requests at once from one network "
            "address. If a button says that it failed, others came first: press it again in a moment."
        )


def take_turn(make: Callable[[], bytes], client: str) -> bytes:
    """The file that `make` makes, when it is its turn. Raises Busy where it has to wait for too long."""
    with _slots.slot(client) if settings.hosted() else nullcontext():
        if not _lock.acquire(timeout=WAIT_SECONDS):
            raise Busy(
                f"The server has been making files for others for more than {WAIT_SECONDS:.0f} s. Try again in a "
                "moment."
            )
        try:
            return make()
        finally:
            _lock.release()
