"""The protocol of tasks, and which tasks may start."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol, TypeVar

Report = Callable[[str, float], None]
"""Called with the current activity and the progress from 0 to 1."""


class Task(Protocol):
    """Work that another process, possibly on another machine, can run: it is pickled."""

    @property
    def key(self) -> str:
        """A unique key."""
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
        """All results of the task are stored."""
        ...

    def run(self, report: Report) -> None:
        """Runs the task. Raises AddendError, OSError or RuntimeError where it fails."""
        ...


TaskT = TypeVar("TaskT", bound=Task)
Failed = list[tuple[TaskT, str]]
"""Tasks that failed, and why."""


def ready(waiting: Sequence[TaskT], tasks: Sequence[TaskT], done: Collection[str]) -> list[TaskT]:
    """The waiting tasks that may start, since the task that they need is done."""
    unfinished = {task.key for task in tasks} - set(done)
    return [task for task in waiting if task.needs not in unfinished]
