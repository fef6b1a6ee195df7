"""python -m analysis measure models: several kinds of measurement of many models, side by side or over a cluster."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.options import CorpusName, Ray, split_names


def models(
    models: Annotated[list[str], typer.Argument(help="Folders, Hugging Face ids, or NAME=FOLDER to name one.")],
    what: Annotated[
        str, typer.Option(help="terms, means, decoding, order, pieces, positions, geometry; separated by commas.")
    ] = "terms",
    texts: Annotated[
        Path | None, typer.Option(help="UTF-8 text, for means, decoding, order and pieces. It is not stored.")
    ] = None,
    corpus: CorpusName = None,
    tokens: Annotated[
        int | None, typer.Option(help="Tokens of a text or window; positions of a table that training reached.", min=2)
    ] = None,
    windows: Annotated[
        int | None, typer.Option(help="Windows of the text, for means, decoding, order and pieces.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Side by side here; by default one per core or GPU.")] = None,
    ray: Ray = None,
    again: Annotated[bool, typer.Option("--again", help="Also measure where a results file exists already.")] = False,
) -> None:
    """Measures every model in every way asked for, into results files. What is there already is skipped."""
    import os

    import torch

    from analysis import store_build
    from analysis.commands.measure.plan import MeasurementOptions, plan_measurements
    from analysis.engine import run_all

    gpus = torch.cuda.device_count()
    options = MeasurementOptions(texts=texts, corpus=corpus, tokens=tokens, windows=windows)
    tasks = plan_measurements(models, split_names(what), options, device="cuda" if gpus else "cpu", again=again)
    failed = run_all(tasks, workers=jobs or gpus or os.cpu_count() or 1, ray=ray)
    store_build.refresh()
    for task, reason in failed:
        typer.echo(f"{task.label} failed: {reason}", err=True)
    if failed:
        raise typer.Exit(1)
