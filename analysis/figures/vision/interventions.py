"""Figures of interventions on a model of images: which patches' outputs move, and whose attention changes."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.figures.figure import Figure, LiveRun, Parameters, figure
from analysis.figures.interventions.data import PatternChangeContent, pattern_change
from analysis.figures.one_run import image_facts
from analysis.figures.vision.data import CITATION_KEYS, with_random_weights
from analysis.measurements.interventions.result import ImageInterventionResult
from analysis.probes import intervention_probe
from analysis.probes.intervention_probe import ImageInterventionRequest


@dataclass(frozen=True)
class MovedContent:
    """values: (row, column), the cosine of each patch's output before and after; NaN for hidden patches."""

    values: np.ndarray


RUN = LiveRun(
    obtain=ImageInterventionRequest.obtain,
    provenance=image_facts,
    command=intervention_probe.command,
    citation_keys=CITATION_KEYS,
)


@figure("vision_moved", Parameters, live=RUN)
def vision_moved(params: Parameters, outcome: ImageInterventionResult) -> Figure[MovedContent]:
    """The cosine of each patch's output before and after, where the patch stands."""
    rows, columns = outcome.grid
    special = len(outcome.token_info) - len(outcome.kept)
    values = np.full(rows * columns, np.nan)
    values[outcome.kept] = outcome.cosine[special:]
    frame = pd.DataFrame({"token": outcome.tokens, "cosine": outcome.cosine})
    provenance = outcome.provenance
    special_cosines = ", ".join(
        f"{token} {value:.3f}" for token, value in zip(outcome.tokens[:special], outcome.cosine, strict=False)
    )
    text = f"mean over patches {outcome.cosine[special:].mean():.3f}"
    return Figure(
        title="How far the output of each patch moves",
        finding=with_random_weights(
            f"The outputs keep a cosine of {outcome.cosine[special:].mean():.2f} with what they were", provenance.model
        ),
        frame=lambda: frame,
        caption=(
            f"Cosine of each patch's output hidden state before and after: {text}; {special_cosines}. Done: "
            f"{outcome.words}. {provenance.model}, image {provenance.text}, {rows} by {columns} "
            f"patches{', some hidden' if outcome.masked else ''} "
            f"({provenance.dtype}, {provenance.device}). Positions are changed in the model's own table."
        ),
        alt=f"Map of {rows} by {columns} patches; {text}.",
        content=MovedContent(values=values.reshape(rows, columns)),
    )


@figure("vision_kl", Parameters, live=RUN)
def vision_kl(params: Parameters, outcome: ImageInterventionResult) -> Figure[PatternChangeContent]:
    """Every head's attention, before against after."""
    text_figure = pattern_change(outcome)
    return replace(
        text_figure,
        finding=with_random_weights(text_figure.finding, outcome.provenance.model),
        caption=text_figure.caption.replace("one text of", "one image of"),
    )
