"""Where position is in a model: every layer's scores by what they depend on, and the kernels of rotary bands."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.claims.statements.rows import readable
from analysis.core import frames
from analysis.core.errors import LinkError, NoResults
from analysis.core.formatting import percent
from analysis.core.wavelengths import BANDS
from analysis.figures.figure import Figure, LiveRun, Parameters, figure
from analysis.figures.one_run import checked_head, run_facts
from analysis.measurements.positions.result import PARTS, PositionMap, Unturned
from analysis.probes import position_probe
from analysis.probes.position_probe import BASELINES

DEPENDS = {"content": "content alone", "position": "position or distance alone", "both": "both together"}
ALL_BANDS = "all of them"
CITE = ("su2021roformer", "barbero2025round")
SPOKEN = {"added to scores": "what is added to scores"}
SHOWN = 0.0005
"""A source whose part by position is smaller than this at every layer has no column."""


class BaselineParameters(Parameters):
    """What the map stands beside, of `BASELINES`; empty for nothing."""

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
class UnturnedContent:
    """frame: layer, band, outcome, which `label` says in words. bands: in their order."""

    frame: pd.DataFrame
    bands: list[str]
    label: str


MAP_RUN: LiveRun[tuple[PositionMap, PositionMap | None]] = LiveRun(
    obtain=position_probe.obtain_with_baseline,
    provenance=lambda run: run_facts(run[0]),
    command=lambda run: position_probe.command(run[0]),
    citation_keys=CITE,
)
UNTURNED = LiveRun(
    obtain=position_probe.UnturnRequest.obtain, provenance=run_facts, command=position_probe.command, citation_keys=CITE
)


@figure("position_map", BaselineParameters, live=MAP_RUN)
def position_map(params: BaselineParameters, run: tuple[PositionMap, PositionMap | None]) -> Figure[MapContent]:
    """Layer by source: what depends on position; and what each layer's scores depend on in all."""
    made, baseline = run
    runs = {_title(made): made} | ({BASELINES[params.baseline]: baseline} if baseline else {})
    frame = pd.concat([_frame(one).assign(of=name) for name, one in runs.items()], ignore_index=True)
    columns = [
        source
        for source in made.sources
        if frame[(frame.source == source) & (frame.part != "content")].groupby(["of", "layer"]).share.sum().abs().max()
        >= SHOWN
    ] or [made.sources[0]]
    totals = made.shares().sum(1)
    most = int(np.nanargmax(totals[:, 1:].sum(-1)))
    least = int(np.nanargmin(totals[:, 1:].sum(-1)))
    by_position = totals[:, 1:].sum(-1)
    source = made.sources[int(np.nanargmax(made.position_share()[most]))]
    where = named_source(source)
    finding = (
        "No layer's scores depend on position"
        if np.nanmax(np.abs(made.position_share())) < SHOWN
        else f"At layer {most}, {percent(by_position[most])} of the scores' variation over all heads together depends "
        f"on position (most by {where}); at layer {least}, {percent(by_position[least])}"
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
                _how(made),
                f"{readable(made.provenance.model)}, one text of {made.tokens} tokens ({made.provenance.dtype}, "
                f"{made.provenance.device}); another text gives other shares.",
                _baseline_note(params.baseline, baseline),
            ]
        ).strip(),
        alt=f"Heat map of {len(made.power)} layers by {len(columns)} sources, and stacked bars by layer. {finding}.",
        content=MapContent(frame=frame, sources=columns, runs=list(runs), layers=len(made.power)),
    )


