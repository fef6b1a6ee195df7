"""The test of a running model whose tokens are moved: scores of rotary attention know distances alone.

All positions a few further on leave every score as it was. Tokens that change places, each with its position, take
their scores of layer 0 along. Neither reads how the model turns: one that fails has positions that come another way.
"""

from collections.abc import Mapping
from inspect import signature

import torch
from torch import Tensor
from transformers import PreTrainedModel

from analysis.measurements.positions.conformance import Discrepancy, LayerTurns
from analysis.measurements.positions.without_rotation import unrotated_calls
from analysis.models.capture import run_with_listener
from analysis.models.trace_sources import Layer, LayerListener

BY = 3
"""Tokens by which all positions are moved."""
OFF = 2e-3
"""The largest change of the scores, as a share of their range."""
BY_LENGTH = ("dynamic", "longrope")
"""Kinds of scaling whose frequencies depend on the largest position."""


def shift_test(
    model: PreTrainedModel, inputs: Mapping[str, Tensor], turns: list[LayerTurns]
) -> tuple[list[Discrepancy], str]:
    """Gives what fails, and in a clause why it was not tried; empty where it was. turns: as measured."""
    if reason := _not_tried(model, inputs, turns):
        return [], reason
    ids = inputs["input_ids"]
    places = torch.arange(ids.shape[1], device=ids.device)[None]
    own = _scores(model, {**inputs, "position_ids": places})
    further = _scores(model, {**inputs, "position_ids": places + BY})
    for layer, (before, after) in enumerate(zip(own, further, strict=True)):
        off, scaled = _off(before, after)
        if off > OFF:
            what = f"scores change by {off:.1e} of their range when all positions are moved by {BY} tokens"
            return [Discrepancy(_layer_number(turns, layer), "", what, cause="positions that are not distances")], ""
        if scaled:  # by a temperature of each position, after which the states of further layers are others
            break
    if not turns[0].width:  # what stands before the first attention reads the order by itself
        return [], ""
    order = places[0].flip(0)
    moved = {key: value[:, order] if value.shape[:2] == ids.shape else value for key, value in inputs.items()}
    changed = _scores(model, {**moved, "position_ids": places[:, order]})[0]
    off, _ = _off(own[0][:, order][..., order], changed)
    if off > OFF and not _mixes_tokens(model, inputs, moved, order):
        what = f"scores change by {off:.1e} of their range when tokens change places and keep their positions"
        return [Discrepancy(0, "", what, cause="positions that the layer takes from the order of its tokens")], ""
    return [], ""


def _mixes_tokens(
    model: PreTrainedModel, inputs: Mapping[str, Tensor], moved: Mapping[str, Tensor], order: Tensor
) -> bool:
    """Tells whether layer 0 mixes tokens by their order before it compares them, as convolutions do."""
    own, other = (unrotated_calls(model, each)[0] for each in (inputs, moved))
    if own is None or other is None or own.unturned is None or other.unturned is None:
        return False
    if torch.allclose(own.unturned.query, own.call.query):  # what it is given changes nothing: it turns by itself
        return False
    one, another = own.unturned.query[0][:, order], other.unturned.query[0]
    return bool((one - another).abs().max() > OFF * one.abs().max())


def _layer_number(turns: list[LayerTurns], call: int) -> int:
    """The layer of an attention's call, of which some layers have none."""
    return [layer for layer, turn in enumerate(turns) if turn.width][call]


def _not_tried(model: PreTrainedModel, inputs: Mapping[str, Tensor], turns: list[LayerTurns]) -> str:
    """The reason why positions are not moved."""
    if "position_ids" not in signature(model.forward).parameters:
        return "the model takes no positions"
    if any(side is not None and side.stretched for turn in turns for side in (turn.queries, turn.keys)):
        return "a norm after the turn makes its scores depend on more than distances"
    parameters = getattr(model.config.get_text_config(), "rope_parameters", None) or {}
    kinds = [each.get("rope_type") for each in (parameters, *parameters.values()) if isinstance(each, Mapping)]
    if any(kind in BY_LENGTH for kind in kinds):
        return "its frequencies depend on the length of the text"
    longest = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if isinstance(longest, int) and inputs["input_ids"].shape[1] + BY > longest:
        return "the text leaves no position free"
    return ""


def _scores(model: PreTrainedModel, inputs: Mapping[str, Tensor]) -> list[Tensor]:
    """Every layer's scores, (head, query, key)."""
    found: list[Tensor] = []

    def keep(layer: Layer) -> None:
        found.append(layer.call.scores[0].float())

    run_with_listener(model, inputs, LayerListener(keep))
    return found


def _off(one: Tensor, other: Tensor) -> tuple[float, bool]:
    """The distance of scores from others, over their range, but for a factor of each head and query; and whether one is
    other than 1."""
    factor = (one * other).sum(-1) / one.square().sum(-1).clamp(min=1e-12)
    off = (other - factor[..., None] * one).abs().max() / (one.max() - one.min()).clamp(min=1e-12)
    return float(off), bool((factor - 1).abs().max() > OFF)
