"""python -m analysis measure means: mean and position basis of every layer of a model, into a results file."""

from typing import Annotated

import typer

from analysis.commands.measure.announce import announce
from analysis.commands.options import EMBEDDED, Called, CorpusName, Length, Model, Revision, Texts


def means(
    texts: Texts,
    model: Model = EMBEDDED,
    revision: Revision = None,
    corpus: CorpusName = None,
    length: Length = 128,
    windows: Annotated[
        int, typer.Option(help="How many windows; by default one per article, if there are enough.")
    ] = 384,
    called: Called = None,
    name: Annotated[str | None, typer.Option(help="File name under data/results/means, without its ending.")] = None,
) -> None:
    """Averages hidden states over windows of a text, at every depth: the basis of method `mean`."""
    from rich.progress import Progress

    from analysis.measurements.means import measure
    from analysis.measurements.means import windows as text_windows
    from analysis.models.load import load
    from analysis.models.source import resolve

    loaded = load(resolve(model, revision))
    token_windows = text_windows.windows_of(loaded, texts, length, windows)
    with Progress() as progress:
        each = progress.track(text_windows.batches(token_windows), description="Windows")
        path = measure.measure_means(loaded, token_windows, corpus or texts.stem, called=called, name=name, each=each)
    announce(path)
