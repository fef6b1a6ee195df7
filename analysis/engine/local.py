"""Tasks on this machine, each in a process of its own, several side by side, with a bar for each."""

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from queue import Empty
from threading import Thread

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from analysis.core.errors import AddendError
from analysis.engine.task import Failed, Task, TaskT, ready

POLL_SECONDS = 0.5
_updates: "Queue[tuple[str, str, float]] | None" = None


def side_by_side(
    tasks: Sequence[TaskT], waiting: list[TaskT], done: set[str], workers: int, console: Console
) -> Failed[TaskT]:
    """Runs the waiting tasks, `workers` at a time; returns those that failed.

    Raises AddendError where a worker was killed.
    """
    failed: Failed[TaskT] = []
    context = multiprocessing.get_context("spawn")  # a forked process would share torch's threads
    updates: Queue[tuple[str, str, float]] = context.Queue()
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with (
        Progress(*columns, TimeElapsedColumn(), console=console, refresh_per_second=1) as progress,
        ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker, initargs=(updates,)) as pool,
    ):
        overall = progress.add_task("all runs", total=len(tasks), completed=len(done))
        running: dict[Future[None], TaskT] = {}
        bars: dict[str, TaskID] = {}
        while waiting or running:
            for task in ready(waiting, tasks, done)[: workers - len(running)]:
                waiting.remove(task)
                bars[task.key] = progress.add_task(task.label, total=1.0)
                running[pool.submit(_run_task, task)] = task
            if not running:
                failed += [(task, "what it needs has failed") for task in waiting]
                break
            finished, _ = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            _update_bars(updates, progress, bars)
            for future in finished:
                task = running.pop(future)
                progress.remove_task(bars.pop(task.key))
                try:
                    future.result()
                except BrokenProcessPool:
                    raise AddendError(
                        f"A worker was killed while {task.label} ran, perhaps for lack of memory. Start the same "
                        "command again: it continues from what is saved."
                    ) from None
                except (AddendError, OSError, RuntimeError) as error:
                    failed.append((task, str(error)))
                    console.print(f"{task.label} failed: {error}")
                else:
                    done.add(task.key)
                    progress.advance(overall)
                    console.print(f"{task.label} is done.")
    return failed


def _update_bars(updates: "Queue[tuple[str, str, float]]", progress: Progress, bars: dict[str, TaskID]) -> None:
    while True:
        try:
            key, activity, share = updates.get_nowait()
        except Empty:
            return
        if key in bars:
            name = progress.tasks[progress.task_ids.index(bars[key])].description.split(":")[0]
            progress.update(bars[key], completed=share, description=f"{name}: {activity}")


def _begin_worker(updates: "Queue[tuple[str, str, float]]") -> None:
    """Keeps the queue, and ends this process with the one that started it: a killed command leaves nobody training."""
    global _updates
    _updates = updates
    if (parent := multiprocessing.parent_process()) is not None:
        Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _run_task(task: Task) -> None:
    reported = ["", -1.0]

    def report(activity: str, share: float) -> None:
        assert _updates is not None  # set by `_begin_worker`
        if activity != reported[0] or share - float(reported[1]) > 0.005:
            reported[:] = [activity, share]
            _updates.put((task.key, activity, share))

    task.run(report)