@figure("position_kernels", LayerHeadParameters, live=MAP_RUN)
def position_kernels(
    params: LayerHeadParameters, run: tuple[PositionMap, PositionMap | None]
) -> Figure[KernelsContent]:
    """The mean score of each band at every distance, in one head: what the head would do with average content."""
    made = run[0]
    if made.kernels is None:
        raise NoResults(
            f"{readable(made.provenance.model)} does not rotate queries and keys, so it has no bands and no kernels."
        )
    layers, bands, heads, _ = made.kernels.shape
    layer, head = params.layer, checked_head(params.head, heads)
    if not 0 <= layer < layers:
        raise LinkError(f"The link says layer={layer}; this model has layers 0 to {layers - 1}.")
    kernels = made.kernels[layer, :, head]
    distances = np.arange(-(made.tokens - 1), made.tokens)
    causal = not made.looks_ahead
    kept = distances <= 0 if causal else np.ones_like(distances, bool)
    reach = np.ptp(kernels[:, kept], axis=-1)
    there = [band for band in range(bands - 1) if reach[band] > 0]
    rows = [
        (made.sources[band], int(distance), float(value - kernels[band, kept].mean()))
        for band in there
        for distance, value in zip(distances[kept], kernels[band, kept], strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["band", "distance", "score"])
    if frame.empty:
        text = f"Layer {layer} rotates nothing"
    else:
        strongest = made.sources[there[int(np.argmax(reach[there]))]]
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
            f"{readable(made.provenance.model)}, layer {layer}, head {head}, one text of {made.tokens} tokens."
        ),
        alt=f"Lines against distance, one a band. {text}.",
        content=KernelsContent(frame=frame, bands=[made.sources[band] for band in there]),
    )


@figure("position_unturned", Parameters, live=UNTURNED)
def position_unturned(params: Parameters, run: Unturned) -> Figure[UnturnedContent]:
    """Layer by band: what the model does otherwise once that band of that layer is not turned."""
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
        most = frame.iloc[frame.loss_difference.argmax()]
        loss = (
            f" The loss on the text is {run.loss:.2f} nats per token; it rises most, by {most.loss_difference:.2f}, "
            "without "
            f"{'any rotation' if most.band == ALL_BANDS else f'wavelengths {most.band} tokens'} in layer {most.layer}."
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
        content=UnturnedContent(
            frame=frame, bands=[name for name in names if (frame.band == name).any()], label=run.measure
        ),
    )


def named_source(source: str) -> str:
    """A source within a sentence."""
    return f"wavelengths {source} tokens" if source in BANDS else SPOKEN.get(source, source)


def _title(made: PositionMap) -> str:
    return readable(made.provenance.model)


def _frame(made: PositionMap) -> pd.DataFrame:
    return frames.cells(made.shares(), "share", layer=None, source=made.sources, part=PARTS)


def _how(made: PositionMap) -> str:
    error = f"The parts add up to the model's own scores to {made.errors.max():.1e} of their range."
    if made.kernels is not None:
        still = [layer for layer, one in enumerate(made.rotations) if one.width and not one.turned]
        without = [layer for layer, one in enumerate(made.rotations) if not one.width]
        whole = {(one.turned, one.width) for one in made.rotations if one.turned}
        turned = " and ".join(f"{turned} of {width}" for turned, width in sorted(whole))
        layers = (
            f"; {'layer' if len(still) == 1 else 'layers'} {', '.join(map(str, still))} rotate nothing" if still else ""
        )
        error += f" Layers {', '.join(map(str, without))} have no attention and are empty." if without else ""
        error += " The model caps its scores; these are the ones before." if made.capped else ""
        if made.sinks:
            error += (
                " A learned score that belongs to no key takes part in the softmax, so that the mean of a query's "
                "scores matters, too; it is in no share."
            )
        return (
            f"Queries and keys are rotated, in {turned} dimensions of a head{layers}: each band's part is split into "
            "its mean over the distances of the text (content), its mean over the text's queries and keys (distance), "
            f"and the rest (both). What hidden states know of position in other ways counts as content. {error}"
        )
    return (
        "Positions are not rotated but added, to words or to scores: the parts are terms of the scores, exact at "
        "layer 0; "
        f"deeper, patterns and norms' statistics are held at their true values. {error}"
    )


def _baseline_note(kind: str, baseline: PositionMap | None) -> str:
    if baseline is None:
        return ""
    if kind == "random":
        return "For comparison, the same architecture with random weights (seed 0), which has learned nothing."
    return "For comparison, the same model on the same words in another order (seed 0)."
