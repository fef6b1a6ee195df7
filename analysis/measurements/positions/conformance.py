"""Conformance of a model with its config: which layers and dimensions turn, which way, how fast, by which factor.

Measured on the running model (`paired_calls`), queries and keys apart, and held against its config by formulas that are
read anew from the library's files, and against the layout of the published code. Two models, such as two exports of
one, are compared in the same way. What config.json says beside what is read: `config_keys`; what the running model does
when its tokens are moved: `shift_test`.
"""

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from analysis.core.errors import ModelError
from analysis.core.wavelengths import BANDS, EDGES
from analysis.measurements.positions.published_code import published_module
from analysis.measurements.positions.rotation import Layout, Rotation
from analysis.measurements.positions.without_rotation import AttentionCalls, paired_calls, sides
from analysis.models.families import known_family
from analysis.models.patterns import attention_layers

CLOSE = 1e-3
"""Relative difference of frequencies, or of factors, below which two are the same."""
TINY = 1e-5
"""Radians a token below which frequencies are not told apart on a text of some hundred tokens in float32."""
SIDES = ("queries", "keys")


@dataclass(frozen=True)
class SideTurns:
    """The turns of a layer's queries, or of its keys. pairs: dimensions, the lower first, in ascending order.

    frequencies: radians a token, of each pair; negative from the second dimension to the first. offset: tokens by which
    everything is turned further than the layer is told. stretched: whether the dimensions of a pair are of different
    length. problem: what is not understood, in a clause. origin: how the pairs lie in what the projections give; empty
    where that is not seen.
    """

    pairs: tuple[tuple[int, int], ...]
    frequencies: tuple[float, ...]
    layout: str
    offset: int = 0
    stretched: bool = False
    problem: str = ""
    origin: str = ""


@dataclass(frozen=True)
class LayerTurns:
    """The turns of one layer, or those it should make. frequencies: radians a token, the fastest first. width: of a
    head; 0 for a layer without attention."""

    frequencies: tuple[float, ...]
    width: int
    size: float
    """The factor by which the turn multiplies queries and keys."""
    queries: SideTurns | None = None
    """The rotation of the queries; None for a config, which knows no pairs of dimensions."""
    keys: SideTurns | None = None
    published: tuple[Layout, Layout] | None = None
    """The layouts of queries and keys by the published code, for the config as it is."""
    ordered: tuple[float, ...] | None = None
    """The frequencies in the order of the pairs."""
    base: float | None = None
    """The rope_theta of a config."""
    scale: float | None = None
    """The factors of the scores, in the model and in the published code."""
    published_scale: float | None = None
    unscaled: tuple[float, ...] | None = None
    """The frequencies that a config would give without the scaling that it asks for, the fastest first."""

    @property
    def dims(self) -> int:
        """The number of dimensions of a head that turn."""
        return 2 * len(self.frequencies)


@dataclass(frozen=True)
class Discrepancy:
    """A place where two models, or a model and its config, differ. band: of wavelengths in tokens; empty for
    a layer.

    side: queries or keys; empty for both. pair: its two dimensions; None where it is not one pair alone. cause: a
    clause that says where it comes from, where that can be told.
    """

    layer: int | None
    """The layer's number; None for all layers."""
    band: str
    what: str
    side: str = ""
    pair: tuple[int, int] | None = None
    cause: str = ""


def measured_turns(model: PreTrainedModel, inputs: Mapping[str, Tensor]) -> list[LayerTurns]:
    """Measures what every layer of a running model turns. Raises ModelError where that cannot be seen."""
    family = known_family({"model_type": model.config.model_type}, model.name_or_path or type(model).__name__)
    kind = family.position_kind(model.config) if family else "rotated"
    if kind != "rotated":
        raise ModelError(
            f"{type(model).__name__} does not rotate queries and keys: its positions are {kind.replace('_', ' ')}. "
            "Choose a model with rotary positions."
        )
    with torch.inference_mode():
        return [layer_turns(each) for each in paired_calls(model, family, inputs, published=True)]


def layer_turns(calls: AttentionCalls | None) -> LayerTurns:
    """A layer as what is compared: pairs that do not turn at all count as not turned."""
    if calls is None:
        return LayerTurns((), 0, 1.0)
    query, key = sides(calls)
    # A layer whose queries are not turned may turn its keys, which is said where sides are compared.
    turned = query if len(query.pairs) else key
    magnitudes = [f for f in turned.frequency.abs().tolist() if f > 0]
    size = float(turned.size.mean()) if len(turned.size) else 1.0
    return LayerTurns(
        tuple(sorted(magnitudes, reverse=True)),
        query.width,
        size,
        _side(query),
        _side(key),
        calls.published,
        tuple(magnitudes),
        scale=calls.call.scale,
        published_scale=calls.published_scale,
    )


