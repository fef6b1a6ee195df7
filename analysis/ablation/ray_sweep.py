"""Spreads a sweep's jobs over a Ray cluster. Ray is optional: pip install ray.

Every machine must see the same --out, --corpus, --glue-dir and data folder (a shared file system). A job
whose worker dies is started again elsewhere and goes on from what it saved; since a run's files are named
by its settings, none is counted twice.
"""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from analysis.ablation.job import Job, run
from analysis.ablation.sweep import label, ready
from analysis.errors import AddendError

RETRIES = 3
"""How often a job whose worker died is started again."""
ROOT = Path(__file__).resolve().parents[2]


def ray_sweep(
    jobs: Sequence[Job], address: str, console: Console | None = None, **options: Any
) -> list[tuple[Job, str]]:
    """As `sweep`, on the cluster at an address ("auto": the one this machine belongs to, or one started here).

    options: further arguments of ray.init.
    """
    try:
        import ray
    except ImportError:
        raise AddendError(
            "Ray is not installed, and --ray needs it. Run: pip install ray; or leave --ray out."
        ) from None
    console = console or Console()
    places = ("ADDEND_DATA", "ADDEND_MIRROR", "ADDEND_STORE")
    settings = {name: os.environ[name] for name in places if name in os.environ}
    # Jobs name the code they were planned with: the same checkout on every machine.
    environment = {"env_vars": {**settings, "PYTHONPATH": str(ROOT)}}
    try:
        ray.init(
            address=None if address == "local" else address,
            runtime_env=environment,
            logging_level=logging.ERROR,
            log_to_driver=False,
            **options,
        )
    except (ConnectionError, ValueError, RuntimeError) as refused:
        reason = str(refused).split("\n")[0]
        raise AddendError(
            f"No Ray cluster answers at {address!r} ({reason}). Start one with: ray start --head; or give --ray local "
            "for one on this machine alone."
        ) from None
    try:
        return _run(ray, jobs, console)
    finally:
        ray.shutdown()


def _run(ray: Any, jobs: Sequence[Job], console: Console) -> list[tuple[Job, str]]:
    on = {"num_gpus": 1} if jobs and jobs[0].place.device == "cuda" else {"num_cpus": 1}
    work = ray.remote(run).options(max_retries=RETRIES, retry_exceptions=False, **on)
    done = {job.run_id for job in jobs if job.finished}
    waiting = [job for job in jobs if job.run_id not in done]
    failed: list[tuple[Job, str]] = []
    console.print(f"{len(done)} of {len(jobs)} runs are finished, {len(waiting)} to go.")
    running: dict[Any, Job] = {}
    while waiting or running:
        for job in ready(waiting, jobs, done):
            waiting.remove(job)
            running[work.remote(job)] = job
        if not running:
            failed += [(job, "what it needs has failed") for job in waiting]
            break
        finished, _ = ray.wait(list(running), num_returns=1)
        for reference in finished:
            job = running.pop(reference)
            try:
                ray.get(reference)
            except (ray.exceptions.RayError, AddendError, OSError) as wrong:
                failed.append((job, str(wrong).strip().split("\n")[-1]))
                console.print(f"{label(job)} failed: {failed[-1][1]}")
            else:
                done.add(job.run_id)
                console.print(f"{label(job)} is done.")
    return failed
