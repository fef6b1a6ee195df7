"""One forward pass under interventions: the model's own code, with what enters it changed on the way in.

What enters is found where the family says: the seeds of position and segment, the modules that give the turns,
and the bias that an attention call adds to its scores. No architecture is named here.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from analysis.core.errors import InterventionError
from analysis.measurements.interventions.kinds.intervention import (
    BIAS,
    LAYER_TURNS,
    PLACES,
    ROWS,
    SEGMENTS,
    TURNS,
    Intervention,
)
from analysis.measurements.interventions.rebased import rebased
from analysis.models.capture import DistanceLookup, attention_query
from analysis.models.families import Family, Turns
from analysis.models.rotary_tables import ROTATION_ARGUMENT, frequencies, in_form_of, parts, takes_table
from analysis.models.source_inputs import InputSource, OutputSource, WeightSource, replaced_weight
from analysis.models.submodules import last_states
from analysis.models.trace_sources import Layer, trace_sources
from analysis.streams.tensor import total

Chosen = Sequence[Intervention]
Keep = Callable[[Tensor], Tensor]


class BaseOutput(Protocol):
    """The part of the output of a model without its head that is used here."""

    last_hidden_state: Tensor


@dataclass(frozen=True)
class ForwardResult:
    """The result of a forward pass."""

    hidden: Tensor
    """The output hidden states, (batch, token, width)."""
    logits: Tensor | None
    """Logits of the head, (batch, token, vocabulary); None where the model has none."""


def forward(
    model: PreTrainedModel,
    family: Family,
    inputs: Mapping[str, object],
    chosen: Chosen = (),
    each: Callable[[Layer], None] = lambda _: None,
    keep: Keep = lambda hidden: hidden,
) -> ForwardResult:
    """Runs the model under interventions, which apply together, in order.

    each: told every layer's attention. keep: what of the output hidden states goes on to the head: its logits over
    a whole text are large, and often those of one token are wanted.
    Raises InterventionError where a shift leaves the model's table.
    """
    hidden_states: list[Tensor] = []

    def output(_module: nn.Module, _args: object, result: BaseOutput) -> BaseOutput:
        hidden_states.append(total(last_states(model, result)))
        result.last_hidden_state = keep(hidden_states[-1])
        return result

    further = _further(model, family, inputs, sum(intervention.offset for intervention in chosen))
    with ExitStack() as undo:
        undo.enter_context(_intervened(model, family, chosen, further))
        queries = undo.enter_context(_rotated_by_layer(model, family, chosen))
        hook = model.base_model.register_forward_hook(output)
        undo.callback(hook.remove)
        model_output = trace_sources(
            model,
            family,
            inputs,
            each,
            edit=(lambda layer: _scores(layer, chosen, further, queries)) if chosen else None,
            sources=any(intervention.sources for intervention in chosen),
        )
    return ForwardResult(hidden_states[0], getattr(model_output, "logits", None))


def check(model: PreTrainedModel, family: Family, chosen: Chosen, *, biased: bool, name: str) -> None:
    """Refuses, with a sentence, what does not apply to a model. biased: whether it adds a bias to its scores.

    Raises InterventionError for the first such intervention.
    """
    sources = {start.source for start in family.source_inputs(model)}
    available = {
        ROWS: "position" in sources,
        TURNS: bool(family.rotations(model)),
        LAYER_TURNS: bool(family.rotations(model)) and _accepts_rotation(model, family),
        BIAS: biased,
        SEGMENTS: "segment" in sources,
    }
    layers, heads = len(family.attentions(model)), int(model.config.get_text_config().num_attention_heads)
    for intervention in chosen:
        if intervention.places and not any(available[entry] for entry in intervention.places):
            required = " or ".join(PLACES[entry] for entry in intervention.places)
            has = " and ".join(PLACES[entry] for entry in (ROWS, TURNS, BIAS) if available[entry])
            if not family.known:
                raise InterventionError(
                    f"{intervention.title!r} acts on {required}. Addend does not know the architecture of {name}, and "
                    f"saw none there{f', only {has}' if has else ''}. {intervention.instead}."
                )
            raise InterventionError(
                f"{intervention.title!r} does not apply to {name}: it acts on {required}, and this model has "
                f"{has or 'no positions'}. {intervention.instead}."
            )
        if intervention.sources and not family.known:
            raise InterventionError(
                f"{intervention.title!r} needs terms, and {name} has none, because Addend does not know its "
                "architecture. Change its positions instead."
            )
        for kind, attribute, count in (("layer", "layers", layers), ("head", "heads", heads)):
            for number in getattr(intervention, attribute, ()):
                if not 0 <= number < count:
                    raise InterventionError(f"There is no {kind} {number}: {name} has {kind}s 0 to {count - 1}.")


@dataclass
class _Further:
    """The model's own positions k tokens further on: by call of a module, and by layer for biases."""

    by: int = 0
    given: dict[tuple[int, int], Turns] = field(default_factory=dict)
    """The output of a module in one of its calls, by the module's id and the number of the call."""
    biases: dict[int, Tensor] = field(default_factory=dict)
    distances: dict[int, Tensor] = field(default_factory=dict)

    def of(self, rows: Tensor) -> Tensor:
        """The rows from k on."""
        return rows[..., self.by :, :]


