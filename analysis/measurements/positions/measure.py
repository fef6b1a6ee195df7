"""The position map of a model on a text: one pass, at each layer of which the attention is asked once more,
unturned."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor, nn

from analysis.core.errors import ModelError
from analysis.core.term_names import ADDED_TERMS
from analysis.measurements.positions.result import BANDS, EDGES, LayerRotation, PositionMap
from analysis.measurements.positions.rotation import Rotation, no_rotation, read_rotation
from analysis.measurements.positions.split import split_bands, split_bias
from analysis.measurements.terms import measures
from analysis.measurements.terms.run import encode, provenance
from analysis.models.capture import Call, listen
from analysis.models.families import Family, known_family
from analysis.models.patterns import check
from analysis.models.trace_sources import Layer, trace_sources

STILL, BIAS, TABLE, CONTENT = "not turned", "added to scores", "added positions", "content alone"
TURNED_OTHERWISE = ("roformer", "addend")
"""Architectures whose attentions are not given their angles by the argument that transformers has for it."""
GIVEN = "position_embeddings"
"""The argument by which transformers' models give an attention its cosine and sine."""


def bands_of(rotation: Rotation, edges: Sequence[int] = EDGES) -> list[list[int]]:
    """The numbers of the pairs in each band, by wavelength; a pair that does not turn at all is in the last."""
    bands: list[list[int]] = [[] for _ in range(len(edges) + 1)]
    for number, frequency in enumerate(rotation.frequency.abs().tolist()):
        wavelength = 2 * math.pi / frequency if frequency > 0 else math.inf
        bands[sum(wavelength >= edge for edge in edges)].append(number)
    return bands


def position_map(
    model: Any,
    tokenizer: Any,
    text: str,
    text_pair: str | None = None,
    *,
    truncate: bool = False,
    name: str | None = None,
    revision: str | None = None,
) -> PositionMap:
    """What every layer's scores depend on: content, position, or both, source by source and band by band.

    Of a model that turns its queries and keys, exact at every layer, for whatever architecture is seen by transformers'
    attention interface. Of one that adds positions to words, by its terms: its family has to be known, and deeper than
    layer 0 patterns and statistics are held. Raises ModelError where neither can be seen, TextError as `decompose`.
    """
    title = name or model.name_or_path or type(model).__name__
    family = known_family({"model_type": model.config.model_type}, title)
    inputs, tokens, cut_from = encode(tokenizer, text, text_pair or None, model, truncate)
    started = time.perf_counter()
    kind = family.position_kind(model.config) if family else "rotated"
    with torch.inference_mode():
        if family and kind != "rotated":
            fields = _by_terms(model, family, inputs)
        elif family and model.config.model_type in TURNED_OTHERWISE:
            fields = _by_bands(unturned_by_family(model, family, inputs))
        else:
            fields = _by_bands(unturned_calls(model, inputs))
    about = provenance(
        model,
        name,
        revision,
        str(model.dtype).removeprefix("torch."),
        time.perf_counter() - started,
        text,
        text_pair=text_pair or None,
        truncated_from=cut_from,
    )
    return PositionMap(**fields, kind=kind, tokens=len(tokens), provenance=about)


class _Asked:
    """A listener that keeps each call, and beside it the same call with every angle at zero."""

    def __init__(self) -> None:
        self.calls: list[tuple[Call, Call | None, Any]] = []
        self.unturned: Call | None = None
        self.asking = False

    def scores(self, call: Call) -> Tensor:
        return call.scores

    def pattern(self, call: Call, pattern: Tensor) -> None:
        if self.asking:
            self.unturned = call
        else:
            self.calls.append((call, None, None))

    def ask_again(self, module: nn.Module, args: Any, kwargs: Mapping[str, Any], _output: Any) -> None:
        """After an attention has run: runs it once more on the same states, unturned."""
        given = kwargs.get(GIVEN)
        if self.asking or given is None or not self.calls or self.calls[-1][0].module is not module:
            return
        still, turn = at_angle_zero(given)
        self.asking, self.unturned = True, None
        try:
            module(*args, **{**kwargs, GIVEN: still})
        finally:
            self.asking = False
        call, _, _ = self.calls[-1]
        self.calls[-1] = (call, self.unturned, turn)


def at_angle_zero(given: Any, columns: Tensor | None = None) -> tuple[Any, tuple[Tensor, Tensor]]:
    """What an attention is given for angles of zero, with the same factor, and the cosine and sine it was given.

    given: cosine and sine, each twice in a row; or both as one complex number for each pair of neighbouring
    dimensions, as in Llama 4. columns: the dimensions whose angles are zero; all of them where it is None.
    """
    if isinstance(given, Tensor) and given.is_complex():
        still = given.clone()
        pairs = slice(None) if columns is None else columns.unique() // 2
        still[..., pairs] = given[..., pairs].abs().to(given.dtype)
        return still, (given.real.repeat_interleave(2, -1), given.imag.repeat_interleave(2, -1))
    cos, sin = given
    chosen = slice(None) if columns is None else columns
    still_cos, still_sin = cos.clone(), sin.clone()
    still_cos[..., chosen] = (cos.square() + sin.square()).sqrt()[..., chosen]
    still_sin[..., chosen] = 0
    return (still_cos, still_sin), (cos, sin)


