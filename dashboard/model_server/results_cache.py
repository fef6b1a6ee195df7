"""A cache of results within a bound of bytes: the least recently used go first."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ResultsCache(Generic[T]):
    """Values by key. Safe to use from several threads.

    max_bytes: the bound, called each time. size: bytes of a value. on_evict: called after values were dropped.
    keep_newest: whether a value that is larger than the bound is stored until the next one; else it is not stored.
    """

    def __init__(
        self,
        max_bytes: Callable[[], int],
        size: Callable[[T], int],
        *,
        on_evict: Callable[[], None] = lambda: None,
        keep_newest: bool = False,
    ) -> None:
        self._max_bytes, self._size, self._on_evict, self._keep_newest = max_bytes, size, on_evict, keep_newest
        self._entries: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: Hashable) -> T | None:
        """The value under `key`, which is then the most recently used."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: Hashable, value: T, extra_bytes: int = 0) -> None:
        """Stores a value. extra_bytes: those of its key, where they matter."""
        size = self._size(value) + extra_bytes
        if size > self._max_bytes() and not self._keep_newest:
            return
        with self._lock:
            self._entries.pop(key, None)
            evicted = self._evict(size)
            self._entries[key] = (value, size)
        if evicted:
            self._on_evict()

    def make_room(self, size: int) -> None:
        """Drops the least recently used until `size` bytes more fit, or nothing is left."""
        with self._lock:
            evicted = self._evict(size)
        if evicted:
            self._on_evict()

    def _evict(self, size: int) -> bool:
        before = len(self._entries)
        while self._entries and self.bytes + size > self._max_bytes():
            self._entries.popitem(last=False)
        return len(self._entries) < before

    def drop(self, key: Hashable) -> None:
        """Drops one value."""
        with self._lock:
            evicted = self._entries.pop(key, None) is not None
        if evicted:
            self._on_evict()

    def clear(self) -> None:
        """Drops everything."""
        with self._lock:
            self._entries.clear()
        self._on_evict()

    def contents(self) -> list[tuple[Hashable, int]]:
        """Every key and its bytes, the least recently used first."""
        with self._lock:
            return [(key, size) for key, (_, size) in self._entries.items()]

    @property
    def bytes(self) -> int:
        """Bytes kept now."""
        with self._lock:
            return sum(size for _, size in self._entries.values())
