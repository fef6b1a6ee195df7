"""python -m analysis measure geometry: where words and positions lie, and random vectors, into results files."""

from typing import Annotated

import typer

from analysis.commands.options import EMBEDDED, Called, Model, ResultsName, Revision, announce, split_names


def geometry(
    model: Model = EMBEDDED,
    revision: Revision = None,
    encodings: Annotated[
        bool, typer.Option("--encodings", help="The position probes of every encoding instead of a model.")
    ] = False,
    words: Annotated[
        int,
        typer.Option(
            help="How many words to search for changes and collisions; by default all of them on a GPU.", min=2
        ),
    ] = 300,
    positions: Annotated[
        int | None,
        typer.Option(help="How many rows of the position table training reached; by default all of them.", min=1),
    ] = None,
    measures: Annotated[
        str, typer.Option(help="Names of some measures, separated by commas, such as decoded; by default all.")
    ] = "",
    called: Called = None,
    name: ResultsName = None,
) -> None:
    """Measures tables, subspaces, heads and collisions of a model; layers need the model's stored position means."""
    from rich.progress import Progress

    from analysis import store_build
    from analysis.measurements.geometry.measure import MEASURES, Options

    with Progress() as progress:
        from analysis.measurements.geometry import run

        options = Options(words=words)
        bar = progress.add_task("Geometry", total=None if encodings else len(MEASURES))

        def each(title: str) -> None:
            progress.update(bar, description=title)
            progress.advance(bar)

        if encodings:
            paths = [run.write_encodings(options, name=name, each=each)]
        else:
            from analysis.measurements.geometry.model import read_vectors
            from analysis.models.load import load
            from analysis.models.source import resolve
            from analysis.store.read import corpus_texts

            store_build.refresh()
            sentences = [part for pair in corpus_texts("probe_set") for part in pair if part is not None]
            loaded = load(resolve(model, revision))
            vectors = read_vectors(
                loaded,
                sentences,
                positions=positions,
                each=lambda table: progress.update(bar, description=f"Reading {table}"),
            )
            paths = run.write(
                loaded,
                vectors,
                options,
                positions=positions,
                chosen=split_names(measures),
                called=called,
                name=name,
                each=each,
            )
    announce(*paths)
