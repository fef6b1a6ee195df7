"""What a task is, and which tasks may start."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol, TypeVar

Report = Callable[[str, float], None]
"""Told what is being done and how far it is, from 0 to 1."""


class Task(Protocol):
    """What can be run by another process, on another machine too: it is pickled."""

    @property
    def key(self) -> str:
        """Tells it from every other task."""
        ...

    @property
    def label(self) -> str:
        """Its name on screen."""
        ...

    @property
    def needs(self) -> str | None:
        """The key of the task that must be done before it; one that is not among the tasks is not waited for."""
        ...

    @property
    def device(self) -> str:
        """cpu or cuda."""
        ...

    @property
    def finished(self) -> bool:
        """Whether everything it gives is stored."""
        ...

    def run(self, report: Report) -> None:
        """Does it. Raises AddendError, OSError or RuntimeError where it fails."""
        ...


TaskT = TypeVar("TaskT", bound=Task)
Failed = list[tuple[TaskT, str]]
"""Tasks that failed, and why."""


def ready(waiting: Sequence[TaskT], among: Sequence[TaskT], done: Collection[str]) -> list[TaskT]:
    """Tasks that may start: what they need is done."""
    awaited = {task.key for task in among} - set(done)
    return [task for task in waiting if task.needs not in awaited]
