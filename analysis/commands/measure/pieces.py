"""python -m analysis measure pieces: what pieces of words and whole words lose without positions."""

from typing import Annotated

import typer

from analysis.commands.options import (
    EMBEDDED,
    Called,
    CorpusName,
    Length,
    Model,
    ResultsName,
    Revision,
    Texts,
    Windows,
    announce,
)


def pieces(
    texts: Texts,
    model: Model = EMBEDDED,
    revision: Revision = None,
    corpus: CorpusName = None,
    length: Length = 128,
    windows: Windows = 384,
    head: Annotated[
        bool, typer.Option(help="Measure the loss on masked words too, where the checkpoint has the head for it.")
    ] = True,
    called: Called = None,
    name: ResultsName = None,
) -> None:
    """Measures what pieces of words lose, compared with whole words, when every position becomes the mean."""
    from rich.progress import Progress

    from analysis.measurements.means import windows as text_windows
    from analysis.measurements.pieces.measure import measure_pieces
    from analysis.models.load import load
    from analysis.models.source import resolve

    loaded = load(resolve(model, revision), head=head)
    token_windows = text_windows.windows_of(loaded, texts, length, windows)
    with Progress() as progress:
        each = progress.track(text_windows.batches(token_windows), description="States")
        path = measure_pieces(loaded, token_windows, corpus or texts.stem, called=called, name=name, each=each)
    announce(path)
