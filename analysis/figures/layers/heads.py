"""One term's share or effect by layer and head."""

from typing import Annotated

import numpy as np
from numpy import ndarray

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.formatting import capitalised, fixed, percent
from analysis.core.term_names import ADDED_TERMS, TERMS
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, one_of
from analysis.figures.heatmap import heatmap
from analysis.figures.layers.run import LAYERS, method_note
from analysis.figures.terms.measured_colours import measured_domain
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
    text, finding = "undefined everywhere", f"{capitalised(term_label(term))} is defined in no head of this text"
    if np.isfinite(values).any():
        top = np.unravel_index(int(np.nanargmax(values)), values.shape)
        where = f"layer {top[0]}, head {top[1]}"
        text = f"the largest is {fixed(float(values[top]))} at {where}"
        finding = head_finding(term, where, float(values[top]), run.measure)
    return Figure(
        title=f"{term_label(term)} at every layer and head",
        finding=finding,
        frame=lambda: frame,
        caption=(
            f"{capitalised(MEASURES[run.measure])} of {term_label(term)}, {readable(run.provenance.model)}, one "
            f"text of {run.tokens} tokens. {measure_note(run.measure)} {method_note(run)}"
        ),
        alt=f"Heat map, {values.shape[0]} layers by {values.shape[1]} heads; {text}.",
        draw=lambda theme: [_draw(values, run.measure, theme)],
    )


def head_finding(term: str, where: str, value: float, measure: str) -> str:
    """A sentence on the head in which a term is largest. where: its layer and head."""
    name = capitalised(term_label(term))
    if value <= 0:
        return f"{name} adds nothing in any head: its largest {measure} is {fixed(value)} ({where})"
    if measure == "share":
        return f"{name} makes up most in {where}: {percent(value)} of what varies in that head's scores"
    return f"Leaving out {term_label(term)} changes attention most in {where}: by {fixed(value)} nats"


def _draw(values: ndarray, measure: str, theme: Theme) -> Chart:
    """Layers down, heads across."""
    layers, heads = values.shape
    return heatmap(
        values,
        domain=measured_domain(values, measure),
        row_title="layer",
        column_title="head",
        value_title=MEASURES[measure],
        diverging=measure == "share",
        form=".0%" if measure == "share" else ".3~g",
        side=max(420, 30 * heads),
        height=max(160, 26 * layers),
        theme=theme,
    )
