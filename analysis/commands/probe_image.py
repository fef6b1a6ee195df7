"""python -m analysis probe-image: takes the attention between the patches of an image apart."""

import json
from typing import Annotated

import typer

from analysis.commands.options import Revision


def probe_image(
    image: Annotated[str, typer.Option(help="A drawn image's name, or a file.")] = "scene",
    model: Annotated[str, typer.Option(help="A folder, a Hugging Face id, or tiny-random-vit.")] = "tiny-random-vit",
    revision: Revision = None,
    layer: Annotated[int, typer.Option(help="Zero-based; layer 0 is exact.")] = 0,
    masked: Annotated[bool, typer.Option(help="Hide patches, as in a masked autoencoder's training.")] = False,
) -> None:
    """Splits the scores between patches into the terms of word, position and bias; prints JSON, one number a head."""
    from analysis.commands.probe import finite_or_none
    from analysis.probes.image_probe import ImageRequest, local_image_file

    name, data = local_image_file(image) or (image, None)
    result = ImageRequest(model=model, image=name, layer=layer, revision=revision, masked=masked, uploaded=data).run()
    shares, effects = result.shares(), result.effects()
    fields = {
        "model": result.provenance.model,
        "revision": result.provenance.revision,
        "layer": result.layer,
        "grid": result.grid,
        "positions_interpolated_from": result.trained if result.interpolated else None,
        "tokens": len(result.tokens),
        "max_error": result.max_error,
        "relative_error": result.relative_error,
        "cancellation": finite_or_none(result.cancellation),
        "terms": {
            term: {"share": finite_or_none(shares[term]), "effect": finite_or_none(effects[term])}
            for term in result.names
        },
    }
    typer.echo(json.dumps(fields))
