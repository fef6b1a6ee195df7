"""Every attention of a model asked twice: as it is, and with every angle at zero, on the same hidden states."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from analysis.core.errors import ModelError
from analysis.measurements.positions.rotation import Rotation, no_rotation, read_rotation
from analysis.models.capture import Call, run_with_listener
from analysis.models.families import Family, Turns
from analysis.models.patterns import attention_layers, check
from analysis.models.trace_sources import Layer, trace_sources

TURNED_OTHERWISE = ("roformer", "addend")
"""Architectures whose attentions are not given their angles by the argument that transformers has for it."""
ROTATION_ARGUMENT = "position_embeddings"
"""The argument by which transformers' models give an attention its cosine and sine."""
Arguments = tuple[Tensor, ...]
Keywords = dict[str, Tensor]
"""What an attention is called with: its hidden states first, or by name."""
SHARED = "shared_kv_states"
"""The argument by which layers of Gemma 3n and 4 leave their keys to layers above that have none."""


class AttentionCalls(NamedTuple):
    """One layer. The last two are None where it was given no angles.

    call: its attention as the model runs it. unturned: the same with every angle at zero. given: what it was given,
    the cosine and the sine.
    """

    call: Call
    unturned: Call | None
    given: tuple[Tensor, Tensor] | None


def paired_calls(
    model: PreTrainedModel, family: Family | None, inputs: Mapping[str, Tensor]
) -> list[AttentionCalls | None]:
    """Every layer of a model that turns its queries and keys; None for one without attention.

    Raises ModelError where attention or angles cannot be seen.
    """
    if family and model.config.model_type in TURNED_OTHERWISE:
        return list(unrotated_by_family(model, family, inputs))
    return unrotated_calls(model, inputs)


class _RotationListener:
    """A listener that keeps each call, and beside it the same call with every angle at zero."""

    def __init__(self) -> None:
        self.calls: list[AttentionCalls] = []
        self.unturned: Call | None = None
        self.asking = False
        self.shared: MutableMapping[object, object] | None = None

    def scores(self, call: Call) -> Tensor:
        return call.scores

    def pattern(self, call: Call, pattern: Tensor) -> None:
        if self.asking:
            self.unturned = call
        else:
            self.calls.append(AttentionCalls(call, None, None))

    def ask_again(
        self, module: nn.Module, args: Sequence[object], kwargs: Mapping[str, object], _output: object
    ) -> None:
        """After an attention has run: runs it once more on the same states, unturned."""
        rotation = kwargs.get(ROTATION_ARGUMENT)
        if self.asking or rotation is None or not self.calls or self.calls[-1].call.module is not module:
            return
        assert isinstance(rotation, Tensor | tuple)
        still, turn = at_angle_zero(rotation)
        changed: dict[str, object] = {ROTATION_ARGUMENT: still}
        if SHARED in kwargs:  # else the layers above would be left keys without a turn
            shared = kwargs[SHARED]
            assert isinstance(shared, MutableMapping)
            self.shared = type(shared)() if self.shared is None else self.shared
            changed[SHARED] = self.shared
        self.asking, self.unturned = True, None
        try:
            module(*args, **{**kwargs, **changed})
        finally:
            self.asking = False
        self.calls[-1] = AttentionCalls(self.calls[-1].call, self.unturned, turn)


def at_angle_zero(rotation: Turns, columns: Tensor | None = None) -> tuple[Turns, tuple[Tensor, Tensor]]:
    """What an attention is given for angles of zero, with the same factor, and the cosine and sine it was given.

    rotation: cosine and sine, each twice in a row; or both as one complex number for each pair of neighbouring
    dimensions, as in Llama 4. columns: the dimensions whose angles are zero; all of them where it is None.
    """
    if isinstance(rotation, Tensor) and rotation.is_complex():
        still = rotation.clone()
        pairs = slice(None) if columns is None else columns.unique() // 2
        still[..., pairs] = rotation[..., pairs].abs().to(rotation.dtype)
        return still, (rotation.real.repeat_interleave(2, -1), rotation.imag.repeat_interleave(2, -1))
    cos, sin = rotation
    chosen = slice(None) if columns is None else columns
    still_cos, still_sin = cos.clone(), sin.clone()
    still_cos[..., chosen] = (cos.square() + sin.square()).sqrt()[..., chosen]
    still_sin[..., chosen] = 0
    return (still_cos, still_sin), (cos, sin)


