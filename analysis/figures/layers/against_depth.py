"""The terms of the scores against depth, and the sources of the hidden states."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.term_names import ADDED_TERMS, FOUR, SOURCES
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.layers.run import LAYERS, method_note, present
from analysis.figures.terms.line_names import line_names, series_hues
from analysis.figures.terms.measures import MEASURES, leading_by_layer, term_label
from analysis.measurements.terms.result import Layers

HEIGHT = 300


@figure("probe_depth", Parameters, live=LAYERS)
def probe_depth(params: Parameters, run: Layers) -> Figure:
    """The mean over heads of every term against depth, and what carries each source on."""
    terms = present(run)
    main = [term for term in (*FOUR, *ADDED_TERMS) if term in terms]
    mean = np.nanmean(run.values, axis=-1)
    rows = [
        (layer, term_label(term), float(mean[layer, run.terms.index(term)]))
        for term in main
        for layer in range(len(mean))
    ]
    others = [run.terms.index(term) for term in terms if term not in main]
    if others and run.measure == "share":
        rows += [(layer, "all others", float(mean[layer, others].sum())) for layer in range(len(mean))]
    frame = pd.DataFrame(rows, columns=["layer", "series", "value"]).assign(panel="scores")
    carried = pd.DataFrame(
        [
            (layer, source, float(run.carried[layer, index]), "states")
            for index, source in enumerate(SOURCES)
            if run.carried[:, index].any()
            for layer in range(len(run.carried))
        ],
        columns=["layer", "series", "value", "panel"],
    )
    subject = "each term" if run.measure == "share" else "the terms of word and position (and of a score bias)"
    last = carried[carried.layer == carried.layer.max()].set_index("series").value
    text = ", ".join(f"{source} {value:.2f}" for source, value in last.items())
    return Figure(
        title="Against depth",
        finding=_over_depth(frame, main),
        frame=lambda: pd.concat([frame, carried], ignore_index=True),
        caption=(
            f"Of the scores: {MEASURES[run.measure]}, mean over heads, of {subject} at each layer. Of the states: each "
            "source's part of what leaves a layer, ⟨source, whole⟩ / ⟨whole, whole⟩ over tokens, which sums to 1; "
            f"after the last layer: {text}. {readable(run.provenance.model)}, one text of {run.tokens} tokens. "
            f"{method_note(run)}"
        ),
        alt=f"Lines over {len(mean)} layers. Parts of the last hidden states: {text}.",
        draw=lambda theme: [
            _draw(frame, [*(term_label(term) for term in main), "all others"], MEASURES[run.measure], theme),
            _draw(carried, SOURCES, "part of the hidden states", theme),
        ],
        columns=2,
    )


def _over_depth(frame: pd.DataFrame, terms: Sequence[str]) -> str:
    """A sentence that names, for each layer, the largest of the given terms."""
    labels = [term_label(term) for term in terms]
    lead = frame[frame.series.isin(labels)].pivot(index="layer", columns="series", values="value").dropna(how="all")
    return leading_by_layer(lead) if len(lead) and lead.shape[1] > 1 else ""


def _draw(frame: pd.DataFrame, order: Sequence[str], title: str, theme: Theme) -> Chart:
    """Lines over layers, one a series."""
    names = [name for name in order if name in set(frame.series)]
    low, high = min(0.0, float(frame.value.min())), max(0.0, float(frame.value.max()))
    y = marks.number(alt.Y, "value", title, domain=(low, high), padding=6)
    lines = marks.line_plot(
        frame, x=marks.categories(alt.X, "layer", "layer"), y=y, theme=theme, color=series_hues(names, theme),
        tooltip=("layer", ("series", "what"), ("value", "", ".4f")),
    )  # fmt: skip
    ends = line_names(frame, names, y, theme, height=HEIGHT)
    return marks.panel(marks.rule(theme, y=0), *lines, *ends, theme=theme, width=marks.HALF, height=HEIGHT)
