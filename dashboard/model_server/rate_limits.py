"""How often somebody may ask: so many times in any minute."""

import math
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from analysis.core.errors import Busy

MINUTE = 60.0
REMEMBERED = 10_000
"""Of those who asked; who was silent longest is forgotten first."""


class KeyedLock:
    """One thing at a time of each who asks."""

    def __init__(self) -> None:
        self._busy: set[str] = set()
        self._free = threading.Condition()

    @contextmanager
    def turn(self, who: str, seconds: float) -> Iterator[None]:
        """Waits so long for what the same one asked before. Raises Busy where that still runs."""
        with self._free:
            if not self._free.wait_for(lambda: who not in self._busy, seconds):
                raise Busy("Another query of yours is running. Try again when it has ended.")
            self._busy.add(who)
        try:
            yield
        finally:
            with self._free:
                self._busy.discard(who)
                self._free.notify_all()


class ConcurrencyLimit:
    """So many things at once of each who asks, lest one hold every place in a line. most: asked each time."""

    def __init__(self, most: Callable[[], int], whose: str, what: str = "probes") -> None:
        self._most, self._whose, self._what = most, whose, what
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def one(self, who: str) -> Iterator[None]:
        """One more, for as long as the block. Raises Busy where that is too many."""
        with self._lock:
            if self._held[who] >= (most := self._most()):
                raise Busy(f"{most} {self._what} of your {self._whose} are on their way. Try again in a moment.")
            self._held[who] += 1
        try:
            yield
        finally:
            with self._lock:
                self._held[who] -= 1
                self._held += Counter()  # without those who have none

    def held(self, who: str) -> int:
        """How many of somebody's are on their way."""
        with self._lock:
            return self._held[who]


class RateLimit:
    """Counts what each of many asked for in the last minute. most: asked each time; 0 is no limit."""

    def __init__(
        self, most: Callable[[], int], whose: str, clock: Callable[[], float] = time.monotonic, what: str = "probes"
    ) -> None:
        self._most, self._whose, self._clock, self._what = most, whose, clock, what
        self._asked: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, who: str) -> None:
        """Raises Busy, naming when to come back, where somebody asked too often."""
        most, now = self._most(), self._clock()
        with self._lock:
            times = self._recent(who, now)
            if not most or len(times) < most:
                return
            seconds = math.ceil(times[-most] + MINUTE - now)
        raise Busy(
            f"This server takes {most} {self._what} per minute from one {self._whose}. Try again in {seconds} s."
        )

    def count(self, who: str) -> None:
        """One more was asked for."""
        with self._lock:
            times = self._recent(who, self._clock())
            times.append(self._clock())
            self._asked[who] = times
            self._asked.move_to_end(who)
            while len(self._asked) > REMEMBERED:
                self._asked.popitem(last=False)

    def _recent(self, who: str, now: float) -> deque[float]:
        times = self._asked.get(who, deque())
        while times and times[0] <= now - MINUTE:
            times.popleft()
        return times