def _side(rotation: Rotation) -> SideTurns:
    moving = (rotation.frequency != 0).nonzero().flatten().tolist()
    return SideTurns(
        tuple((int(rotation.pairs[i][0]), int(rotation.pairs[i][1])) for i in moving),
        tuple(float(rotation.frequency[i]) for i in moving),
        rotation.layout,
        rotation.offset,
        rotation.stretched,
        rotation.problem,
        rotation.origin,
    )


def expected_turns(config: PreTrainedConfig, widths: Sequence[int], tokens: int) -> list[LayerTurns]:
    """Computes what the config says of every layer. widths: of a head, by layer. tokens: of the text it is held to.

    A layer that the code leaves unturned by its own attributes is told by the published code, not here.
    Raises ModelError where it says nothing of rotations.
    """
    config = config.get_text_config()
    kinds = getattr(config, "layer_types", None) or [None] * len(widths)
    without = getattr(config, "no_rope_layers", None)
    bases = getattr(config, "layer_rope_theta", None) or [None] * len(widths)
    expected = []
    for layer, (width, kind, attends) in enumerate(zip(widths, kinds, attention_layers(config), strict=True)):
        if not attends:
            expected.append(LayerTurns((), 0, 1.0))
        elif (without is not None and not without[layer]) or bases[layer] == 0:  # 1 says that the layer turns
            expected.append(LayerTurns((), width, 1.0))
        else:
            expected.append(_from_parameters(_with_base(config, bases[layer]), width, kind, tokens))
    return expected


def _with_base(config: PreTrainedConfig, base: float | None) -> PreTrainedConfig:
    """A config with the base of one layer, where it has one for each."""
    if base is None:
        return config
    own = copy.deepcopy(config)
    own.rope_parameters = {**(own.rope_parameters or {}), "rope_theta": base}
    return own


def _from_parameters(config: PreTrainedConfig, width: int, kind: str | None, tokens: int) -> LayerTurns:
    parameters = getattr(config, "rope_parameters", None) or {}
    nested = kind is not None and kind in parameters
    mine = parameters[kind] if nested else parameters
    if nested and mine is None:  # layers of this kind have no positions
        return LayerTurns((), width, 1.0)
    if not mine:
        raise ModelError(
            f"The config of {config.model_type!r} says nothing about its rotations (rope_parameters), so there is "
            "nothing to compare the model with; compare it with another model by --against."
        )
    name = mine.get("rope_type", "default")
    share = mine.get("partial_rotary_factor", getattr(config, "partial_rotary_factor", None)) or 1.0
    dims = getattr(config, "qk_rope_head_dim", None) or int(width * share)
    base = float(mine["rope_theta"])
    steps = torch.arange(0, dims, 2, dtype=torch.float64) / dims
    unscaled, size = 1.0 / base**steps, 1.0
    frequencies = unscaled
    if name != "default":
        formulas = published_module("transformers.modeling_rope_utils")
        assert formulas is not None
        frequencies, size = formulas.ROPE_INIT_FUNCTIONS[name](
            config, device=torch.device("cpu"), seq_len=tokens, **({"layer_type": kind} if nested else {})
        )
    ordered = tuple(float(f) for f in frequencies if f > 0)
    return LayerTurns(
        tuple(sorted(ordered, reverse=True)),
        width,
        float(size),
        ordered=ordered,
        base=base,
        unscaled=tuple(unscaled.tolist()),
    )


def differences(ours: Sequence[LayerTurns], theirs: Sequence[LayerTurns], us: str, them: str) -> list[Discrepancy]:
    """Every layer in which two are not alike, with the first band or pair of it, and the side."""
    found: list[Discrepancy] = []
    if len(ours) != len(theirs):
        found.append(Discrepancy(min(len(ours), len(theirs)), "", f"{us} has {len(ours)} layers, {them} {len(theirs)}"))
    for layer, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        own = [*_unread(layer, mine, us), *_between_sides(layer, mine, us)]
        own += (
            [] if own or other.queries is None else [*_unread(layer, other, them), *_between_sides(layer, other, them)]
        )
        if own:
            found += own
            continue
        other = _as_published(mine, other)
        if mine.dims != other.dims or mine.width != other.width:
            found.append(
                Discrepancy(
                    layer,
                    "",
                    f"{us} rotates {mine.dims} of {mine.width} dimensions, {them} {other.dims} of {other.width}",
                )
            )
            continue
        if mine.dims and abs(mine.size - other.size) > CLOSE * other.size:
            found.append(
                Discrepancy(
                    layer, "", f"{us} multiplies queries and keys by {mine.size:.4g}, {them} by {other.size:.4g}"
                )
            )
        scale = mine.published_scale if other.queries is None else other.scale
        if mine.scale is not None and scale is not None and abs(mine.scale - scale) > CLOSE * abs(scale):
            them_here = "the published code of its architecture" if other.queries is None else them
            what = f"{us} multiplies its scores by {mine.scale:.4g}, {them_here} by {scale:.4g}"
            found.append(Discrepancy(layer, "", what, cause="the attention factor"))
        speeds = list(_speeds(layer, mine, other, us, them))
        found += [*speeds, *_layouts(layer, mine, other, us, them, alone=not speeds)]
    return found


