"""python -m analysis measure means: mean and position basis of every layer of a model, into a results file."""

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


def means(
    texts: Texts,
    model: Model = EMBEDDED,
    revision: Revision = None,
    corpus: CorpusName = None,
    length: Length = 128,
    windows: Windows = 384,
    called: Called = None,
    name: ResultsName = None,
) -> None:
    """Averages hidden states over windows of a text, at every depth: the basis of method `mean`."""
    from rich.progress import Progress

    from analysis.measurements.means import measure, windows as text_windows
    from analysis.models.load import load
    from analysis.models.source import resolve

    loaded = load(resolve(model, revision))
    token_windows = text_windows.windows_of(loaded, texts, length, windows)
    with Progress() as progress:
        each = progress.track(text_windows.batches(token_windows), description="Windows")
        path = measure.measure_means(loaded, token_windows, corpus or texts.stem, called=called, name=name, each=each)
    announce(path)
