"""Figures of every layer of two runs side by side: all terms against depth, one term by head, and the differences."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated

import altair as alt
import numpy as np
import pandas as pd
from numpy import ndarray

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.errors import LinkError
from analysis.core.formatting import capitalised, signed
from analysis.core.term_names import ADDED_TERMS, FOUR, TERMS
from analysis.figures import marks
from analysis.figures.compare.two_sides import SIDES, pair_facts, side_names, sized
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, LiveRun, Parameters, figure, one_of
from analysis.figures.heatmap import LEGEND_PIXELS, heatmap
from analysis.figures.layers.run import method_note, present
from analysis.figures.terms.measures import CITATION_KEYS, MEASURES, measure_note, term_label
from analysis.figures.terms.term_marks import line_names, series_hues
from analysis.measurements.terms.result import Layers
from analysis.probes import text_probe

Pair = tuple[Layers, Layers]
DIFFERENCE = "right minus left"
HEIGHT = 260
LAYERS_PAIR = LiveRun(
    obtain=partial(text_probe.obtain_both, text_probe.LayersRequest),
    provenance=pair_facts,
    command=lambda pair: "\n".join(dict.fromkeys(map(text_probe.layers_command, pair))),
    citation_keys=CITATION_KEYS,
)


class EveryLayerParameters(Parameters):
    """The term that is shown."""

    term: Annotated[str, one_of((*TERMS, *ADDED_TERMS))]


def _side(run: Layers) -> str:
    layers, _, heads = run.values.shape
    about = run.provenance
    return f"{readable(about.model)} ({about.revision}), {layers} layers of {heads} heads, {run.tokens} tokens"


def _caption(pair: Pair) -> str:
    return f"Left: {_side(pair[0])}. Right: {_side(pair[1])}. {' '.join(dict.fromkeys(map(method_note, pair)))}"


def _of_term(run: Layers, term: str) -> ndarray:
    """One term by layer and head; zeros where the model has not its sources."""
    return run.values[:, run.terms.index(term)] if term in run.terms else np.zeros(run.values[:, 0].shape)


@figure("compare_depth", Parameters, live=LAYERS_PAIR)
def compare_depth(params: Parameters, pair: Pair) -> Figure:
    """The mean over heads of each term of word and position against depth: both sides, and the difference."""
    measure = pair[0].measure
    terms = [term for term in (*FOUR, *ADDED_TERMS) if any(term in present(run) for run in pair)]
    means = [{term: np.nanmean(_of_term(run, term), axis=-1) for term in terms} for run in pair]
    panels: dict[str, dict[str, ndarray]] = dict(zip(SIDES, means, strict=True))
    if len(pair[0].values) == len(pair[1].values):
        panels[DIFFERENCE] = {term: means[1][term] - means[0][term] for term in terms}
    frame = pd.DataFrame(
        [
            (side, layer, term_label(term), float(value))
            for side, lines in panels.items()
            for term, values in lines.items()
            for layer, value in enumerate(values)
        ],
        columns=["side", "layer", "series", "value"],
    )
    largest = frame[frame.side == DIFFERENCE].dropna().reset_index(drop=True)
    if largest.empty:
        text = f"{len(pair[0].values)} and {len(pair[1].values)} layers: the lines cannot be subtracted."
        peaks = [_peak(means[side], (term_label(one) for one in terms), measure) for side in range(2)]
        finding = f"Mean over heads, the largest is {_of_sides(peaks, pair)}"
    else:
        peak = largest.iloc[int(largest.value.abs().argmax())]
        text = f"The largest difference is in {peak.series}, layer {peak.layer}: {signed(float(peak.value), 3)}."
        at = frame[(frame.series == peak.series) & (frame.layer == peak.layer)].set_index("side").value
        left, right = (sized(float(at[side]), measure) for side in SIDES)
        names = side_names(pair, ("", ""))
        finding = (
            f"Mean over heads, {peak.series} differs most in layer {peak.layer}: {left} {names[0]} and {right} "
            f"{names[1]}"
            if peak.value
            else "Mean over heads, no term differs between the sides in any layer"
        )
    return Figure(
        title="Against depth, side by side",
        finding=finding,
        frame=lambda: frame,
        caption=(
            f"{capitalised(MEASURES[measure])}, mean over heads, of the terms of word and position at each layer, on "
            f"one scale. {text} {measure_note(measure, coloured=False)} {_caption(pair)}"
        ),
        alt=f"Lines over layers in {len(panels)} panels. {text}",
        draw=lambda theme: _draw_lines(frame, pair, [term_label(term) for term in terms], theme),
        columns=len(panels),
    )


def _peak(means: Mapping[str, ndarray], labels: Iterable[str], measure: str) -> str:
    """The largest mean of one side: its term, its layer and its size."""
    values = np.nan_to_num(np.stack(list(means.values())), nan=-np.inf)
    term, layer = np.unravel_index(int(values.argmax()), values.shape)
    return f"{list(labels)[int(term)]} in layer {layer} ({sized(float(values[term, layer]), measure)})"


def _largest_head(values: ndarray, measure: str) -> str:
    """The head of one side where a term is largest, and its size."""
    known = np.nan_to_num(values, nan=-np.inf)
    layer, head = np.unravel_index(int(known.argmax()), known.shape)
    return f"in layer {layer}, head {head} ({sized(float(values[layer, head]), measure)})"


def _of_sides(peaks: Sequence[str], pair: Pair) -> str:
    """The end of a sentence on the left and on the right side, each with its peak."""
    models = [readable(run.provenance.model) for run in pair]
    names = [f"of {model}" for model in models] if models[0] != models[1] else ["on the left", "on the right"]
    return " and ".join(f"{peak} {name}" for peak, name in zip(peaks, names, strict=True))


def _draw_lines(frame: pd.DataFrame, pair: Pair, order: Sequence[str], theme: Theme) -> list[Chart]:
    """A panel a side and one of the difference, on one scale, with names at the lines of the last."""
    domain = (min(0.0, float(frame.value.min())), max(0.0, float(frame.value.max())))
    panels = [name for name in (*SIDES, DIFFERENCE) if (frame.side == name).any()]
    charts = []
    form = ".0%" if pair[0].measure == "share" else alt.Undefined
    for side in panels:
        rows = frame[frame.side == side]
        title = None if charts else MEASURES[pair[0].measure]
        y = marks.number(alt.Y, "value", title, domain=domain, padding=6, form=form)
        lines = marks.line_plot(
            rows, x=marks.categories(alt.X, "layer", "layer"), y=y, theme=theme, color=series_hues(order, theme),
            tooltip=("layer", ("series", "what"), ("value", "", ".4f")),
        )  # fmt: skip
        names = line_names(rows, order, y, theme, height=HEIGHT) if side == panels[-1] else []
        layers = marks.rule(theme, y=0), *lines, *names
        charts.append(
            marks.panel(*layers, theme=theme, width=marks.HALF, height=HEIGHT, title=_panel_title(side, pair))
        )
    return charts


def _panel_title(side: str, pair: Pair) -> str:
    """A side with its model."""
    return f"{side}: {readable(pair[SIDES.index(side)].provenance.model)}" if side in SIDES else side


@figure("compare_layers", EveryLayerParameters, live=LAYERS_PAIR)
def compare_layers(params: EveryLayerParameters, pair: Pair) -> Figure:
    """One term in every layer and head of both sides and, where they have as many of both, the difference."""
    term, measure = params.term, pair[0].measure
    if not any(term in run.terms for run in pair):
        raise LinkError(f"Neither side has the term {term_label(term)}; choose another.")
    maps: dict[str, ndarray] = {side: _of_term(run, term) for side, run in zip(SIDES, pair, strict=True)}
    if maps["left"].shape == maps["right"].shape:
        maps[DIFFERENCE] = maps["right"] - maps["left"]
        size = np.nan_to_num(np.abs(maps[DIFFERENCE]))
        layer, head = np.unravel_index(int(size.argmax()), size.shape)
        value = signed(float(maps[DIFFERENCE][layer, head]), 3)
        text = f"{capitalised(term_label(term))} differs most in layer {layer}, head {head}: {value}."
        left, right = (sized(float(maps[side][layer, head]), measure) for side in SIDES)
        names = side_names(pair, ("", ""))
        finding = (
            f"{capitalised(term_label(term))} differs most in layer {layer}, head {head}: {left} {names[0]} and "
            f"{right} {names[1]}"
            if size.any()
            else f"{capitalised(term_label(term))} differs in no head"
        )
    else:
        shapes = " and ".join(f"{len(run.values)} layers of {run.values.shape[2]} heads" for run in pair)
        text = f"{shapes}: the maps cannot be subtracted."
        peaks = [_largest_head(maps[side], measure) for side in SIDES]
        finding = f"{capitalised(term_label(term))} is largest {_of_sides(peaks, pair)}"
    return Figure(
        title=f"{term_label(term)} at every layer and head, side by side",
        finding=finding,
        frame=lambda: frames.stacked(
            {name: frames.cells(values, "value", layer=None, head=None) for name, values in maps.items()}, "side"
        ),
        caption=(
            f"{capitalised(MEASURES[measure])} of {term_label(term)}, on one scale. {text} {measure_note(measure)} "
            f"{_caption(pair)}"
        ),
        alt=f"{len(maps)} heat maps, layers by heads. {text}",
        draw=lambda theme: _draw_maps(maps, pair, theme),
        columns=len(maps),
    )


def _draw_maps(maps: dict[str, ndarray], pair: Pair, theme: Theme) -> list[Chart]:
    """Layers down, heads across, with one scale; a difference has two signs, so the scale has, too."""
    measure = pair[0].measure
    every = np.concatenate([np.nan_to_num(values).ravel() for values in maps.values()])
    low, high = min(0.0, float(every.min())), max(0.0, float(every.max()))
    most = max(len(values) for values in maps.values())
    signs = measure == "share" or len(maps) > len(SIDES)
    return [
        heatmap(
            values, domain=(low, high if low < high else 1.0), row_title="layer", column_title="head",
            value_title=MEASURES[measure], title=_panel_title(name, pair), diverging=signs, legend=not index,
            form=".0%" if measure == "share" else ".3~g", side=marks.HALF, height=LEGEND_PIXELS + 22 * most,
            theme=theme,
        )
        for index, (name, values) in enumerate(maps.items())
    ]  # fmt: skip
