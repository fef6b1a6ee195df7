"""The place of position in a model: the share of every layer's scores that depends on it, by where it enters."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.formatting import percent
from analysis.core.wavelengths import BANDS
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.heatmap import heatmap
from analysis.figures.positions.run import MAP_RUN, named_source, stacked
from analysis.measurements.positions.result import PARTS, PositionMap
from analysis.probes.position_probe import BASELINES

MIN_SHARE = 0.0005
"""A source whose part by position is smaller than this at every layer has no column."""


class MapBaselineParameters(Parameters):
    """The map to show beside this one: a key of `BASELINES`, or empty for none."""

    baseline: str


@figure("position_map", MapBaselineParameters, live=MAP_RUN)
def position_map(params: MapBaselineParameters, run: tuple[PositionMap, PositionMap | None]) -> Figure:
    """The share of scores that depends on position, by layer and source, and the split of each layer's whole scores."""
    main, baseline = run
    runs = {readable(main.provenance.model): main} | ({BASELINES[params.baseline]: baseline} if baseline else {})
    frame = pd.concat([_frame(result).assign(of=name) for name, result in runs.items()], ignore_index=True)
    columns = shown_sources(frame, main)
    totals = main.shares().sum(1)
    highest = int(np.nanargmax(totals[:, 1:].sum(-1)))
    lowest = int(np.nanargmin(totals[:, 1:].sum(-1)))
    by_position = totals[:, 1:].sum(-1)
    source = main.sources[int(np.nanargmax(main.position_share()[highest]))]
    source_name = named_source(source)
    finding = (
        "No layer's scores depend on position"
        if np.nanmax(np.abs(main.position_share())) < MIN_SHARE
        else f"At layer {highest}, {percent(by_position[highest])} of the scores' variation over all heads together "
        f"depends on position (most by {source_name}); at layer {lowest}, {percent(by_position[lowest])}"
    )
    return Figure(
        title="What each layer's scores depend on",
        finding=finding,
        frame=lambda: frame,
        caption=" ".join(
            [
                "Shares of the variation of the key-centred scores, pooled over the heads of a layer.",
                _panels_note(columns),
                "The shares of a layer add up to 1; one below zero belongs to a part that works against the others and "
                "takes away some of their variation.",
                _method_note(main),
                f"{readable(main.provenance.model)}, one text of {main.tokens} tokens ({main.provenance.dtype}, "
                f"{main.provenance.device}); another text gives other shares.",
                _baseline_note(params.baseline, baseline),
            ]
        ).strip(),
        alt=(
            f"{'' if len(columns) == 1 else f'Heat map of {len(main.power)} layers by {len(columns)} sources, and '}"
            f"stacked bars by layer. {finding}."
        ),
        draw=lambda theme: _draw(frame, columns, list(runs), len(main.power), theme),
        columns=1 if len(columns) == len(runs) == 1 else 2,
    )


def shown_sources(frame: pd.DataFrame, position_map: PositionMap) -> list[str]:
    """The sources that have a column in the map: those by which position makes a difference."""
    by_position = frame[frame.part != "content"].groupby(["source", "of", "layer"]).share.sum().abs()
    most = by_position.groupby("source").max()
    return [source for source in position_map.sources if most[source] >= MIN_SHARE] or [position_map.sources[0]]


def _panels_note(columns: Sequence[str]) -> str:
    if len(columns) == 1:
        return f"Position enters in one way: {named_source(columns[0])}."
    return "Map: what depends on position, alone or together with content, by where it enters. Bars: everything."


def _draw(frame: pd.DataFrame, columns: list[str], runs: list[str], layers: int, theme: Theme) -> list[Chart]:
    """Per run a map of the parts that depend on position, where it enters in several ways, and bars of all parts.

    Maps share one scale.
    """
    by_position = frame[frame.part != "content"].groupby(["of", "layer", "source"]).share.sum()
    limit = max(float(np.nanmax(by_position)), 0.01)
    height = max(180, 24 * layers)
    rotary = any(source in BANDS for source in columns)
    enters = "wavelength (tokens), or where position enters" if rotary else "where position enters"
    panels: list[Chart] = []
    for name in runs:
        values = np.array([[by_position[name, layer, source] for source in columns] for layer in range(layers)])
        negative = bool(np.nanmin(values) < -0.005)
        if len(columns) > 1:  # Of one column the bars hold all.
            panels.append(
                heatmap(
                    values,
                    [str(layer) for layer in range(layers)],
                    columns,
                    domain=(float(np.nanmin(by_position)) if negative else 0, limit),
                    row_title="layer",
                    column_title=enters,
                    value_title="share of variation that depends on position",
                    title=name,
                    diverging=negative,
                    level=len(columns) <= 4,
                    side=marks.HALF,
                    height=height,
                    theme=theme,
                )
            )
        totals = frame[frame.of == name].groupby(["layer", "part"], as_index=False).agg(share=("share", "sum"))
        x = marks.number(
            alt.X,
            "share",
            "share of the scores' variation",
            zero=True,
            form=".0%",
            domain=(0, 1) if (totals.share >= 0).all() else alt.Undefined,
        )
        bars = stacked(totals, x, "layer", theme, columns=2)
        panels.append(marks.panel(bars, theme=theme, width=marks.HALF, height=height, title=f"{name}, everything"))
    return panels


def _frame(result: PositionMap) -> pd.DataFrame:
    return frames.cells(result.shares(), "share", layer=None, source=result.sources, part=PARTS)


def _method_note(result: PositionMap) -> str:
    note = f"The parts add up to the model's own scores to {result.errors.max():.1e} of their range."
    if result.kernels is not None:
        unrotated = [layer for layer, rotation in enumerate(result.rotations) if rotation.width and not rotation.turned]
        empty = [layer for layer, rotation in enumerate(result.rotations) if not rotation.width]
        counts = {(rotation.turned, rotation.width) for rotation in result.rotations if rotation.turned}
        rotated = " and ".join(f"{rotated} of {width}" for rotated, width in sorted(counts))
        layers = (
            f"; {'layer' if len(unrotated) == 1 else 'layers'} {', '.join(map(str, unrotated))} rotate nothing"
            if unrotated
            else ""
        )
        note += f" Layers {', '.join(map(str, empty))} have no attention and are empty." if empty else ""
        note += " The model caps its scores; these are the ones before." if result.capped else ""
        if result.sinks:
            note += (
                " A learned score that belongs to no key takes part in the softmax, so that the mean of a query's "
                "scores matters, too; it is in no share."
            )
        return (
            f"Queries and keys are rotated, in {rotated} dimensions of a head{layers}: each band's part is split into "
            "its mean over the distances of the text (content), its mean over the text's queries and keys (distance), "
            f"and the rest (both). What hidden states know of position in other ways counts as content. {note}"
        )
    return (
        "Positions are not rotated but added, to words or to scores: the parts are terms of the scores, exact at "
        "layer 0; "
        f"deeper, patterns and norms' statistics are held at their true values. {note}"
    )


def _baseline_note(kind: str, baseline: PositionMap | None) -> str:
    if baseline is None:
        return ""
    if kind == "random":
        return "For comparison, the same architecture with random weights (seed 0), which has learned nothing."
    return "For comparison, the same model on the same words in another order (seed 0)."
