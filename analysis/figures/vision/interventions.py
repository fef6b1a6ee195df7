"""Figures of interventions on a model of images: which patches' outputs move, and whose attention changes."""

from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, LiveRun, Parameters, figure
from analysis.figures.heatmap import heatmap
from analysis.figures.interventions.one_text import pattern_change, turn_finding, turns
from analysis.figures.one_run import image_facts
from analysis.figures.vision.one_image import CITATION_KEYS, with_random_weights
from analysis.measurements.interventions.result import ImageInterventionResult
from analysis.probes import intervention_probe
from analysis.probes.intervention_probe import ImageInterventionRequest

RUN = LiveRun(
    obtain=ImageInterventionRequest.obtain,
    provenance=image_facts,
    command=intervention_probe.command,
    citation_keys=CITATION_KEYS,
)


@figure("vision_moved", Parameters, live=RUN)
def vision_moved(params: Parameters, outcome: ImageInterventionResult) -> Figure:
    """The cosine of each patch's output before and after, where the patch stands."""
    rows, columns = outcome.grid
    special = len(outcome.token_info) - len(outcome.kept)
    frame = pd.DataFrame({"token": outcome.tokens, "cosine": outcome.cosine})
    provenance = outcome.provenance
    special_cosines = ", ".join(
        f"{token} {value:.3f}" for token, value in zip(outcome.tokens[:special], outcome.cosine, strict=False)
    )
    angles = turns(outcome)
    turned = np.full(rows * columns, np.nan)
    turned[outcome.kept] = angles[special:]
    text = f"mean over patches {outcome.cosine[special:].mean():.3f}"
    return Figure(
        title="How far the output of each patch moves",
        finding=with_random_weights(turn_finding(outcome, "the outputs of patches", special), provenance.model),
        frame=lambda: frame,
        caption=(
            f"The angle between each patch's output hidden state before and after (0°: unchanged). Cosines: {text}; "
            f"{special_cosines}. Done: "
            f"{outcome.words}. {provenance.model}, image {provenance.text}, {rows} by {columns} "
            f"patches{', some hidden' if outcome.masked else ''} "
            f"({provenance.dtype}, {provenance.device}). Positions are changed in the model's own table."
        ),
        alt=f"Map of {rows} by {columns} patches; {text}.",
        draw=lambda theme: [_moved(turned.reshape(rows, columns), theme)],
    )


@figure("vision_kl", Parameters, live=RUN)
def vision_kl(params: Parameters, outcome: ImageInterventionResult) -> Figure:
    """Every head's attention, before against after."""
    text_figure = pattern_change(outcome)
    return replace(
        text_figure,
        finding=with_random_weights(text_figure.finding, outcome.provenance.model),
        caption=text_figure.caption.replace("one text of", "one image of"),
    )


def _moved(values: np.ndarray, theme: Theme) -> Chart:
    """The turn of each patch's output, (row, column): patches where they stand; hidden ones are NaN and left out."""
    return heatmap(
        values, domain=(0.0, max(1.0, float(np.nanmax(values)))), row_title="row of the patch",
        column_title="column of the patch", value_title="turn of the output (degrees)", diverging=False, side=380,
        height=360, theme=theme,
    )  # fmt: skip
