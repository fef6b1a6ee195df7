"""One term's share or effect by layer and head."""

from typing import Annotated

import numpy as np
from numpy import ndarray

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.formatting import capitalised
from analysis.core.term_names import ADDED_TERMS, TERMS
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, one_of
from analysis.figures.heatmap import heatmap
from analysis.figures.layers.run import LAYERS, method_note
from analysis.figures.terms.measures import MEASURES, measure_note, term_label
from analysis.measurements.terms.result import Layers


class LayersParameters(Parameters):
    """The term that is shown."""

    term: Annotated[str, one_of((*TERMS, *ADDED_TERMS))]


@figure("probe_layers", LayersParameters, live=LAYERS)
def probe_layers(params: LayersParameters, run: Layers) -> Figure:
    """One term's share or effect, layer by head."""
    term = params.term
    if term not in run.terms:
        values = np.zeros((len(run.values), run.values.shape[2]))
    else:
        values = run.values[:, run.terms.index(term)]
    frame = frames.cells(values, "value", layer=None, head=None)
    text = "undefined everywhere"
    if np.isfinite(values).any():
        top = np.unravel_index(int(np.nanargmax(np.abs(values))), values.shape)
        text = f"the largest is {values[top]:.2f} at layer {top[0]}, head {top[1]}"
    return Figure(
        title=f"{term_label(term)} at every layer and head",
        finding=f"{capitalised(term_label(term))}: {text}",
        frame=lambda: frame,
        caption=(
            f"{capitalised(MEASURES[run.measure])} of {term_label(term)}, {readable(run.provenance.model)}, one "
            f"text of {run.tokens} tokens. {measure_note(run.measure)} {method_note(run)}"
        ),
        alt=f"Heat map, {values.shape[0]} layers by {values.shape[1]} heads; {text}.",
        draw=lambda theme: [_draw(values, run.measure, theme)],
    )


def _draw(values: ndarray, measure: str, theme: Theme) -> Chart:
    """Layers down, heads across."""
    layers, heads = values.shape
    limit = float(np.nan_to_num(np.abs(values)).max()) or 1.0
    return heatmap(
        values,
        domain=(-limit, limit) if measure == "share" else (0, limit),
        row_title="layer",
        column_title="head",
        value_title=MEASURES[measure],
        diverging=measure == "share",
        side=max(420, 30 * heads),
        height=max(160, 26 * layers),
        theme=theme,
    )