def _further(model: PreTrainedModel, family: Family, inputs: Mapping[str, object], by: int) -> _Further:
    """The model's positions `by` tokens on, read off a pass over the text with its last token repeated `by` times."""
    result = _Further(by)
    if not by:
        return result
    tensors = {key: x for key, x in inputs.items() if isinstance(x, Tensor)}
    length = next(iter(tensors.values())).shape[-1]
    for start in family.source_inputs(model):
        if isinstance(start, InputSource):
            raise InterventionError(
                "Positions of an image cannot be shifted: all of its table is in use. Shuffle them."
            )
        if start.source == "position" and isinstance(start, WeightSource):
            raise InterventionError("Positions cannot be shifted: all of this model's table is in use. Shuffle them.")
    limit = getattr(model.config, "max_position_embeddings", None)
    if limit and length + by > limit:
        raise _beyond(length, by, limit)
    longer = {key: torch.cat([x, x[:, -1:].expand(-1, by)], 1) for key, x in tensors.items()}

    def counted(module: nn.Module, args: tuple[Tensor, ...]) -> None:
        if isinstance(module, nn.Embedding) and int(args[0].max()) >= module.num_embeddings:
            raise _beyond(length, by, module.num_embeddings - int(args[0].min()))

    def bias(layer: Layer) -> None:
        if layer.call.lookup is not None:
            result.distances[layer.index] = layer.call.lookup.distances
        elif layer.call.bias is not None:
            result.biases[layer.index] = layer.call.bias.expand(layer.call.scores.shape)

    calls = _Calls()

    def keep(module: nn.Module, _args: object, output: Turns) -> None:
        result.given[calls.next(module)] = output

    with ExitStack() as undo:
        for start in family.source_inputs(model):
            if isinstance(start, OutputSource) and start.source == "position":
                module = start.module
                undo.callback(module.register_forward_pre_hook(counted).remove)
                undo.callback(module.register_forward_hook(keep).remove)
        for module in family.rotations(model):
            undo.callback(module.register_forward_hook(keep).remove)
        trace_sources(model, family, longer, bias, sources=False)
    return result


class _Calls:
    """Tells the calls of a module in one pass apart: some rotary modules turn local layers otherwise than global."""

    def __init__(self) -> None:
        self._made: Counter[int] = Counter()

    def next(self, module: nn.Module) -> tuple[int, int]:
        """The module's id, and which of its calls this is."""
        number = self._made[id(module)]
        self._made[id(module)] += 1
        return id(module), number


def _beyond(length: int, by: int, limit: int) -> InterventionError:
    return InterventionError(
        f"The text has {length} tokens and the model {limit} positions, so they cannot be shifted by {by}. "
        f"Shift by {max(0, limit - length)} at most, or shorten the text."
    )


@contextmanager
def _intervened(model: PreTrainedModel, family: Family, chosen: Chosen, further: _Further) -> Iterator[None]:
    """A context in which positions and segments enter the model changed. Sources are followed from the changed ones."""

    calls = _Calls()

    def positions(module: nn.Module | None, rows: Tensor) -> Tensor:
        if module is not None and further.by:
            shifted = further.given[calls.next(module)]
            assert isinstance(shifted, Tensor)
            rows = further.of(shifted)
        for intervention in chosen:
            rows = intervention.rows(rows)
        return rows

    def segments(_module: nn.Module | None, rows: Tensor) -> Tensor:
        for intervention in chosen:
            rows = intervention.segments(rows)
        return rows

    def rotated(module: nn.Module, _args: object, output: Turns) -> Turns:
        cos, sin = family.split_rotation(output)
        if further.by:
            cos, sin = (further.of(x) for x in family.split_rotation(further.given[calls.next(module)]))
        for intervention in chosen:
            # Some scalings depend on the base, which a table alone does not show.
            table = rebased(model.config, intervention.base, cos, sin) if intervention.base != 1 else None
            cos, sin = table or intervention.turns(cos, sin)
        return family.join_rotation(cos, sin, output)

    changes = {"position": positions, "segment": segments}
    with ExitStack() as undo:
        for start in family.source_inputs(model) if chosen else ():
            change = changes.get(start.source)
            if change is None or isinstance(start, InputSource):
                continue
            if isinstance(start, WeightSource):
                undo.enter_context(replaced_weight(start.module, start.name, partial(change, None)))
            else:
                hook = start.module.register_forward_hook(
                    lambda module, _args, output, change=change: change(module, output)
                )
                undo.callback(hook.remove)
        for module in family.rotations(model) if chosen else ():
            undo.callback(module.register_forward_hook(rotated).remove)
        yield


