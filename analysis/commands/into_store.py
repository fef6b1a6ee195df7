"""Trainings that a command runs: their files are looked for, and their results go into the store."""

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from analysis import store_build
from analysis.core.errors import AddendError
from analysis.engine import run_all
from analysis.engine.task import TaskT


def check_glue(folder: Path) -> None:
    """Raises AddendError where there is no folder of GLUE's files."""
    if not folder.is_dir():
        raise AddendError(
            f"There is no folder {folder}; expected GLUE's files, one folder per task. Name it with --glue."
        )


def run_into_store(tasks: Sequence[TaskT], jobs: int | None, ray: str | None = None) -> None:
    """Runs the tasks that are not finished, and builds the store with their results. Raises AddendError if one failed.

    jobs: tasks side by side; by default one for each core. ray: the address of a cluster.
    """
    failed = run_all(tasks, workers=jobs or os.cpu_count() or 1, ray=ray)
    store_build.refresh()
    if failed:
        raise AddendError(f"{len(failed)} of {len(tasks)} runs failed, {failed[0][0].label} first: {failed[0][1]}")
    typer.echo(f"{len(tasks)} runs are in the store.")
