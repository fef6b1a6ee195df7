"""Figures of interventions on a model of images: which patches' outputs move, and whose attention changes."""

from dataclasses import replace
from shlex import quote

import numpy as np
import pandas as pd

from analysis.figures.base import Figure, Params, figure
from analysis.figures.interventions import intervention_kl
from analysis.figures.one_run import facts
from analysis.figures.vision import CITE
from analysis.interventions.image_request import ImageInterventionRequest
from analysis.interventions.result import IntervenedImage
from analysis.provenance import model_options


def run(params: Params) -> IntervenedImage:
    """The run that a link asks for."""
    return ImageInterventionRequest.of(params).run()


def _command(made: IntervenedImage) -> str:
    about = made.provenance
    parts = ["python -m analysis intervene", model_options(about.model, about.revision)]
    parts += [f"--image {quote(about.text.removeprefix('uploaded '))}", *(["--masked"] if made.masked else [])]
    return " ".join([*parts, *(f"--do {quote(spec)}" for spec in made.interventions or ("drop_terms",))])


@figure("vision_moved", live=run)
def vision_moved(params: Params, made: IntervenedImage) -> Figure:
    """The cosine of each patch's output before and after, where the patch stands."""
    rows, columns = made.grid
    special = len(made.token_info) - len(made.kept)
    values = np.full(rows * columns, np.nan)
    values[made.kept] = made.cosine[special:]
    frame = pd.DataFrame({"token": made.tokens, "cosine": made.cosine})
    about = made.provenance
    named = ", ".join(f"{token} {value:.3f}" for token, value in zip(made.tokens[:special], made.cosine, strict=False))
    told = f"mean over patches {made.cosine[special:].mean():.3f}"
    return Figure(
        name="vision_moved",
        title="How far the output of each patch moves",
        frame=lambda: frame,
        caption=(
            f"Cosine of each patch's output hidden state before and after: {told}; {named}. Done: {made.words}. "
            f"{about.model}, image {about.text}, {rows} by {columns} patches{', some hidden' if made.masked else ''} "
            f"({about.dtype}, {about.device}). Positions are changed in the model's own table."
        ),
        alt=f"Map of {rows} by {columns} patches; {told}.",
        command=_command(made),
        provenance=facts(about, "image"),
        citation_keys=CITE,
        content={"values": values.reshape(rows, columns)},
    )


@figure("vision_kl", live=run)
def vision_kl(params: Params, made: IntervenedImage) -> Figure:
    """Every head's attention, before against after."""
    of_text = intervention_kl(params, made)
    return replace(
        of_text,
        name="vision_kl",
        command=_command(made),
        citation_keys=CITE,
        caption=of_text.caption.replace("one text of", "one image of"),
    )
