"""python -m analysis measure images: term statistics of a model over the drawn images, and its patch positions."""

from typing import Annotated

import typer

from analysis.commands.options import Called, ResultsName, Revision, announce


def images(
    model: Annotated[str, typer.Option(help="A folder or a Hugging Face id of a model that reads images.")],
    revision: Revision = None,
    called: Called = None,
    name: ResultsName = None,
) -> None:
    """Measures every term's share and effect at every layer over the drawn images, into two results files."""
    from rich.progress import Progress

    from analysis.measurements.terms.image_corpus import measure_images as run
    from analysis.models.load import load
    from analysis.models.source import resolve
    from analysis.probes.drawn_images import CORPUS, IMAGES

    loaded = load(resolve(model, revision))
    images = [entry.draw() for _, entry in IMAGES.items()]
    with Progress() as progress:
        each = progress.track(range(len(images)), description=CORPUS)
        paths = run(loaded, images, CORPUS, called=called, name=name, each=each)
    announce(*paths)
