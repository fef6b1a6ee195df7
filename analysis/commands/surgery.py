"""python -m analysis surgery: a sentence encoder's own task under every change of its positions and terms."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.options import EMBEDDED, Model, Revision


def surgery(
    stsb: Annotated[Path, typer.Option(help="The dev set of STS-B: TSV with label, sentence1 and sentence2.")],
    model: Model = EMBEDDED,
    revision: Revision = None,
    name: Annotated[str | None, typer.Option(help="File name under data/results/surgery, without its ending.")] = None,
) -> None:
    """Measures sentence similarity under every operation, with no training, into a results file."""
    from rich.progress import Progress

    from analysis import store_build
    from analysis.measurements.surgery.operations import operations
    from analysis.measurements.surgery.similarity import measure_surgery, read_pairs
    from analysis.models.load import load
    from analysis.models.source import resolve

    pairs = read_pairs(stsb)
    loaded = load(resolve(model, revision))
    chosen = operations()
    with Progress() as progress:
        path = measure_surgery(
            loaded, pairs, chosen=chosen, name=name, each=progress.track(chosen, description="operations")
        )
    store_build.refresh()
    typer.echo(f"{path} written and in the store.")
