"""python -m analysis measure terms: term statistics of a model over a corpus, into a results file."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.options import EMBEDDED, PROBE_SET, Called, Model, Revision, announce


def terms(
    model: Model = EMBEDDED,
    revision: Revision = None,
    corpus: Annotated[
        str | None,
        typer.Option(help="A corpus of the store, by default the probe set; or what to call the texts of --texts."),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(
            help="UTF-8 texts, with an empty line between two, instead of a corpus of the store. They are not stored."
        ),
    ] = None,
    freeze: Annotated[
        str, typer.Option(help="What is held fixed in gated units: activation, other, or half of each.")
    ] = "activation",
    tokens: Annotated[
        int | None,
        typer.Option(
            help="The most tokens of a text to use, if training reached fewer positions than the table has.", min=2
        ),
    ] = None,
    called: Called = None,
    name: Annotated[str | None, typer.Option(help="File name under data/results/terms, without its ending.")] = None,
) -> None:
    """Measures every term's share and effect at every layer over a corpus, and writes them as a results file."""
    from rich.progress import Progress

    from analysis import store_build
    from analysis.measurements.means.windows import articles
    from analysis.measurements.terms.corpus import measure_corpus
    from analysis.models.load import load
    from analysis.models.source import resolve
    from analysis.store.read import corpus_texts

    if texts is not None:
        corpus = corpus or texts.stem
        pairs = [(text, None) for text in articles(texts)]
    else:
        corpus = corpus or PROBE_SET
        store_build.refresh()
        pairs = corpus_texts(corpus)
    loaded = load(resolve(model, revision))
    with Progress() as progress:
        path = measure_corpus(
            loaded,
            pairs,
            corpus,
            freeze=freeze,
            tokens=tokens,
            given=texts is not None,
            called=called,
            name=name,
            each=progress.track(range(len(pairs)), description=corpus),
        )
    announce(path)