def _as_published(mine: LayerTurns, other: LayerTurns) -> LayerTurns:
    """Corrects what a config says of a layer, where the published code leaves it unturned by its attributes."""
    if other.queries is not None or mine.published is None or not other.dims:
        return other
    if any(len(layout.pairs) or layout.problem for layout in mine.published):
        return other
    return LayerTurns((), other.width, 1.0)


def _unread(layer: int, mine: LayerTurns, us: str) -> Iterator[Discrepancy]:
    """Sides whose turns are not understood."""
    for name in SIDES:
        side = getattr(mine, name)
        if side is not None and side.problem:
            yield Discrepancy(layer, "", f"the {name} of {us} turn in a way that cannot be read: {side.problem}", name)


def _between_sides(layer: int, mine: LayerTurns, us: str) -> Iterator[Discrepancy]:
    """Finds queries and keys that are not turned alike, so that scores do not depend on distances."""
    query, key = mine.queries, mine.keys
    if query is None or key is None or query.problem or key.problem:
        return
    if bool(query.pairs) != bool(key.pairs):
        turned, still = SIDES if query.pairs else SIDES[::-1]
        yield Discrepancy(layer, "", f"{us} turns its {turned} and does not turn its {still}", still)
    elif query.pairs != key.pairs:
        pair = next((b for a, b in zip(query.pairs, key.pairs, strict=False) if a != b), key.pairs[-1])
        yield Discrepancy(
            layer,
            "",
            f"{us} turns its queries by {_described(query)} and its keys by {_described(key)}",
            "keys",
            pair,
            _layout_cause(query, key),
        )
    elif query.offset != key.offset:
        by = key.offset - query.offset
        where = f"{abs(by)} token{'s' * (abs(by) > 1)} {'after' if by > 0 else 'before'}"
        yield Discrepancy(
            layer,
            "",
            f"{us} turns its keys by the angles of the {where} those that its queries are turned by",
            "keys",
            cause="an offset of keys",
        )
    elif not (query.stretched or key.stretched):
        for pair, f, g in zip(query.pairs, query.frequencies, key.frequencies, strict=True):
            if abs(f - g) > max(CLOSE * abs(f), TINY):
                opposite = abs(f + g) <= max(CLOSE * abs(f), TINY)
                yield Discrepancy(
                    layer,
                    _band(f),
                    f"{us} turns dimensions {pair[0]} and {pair[1]} of its queries by {f:.4g} radians a token and "
                    f"of its keys by {g:.4g}",
                    "keys",
                    pair,
                    "opposite directions" if opposite else "",
                )
                break


def _speeds(layer: int, mine: LayerTurns, other: LayerTurns, us: str, them: str) -> Iterator[Discrepancy]:
    """The first pair, the fastest first, whose frequency is another."""
    for a, b in zip(mine.frequencies, other.frequencies, strict=True):
        if abs(a - b) > max(CLOSE * b, TINY):
            waves = [2 * math.pi / f for f in (a, b)]
            what = f"a wavelength of {waves[0]:,.1f} tokens in {us} is {waves[1]:,.1f} in {them}"
            cause = _speed_cause(mine, other)
            yield Discrepancy(layer, _band(b), what + (f" ({cause})" if cause else ""), cause=cause)
            return


