"""The place of position in a model: every layer's scores, split by their dependence on it; kernels of rotary bands."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.errors import LinkError, NoResults
from analysis.core.formatting import percent
from analysis.core.wavelengths import BANDS
from analysis.figures.figure import STRONGEST, Figure, LiveRun, Parameters, figure
from analysis.figures.one_run import checked_head, run_facts
from analysis.measurements.positions.result import PARTS, PositionMap, Unturned
from analysis.probes import position_probe
from analysis.probes.position_probe import BASELINES

DEPENDS = {"content": "content alone", "position": "position or distance alone", "both": "both together"}
ALL_BANDS = "all of them"
CITATION_KEYS = ("su2021roformer", "barbero2025round")
SENTENCE_NAMES = {"added to scores": "what is added to scores"}
MIN_SHARE = 0.0005
"""A source whose part by position is smaller than this at every layer has no column."""


class BaselineParameters(Parameters):
    """The map to show beside this one: a key of `BASELINES`, or empty for none."""

    baseline: str


class LayerHeadParameters(Parameters):
    """One head of one layer."""

    layer: int
    head: int


@dataclass(frozen=True)
class MapContent:
    """frame: a row a run, layer, source and part. sources: the columns of the maps. runs: the names of the runs."""

    frame: pd.DataFrame
    sources: list[str]
    runs: list[str]
    layers: int


@dataclass(frozen=True)
class KernelsContent:
    """frame: band, distance, score. bands: in their order."""

    frame: pd.DataFrame
    bands: list[str]


@dataclass(frozen=True)
class UnrotatedContent:
    """frame: layer, band, outcome, which `label` says in words. bands: in their order."""

    frame: pd.DataFrame
    bands: list[str]
    label: str


MAP_RUN: LiveRun[tuple[PositionMap, PositionMap | None]] = LiveRun(
    obtain=position_probe.obtain_with_baseline,
    provenance=lambda run: run_facts(run[0]),
    command=lambda run: position_probe.command(run[0]),
    citation_keys=CITATION_KEYS,
)
UNROTATED_RUN = LiveRun(
    obtain=position_probe.UnturnRequest.obtain,
    provenance=run_facts,
    command=position_probe.command,
    citation_keys=CITATION_KEYS,
)


@figure("position_map", BaselineParameters, live=MAP_RUN)
def position_map(params: BaselineParameters, run: tuple[PositionMap, PositionMap | None]) -> Figure[MapContent]:
    """The share of scores that depends on position, by layer and source, and the split of each layer's whole scores."""
    main, baseline = run
    runs = {_title(main): main} | ({BASELINES[params.baseline]: baseline} if baseline else {})
    frame = pd.concat([_frame(result).assign(of=name) for name, result in runs.items()], ignore_index=True)
    columns = [
        source
        for source in main.sources
        if frame[(frame.source == source) & (frame.part != "content")].groupby(["of", "layer"]).share.sum().abs().max()
        >= MIN_SHARE
    ] or [main.sources[0]]
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
                "Shares of the variation of the key-centred scores, pooled over the heads of a layer. Left: what "
                "depends on position, alone or together with content, by where it enters. Right: everything. The "
                "shares of a layer add up to 1; one below zero belongs to a part that works against the others and "
                "takes away some of their variation.",
                _method_note(main),
                f"{readable(main.provenance.model)}, one text of {main.tokens} tokens ({main.provenance.dtype}, "
                f"{main.provenance.device}); another text gives other shares.",
                _baseline_note(params.baseline, baseline),
            ]
        ).strip(),
        alt=f"Heat map of {len(main.power)} layers by {len(columns)} sources, and stacked bars by layer. {finding}.",
        content=MapContent(frame=frame, sources=columns, runs=list(runs), layers=len(main.power)),
    )


