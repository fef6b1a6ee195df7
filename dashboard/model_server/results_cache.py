"""What was made, kept within a bound of bytes: the least recently asked for makes room."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ResultsCache(Generic[T]):
    """Values by key. Safe to use from several threads.

    most: bytes that may be kept, asked each time. size: bytes of a value. gone: called after values were let go.
    newest_stays: whether the value put last is kept though it is larger than the bound; else it is not kept at all.
    """

    def __init__(
        self,
        most: Callable[[], int],
        size: Callable[[T], int],
        *,
        gone: Callable[[], None] = lambda: None,
        newest_stays: bool = False,
    ) -> None:
        self._most, self._size, self._gone, self._newest_stays = most, size, gone, newest_stays
        self._held: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """What is kept under `key`, which is then the most recently asked for."""
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: Hashable, value: T, more: int = 0) -> None:
        """Keeps a value. more: bytes of its key, where they matter."""
        size = self._size(value) + more
        if size > self._most() and not self._newest_stays:
            return
        with self._lock:
            self._held.pop(key, None)
            went = self._evict(size)
            self._held[key] = (value, size)
        if went:
            self._gone()

    def make_room(self, size: int) -> None:
        """Lets go of the least recently asked for until `size` bytes more fit, or nothing is left."""
        with self._lock:
            went = self._evict(size)
        if went:
            self._gone()

    def _evict(self, size: int) -> bool:
        before = len(self._held)
        while self._held and self._bytes() + size > self._most():
            self._held.popitem(last=False)
        return len(self._held) < before

    def drop(self, key: Hashable) -> None:
        """Lets go of one value."""
        with self._lock:
            went = self._held.pop(key, None) is not None
        if went:
            self._gone()

    def clear(self) -> None:
        """Lets go of everything."""
        with self._lock:
            self._held.clear()
        self._gone()

    def contents(self) -> list[tuple[Hashable, int]]:
        """Every key and its bytes, the least recently asked for first."""
        with self._lock:
            return [(key, size) for key, (_, size) in self._held.items()]

    @property
    def bytes(self) -> int:
        """Bytes kept now."""
        with self._lock:
            return self._bytes()

    def _bytes(self) -> int:
        return sum(size for _, size in self._held.values())