def _accepts_rotation(model: PreTrainedModel, family: Family) -> bool:
    """True if each attention is called with its rotation, and has keys of its own to rotate by it."""
    shared = getattr(model.config.get_text_config(), "num_kv_shared_layers", 0)
    takes_rotation = all(takes_table(module) for module in family.attentions(model))
    return takes_rotation and not shared


@contextmanager
def _rotated_by_layer(model: PreTrainedModel, family: Family, chosen: Chosen) -> Iterator[Mapping[int, Tensor]]:
    """A context in which each layer rotates as the interventions say.

    Yields, by layer, the queries that are set apart from all keys. An attention whose queries are set apart runs twice
    on the same states: rotated by so many tokens, for its queries, and then not rotated, for the rest.
    """
    queries: dict[int, Tensor] = {}
    query_position = next(
        (intervention.apart for intervention in reversed(chosen) if intervention.apart is not None), None
    )

    def before(
        index: int, module: nn.Module, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        rotation = kwargs[ROTATION_ARGUMENT]
        if rotation is None:  # this layer has no positions
            return args, kwargs
        if not isinstance(rotation, Tensor | tuple):
            raise InterventionError(
                f"{type(module).__name__} is given its angles as {type(rotation).__name__}, and a cosine and a sine, "
                "or complex numbers, can be changed. Zero or shuffle the positions."
            )
        cos, sin = parts(rotation)
        if query_position is not None:
            queries[index] = attention_query(
                module,
                args,
                {**kwargs, ROTATION_ARGUMENT: in_form_of(rotation, *_rotation_at(query_position, cos, sin))},
            )
        for intervention in chosen:
            cos, sin = intervention.turns_in(index, cos, sin)
        return args, {**kwargs, ROTATION_ARGUMENT: in_form_of(rotation, cos, sin)}

    with ExitStack() as undo:
        for index, module in enumerate(family.attentions(model)):
            if any(LAYER_TURNS in intervention.places for intervention in chosen):
                hook = module.register_forward_pre_hook(partial(before, index), with_kwargs=True)
                undo.callback(hook.remove)
        yield queries


def _rotation_at(position: int, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """The turn of `place` tokens after the first, for every token, in a text of any length."""
    size, start = (cos.square() + sin.square()).sqrt(), sin.atan2(cos)[..., :1, :]
    angle = start + position * frequencies(cos, sin).to(cos.dtype)
    return size * angle.cos(), size * angle.sin()


def _scores(layer: Layer, chosen: Chosen, further: _Further, queries: Mapping[int, Tensor]) -> Tensor:
    """The scores that a layer goes on with: its queries set apart, its bias changed, then its terms dropped."""
    call = layer.call
    if layer.index in queries:
        query = queries[layer.index]
        scores = total(query) @ total(call.key).transpose(2, 3) * call.scale
        call = replace(call, query=query, scores=scores if call.bias is None else scores + call.bias)
    if call.bias is not None:
        bias = call.bias.expand(call.scores.shape)
        new = bias if call.lookup is None else _looked_up(layer.index, call.lookup, bias, chosen, further)
        if call.lookup is None and further.by:
            new = further.biases[layer.index][..., further.by :, further.by :]
        for intervention in chosen:
            new = intervention.bias(new if call.lookup is not None else intervention.pairs(new))
        if new is not bias:
            call = replace(call, bias=new, scores=call.scores - bias + new)
    for intervention in chosen:
        call = replace(call, scores=intervention.scores(replace(layer, call=call)))
    return call.scores


def _looked_up(index: int, looked: DistanceLookup, bias: Tensor, chosen: Chosen, further: _Further) -> Tensor:
    """A bias that depends on what is compared, at the distances between the positions that the tokens get.

    What moves positions acts on distances, which the model then looks up by itself, for the same queries and keys.
    """
    distances = looked.distances
    if further.by:
        distances = further.distances[index][..., further.by :, further.by :]
    for intervention in chosen:
        distances = intervention.pairs(distances)
    return bias if torch.equal(distances, looked.distances) else looked.at(distances).expand(bias.shape)