@figure("position_kernels", LayerHeadParameters, live=MAP_RUN)
def position_kernels(
    params: LayerHeadParameters, run: tuple[PositionMap, PositionMap | None]
) -> Figure[KernelsContent]:
    """The mean score of each band at every distance, in one head: what the head would do with average content."""
    result = run[0]
    if result.kernels is None:
        raise NoResults(
            f"{readable(result.provenance.model)} does not rotate queries and keys, so it has no bands and no kernels."
        )
    layers, bands, heads, _ = result.kernels.shape
    layer = params.layer
    if not 0 <= layer < layers:
        raise LinkError(f"The link says layer={layer}; this model has layers 0 to {layers - 1}.")
    varied = np.ptp(result.kernels[layer], axis=-1).max(0)
    head = int(varied.argmax()) if params.head == STRONGEST else checked_head(params.head, heads)
    kernels = result.kernels[layer, :, head]
    distances = np.arange(-(result.tokens - 1), result.tokens)
    causal = not result.looks_ahead
    visible = distances <= 0 if causal else np.ones_like(distances, bool)
    extent = np.ptp(kernels[:, visible], axis=-1)
    rotating = [band for band in range(bands - 1) if extent[band] > 0]
    rows = [
        (result.sources[band], int(distance), float(value - kernels[band, visible].mean()))
        for band in rotating
        for distance, value in zip(distances[visible], kernels[band, visible], strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["band", "distance", "score"])
    if frame.empty:
        text = f"Layer {layer} rotates nothing"
    else:
        strongest = result.sources[rotating[int(np.argmax(extent[rotating]))]]
        summed = frame.groupby("distance").score.sum()
        farthest = abs(summed.index.tolist()[summed.argmax()])
        text = (
            f"Head {head} of layer {layer}: average content scores highest {farthest} tokens away; the band of "
            f"{strongest} tokens varies most"
        )
    return Figure(
        title="The mean score at each distance",
        finding=text,
        frame=lambda: frame,
        caption=(
            "A band's mean score at each distance over all queries and keys of the text, minus its mean over "
            "distances: what distance does by itself. Bands are named by their wavelengths in tokens. "
            f"{readable(result.provenance.model)}, layer {layer}, head {head}, one text of {result.tokens} tokens."
        ),
        alt=f"Lines against distance, one a band. {text}.",
        content=KernelsContent(frame=frame, bands=[result.sources[band] for band in rotating]),
    )


@figure("position_unturned", Parameters, live=UNROTATED_RUN)
def position_unturned(params: Parameters, run: Unturned) -> Figure[UnrotatedContent]:
    """Layer by band: how the model's output changes without the rotation of that band in that layer."""
    names = [*BANDS, ALL_BANDS]
    frame = frames.cells(run.values, "outcome", layer=None, band=names).assign(loss_difference=run.losses.ravel())
    frame = frame.dropna(subset="outcome")
    if frame.empty:
        raise NoResults(f"{readable(run.provenance.model)} has no layer with a rotation that could be switched off.")
    single = frame[frame.band != ALL_BANDS]
    top = single.iloc[single.outcome.argmax()]
    finding = (
        f"The model loses most without the rotation at wavelengths {top.band} tokens in layer {top.layer}: "
        f"{top.outcome:.2g}"
    )
    loss = ""
    if run.loss == run.loss:
        largest = frame.iloc[frame.loss_difference.argmax()]
        loss = (
            f" The loss on the text is {run.loss:.2f} nats per token; it rises most, by {largest.loss_difference:.2f}, "
            "without "
            f"{'any rotation' if largest.band == ALL_BANDS else f'wavelengths {largest.band} tokens'} in layer "
            f"{largest.layer}."
        )
    return Figure(
        title="What the model loses when one band is not rotated",
        finding=finding,
        frame=lambda: frame,
        caption=(
            f"{run.measure[0].upper()}{run.measure[1:]}, between the model as it is and the model in which one layer "
            f"does not rotate one band of wavelengths (tokens), or any of them; each cell is one forward pass.{loss} "
            f"{readable(run.provenance.model)}, one text of {run.tokens} tokens."
        ),
        alt=f"Heat map of {len(run.values)} layers by {frame.band.nunique()} bands. {finding}.",
        content=UnrotatedContent(
            frame=frame, bands=[name for name in names if (frame.band == name).any()], label=run.measure
        ),
    )


def named_source(source: str) -> str:
    """A source within a sentence."""
    return f"wavelengths {source} tokens" if source in BANDS else SENTENCE_NAMES.get(source, source)


def _title(result: PositionMap) -> str:
    return readable(result.provenance.model)


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
