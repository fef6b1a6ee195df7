"""Whether a model turns what its config says: which layers, which dimensions, at which frequencies, by which factor.

Measured on the running model (`unrotated_calls`), and expected from its config by transformers' own formulas.
Two models, such as two exports of one, are compared in the same way.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from analysis.core.errors import ModelError
from analysis.core.wavelengths import BANDS, EDGES
from analysis.measurements.positions.rotation import Rotation
from analysis.measurements.positions.without_rotation import paired_calls, rotations
from analysis.models.families import known_family
from analysis.models.patterns import attention_layers

CLOSE = 1e-3
"""Relative difference of frequencies, or of factors, below which two are the same."""
TURNED_IN_WINDOWS = ("cohere2", "exaone4")
"""Architectures that turn in layers with a sliding window alone; their configs say so by the kinds of layers."""
TINY = 1e-5
"""Radians a token below which frequencies are not told apart on a text of some hundred tokens in float32."""


@dataclass(frozen=True)
class LayerTurns:
    """What one layer turns, or should. frequencies: radians a token, of each pair, the fastest first. width: of a head;
    0 for a layer without attention."""

    frequencies: tuple[float, ...]
    width: int
    size: float
    """What the turn multiplies queries and keys by."""

    @property
    def dims(self) -> int:
        """How many dimensions of a head turn."""
        return 2 * len(self.frequencies)


@dataclass(frozen=True)
class Difference:
    """Where two models, or a model and its config, are not alike. band: of wavelengths in tokens; empty for a layer."""

    layer: int
    band: str
    what: str


def measured_turns(model: PreTrainedModel, inputs: Mapping[str, Tensor]) -> list[LayerTurns]:
    """What every layer of a running model turns. Raises ModelError where that cannot be seen."""
    family = known_family({"model_type": model.config.model_type}, model.name_or_path or type(model).__name__)
    kind = family.position_kind(model.config) if family else "rotated"
    if kind != "rotated":
        raise ModelError(
            f"{type(model).__name__} does not rotate queries and keys: its positions are {kind.replace('_', ' ')}. "
            "Choose a model with rotary positions."
        )
    with torch.inference_mode():
        return [layer_turns(each) for each in rotations(paired_calls(model, family, inputs))]


def layer_turns(rotation: Rotation | None) -> LayerTurns:
    """A rotation as what is compared: pairs that do not turn at all count as not turned."""
    if rotation is None:
        return LayerTurns((), 0, 1.0)
    frequencies = sorted((f for f in rotation.frequency.abs().tolist() if f > 0), reverse=True)
    size = float(rotation.size.mean()) if len(rotation.size) else 1.0
    return LayerTurns(tuple(frequencies), rotation.width, size)


def expected_turns(config: PreTrainedConfig, widths: Sequence[int], tokens: int) -> list[LayerTurns]:
    """What the config says of every layer. widths: dimensions of a head, by layer. tokens: of the text it is held to.

    Raises ModelError where it says nothing of rotations.
    """
    config = config.get_text_config()
    kinds = getattr(config, "layer_types", None) or [None] * len(widths)
    without = getattr(config, "no_rope_layers", None)
    expected = []
    for layer, (width, kind, attends) in enumerate(zip(widths, kinds, attention_layers(config), strict=True)):
        if not attends:
            expected.append(LayerTurns((), 0, 1.0))
            continue
        everywhere = config.model_type in TURNED_IN_WINDOWS and kind == "full_attention"
        if everywhere or (without is not None and not without[layer]):  # of the latter, 1 says that the layer turns
            expected.append(LayerTurns((), width, 1.0))
            continue
        expected.append(_from_parameters(config, width, kind, tokens))
    return expected


def _from_parameters(config: PreTrainedConfig, width: int, kind: str | None, tokens: int) -> LayerTurns:
    parameters = getattr(config, "rope_parameters", None) or {}
    nested = kind is not None and kind in parameters
    mine = parameters[kind] if nested else parameters
    if not mine:
        raise ModelError(
            f"The config of {config.model_type!r} says nothing about its rotations (rope_parameters), so there is "
            "nothing to compare the model with; compare it with another model by --against."
        )
    name = mine.get("rope_type", "default")
    if name == "default":
        share = mine.get("partial_rotary_factor", getattr(config, "partial_rotary_factor", None)) or 1.0
        dims = int(width * share)
        steps = torch.arange(0, dims, 2, dtype=torch.float64) / dims
        frequencies, size = 1.0 / mine["rope_theta"] ** steps, 1.0
    else:
        frequencies, size = ROPE_INIT_FUNCTIONS[name](
            config, device=torch.device("cpu"), seq_len=tokens, **({"layer_type": kind} if nested else {})
        )
    return LayerTurns(tuple(sorted((float(f) for f in frequencies if f > 0), reverse=True)), width, float(size))


def differences(ours: Sequence[LayerTurns], theirs: Sequence[LayerTurns], us: str, them: str) -> list[Difference]:
    """Every layer, and in it the first band, in which two are not alike."""
    found: list[Difference] = []
    if len(ours) != len(theirs):
        found.append(Difference(min(len(ours), len(theirs)), "", f"{us} has {len(ours)} layers, {them} {len(theirs)}"))
    for layer, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        if mine.dims != other.dims or mine.width != other.width:
            found.append(
                Difference(
                    layer,
                    "",
                    f"{us} rotates {mine.dims} of {mine.width} dimensions, {them} {other.dims} of {other.width}",
                )
            )
            continue
        if mine.dims and abs(mine.size - other.size) > CLOSE * other.size:
            found.append(
                Difference(
                    layer, "", f"{us} multiplies queries and keys by {mine.size:.4g}, {them} by {other.size:.4g}"
                )
            )
        for a, b in zip(mine.frequencies, other.frequencies, strict=True):
            if abs(a - b) > max(CLOSE * b, TINY):
                waves = [2 * math.pi / f for f in (a, b)]
                band = BANDS[sum(waves[1] >= edge for edge in EDGES)]
                found.append(
                    Difference(
                        layer, band, f"a wavelength of {waves[0]:,.1f} tokens in {us} is {waves[1]:,.1f} in {them}"
                    )
                )
                break
    return found
