"""Every attention of a model asked again: with every angle at zero on the same hidden states, and with angles and
states that we choose."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from analysis.core.errors import ModelError
from analysis.measurements.positions.published_code import as_published, published_model
from analysis.measurements.positions.rotation import (
    TOLERANCE,
    Layout,
    RotatedVectors,
    Rotation,
    asked_angles,
    no_layout,
    no_rotation,
    read_layout,
    read_rotation,
)
from analysis.models.capture import Call, run_with_listener
from analysis.models.families import Family, Turns
from analysis.models.patterns import attention_layers, check
from analysis.models.rotary_tables import ROTATION_ARGUMENT, columns_of, in_form_of, parts, takes_table
from analysis.models.trace_sources import Layer, trace_sources

SAMPLES = 32
"""The least number of states from which the pairs of dimensions are found."""
Arguments = tuple[Tensor, ...]
Keywords = dict[str, Tensor]
"""The keyword arguments of an attention, which may hold its hidden states."""
SHARED = "shared_kv_states"
"""The argument by which layers of Gemma 3n and 4 leave their keys to layers above that have none."""


class AttentionCalls(NamedTuple):
    """One layer. All but the first are None where it was given no angles.

    call: its attention as the model runs it. unturned: the same with every angle at zero. given: what it was given,
    the cosine and the sine. answers: what it makes of angles and states that we choose: its queries, and its keys.
    published: the layouts of queries and keys by the published code, where that was asked for and is known.
    """

    call: Call
    unturned: Call | None
    given: tuple[Tensor, Tensor] | None
    answers: tuple[RotatedVectors, RotatedVectors] | None = None
    published: tuple[Layout, Layout] | None = None
    published_scale: float | None = None
    """The factor by which the published code multiplies the scores."""


def paired_calls(
    model: PreTrainedModel, family: Family | None, inputs: Mapping[str, Tensor], *, published: bool = False
) -> list[AttentionCalls | None]:
    """Every layer of a model that turns its queries and keys; None for one without attention.

    published: whether the published code of an architecture of transformers is asked as well.
    Raises ModelError where attention or angles cannot be seen.
    """
    if family and not all(takes_table(module) for module in family.attentions(model)):
        return list(unrotated_by_family(model, family, inputs))
    return unrotated_calls(model, inputs, published=published)


class _RotationListener:
    """A listener that keeps each call, and beside it the same attention with other angles."""

    def __init__(self, published: Mapping[nn.Module, nn.Module] | None = None) -> None:
        """published: of each module, the one that the published code makes of the config, where it is asked as well."""
        self.published = published or {}
        self.calls: list[AttentionCalls] = []
        self.asked: Call | None = None
        self.asking = False
        self.scale: float | None = None
        self.shared: dict[object, MutableMapping[object, object]] = {}

    def scores(self, call: Call) -> Tensor:
        return call.scores

    def pattern(self, call: Call, pattern: Tensor) -> None:
        if self.asking:
            self.asked = call
        else:
            self.calls.append(AttentionCalls(call, None, None))

    def ask_again(
        self, module: nn.Module, args: Sequence[object], kwargs: Mapping[str, object], _output: object
    ) -> None:
        """Runs an attention again after it has run: without rotation, then on states and at angles that we choose."""
        rotation = kwargs.get(ROTATION_ARGUMENT)
        if self.asking or rotation is None or not self.calls or self.calls[-1].call.module is not module:
            return
        call, name = self.calls[-1].call, type(module).__name__
        if call.key.shape[-2] != call.query.shape[-2]:
            raise ModelError(
                f"{name} compares {call.query.shape[-2]} queries with {call.key.shape[-2]} keys, of which some belong "
                "to no token, so its scores have no distances. Choose a model of another architecture."
            )
        if not isinstance(rotation, Tensor | tuple):
            raise ModelError(
                f"{name} is given its angles as {type(rotation).__name__}, and a cosine and a sine, or complex "
                "numbers, can be read. Choose a model of another architecture."
            )
        still, given = at_angle_zero(rotation)
        unturned = self._ask(module, args, {**kwargs, ROTATION_ARGUMENT: still}, "unturned")
        if unturned is None:
            return
        answers = self._answers(module, args, kwargs, rotation, "own")
        published, scale = None, None
        if fresh := self.published.get(module):
            count = len(columns_of(*(x.reshape(-1, *x.shape[-2:])[0] for x in given)))
            with as_published(module, fresh):
                query, key = self._answers(module, args, kwargs, rotation, "published")
            published, scale = (read_layout(query, count), read_layout(key, count)), self.scale
        self.calls[-1] = AttentionCalls(call, unturned, given, answers, published, scale)

    def _answers(
        self, module: nn.Module, args: Sequence[object], kwargs: Mapping[str, object], rotation: Turns, name: str
    ) -> tuple[RotatedVectors, RotatedVectors]:
        """Asks an attention what it makes of states and angles that we choose."""
        none, chosen = chosen_tables(rotation)
        rows: list[tuple[Call, Call]] = []
        projected: list[Tensor] = []
        for number in range(count_of_answers(self.calls[-1].call)):
            other_args, other = _other_states(args, kwargs, number)
            with _recorded_projections(module, projected):
                still = self._ask(module, other_args, {**other, ROTATION_ARGUMENT: none}, (name, "none", number))
            turned = self._ask(module, other_args, {**other, ROTATION_ARGUMENT: chosen}, (name, "chosen", number))
            assert still is not None
            assert turned is not None
            rows.append((still, turned))
        self.scale = rows[0][0].scale
        return answers_of(rows, projected)

    def _ask(
        self, module: nn.Module, args: Sequence[object], kwargs: Mapping[str, object], kind: object
    ) -> Call | None:
        """The call of an attention on these arguments; keys that are left to layers above stay among their kind."""
        changed = dict(kwargs)
        if SHARED in kwargs:
            shared = kwargs[SHARED]
            assert isinstance(shared, MutableMapping)
            changed[SHARED] = self.shared.setdefault(kind, type(shared)())
        self.asking, self.asked = True, None
        try:
            module(*args, **changed)
        finally:
            self.asking = False
        return self.asked


@contextmanager
def _recorded_projections(module: nn.Module, projected: list[Tensor]) -> Iterator[None]:
    """A context in which the outputs of an attention's linear maps are appended to `projected`, as (token, column)."""
    outputs: list[Tensor] = []

    def keep(_module: nn.Module, _args: object, output: Tensor) -> None:
        outputs.append(output[0].double().cpu())

    hooks = [part.register_forward_hook(keep) for part in module.modules() if isinstance(part, nn.Linear)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
    outputs = [output for output in outputs if output.ndim == 2]
    tokens = Counter(len(output) for output in outputs).most_common(1)
    if tokens:
        projected.append(torch.cat([output for output in outputs if len(output) == tokens[0][0]], -1))


def count_of_answers(call: Call) -> int:
    """The number of times that an attention is asked about a text, so that there are states enough."""
    return math.ceil(SAMPLES / call.query.shape[-2])


def chosen_tables(rotation: Turns) -> tuple[Turns, Turns]:
    """Tables like this one for angles of zero, and for `asked_angles` at every token."""
    cos, sin = parts(rotation)
    groups = columns_of(*(x.reshape(-1, *x.shape[-2:])[0] for x in (cos, sin)))
    angles = torch.zeros(cos.shape[-1], dtype=torch.float64)
    for columns, angle in zip(groups, asked_angles(len(groups)).tolist(), strict=True):
        angles[columns] = angle
    angles = angles.to(device=cos.device, dtype=torch.float32 if cos.device.type == "mps" else torch.float64)
    none = in_form_of(rotation, torch.ones_like(cos), torch.zeros_like(sin))
    chosen = in_form_of(rotation, angles.cos().expand_as(cos).clone(), angles.sin().expand_as(sin).clone())
    return none, chosen


def random_states(like: Tensor, number: int) -> Tensor:
    """Hidden states at random, of the size of others."""
    generator = torch.Generator().manual_seed(number)
    noise = torch.randn(like.shape, generator=generator, dtype=torch.float32)
    return noise.to(like) * like.float().std().clamp(min=1e-3).to(like.dtype)


def _other_states(
    args: Sequence[object], kwargs: Mapping[str, object], number: int
) -> tuple[Sequence[object], Mapping[str, object]]:
    """The arguments of an attention with other hidden states, which are the first of them, or are named."""
    if args:
        assert isinstance(args[0], Tensor)
        return (random_states(args[0], number), *args[1:]), kwargs
    hidden = kwargs["hidden_states"]
    assert isinstance(hidden, Tensor)
    return args, {**kwargs, "hidden_states": random_states(hidden, number)}


def answers_of(
    rows: Sequence[tuple[Call, Call]], projected: Sequence[Tensor] = ()
) -> tuple[RotatedVectors, RotatedVectors]:
    """The answers, of queries and of keys. rows: at angle zero, and at the angles that were chosen."""

    def side(name: str) -> RotatedVectors:
        still, turned = (
            torch.cat([getattr(row[which], name)[0].double().cpu() for row in rows], 1).flatten(0, 1)
            for which in (0, 1)
        )
        return RotatedVectors(still, turned, torch.cat(list(projected)) if len(projected) == len(rows) else None)

    return side("query"), side("key")


def at_angle_zero(rotation: Turns, columns: Tensor | None = None) -> tuple[Turns, tuple[Tensor, Tensor]]:
    """Makes what an attention is given for angles of zero, with the same factor, and the cosine and sine it was given.

    columns: those whose angles are zero; all of them where it is None.
    """
    cos, sin = parts(rotation)
    chosen = slice(None) if columns is None else columns
    still_cos, still_sin = cos.clone(), sin.clone()
    still_cos[..., chosen] = (cos.square() + sin.square()).sqrt()[..., chosen]
    still_sin[..., chosen] = 0
    return in_form_of(rotation, still_cos, still_sin), (cos, sin)


def unrotated_calls(
    model: PreTrainedModel, inputs: Mapping[str, Tensor], *, published: bool = False
) -> list[AttentionCalls | None]:
    """`paired_calls` of a model of any architecture that transformers' attention interface shows.

    published: whether the published code is asked as well.
    Raises ModelError where no attention is given a cosine and a sine.
    """
    check(model, inputs["input_ids"], hybrid=True)
    fresh = published_model(model) if published else None
    listener = _RotationListener(None if fresh is None else _parts_of(model, fresh))
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
    if fresh is not None and any(call.unturned is None for call in listener.calls):
        without, nothing = _not_given(model, fresh, inputs), no_layout()
        listener.calls = [
            call._replace(published=(nothing, nothing))
            if call.unturned is None and call.call.module in without
            else call
            for call in listener.calls
        ]
    calls = iter(listener.calls)
    return [next(calls) if attends else None for attends in attention_layers(model.config)]


def _parts_of(model: PreTrainedModel, fresh: PreTrainedModel) -> dict[nn.Module, nn.Module]:
    """The modules of a model -> the modules at the same places in another."""
    others = dict(fresh.named_modules())
    return {module: others[path] for path, module in model.named_modules() if path in others}


def _not_given(model: PreTrainedModel, fresh: PreTrainedModel, inputs: Mapping[str, Tensor]) -> set[nn.Module]:
    """The modules that are called and that the published code gives no angles, though they could take them."""
    without: set[nn.Module] = set()

    def note(module: nn.Module, _args: object, kwargs: Mapping[str, object]) -> None:
        if kwargs.get(ROTATION_ARGUMENT) is None:
            without.add(module)

    with as_published(model, fresh):
        hooks = [module.register_forward_pre_hook(note, with_kwargs=True) for module in model.modules()]
        try:
            run_with_listener(model, inputs, _RotationListener())
        finally:
            for hook in hooks:
                hook.remove()
    return without


def unrotated_by_family(model: PreTrainedModel, family: Family, inputs: Mapping[str, Tensor]) -> list[AttentionCalls]:
    """`paired_calls` of a family whose attentions are not given their angles by transformers' usual argument.

    Further passes, in which each attention is given other angles, and the hidden states of the first pass or others.
    """
    first: list[tuple[Call, tuple[Tensor, Tensor]]] = []
    states: dict[int, Tensor] = {}
    turns: list[tuple[Tensor, Tensor]] = []

    def keep(module: nn.Module, args: Arguments, kwargs: Keywords) -> None:
        states[len(states)] = args[0] if args else kwargs["hidden_states"]

    def note(_module: nn.Module, _args: object, output: Turns) -> None:
        turns.append(family.split_rotation(output))

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

    def again(change: Callable[[Turns], Turns], number: int | None) -> list[Call]:
        """Every layer's call with another table; number: of the states, where they are not those of the first pass."""
        count, calls = iter(range(len(states))), []

        def give(module: nn.Module, args: Arguments, kwargs: Keywords) -> tuple[Arguments, Keywords]:
            hidden = states[next(count)]
            hidden = hidden if number is None else random_states(hidden, number)
            return ((hidden, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": hidden})

        def turn(_module: nn.Module, _args: object, output: Turns) -> Turns:
            cos, sin = parts(change(family.split_rotation(output)))
            return family.join_rotation(cos, sin, output)

        run(give, turn, lambda layer: calls.append(layer.call))
        return calls

    run(keep, note, lambda layer: first.append((layer.call, turns[-1])))
    unturned = again(lambda table: at_angle_zero(table)[0], None)
    rows = [
        list(zip(*(again(lambda table, w=which: chosen_tables(table)[w], number) for which in (0, 1)), strict=True))
        for number in range(count_of_answers(first[0][0]))
    ]
    return [
        AttentionCalls(call, still, given, answers_of([row[layer] for row in rows]))
        for layer, ((call, given), still) in enumerate(zip(first, unturned, strict=True))
    ]


def sides(calls: AttentionCalls) -> tuple[Rotation, Rotation]:
    """Reads what one layer turns of its queries, and of its keys, with what is not understood of them."""
    if calls.unturned is None or calls.given is None or calls.answers is None:
        return no_rotation(calls.call.query.shape[-1]), no_rotation(calls.call.key.shape[-1])
    cos, sin = (x.reshape(-1, *x.shape[-2:])[0].double().cpu() for x in calls.given)
    query, key = (
        read_rotation(getattr(calls.call, side)[0].double().cpu(), getattr(calls.unturned, side)[0].double().cpu(),
                      cos, sin, answer)
        for side, answer in zip(("query", "key"), calls.answers, strict=True)
    )  # fmt: skip
    return query, key


def disagreement(query: Rotation, key: Rotation) -> str:
    """The reason why scores do not depend on distances alone, in a clause; empty where they do."""
    for side, other, rotation, another in (("queries", "keys", query, key), ("keys", "queries", key, query)):
        if rotation.problem:
            return f"its {side} cannot be read: {rotation.problem}"
        if len(rotation.pairs) and not len(another.pairs):
            return f"its {side} are turned and its {other} are not"
    if not torch.equal(query.pairs, key.pairs):
        return (
            f"its queries are turned by {query.layout} ({2 * len(query.pairs)} dimensions) and its keys by "
            f"{key.layout} ({2 * len(key.pairs)} dimensions)"
        )
    if not len(query.pairs):
        return ""
    if query.stretched or key.stretched:
        return (
            "a norm with a weight for each dimension follows the turn, so that two dimensions of a pair are of "
            "different length and scores do not depend on distances alone"
        )
    if bool((query.frequency.sign() * key.frequency.sign() < 0).any()):
        return "its queries and keys are turned in opposite directions"
    if query.offset != key.offset:
        return (
            f"its keys are turned {abs(key.offset - query.offset)} tokens "
            f"{'further' if key.offset > query.offset else 'less'} than its queries"
        )
    if not torch.allclose(query.frequency, key.frequency, rtol=TOLERANCE, atol=1e-5):
        return "its queries and keys are turned at different frequencies"
    return ""


def layer_rotation(calls: AttentionCalls) -> Rotation:
    """Reads what one layer turns. Raises ModelError where queries and keys are not alike, or not understood."""
    query, key = sides(calls)
    if reason := disagreement(query, key):
        raise ModelError(
            f"The bands of this model cannot be separated, because {reason}. Choose another model for a map; "
            "`python -m analysis positions` compares this one with its config all the same."
        )
    device = calls.call.query.device
    return replace(
        query,
        pairs=query.pairs.to(device),
        columns=query.columns.to(device),
        frequency=query.frequency.float().to(device),
        size=query.size.float().to(device),
    )


def rotations(layers: Sequence[AttentionCalls | None]) -> list[Rotation | None]:
    """Reads what every layer turns; None for one without attention."""
    return [None if calls is None else layer_rotation(calls) for calls in layers]
