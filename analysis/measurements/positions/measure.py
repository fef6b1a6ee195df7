"""The position map of a model on a text: what each layer's scores depend on, band by band or source by source."""

import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor
from transformers import PreTrainedModel

from analysis.core.errors import ModelError
from analysis.core.term_names import ADDED_TERMS, SOURCES
from analysis.core.wavelengths import BANDS, EDGES
from analysis.measurements.positions.result import LayerRotation, PositionMap
from analysis.measurements.positions.rotation import Rotation
from analysis.measurements.positions.split import JOINED_PAIRS, Joined, most_joined, split_bands, split_bias
from analysis.measurements.positions.without_rotation import AttentionCalls, layer_rotation, paired_calls
from analysis.measurements.terms import measures
from analysis.measurements.terms.run import encode, provenance
from analysis.models.families import Family, known_family
from analysis.models.load import Loaded
from analysis.models.trace_sources import Factors, Layer, trace_sources

STILL, BIAS, TABLE, CONTENT = "not turned", "added to scores", "added positions", "content alone"
OFF = 1e-3
"""The largest error of the sum of the bands against a model's own scores, over their range, before it is refused."""


Measured = partial[PositionMap]
"""A map that lacks what is known of the model and the text."""


def bands_of(rotation: Rotation) -> list[list[int]]:
    """The numbers of the pairs in each band, by wavelength; a pair that does not turn at all is in the last."""
    bands: list[list[int]] = [[] for _ in range(len(EDGES) + 1)]
    for number, frequency in enumerate(rotation.frequency.abs().tolist()):
        wavelength = 2 * math.pi / frequency if frequency > 0 else math.inf
        bands[sum(wavelength >= edge for edge in EDGES)].append(number)
    return bands


def position_map(loaded: Loaded, text: str, text_pair: str | None = None, *, truncate: bool = False) -> PositionMap:
    """The shares of every layer's scores that depend on content, position, or both, by source and by band.

    For a model that rotates its queries and keys, they are exact at every layer, for any architecture that calls
    transformers' attention interface. For one that adds positions to words, they come from its terms: its family has to
    be known, and deeper than layer 0 patterns and statistics are held fixed. Raises ModelError where the model allows
    neither, TextError as `decompose`.
    """
    model = loaded.model
    title = loaded.source.name or model.name_or_path or type(model).__name__
    family = known_family({"model_type": model.config.model_type}, title)
    inputs, tokens, cut_from = encode(loaded.tokenizer, text, text_pair or None, model, truncate)
    started = time.perf_counter()
    kind = family.position_kind(model.config) if family else "rotated"
    with torch.inference_mode():
        if family and kind != "rotated":
            measured = _by_terms(model, family, inputs)
        else:
            measured = _by_bands(paired_calls(model, family, inputs), title)
    about = provenance(loaded, text, started, text_pair, cut_from)
    return measured(kind=kind, labels=tuple(token.text for token in tokens), provenance=about)


def _by_bands(layers: Sequence[AttentionCalls | None], name: str) -> Measured:
    splits = [None if call is None else _split(call) for call in layers]
    present = [split for split in splits if split is not None]
    rows = max(len(split.numerators) for split in present)
    heads, distances = present[0].power.shape[-1], present[0].kernel.shape[-1]
    nothing = _Split(
        np.zeros((rows, 3, heads)), np.zeros(heads), np.zeros((len(BANDS) + 1, heads, distances)),
        np.zeros((rows, heads, JOINED_PAIRS, 2), int), np.full((rows, heads, JOINED_PAIRS), np.nan),
        LayerRotation(0, 0, math.nan, math.nan, math.nan, 0.0), 0.0,
    )  # fmt: skip
    padded = [nothing if split is None else split for split in splits]
    if (worst := max(split.error for split in present)) > OFF:
        raise ModelError(
            f"The bands of {name} do not add up to its own scores (they are off by {worst:.1e} of their range), so "
            "its positions cannot be separated. Choose another model for a map."
        )
    return partial(
        PositionMap,
        sources=(*BANDS, STILL, BIAS)[:rows],
        numerators=np.stack([_padded(split.numerators, rows) for split in padded]),
        power=np.stack([split.power for split in padded]),
        kernels=np.stack([split.kernel for split in padded]),
        joined=np.stack([_padded(split.joined, rows) for split in padded]),
        joined_scores=np.stack([_padded(split.joined_scores, rows, math.nan) for split in padded]),
        rotations=tuple(split.rotation for split in padded),
        errors=np.asarray([split.error for split in padded]),
        looks_ahead=any(split.ahead for split in present),
        sinks=any(call.call.sink for call in layers if call),
        capped=any(call.call.capped for call in layers if call),
    )


class _Split(NamedTuple):
    """One layer of the map. numerators: (source, part, head); kernel: (band, head, distance); joined: (source, head,
    rank, 2)."""

    numerators: ndarray
    power: ndarray
    kernel: ndarray
    joined: ndarray
    joined_scores: ndarray
    rotation: LayerRotation
    error: float
    ahead: bool = False