def unturned_calls(model: Any, inputs: Mapping[str, Tensor]) -> list[tuple[Call, Call | None, Any]]:
    """Every layer's call of the attention function, the same without a turn, and the cosine and sine it was given.

    The last two are None where a layer was given no angles. Raises ModelError where attention cannot be seen.
    """
    check(model, inputs["input_ids"])
    asked = _Asked()
    hooks = [module.register_forward_hook(asked.ask_again, with_kwargs=True) for module in model.modules()]
    try:
        listen(model, inputs, asked)
    finally:
        for hook in hooks:
            hook.remove()
    if all(unturned is None for _, unturned, _ in asked.calls):
        raise ModelError(
            f"{type(model).__name__} gives its attentions no cosine and sine that can be seen, and its architecture is "
            "none whose positions are known; choose a model of another architecture."
        )
    return asked.calls


def unturned_by_family(model: Any, family: Family, inputs: Mapping[str, Tensor]) -> list[tuple[Call, Call | None, Any]]:
    """The same of a family whose attentions are not given their angles by transformers' usual argument.

    A second pass, in which every angle is zero and each attention is given the hidden states of the first.
    """
    first: list[tuple[Call, Any]] = []
    second: list[Call] = []
    states: dict[int, Tensor] = {}
    turns: list[Any] = []

    def keep(module: nn.Module, args: Any, kwargs: Any) -> None:
        states[len(states)] = args[0] if args else kwargs["hidden_states"]

    count = iter(range(len(family.attentions(model))))

    def give(module: nn.Module, args: Any, kwargs: Any) -> tuple[Any, Any]:
        kept = states[next(count)]
        return ((kept, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": kept})

    def note(_module: nn.Module, _args: Any, output: Any) -> None:
        turns.append(family.turns_of(output))

    def stop(_module: nn.Module, _args: Any, output: Any) -> Any:
        cos, sin = family.turns_of(output)
        return family.turns_as_given((cos.square() + sin.square()).sqrt(), torch.zeros_like(sin))

    def run(before: Any, turn: Any, each: Any) -> None:
        hooks = [m.register_forward_pre_hook(before, with_kwargs=True) for m in family.attentions(model)]
        hooks += [m.register_forward_hook(turn) for m in family.rotations(model)]
        try:
            trace_sources(model, family, inputs, each, sources=False)
        finally:
            for hook in hooks:
                hook.remove()

    run(keep, note, lambda layer: first.append((layer.call, turns[-1])))
    run(give, stop, lambda layer: second.append(layer.call))
    return [(call, other, turn) for (call, turn), other in zip(first, second, strict=True)]


def layer_rotation(call: Call, unturned: Call | None, given: Any) -> Rotation:
    """What one layer turns. Raises ModelError where that is not understood."""
    if unturned is None:
        return no_rotation(call.query.shape[-1])
    cos, sin = (x.reshape(-1, *x.shape[-2:])[0].float() for x in given)
    return read_rotation(call.query[0].float(), unturned.query[0].float(), cos, sin)


def _by_bands(calls: Sequence[tuple[Call, Call | None, Any]]) -> dict[str, Any]:
    numerators, powers, kernels, rotations, errors, ahead = [], [], [], [], [], False
    for call, unturned, given in calls:
        rotation = layer_rotation(call, unturned, given)
        still = call if unturned is None else unturned
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
        )
        each = result.numerators
        if bias is not None:
            each = torch.cat([each, split_bias(bias, total, mask)[None]])
        numerators.append(each.cpu().numpy())
        powers.append(result.power.cpu().numpy())
        kernels.append(result.kernel.cpu().numpy())
        rotations.append(_described(rotation))
        seen = scores if mask is None else scores[:, mask]
        errors.append(result.sum_error / max(float(seen.max() - seen.min()), 1e-12))
        ahead = ahead or mask is None or bool(mask.triu(1).any())
    rows = max(len(x) for x in numerators)
    names = (*BANDS, STILL, BIAS)[:rows]
    return {
        "sources": names,
        "numerators": np.stack([_padded(x, rows) for x in numerators]),
        "power": np.stack(powers),
        "kernels": np.stack(kernels),
        "rotations": tuple(rotations),
        "errors": np.asarray(errors),
        "looks_ahead": ahead,
    }


def _padded(values: ndarray, rows: int) -> ndarray:
    return np.concatenate([values, np.zeros((rows - len(values), *values.shape[1:]), values.dtype)])


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


def _by_terms(model: Any, family: Family, inputs: Mapping[str, Tensor]) -> dict[str, Any]:
    rows = (TABLE, BIAS, CONTENT)
    numerators, powers, errors, ahead = [], [], [], []

    def each(seen: Layer) -> None:
        factors, mask = seen.factors(), seen.attended()
        ahead.append(mask is None or bool(mask.triu(1).any()))
        own = seen.call.scores[0]
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
        numerators.append(values.cpu().numpy())
        powers.append(power.cpu().numpy())
        errors.append(float((total - own).abs().max() / (own.max() - own.min()).clamp(min=1e-12)))

    trace_sources(model, family, inputs, each)
    return {
        "sources": rows,
        "numerators": np.stack(numerators),
        "power": np.stack(powers),
        "kernels": None,
        "rotations": (),
        "errors": np.asarray(errors),
        "looks_ahead": any(ahead),
    }
