"""python -m analysis measure terms: term statistics of a model over a corpus, into a results file."""

from typing import Annotated

import typer

from analysis.commands.measure.announce import announce
from analysis.commands.options import EMBEDDED, PROBE_SET, Called, Corpus, Model, Revision


def terms(
    model: Model = EMBEDDED,
    revision: Revision = None,
    corpus: Corpus = PROBE_SET,
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
    from analysis.measurements.terms.corpus import measure_corpus
    from analysis.models.load import load
    from analysis.models.source import resolve
    from analysis.store import read

    store_build.refresh()
    texts = read.query("SELECT text, text_pair FROM corpora WHERE corpus = ? ORDER BY text_id", [corpus])
    pairs = [(text, pair if isinstance(pair, str) else None) for text, pair in texts.to_numpy()]
    loaded = load(resolve(model, revision))
    with Progress() as progress:
        path = measure_corpus(
            loaded,
            pairs,
            corpus,
            freeze=freeze,
            tokens=tokens,
            called=called,
            name=name,
            each=progress.track(range(len(pairs)), description=corpus),
        )
    announce(path)
