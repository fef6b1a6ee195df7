"""python -m analysis measure surgery: a model's own task under every change of its positions and terms."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.options import EMBEDDED, Called, CorpusName, Model, Revision, announce, split_names


def surgery(
    stsb: Annotated[
        Path | None, typer.Option(help="The dev set of STS-B, for a sentence encoder, as a TSV file.")
    ] = None,
    texts: Annotated[
        Path | None, typer.Option(help="UTF-8 text, with empty lines between articles, for a masked language model.")
    ] = None,
    model: Model = EMBEDDED,
    revision: Revision = None,
    corpus: CorpusName = None,
    length: Annotated[int, typer.Option(help="Tokens of a window of text, special ones included.")] = 64,
    windows: Annotated[int, typer.Option(help="How many windows of text.")] = 512,
    only: Annotated[
        str, typer.Option(help="Names of some operations, separated by commas, such as no_cross; by default all.")
    ] = "",
    called: Called = None,
    name: Annotated[str | None, typer.Option(help="File name under data/results/surgery, without its ending.")] = None,
) -> None:
    """Measures sentence similarity or the loss on masked words under every operation, with no training."""
    from rich.progress import Progress

    from analysis.core.errors import AddendError
    from analysis.core.formatting import join_names
    from analysis.measurements.surgery.masked_words import masked_words
    from analysis.measurements.surgery.measure import measure_surgery
    from analysis.measurements.surgery.operations import operations
    from analysis.measurements.surgery.similarity import read_pairs
    from analysis.models.load import load
    from analysis.models.source import resolve

    if (stsb is None) == (texts is None):
        raise AddendError("Name either --stsb, for a sentence encoder, or --texts, for a masked language model.")
    loaded = load(resolve(model, revision), head=texts is not None)
    if texts is not None:
        task = masked_words(loaded, texts, length=length, count=windows, corpus=corpus)
    else:
        assert stsb is not None
        task = read_pairs(stsb)
    everything = operations(read=task.positions_read(loaded))
    names = {"intact", *split_names(only)}
    if unknown := names - {operation.name for operation in everything}:
        known = join_names(dict.fromkeys(operation.name for operation in everything))
        raise AddendError(f"There is no operation named {sorted(unknown)[0]!r}; expected some of {known}.")
    selected = [operation for operation in everything if not only or operation.name in names]
    with Progress() as progress:
        each = progress.track(selected, description="operations")
        path = measure_surgery(loaded, task, chosen=selected, called=called, name=name, each=each)
    announce(path)
