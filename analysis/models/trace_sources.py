"""One forward pass with every source followed: at each layer, the sources' queries and keys beside the model's own
scores, and the sources of its hidden states.

Method `frozen`: patterns, normalisation statistics and gates are held at their true values, and the rest is
linear. At layer 0 nothing has been held but the embedding norm's statistics, so it is the exact expansion.
It credits nothing to what position does through the patterns.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.utils.generic import ModelOutput

from analysis.core.errors import ModelError, StopForward
from analysis.core.term_names import ADDED_TERMS, SCORE_BIAS, SOURCES, TERMS, term_pair
from analysis.models.capture import Call, run_with_listener
from analysis.models.capture_softmax import capture_attention
from analysis.models.families import Family
from analysis.models.source_inputs import follow_sources
from analysis.streams.rules import FREEZE
from analysis.streams.tensor import stacked

FREEZES = ("activation", "other", "half")
"""The part of a gated unit act(gate) * up that is held fixed: the activation, the other factor, or half of each."""


@dataclass(frozen=True)
class Factors:
    """Queries and keys of every source, the scale of their products, and what the model adds to the scores."""

    query: Float[Tensor, "S H T D"]
    key: Float[Tensor, "S H T D"]
    scale: float
    bias: Float[Tensor, "A H Q K"] | None = None
    """The maps that are added, one for each of `bias_terms`."""
    bias_terms: tuple[str, ...] = ()

    @property
    def terms(self) -> tuple[str, ...]:
        """The names of all terms, in the order in which `measures` gives them."""
        return (*TERMS, *self.bias_terms)


@dataclass(frozen=True)
class Layer:
    """The attention of one layer."""

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
        biases = [x.expand(len(call.scores), *call.scores.shape[1:])[row] for x in call.parts or (call.bias,)]
        if self.bias_terms[0] in ADDED_TERMS:
            return Factors(query, key, call.scale, torch.stack(biases), self.bias_terms)
        # A term of the sixteen that is no product of hidden states gets dimensions that no other source uses.
        (bias,), (term,) = biases, self.bias_terms
        a, b = term_pair(term)
        scores, identity = bias / call.scale, torch.eye(bias.shape[-1], dtype=bias.dtype, device=bias.device)
        query, key = (nn.functional.pad(x, (0, bias.shape[-1])) for x in (query, key))
        query[a, ..., -bias.shape[-1] :], key[b, ..., -bias.shape[-1] :] = scores, identity
        return Factors(query, key, call.scale)

    def attended(self, row: int = 0) -> Bool[Tensor, "query key"] | None:
        """The keys each query of a text attends to; None where that is every one."""
        mask = self.call.attended
        return None if mask is None or bool(mask[row].all()) else mask[row]


@dataclass
class LayerListener:
    """Passes every layer's attention to a function, in the order of the forward pass, and counts the layers."""

    on_layer: Callable[[Layer], None]
    edit: Callable[[Layer], Tensor] | None = None
    bias_terms: tuple[str, ...] = (SCORE_BIAS,)
    modules: Collection[nn.Module] | None = None
    """The attention modules that are layers; None for all that are called."""
    last: int | None = None
    """The layer after which the pass ends; None for no end."""
    count: int = 0

    def scores(self, call: Call) -> Tensor:
        """The call's scores, edited if there is an edit."""
        if self.edit is None or (self.modules is not None and call.module not in self.modules):
            return call.scores
        return self.edit(Layer(self.count, call, call.scores, self.bias_terms))

    def pattern(self, call: Call, pattern: Tensor) -> None:
        """Passes the layer to `on_layer`."""
        if self.modules is not None and call.module not in self.modules:
            return
        self.on_layer(Layer(self.count, call, pattern, self.bias_terms))
        self.count += 1
        if self.last is not None and self.count > self.last:
            raise StopForward


def _hidden(output: Tensor | tuple[Tensor, ...]) -> Tensor:
    """A layer gives its hidden states, or a tuple that begins with them."""
    return output[0] if isinstance(output, tuple) else output


def trace_sources(
    model: PreTrainedModel,
    family: Family,
    inputs: Mapping[str, object],
    on_layer: Callable[[Layer], None] = lambda _: None,
    *,
    states: Callable[[int, Tensor], None] | None = None,
    edit: Callable[[Layer], Tensor] | None = None,
    last: int | None = None,
    freeze: str = "activation",
    sources: bool = True,
) -> ModelOutput | None:
    """Runs the model and calls `on_layer` for every layer's attention, in order; returns the model's output.

    states: called with each layer's index and output, (batch token width) with its parts.
    edit: gives the scores with which a layer continues, to intervene.
    last: the layer after whose attention the pass ends; None runs the whole model and gives its output.
    freeze: what is held fixed of gated units, one of `FREEZES`. sources: False follows none, as fast as the model.
    Raises ModelError when an attention module never calls the attention function, or for an unknown `freeze`.
    """
    if freeze not in FREEZES:
        raise ModelError(f"In gated units {freeze!r} cannot be held fixed; expected one of {', '.join(FREEZES)}.")
    attentions = family.attentions(model)
    listener = LayerListener(on_layer, edit, family.bias_terms(model.config), set(attentions), last)
    frozen = FREEZE.set(freeze)
    try:
        with ExitStack() as stack, torch.inference_mode():
            arguments = inputs
            if family.custom_attention:
                stack.enter_context(capture_attention(attentions, family))
            if sources:
                arguments = stack.enter_context(follow_sources(model, family.source_inputs(model), inputs))
            if states is not None:
                layer_indices = iter(range(len(attentions)))
                for module in dict.fromkeys(family.layers(model)):
                    hook = module.register_forward_hook(
                        lambda _module, _args, output: states(next(layer_indices), _hidden(output))
                    )
                    stack.callback(hook.remove)
            output = run_with_listener(model, arguments, listener, interface=not family.custom_attention)
    finally:
        FREEZE.reset(frozen)
    expected = len(attentions) if last is None else last + 1
    if listener.count != expected:
        raise ModelError(
            f"{type(model).__name__} has {len(attentions)} layers and {listener.count} calls of transformers' "
            "attention interface were seen, so its own scores cannot be read. "
            "Choose a model of a supported architecture."
        )
    return output