def unrotated_calls(model: PreTrainedModel, inputs: Mapping[str, Tensor]) -> list[AttentionCalls | None]:
    """`paired_calls` of a model of any architecture that transformers' attention interface shows.

    Raises ModelError where no attention is given a cosine and a sine.
    """
    check(model, inputs["input_ids"], hybrid=True)
    listener = _RotationListener()
    hooks = [module.register_forward_hook(listener.ask_again, with_kwargs=True) for module in model.modules()]
    try:
        run_with_listener(model, inputs, listener)
    finally:
        for hook in hooks:
            hook.remove()
    if all(call.unturned is None for call in listener.calls):
        raise ModelError(
            f"{type(model).__name__} gives its attentions no cosine and sine that can be seen, and Addend does not "
            "know how its architecture encodes positions; choose a model of another architecture."
        )
    calls = iter(listener.calls)
    return [next(calls) if attends else None for attends in attention_layers(model.config)]


def unrotated_by_family(model: PreTrainedModel, family: Family, inputs: Mapping[str, Tensor]) -> list[AttentionCalls]:
    """`paired_calls` of a family whose attentions are not given their angles by transformers' usual argument.

    A second pass, in which every angle is zero and each attention is given the hidden states of the first.
    """
    first: list[tuple[Call, tuple[Tensor, Tensor]]] = []
    second: list[Call] = []
    states: dict[int, Tensor] = {}
    turns: list[tuple[Tensor, Tensor]] = []

    def keep(module: nn.Module, args: Arguments, kwargs: Keywords) -> None:
        states[len(states)] = args[0] if args else kwargs["hidden_states"]

    count = iter(range(len(family.attentions(model))))

    def give(module: nn.Module, args: Arguments, kwargs: Keywords) -> tuple[Arguments, Keywords]:
        hidden = states[next(count)]
        return ((hidden, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": hidden})

    def note(_module: nn.Module, _args: object, output: Turns) -> None:
        turns.append(family.split_rotation(output))

    def stop(_module: nn.Module, _args: object, output: Turns) -> Turns:
        cos, sin = family.split_rotation(output)
        return family.join_rotation((cos.square() + sin.square()).sqrt(), torch.zeros_like(sin))

    def run(
        before: Callable[[nn.Module, Arguments, Keywords], tuple[Arguments, Keywords] | None],
        turn: Callable[[nn.Module, object, Turns], Turns | None],
        each: Callable[[Layer], None],
    ) -> None:
        hooks = [m.register_forward_pre_hook(before, with_kwargs=True) for m in family.attentions(model)]
        hooks += [m.register_forward_hook(turn) for m in family.rotations(model)]
        try:
            trace_sources(model, family, inputs, each, sources=False)
        finally:
            for hook in hooks:
                hook.remove()

    run(keep, note, lambda layer: first.append((layer.call, turns[-1])))
    run(give, stop, lambda layer: second.append(layer.call))
    return [AttentionCalls(call, unrotated, turn) for (call, turn), unrotated in zip(first, second, strict=True)]


def layer_rotation(calls: AttentionCalls) -> Rotation:
    """What one layer turns. Raises ModelError where that is not understood."""
    if calls.unturned is None or calls.given is None:
        return no_rotation(calls.call.query.shape[-1])
    cos, sin = (x.reshape(-1, *x.shape[-2:])[0].float() for x in calls.given)
    return read_rotation(calls.call.query[0].float(), calls.unturned.query[0].float(), cos, sin)


def rotations(layers: Sequence[AttentionCalls | None]) -> list[Rotation | None]:
    """What every layer turns; None for one without attention."""
    return [None if calls is None else layer_rotation(calls) for calls in layers]
