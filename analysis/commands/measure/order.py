"""python -m analysis measure order: attention against distance, and equivariance error by depth."""

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


def order(
    texts: Texts,
    model: Model = EMBEDDED,
    revision: Revision = None,
    corpus: CorpusName = None,
    length: Length = 128,
    windows: Windows = 96,
    called: Called = None,
    name: ResultsName = None,
) -> None:
    """Measures how far [CLS] and words attend, and what permuting the words does to the states of every layer."""
    from rich.progress import Progress

    from analysis.measurements.means import windows as text_windows
    from analysis.measurements.order.measure import measure_order
    from analysis.models.load import load
    from analysis.models.source import resolve

    loaded = load(resolve(model, revision))
    token_windows = text_windows.windows_of(loaded, texts, length, windows)
    with Progress() as progress:
        paths = measure_order(
            loaded,
            token_windows,
            corpus or texts.stem,
            called=called,
            name=name,
            each=lambda experiment, starts: progress.track(starts, description=experiment.capitalize()),
        )
    announce(*paths)
