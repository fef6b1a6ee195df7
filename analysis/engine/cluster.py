"""Tasks over a Ray cluster. Ray is optional: pip install ray.

Every machine must see the same folders (a shared file system) and the same checkout. A task whose worker dies is
started again elsewhere and goes on from what it saved; since its files are named by its settings, none is counted
twice.
"""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from rich.console import Console

from analysis.core.errors import AddendError
from analysis.engine.task import Failed, Task, TaskT, ready

RETRIES = 3
"""The number of times that a task is restarted after its worker died."""
ROOT = Path(__file__).resolve().parents[2]


def over_cluster(
    tasks: Sequence[TaskT], waiting: list[TaskT], done: set[str], address: str, console: Console
) -> Failed[TaskT]:
    """Runs the waiting tasks on the cluster at an address; returns those that failed.

    address: "auto" is the cluster that this machine belongs to, "local" one on this machine alone.
    """
    try:
        import ray
    except ImportError:
        raise AddendError(
            "Ray is not installed, and --ray needs it. Run: pip install ray; or leave --ray out."
        ) from None
    variables = ("ADDEND_DATA", "ADDEND_STORE")
    settings = {name: os.environ[name] for name in variables if name in os.environ}
    environment = {"env_vars": {**settings, "PYTHONPATH": str(ROOT)}}
    try:
        ray.init(
            address=None if address == "local" else address,
            runtime_env=environment,
            logging_level=logging.ERROR,
            log_to_driver=False,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).split("\n")[0]
        raise AddendError(
            f"No Ray cluster answers at {address!r} ({reason}). Start one with: ray start --head; or give --ray local "
            "for one on this machine alone."
        ) from None
    try:
        return _run(ray, tasks, waiting, done, console)
    finally:
        ray.shutdown()


def _run(
    ray: ModuleType, tasks: Sequence[TaskT], waiting: list[TaskT], done: set[str], console: Console
) -> Failed[TaskT]:
    resources = {"num_gpus": 1} if tasks[0].device == "cuda" else {"num_cpus": 1}
    remote = ray.remote(run).options(max_retries=RETRIES, retry_exceptions=False, **resources)
    failed: Failed[TaskT] = []
    running: dict[object, TaskT] = {}
    while waiting or running:
        for task in ready(waiting, tasks, done):
            waiting.remove(task)
            running[remote.remote(task)] = task
        if not running:
            failed += [(task, "what it needs has failed") for task in waiting]
            break
        finished, _ = ray.wait(list(running), num_returns=1)
        for reference in finished:
            task = running.pop(reference)
            try:
                ray.get(reference)
            except (ray.exceptions.RayError, AddendError, OSError) as error:
                failed.append((task, str(error).strip().split("\n")[-1]))
                console.print(f"{task.label} failed: {failed[-1][1]}")
            else:
                done.add(task.key)
                console.print(f"{task.label} is done.")
    return failed


def run(task: Task) -> None:
    """Runs a task on a worker, without a progress bar."""
    task.run(lambda what, share: None)
