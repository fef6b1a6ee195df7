"""Limits on how often, and on how much at once, one client may ask."""

import math
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from analysis.core.errors import Busy

MINUTE = 60.0
MAX_CLIENTS = 10_000
"""Clients that are remembered; the longest silent is forgotten first."""


class KeyedLock:
    """One thing at a time of each client. request_kind: what it is called in a sentence."""

    def __init__(self, request_kind: str = "query") -> None:
        self._request_kind = request_kind
        self._busy: set[str] = set()
        self._free = threading.Condition()

    @contextmanager
    def turn(self, client: str, timeout: float) -> Iterator[None]:
        """Waits for the client's earlier request, at most `timeout` seconds. Raises Busy where that still runs."""
        with self._free:
            if not self._free.wait_for(lambda: client not in self._busy, timeout):
                raise Busy(f"Another {self._request_kind} of yours is running. Try again when it has ended.")
            self._busy.add(client)
        try:
            yield
        finally:
            with self._free:
                self._busy.discard(client)
                self._free.notify_all()


class ConcurrencyLimit:
    """A limit of `limit` things at once for each client. limit: called each time."""

    def __init__(self, limit: Callable[[], int], client_kind: str, request_kind: str = "probes") -> None:
        self._limit, self._client_kind, self._request_kind = limit, client_kind, request_kind
        self._active: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def slot(self, client: str) -> Iterator[None]:
        """Occupies a slot for as long as the block. Raises Busy where the client has none left."""
        with self._lock:
            if self._active[client] >= (limit := self._limit()):
                raise Busy(
                    f"{limit} {self._request_kind} of your {self._client_kind} are on their way. Try again in a moment."
                )
            self._active[client] += 1
        try:
            yield
        finally:
            with self._lock:
                self._active[client] -= 1
                self._active += Counter()  # drops clients without any


class RateLimit:
    """A limit of `limit` requests of each client in any minute. limit: called each time; 0 is no limit."""

    def __init__(
        self,
        limit: Callable[[], int],
        client_kind: str,
        clock: Callable[[], float] = time.monotonic,
        request_kind: str = "probes",
    ) -> None:
        self._limit, self._client_kind, self._clock, self._request_kind = limit, client_kind, clock, request_kind
        self._request_times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, client: str) -> None:
        """Raises Busy, naming when to come back, where the client asked too often."""
        limit, now = self._limit(), self._clock()
        with self._lock:
            times = self._recent(client, now)
            if not limit or len(times) < limit:
                return
            seconds = math.ceil(times[-limit] + MINUTE - now)
        raise Busy(
            f"This server takes {limit} {self._request_kind} per minute from one {self._client_kind}. "
            f"Try again in {seconds} s."
        )

    def count(self, client: str) -> None:
        """Counts one more request."""
        with self._lock:
            times = self._recent(client, self._clock())
            times.append(self._clock())
            self._request_times[client] = times
            self._request_times.move_to_end(client)
            while len(self._request_times) > MAX_CLIENTS:
                self._request_times.popitem(last=False)

    def _recent(self, client: str, now: float) -> deque[float]:
        times = self._request_times.get(client, deque())
        while times and times[0] <= now - MINUTE:
            times.popleft()
        return times
