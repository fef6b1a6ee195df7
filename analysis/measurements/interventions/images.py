"""An image through a model as it is and under interventions on its positions or terms."""

import time
from collections.abc import Sequence

import torch
from PIL import Image

from analysis.measurements.interventions.kinds import parse
from analysis.measurements.interventions.measures import cosines
from analysis.measurements.interventions.result import ImageInterventionResult
from analysis.measurements.interventions.run import compare
from analysis.measurements.terms.images import checked_patches, prepare, tokens
from analysis.measurements.terms.run import check_layer, provenance
from analysis.models.load import Loaded


def intervene_image(
    loaded: Loaded,
    picture: Image.Image,
    specs: Sequence[str] = (),
    layer: int = 0,
    *,
    masked: bool = False,
    title: str = "image",
) -> ImageInterventionResult:
    """The image before and after. Arguments and errors as `intervene` and `decompose_image`.

    Positions are changed in the model's own table, before it is fitted to the size of the image.
    """
    model, chosen = loaded.model, [parse(spec) for spec in specs]
    family = checked_patches(model, loaded.source.name)
    check_layer(model, family, layer)
    with family.showing(model, masked=masked), torch.inference_mode():
        prepared = prepare(model, family, loaded.tokenizer, picture)
        started = time.perf_counter()
        before, after, kl = compare(loaded, family, prepared.inputs, chosen)
    return ImageInterventionResult(
        interventions=tuple(intervention.spec for intervention in chosen),
        descriptions=tuple(intervention.description for intervention in chosen),
        token_info=tokens(family, prepared),
        cosine=cosines(before.hidden, after.hidden).float().cpu().numpy(),
        kl=kl,
        layer=layer,
        before=before.patterns[layer].float().cpu().numpy(),
        after=after.patterns[layer].float().cpu().numpy(),
        predictions=None,
        provenance=provenance(loaded, title, started),
        grid=prepared.grid,
        kept=prepared.kept,
        masked=family.hides and masked,
    )
