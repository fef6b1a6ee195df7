"""One forward pass with every source followed: at each layer, the sources' queries and keys beside the model's own
scores, and the sources of its hidden states.

Method `frozen`: patterns, normalisation statistics and gates are held at their true values, and the rest is
linear. At layer 0 nothing has been held but the embedding norm's statistics, so it is the exact expansion.
It credits nothing to what position does through the patterns.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.utils.generic import ModelOutput

from analysis.core.errors import ModelError
from analysis.core.term_names import ADDED_TERMS, SOURCES, TERMS, term_pair
from analysis.models.capture import Call, Enough, listen
from analysis.models.capture_softmax import capture_attention
from analysis.models.families import Family
from analysis.models.source_inputs import follow_sources
from analysis.streams.rules import FREEZE
from analysis.streams.tensor import stacked

FREEZES = ("activation", "other", "half")
"""What is held of a gated unit act(gate) * up: the activation, the other factor, or half of each."""


@dataclass(frozen=True)
class Factors:
    """Queries and keys of every source, the scale of their products, and what the model adds to the scores."""

    query: Float[Tensor, "S H T D"]
    key: Float[Tensor, "S H T D"]
    scale: float
    bias: Float[Tensor, "A H Q K"] | None = None
    """What is added, a map for each of `bias_terms`."""
    bias_terms: tuple[str, ...] = ()

    @property
    def terms(self) -> tuple[str, ...]:
        """The names of all terms, in the order in which `measures` gives them."""
        return (*TERMS, *self.bias_terms)


@dataclass(frozen=True)
class Layer:
    """What one layer's attention did."""

    index: int
    call: Call
    pattern: Float[Tensor, "batch head query key"]
    bias_terms: tuple[str, ...]
    """The terms that the model's score bias is: of `ADDED_TERMS`, or one of the sixteen."""

    def factors(self, row: int = 0) -> Factors:
        """The sources of one text of the batch."""
        call = self.call
        query, key = (stacked(x[row : row + 1], len(SOURCES))[:, 0] for x in (call.query, call.key))
        if call.bias is None:
            return Factors(query, key, call.scale)
        each = [x.expand(len(call.scores), *call.scores.shape[1:])[row] for x in call.parts or (call.bias,)]
        if self.bias_terms[0] in ADDED_TERMS:
            return Factors(query, key, call.scale, torch.stack(each), self.bias_terms)
        # A term of the sixteen that is no product of hidden states gets dimensions that no other source uses.
        (bias,), (term,) = each, self.bias_terms
        a, b = term_pair(term)
        own, one = bias / call.scale, torch.eye(bias.shape[-1], dtype=bias.dtype, device=bias.device)
        query, key = (nn.functional.pad(x, (0, bias.shape[-1])) for x in (query, key))
        query[a, ..., -bias.shape[-1] :], key[b, ..., -bias.shape[-1] :] = own, one
        return Factors(query, key, call.scale)

    def attended(self, row: int = 0) -> Bool[Tensor, "query key"] | None:
        """The keys each query of a text attends to; None where that is every one."""
        seen = self.call.attended
        return None if seen is None or bool(seen[row].all()) else seen[row]


@dataclass
class _Listener:
    family: Family
    order: Mapping[int, int]
    each: Callable[[Layer], None]
    edit: Callable[[Layer], Tensor] | None
    last: int | None
    bias_terms: tuple[str, ...]
    count: int = 0

    def scores(self, call: Call) -> Tensor:
        if self.edit is None or id(call.module) not in self.order:
            return call.scores
        return self.edit(Layer(self.count, call, call.scores, self.bias_terms))

    def pattern(self, call: Call, pattern: Tensor) -> None:
        if id(call.module) not in self.order:
            return
        self.each(Layer(self.count, call, pattern, self.bias_terms))
        self.count += 1
        if self.last is not None and self.count > self.last:
            raise Enough


def _hidden(output: Tensor | tuple[Tensor, ...]) -> Tensor:
    """A layer gives its hidden states, or a tuple that begins with them."""
    return output[0] if isinstance(output, tuple) else output


def trace_sources(
    model: PreTrainedModel,
    family: Family,
    inputs: Mapping[str, object],
    each: Callable[[Layer], None] = lambda _: None,
    *,
    states: Callable[[int, Tensor], None] | None = None,
    edit: Callable[[Layer], Tensor] | None = None,
    last: int | None = None,
    freeze: str = "activation",
    sources: bool = True,
) -> ModelOutput | None:
    """Runs the model and tells `each` of every layer's attention, in order; returns the model's output.

    states: told the hidden states that leave each layer, (layer, batch token width) with their parts.
    edit: gives the scores that a layer goes on with, which intervenes.
    last: the layer after whose attention the pass ends; None runs the whole model and gives its output.
    freeze: what is held of gated units, one of `FREEZES`. sources: False follows none, and is as fast as the model.
    Raises ModelError when an attention module never calls the attention function, or for an unknown `freeze`.
    """
    if freeze not in FREEZES:
        raise ModelError(f"In gated units {freeze!r} cannot be held fixed; expected one of {', '.join(FREEZES)}.")
    attentions = family.attentions(model)
    listener = _Listener(
        family, {id(module): 0 for module in attentions}, each, edit, last, family.bias_terms(model.config)
    )
    frozen = FREEZE.set(freeze)
    try:
        with ExitStack() as undo, torch.inference_mode():
            given = inputs
            if family.own_attention:
                undo.enter_context(capture_attention(attentions, family))
            if sources:
                given = undo.enter_context(follow_sources(model, family.source_inputs(model), inputs))
            if states is not None:
                text = iter(range(len(attentions)))
                for module in dict.fromkeys(family.layers(model)):
                    hook = module.register_forward_hook(
                        lambda _module, _args, output: states(next(text), _hidden(output))
                    )
                    undo.callback(hook.remove)
            output = listen(model, given, listener, interface=not family.own_attention)
    finally:
        FREEZE.reset(frozen)
    wanted = len(attentions) if last is None else last + 1
    if listener.count != wanted:
        raise ModelError(
            f"{type(model).__name__} has {len(attentions)} layers and {listener.count} calls of transformers' "
            "attention interface were seen, so its own scores cannot be read. "
            "Choose a model of a supported architecture."
        )
    return output