def _speed_cause(mine: LayerTurns, other: LayerTurns) -> str:
    """The cause of frequencies that are others: another base, one factor on all, a scaling left out."""
    f, g = (torch.tensor(each.frequencies, dtype=torch.float64) for each in (mine, other))
    if other.unscaled is not None and len(other.unscaled) == len(f) and _same(f, torch.tensor(other.unscaled)):
        return "the scaling that the config asks for is not applied"
    ratio = f / g
    if _same(ratio, ratio[:1].expand_as(ratio)):
        return f"all frequencies are {float(ratio[0]):.4g} times as large: a factor"
    slopes = [(-x.log() / torch.arange(len(x), dtype=torch.float64)).roll(-1)[:-1] for x in (f, g)]
    if len(f) > 1 and float(abs(f[0] - 1)) < CLOSE and all(_same(s, s[:1].expand_as(s)) for s in slopes):
        steps = len(f) if other.base is None else math.log(other.base) / float(slopes[1][0])
        bases = [math.exp(float(slope[0]) * steps) for slope in slopes]
        return f"the base is {bases[0]:,.0f}, not {bases[1]:,.0f}"
    return ""


def _same(one: Tensor, other: Tensor) -> bool:
    return bool(torch.allclose(one.double(), other.double(), rtol=CLOSE, atol=0))


def _layouts(
    layer: int, mine: LayerTurns, other: LayerTurns, us: str, them: str, *, alone: bool
) -> Iterator[Discrepancy]:
    """Sides whose pairs, order or direction are others. alone: whether the frequencies are the same but for that."""
    for number, name in enumerate(SIDES):
        side: SideTurns | None = getattr(mine, name)
        theirs: SideTurns | None = getattr(other, name)
        if side is None:
            continue
        if theirs is None:
            if mine.published is None:
                continue
            theirs = _expected_side(mine.published[number], other.ordered or ())
            them_here = "the published code of its architecture"
        else:
            them_here = them
        if theirs.problem or len(theirs.pairs) != len(side.pairs):
            continue
        same_origin = bool(side.origin) and side.origin == theirs.origin
        if side.pairs != theirs.pairs and not same_origin:  # else both deal the same columns out, each in its order
            pair = next(a for a, b in zip(side.pairs, theirs.pairs, strict=True) if a != b)
            yield Discrepancy(
                layer,
                "",
                f"{us} turns its {name} by {_described(side)}, {them_here} by {_described(theirs)}",
                name,
                pair,
                _layout_cause(theirs, side),
            )
            continue
        for pair, f, g in zip(side.pairs, side.frequencies, theirs.frequencies, strict=True):
            if abs(f - g) <= max(CLOSE * abs(g), TINY) or not (alone or f * g < 0):
                continue
            turned = f * g < 0
            yield Discrepancy(
                layer,
                _band(g),
                f"{us} turns dimensions {pair[0]} and {pair[1]} of its {name} by {f:.4g} radians a token, {them_here} "
                f"by {g:.4g}",
                name,
                pair,
                "the direction is transposed" if turned else "the order of frequencies is another",
            )
            break
        else:
            if side.origin and theirs.origin and side.origin != theirs.origin:
                yield Discrepancy(
                    layer,
                    "",
                    f"{us} turns {side.origin} of what its projections give to its {name}, {them_here} {theirs.origin}",
                    name,
                    side.pairs[0] if side.pairs else None,
                    "halves against neighbours",
                )


def _expected_side(layout: Layout, ordered: Sequence[float]) -> SideTurns:
    """The turns that the published layout makes of a table whose angles grow at these frequencies."""
    chosen = [
        ((int(a), int(b)), float(direction) * ordered[number])
        for (a, b), number, direction in zip(
            layout.pairs.tolist(), layout.numbers.tolist(), layout.direction.tolist(), strict=True
        )
        if number < len(ordered)
    ]
    return SideTurns(
        tuple(pair for pair, _ in chosen),
        tuple(f for _, f in chosen),
        layout_name([p for p, _ in chosen]),
        problem=layout.problem,
        origin=layout.origin,
    )


def layout_name(pairs: Sequence[tuple[int, int]]) -> str:
    """The name of how pairs lie in a head."""
    steps = {b - a for a, b in pairs}
    if steps == {1} and len(pairs) > 1:
        return "neighbours"
    return "halves" if steps == {len(pairs)} else "other pairs"


def _described(side: SideTurns) -> str:
    shown = " and ".join(map(str, side.pairs[0]))
    return f"{side.layout} (dimensions {shown} first, {2 * len(side.pairs)} in all)"


def _layout_cause(one: SideTurns, other: SideTurns) -> str:
    if {one.layout, other.layout} == {"halves", "neighbours"}:
        return "halves against neighbours"
    return "other dimensions"


def _band(frequency: float) -> str:
    """The band of a frequency, by its wavelength in tokens."""
    wave = 2 * math.pi / abs(frequency) if frequency else math.inf
    return BANDS[sum(wave >= edge for edge in EDGES)]
