"""Runs a sweep's jobs on this machine, several side by side, with a bar for each."""

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.queues import Queue
from queue import Empty
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from analysis.ablation.job import Job, run
from analysis.ablation.plan import Finetuning
from analysis.ablation.presets import Pretraining
from analysis.ablation.variants import VARIANTS
from analysis.errors import AddendError

POLL_SECONDS = 0.5
_updates: Any = None


def made(jobs: Sequence[Pretraining], finetuning: Finetuning | None, **shared: Any) -> list[Job]:
    """Jobs of a sweep. Next-token models are not fine-tuned: GLUE here asks what an encoder understands."""
    return [Job(pretraining=p, finetuning=None if p.config().get("causal") else finetuning, **shared) for p in jobs]


def waits_for(job: Job, jobs: Sequence[Job]) -> Job | None:
    """The job of the same seed whose model this one needs."""
    needs = VARIANTS[job.pretraining.variant].needs
    found = (j for j in jobs if j.pretraining.variant == needs and j.pretraining.seed == job.pretraining.seed)
    return next(found, None)


def ready(waiting: Sequence[Job], jobs: Sequence[Job], done: set[str]) -> list[Job]:
    """Jobs that may start: what they need is done."""
    return [job for job in waiting if (needed := waits_for(job, jobs)) is None or needed.run_id in done]


def sweep(jobs: Sequence[Job], workers: int, console: Console | None = None) -> list[tuple[Job, str]]:
    """Runs every job that is not finished, `workers` side by side; returns those that failed, with the reason."""
    console = console or Console()
    done = {job.run_id for job in jobs if job.finished}
    waiting = [job for job in jobs if job.run_id not in done]
    failed: list[tuple[Job, str]] = []
    console.print(f"{len(done)} of {len(jobs)} runs are finished, {len(waiting)} to go.")
    if not waiting:
        return failed
    context = multiprocessing.get_context("spawn")  # a forked process would share torch's threads
    updates: Queue[tuple[str, str, float]] = context.Queue()
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with (
        Progress(*columns, TimeElapsedColumn(), console=console, refresh_per_second=1) as progress,
        ProcessPoolExecutor(workers, mp_context=context, initializer=_listen, initargs=(updates,)) as pool,
    ):
        whole = progress.add_task("all runs", total=len(jobs), completed=len(done))
        running: dict[Future[None], Job] = {}
        bars: dict[str, TaskID] = {}
        while waiting or running:
            for job in ready(waiting, jobs, done)[: workers - len(running)]:
                waiting.remove(job)
                bars[job.run_id] = progress.add_task(label(job), total=1.0)
                running[pool.submit(_work, job)] = job
            if not running:
                failed += [(job, "what it needs has failed") for job in waiting]
                break
            finished, _ = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            _show(updates, progress, bars)
            for future in finished:
                job = running.pop(future)
                progress.remove_task(bars.pop(job.run_id))
                try:
                    future.result()
                except BrokenProcessPool:
                    raise AddendError(
                        f"A worker was killed while {label(job)} ran, perhaps for want of memory. Start the same "
                        "sweep again: it goes on from what is saved."
                    ) from None
                except (AddendError, OSError, RuntimeError) as wrong:
                    failed.append((job, str(wrong)))
                    console.print(f"{label(job)} failed: {wrong}")
                else:
                    done.add(job.run_id)
                    progress.advance(whole)
                    console.print(f"{label(job)} is done.")
    return failed


def label(job: Job) -> str:
    """A run's name on screen."""
    return f"{job.pretraining.variant}, seed {job.pretraining.seed}"


def _show(updates: "Queue[tuple[str, str, float]]", progress: Progress, bars: dict[str, TaskID]) -> None:
    while True:
        try:
            run_id, what, share = updates.get_nowait()
        except Empty:
            return
        if run_id in bars:
            name = progress.tasks[progress.task_ids.index(bars[run_id])].description.split(":")[0]
            progress.update(bars[run_id], completed=share, description=f"{name}: {what}")


def _listen(updates: Any) -> None:
    global _updates
    _updates = updates


def _work(job: Job) -> None:
    last = ["", -1.0]

    def report(what: str, share: float) -> None:
        if what != last[0] or share - float(last[1]) > 0.005:
            last[:] = [what, share]
            _updates.put((job.run_id, what, share))

    run(job, report)
