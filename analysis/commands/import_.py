"""python -m analysis import: adds results that were made elsewhere."""

import math
from pathlib import Path
from typing import Annotated

import typer

from analysis.core.errors import AddendError


def decimal(text: str) -> float:
    """A number of the command line, by the grammar that files are read by: 1_0 is none."""
    from analysis.imports.reader import parsed

    if (value := parsed(text)) is None or not math.isfinite(value):
        raise typer.BadParameter(f"{text!r} is no number; expected one such as 0.00002 or 2e-5.")
    return value


def whole_number(text: str) -> int:
    """A whole number of the command line, from 0."""
    value = decimal(text)
    if value != int(value) or value < 0:
        raise typer.BadParameter(f"{text!r} is no whole number from 0; expected one such as 42.")
    return int(value)


def import_(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="CSV, JSONL or Parquet in the tidy form; run_glue.py's output; exports of W&B, MLflow or Trackio."
        ),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be added, but add nothing.")] = False,
    variant: Annotated[str | None, typer.Option(help="The variant, if the files do not name it.")] = None,
    task: Annotated[str | None, typer.Option(help="The task, if the files do not name it.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            parser=whole_number, metavar="INTEGER", help="The pre-training's seed, if the files do not name it."
        ),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            parser=decimal, metavar="FLOAT", help="Fine-tuning's peak learning rate, if the files do not name it."
        ),
    ] = None,
    preset: Annotated[str | None, typer.Option(help="A name for runs that may be compared with one another.")] = None,
) -> None:
    """Adds results made elsewhere, all of them or none. Importing the same files again adds nothing."""
    from analysis import store_build
    from analysis.imports.plan import execute, gather, plan
    from analysis.imports.reader import UserMetadata

    defaults = UserMetadata(variant=variant, task=task, seed=seed, learning_rate=learning_rate, preset=preset)
    result = plan(gather(paths), defaults)
    for skipped in result.left:
        typer.echo(f"Left out: {skipped}")
    for note in result.notes:
        typer.echo(f"Note: {note}")
    if result.bad:
        problems = "\n".join(result.problems)
        raise AddendError(f"Nothing was imported, because of these problems:\n{problems}")
    for run in result.runs:
        typer.echo(f"{run.kind}: {run.preset}, {run.variant}, seed {run.seed}: {len(run.rows):,} rows ({run.form})")
    if result.known:
        typer.echo(f"{result.known:,} rows are stored already.")
    if not result.runs:
        typer.echo("There is nothing to add.")
    elif dry_run:
        typer.echo(f"Would add {result.rows:,} rows of {len(result.runs):,} runs. Nothing was written.")
    else:
        folder = execute(result)
        store_build.refresh()
        typer.echo(
            f"{result.rows:,} rows of {len(result.runs):,} runs added, in {folder}. To undo it, remove that folder."
        )
