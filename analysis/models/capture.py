"""Captures a model's own attention scores in its forward pass, layer by layer.

transformers returns attention patterns but no scores, so we register an attention function of ours. It computes
what `eager` computes and passes scores and pattern to a listener.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from transformers import AttentionInterface, PreTrainedModel
from transformers.masking_utils import AttentionMaskInterface, eager_mask
from transformers.utils.generic import ModelOutput

from analysis.core.errors import StopForward
from analysis.models.foreign_errors import as_model_errors
from analysis.streams.tensor import total

IMPLEMENTATION = "addend"


@dataclass(frozen=True)
class DistanceLookup:
    """A bias that is looked up by distance and depends on what is compared, too: DeBERTa's c2p and p2c."""

    distances: Tensor
    """Whole numbers, (..., query, key), by which the model looks it up."""
    at: Callable[[Tensor], Float[Tensor, "batch head query key"]]
    """The bias at other distances, for the same queries and keys."""


@dataclass(frozen=True)
class Call:
    """One call of an attention function: its arguments and the scores that follow, before the mask is added.

    query, key: as the model gives them, rotated where it rotates; with their sources where they are followed.
    """

    module: nn.Module
    query: Float[Tensor, "batch head query dim"]
    key: Float[Tensor, "batch head key dim"]
    scale: float
    bias: Float[Tensor, "batch head query key"] | None
    """Added to the scores; not a product of hidden states."""
    scores: Float[Tensor, "batch head query key"]
    mask: Tensor | None
    """Added to hide keys: 0 where a query attends."""
    lookup: DistanceLookup | None = None
    """The computation of `bias`, for a bias that depends on content."""
    parts: Sequence[Float[Tensor, "batch head query key"]] = ()
    """The summands of `bias`, one for each of the family's `bias_terms`, where there are several."""
    sink: bool = False
    """True if the softmax has a learned score besides the keys', so that rows of a pattern sum to less than 1."""
    capped: bool = False
    """True if the scores are squeezed into a range before the softmax; `scores` are those before."""

    @property
    def attended(self) -> Bool[Tensor, "batch query key"] | None:
        """The keys each query attends to; None where that is every one."""
        if self.mask is None:
            return None
        return (self.mask == 0).expand(len(self.scores), -1, *self.scores.shape[2:])[:, 0]


class Listener(Protocol):
    """Called for every attention, in the order of the forward pass."""

    def scores(self, call: Call) -> Tensor:
        """The scores with which the pass continues: `call.scores`, or others to intervene."""
        ...

    def pattern(self, call: Call, pattern: Float[Tensor, "batch head query key"]) -> None:
        """Receives the output of the softmax. May raise StopForward to end the forward pass here."""
        ...


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def current_listener() -> Listener | None:
    """The listener of the running forward pass."""
    return _listener.get()


def attend(
    module: nn.Module,
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch kv_head key dim"],
    value: Float[Tensor, "batch kv_head key dim"],
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    position_bias: Tensor | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **_: object,
) -> tuple[Tensor, Tensor]:
    """Plain attention, as transformers' `eager`, that passes its scores, pattern and mask to the listener.

    s_aux: a score per head in the softmax that belongs to no key (GPT-OSS's sinks).
    """
    scale = query.size(-1) ** -0.5 if scaling is None else scaling
    if key.shape[1] != query.shape[1]:  # grouped queries
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scores = (total(query) @ total(key).transpose(2, 3)).mul_(scale)
    if position_bias is not None:
        scores = scores + position_bias
    listener = _listener.get()
    call = Call(
        module,
        query,
        key,
        scale,
        position_bias,
        scores,
        attention_mask,
        sink=s_aux is not None,
        capped=softcap is not None,
    )
    if listener:
        scores = listener.scores(call)
    if softcap is not None:  # not linear, so the listener gets the scores before it
        scores = softcap * (scores / softcap).tanh()
    masked = scores if attention_mask is None else scores + attention_mask
    if s_aux is None:
        pattern = masked.softmax(-1)
    else:
        sinks = s_aux.reshape(1, -1, 1, 1).expand(*masked.shape[:-1], 1)
        pattern = torch.cat([masked, sinks.to(masked.dtype)], -1).softmax(-1)[..., :-1]
    if listener:
        listener.pattern(call, pattern)
    dropped = nn.functional.dropout(pattern, p=dropout, training=module.training) if dropout else pattern
    return (dropped @ value).transpose(1, 2).contiguous(), pattern


AttentionInterface.register(IMPLEMENTATION, attend)
AttentionMaskInterface.register(IMPLEMENTATION, eager_mask)


@contextmanager
def no_cache(model: PreTrainedModel) -> Iterator[None]:
    """Disables the cache of keys and values, which has no use here and cannot follow sources.

    Of a model of several models each has a config of its own, and the one of the texts decides.
    """
    configs = {id(part.config): part.config for part in model.modules() if isinstance(part, PreTrainedModel)}
    before = [(config, use) for config in configs.values() if (use := getattr(config, "use_cache", None)) is not None]
    for config, _ in before:
        config.use_cache = False
    try:
        yield
    finally:
        for config, use in before:
            config.use_cache = use


@contextmanager
def attention_implementation(model: PreTrainedModel, name: str) -> Iterator[None]:
    """Within, the model uses the attention function that transformers knows under a name."""
    before = model.config._attn_implementation or "eager"
    if before == name:
        yield
        return
    model.set_attn_implementation(name)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


@contextmanager
def experts_one_by_one(model: PreTrainedModel) -> Iterator[None]:
    """Within, a mixture's experts are run by the model's own loop, of which the rules know each step."""
    if not model._can_set_experts_implementation():
        yield
        return
    before = model.get_experts_implementation()
    model.set_experts_implementation("eager")
    try:
        yield
    finally:
        model.set_experts_implementation({key: value for key, value in before.items() if value is not None})


def run_with_listener(
    model: PreTrainedModel, inputs: Mapping[str, object], listener: Listener, *, interface: bool = True
) -> ModelOutput | None:
    """Runs the model with a listener on every attention; returns its output, None if it raised StopForward.

    interface: False where the model ignores transformers' attention interface.
    Raises ModelError where the model's own code fails.
    """
    token = _listener.set(listener)
    try:
        with (
            attention_implementation(model, IMPLEMENTATION) if interface else nullcontext(),
            no_cache(model),
            experts_one_by_one(model),
            torch.inference_mode(),
            as_model_errors(type(model).__name__),
        ):
            return model(**inputs)
    except StopForward:
        return None
    finally:
        _listener.reset(token)


class _QueryRecorder:
    """A listener that records the query of one attention."""

    query: Tensor

    def scores(self, call: Call) -> Tensor:
        self.query = call.query
        return call.scores

    def pattern(self, call: Call, pattern: Tensor) -> None:
        pass


def attention_query(
    module: nn.Module, args: Sequence[object], kwargs: Mapping[str, object]
) -> Float[Tensor, "batch head query dim"]:
    """The query of an attention module for these arguments; the current listener is not called."""
    listener = _QueryRecorder()
    token = _listener.set(listener)
    try:
        module.forward(*args, **kwargs)
    finally:
        _listener.reset(token)
    return listener.query
