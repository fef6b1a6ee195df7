"""The queue before a device: one at a time, first come first served; tickets may be given up."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Cancelled(Exception):
    """Nobody waits for this any more."""


class Ticket:
    """A place in the queue."""

    def __init__(self) -> None:
        self.left = False
        """True if the ticket was given up."""


class FairQueue:
    """Turns at one device."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Ticket] = deque()
        self._served: Ticket | None = None

    @contextmanager
    def turn(self, ticket: Ticket) -> Iterator[None]:
        """Waits until it is this ticket's turn, which lasts as long as the block. Raises Cancelled for one given up."""
        with self._changed:
            self._waiting.append(ticket)
            self._changed.wait_for(lambda: ticket.left or (self._served is None and self._waiting[0] is ticket))
            self._waiting.remove(ticket)
            if ticket.left:
                self._changed.notify_all()
                raise Cancelled
            self._served = ticket
        try:
            yield
        finally:
            with self._changed:
                self._served = None
                self._changed.notify_all()

    def leave(self, ticket: Ticket) -> None:
        """Gives a ticket up; a turn that has begun has to notice by itself."""
        with self._changed:
            ticket.left = True
            self._changed.notify_all()

    def ahead(self, ticket: Ticket) -> int | None:
        """The number of tickets before this one, with the one being served; None for a ticket that does not wait."""
        with self._changed:
            if ticket not in self._waiting:
                return None
            return self._waiting.index(ticket) + (self._served is not None)

    def length(self) -> tuple[int, int]:
        """The numbers of tickets that wait and that are served."""
        with self._changed:
            return len(self._waiting), int(self._served is not None)
