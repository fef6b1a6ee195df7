"""python -m analysis measure image-scores: a model's scores between the patches of a drawn image."""

from typing import Annotated

import typer

from analysis.commands.options import Called, Revision, announce


def image_scores(
    model: Annotated[str, typer.Option(help="A folder or a Hugging Face id of a model that reads images.")],
    layer: Annotated[list[int], typer.Option(help="A layer, from 0; give the option once for each.")],
    image: Annotated[str, typer.Option(help="The name of a drawn image.")] = "scene",
    revision: Revision = None,
    called: Called = None,
) -> None:
    """Takes the scores of one image apart and writes one results file a layer: pages show them without the weights."""
    from analysis.measurements.terms import stored_image
    from analysis.probes.image_probe import ImageRequest

    request = ImageRequest(model=model, revision=revision, image=image)
    loaded = request.load()
    name = called or loaded.source.name
    for one in layer:
        result = ImageRequest(model=model, revision=revision, image=image, layer=one).run(loaded)
        command = f"{loaded.command('measure image-scores', called)} --image {image} --layer {one}"
        file = f"{name.rpartition('/')[2]}-{image}-{one}"
        announce(stored_image.write(result, command, called=name, name=file))
