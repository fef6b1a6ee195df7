"""Runs many tasks side by side, on this machine (`local`) or over a Ray cluster (`cluster`): trainings, measurements.

A task leaves results files under names that depend on its settings alone, so what is finished is skipped and nothing
is counted twice, however often a task is started.
"""

from collections.abc import Sequence

from rich.console import Console

from analysis.engine.task import Failed, Report, Task, TaskT

__all__ = ["Failed", "Report", "Task", "run_all"]


def run_all(
    tasks: Sequence[TaskT], *, workers: int = 1, ray: str | None = None, console: Console | None = None
) -> Failed[TaskT]:
    """Runs every task that is not finished, `workers` at a time here, or over the cluster at the address `ray`.

    Returns those that failed, with the reason; the others go on. Raises AddendError where no cluster answers or a
    worker of this machine was killed.
    """
    console = console or Console()
    done = {task.key for task in tasks if task.finished}
    waiting = [task for task in tasks if task.key not in done]
    console.print(f"{len(done)} of {len(tasks)} runs are finished, {len(waiting)} to go.")
    if not waiting:
        return []
    if ray is not None:
        from analysis.engine.cluster import over_cluster

        return over_cluster(tasks, waiting, done, ray, console)
    from analysis.engine.local import side_by_side

    return side_by_side(tasks, waiting, done, workers, console)