def _split(calls: AttentionCalls, *, joined: bool = True) -> _Split:
    call, rotation = calls.call, layer_rotation(calls)
    still = call if calls.unturned is None else calls.unturned
    scores = call.scores[0].float()
    bias = None if call.bias is None else call.bias.expand(call.scores.shape)[0].float()
    mask = None if call.attended is None or bool(call.attended[0].all()) else call.attended[0]
    total = measures.key_centred(scores, mask)
    result = split_bands(
        still.query[0].float(),
        still.key[0].float(),
        rotation.pairs,
        rotation.frequency,
        bands_of(rotation),
        rotation.still,
        call.scale,
        scores if bias is None else scores - bias,
        mask,
        against=total,
        joined=joined,
    )
    numerators = result.numerators
    places, highest = result.joined or _none_joined(numerators)
    if bias is not None:
        numerators = torch.cat([numerators, split_bias(bias, total, mask)[None]])
        more = most_joined(measures.key_centred(bias, mask), mask)
        places, highest = torch.cat([places, more.places[None]]), torch.cat([highest, more.scores[None]])
    low, high = (scores, scores) if mask is None else (scores.masked_fill(~mask, x) for x in (torch.inf, -torch.inf))
    return _Split(
        numerators.cpu().numpy(),
        result.power.cpu().numpy(),
        result.kernel.cpu().numpy(),
        places.cpu().numpy(),
        highest.cpu().numpy(),
        _described(rotation),
        result.sum_error / max(float(high.max() - low.min()), 1e-12),
        mask is None or bool(mask.triu(1).any()),
    )


def _none_joined(numerators: Tensor) -> Joined:
    """The empty result for a caller that asked for no pairs of tokens."""
    sources, _, heads = numerators.shape
    shape = (sources, heads, JOINED_PAIRS)
    return Joined(numerators.new_zeros(*shape, 2, dtype=torch.long), numerators.new_full(shape, torch.nan))


def _padded(values: ndarray, rows: int, fill: float = 0) -> ndarray:
    return np.concatenate([values, np.full((rows - len(values), *values.shape[1:]), fill, values.dtype)])


def _described(rotation: Rotation) -> LayerRotation:
    fast = rotation.frequency.abs()
    waves = 2 * math.pi / fast[fast > 0]
    return LayerRotation(
        turned=2 * len(rotation.pairs),
        width=rotation.width,
        fastest=float(waves.min()) if len(waves) else math.nan,
        slowest=float(waves.max()) if len(waves) else math.nan,
        size=float(rotation.size.mean()) if len(rotation.size) else math.nan,
        error=rotation.error,
    )


TERM_PARTS = {
    "position_to_position": (TABLE, 1),
    "position_to_bias": (TABLE, 1),
    "bias_to_position": (TABLE, 1),
    "position_to_segment": (TABLE, 2),
    "segment_to_position": (TABLE, 2),
    "word_to_position": (TABLE, 2),
    "position_to_word": (TABLE, 2),
}
"""Term -> its row of the map and its part: 1 is position alone, 2 both. All other terms are content alone."""


def _by_terms(model: PreTrainedModel, family: Family, inputs: Mapping[str, Tensor]) -> Measured:
    rows = (TABLE, BIAS, CONTENT)
    numerators, powers, errors, ahead, joined = [], [], [], [], []

    def each(layer: Layer) -> None:
        factors, mask = layer.factors(), layer.attended()
        ahead.append(mask is None or bool(mask.triu(1).any()))
        scores = layer.call.scores[0]
        total = measures.total_map(factors.query, factors.key, factors.scale, factors.bias)
        parts, power = measures.share_parts(factors.query, factors.key, factors.scale, mask, factors.bias, total)
        values = torch.zeros(len(rows), 3, len(power), dtype=parts.dtype, device=parts.device)
        for number, term in enumerate(factors.terms):
            if term in ADDED_TERMS:
                continue
            row, part = TERM_PARTS.get(term, (CONTENT, 0))
            values[rows.index(row), part] += parts[number]
        if factors.bias is not None:
            centred = measures.key_centred(total, mask)
            for added in factors.bias:
                values[rows.index(BIAS)] += split_bias(added, centred, mask)
        joined.append(_joined(factors, total, mask))
        numerators.append(values.cpu().numpy())
        powers.append(power.cpu().numpy())
        errors.append(float((total - scores).abs().max() / (scores.max() - scores.min()).clamp(min=1e-12)))

    trace_sources(model, family, inputs, each)
    return partial(
        PositionMap,
        sources=rows,
        numerators=np.stack(numerators),
        power=np.stack(powers),
        kernels=None,
        joined=np.stack([top.places.cpu().numpy() for top in joined]),
        joined_scores=np.stack([top.scores.cpu().numpy() for top in joined]),
        rotations=(),
        errors=np.asarray(errors),
        looks_ahead=any(ahead),
        sinks=False,
        capped=False,
    )


def _joined(factors: Factors, total: Tensor, mask: Tensor | None) -> Joined:
    """The pairs that added positions, what is added to scores, and content alone join most: rows as `_by_terms`."""
    position = SOURCES.index("position")
    query, key = (x.sum(0) - x[position] for x in (factors.query, factors.key))
    content = factors.scale * query @ key.transpose(-1, -2)
    bias = torch.zeros_like(content) if factors.bias is None else factors.bias.sum(0)
    maps = torch.stack([total - bias - content, bias, content])
    return most_joined(measures.key_centred(maps, mask), mask)
