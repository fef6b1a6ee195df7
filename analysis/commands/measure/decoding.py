"""python -m analysis measure decoding: position, order and word read from hidden states, into a results file."""

from typing import Annotated

import typer

from analysis.commands.options import EMBEDDED, Called, CorpusName, Length, Model, Revision, Texts, announce


def decoding(
    texts: Texts,
    model: Model = EMBEDDED,
    revision: Revision = None,
    corpus: CorpusName = None,
    length: Length = 128,
    windows: Annotated[int, typer.Option(help="How many windows; a third is held out.")] = 384,
    called: Called = None,
    name: Annotated[str | None, typer.Option(help="File name under data/results/decoding, without its ending.")] = None,
) -> None:
    """Trains linear and nearest-neighbour decoders on hidden states at every depth, and tests them on held-out text."""
    from rich.progress import Progress

    from analysis.measurements.decoding import measure
    from analysis.measurements.means import windows as text_windows
    from analysis.models.load import load
    from analysis.models.source import resolve

    loaded = load(resolve(model, revision))
    token_windows = text_windows.windows_of(loaded, texts, length, windows)
    with Progress() as progress:
        states = measure.states_of(
            loaded, token_windows, progress.track(text_windows.batches(token_windows), description="Windows")
        )
        each = progress.track(range(len(states)), description="Depths")
        path = measure.decode(loaded, token_windows, corpus or texts.stem, states, called=called, name=name, each=each)
    announce(path)
