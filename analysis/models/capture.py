"""A model's own scores, taken from its real forward pass, layer by layer.

transformers returns attention patterns but no scores, so an attention function of ours is registered
beside its own. It computes what `eager` computes and hands scores and pattern to whoever listens.
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

from analysis.streams.tensor import total

IMPLEMENTATION = "addend"


@dataclass(frozen=True)
class DistanceLookup:
    """A bias that is looked up by distance and depends on what is compared, too: DeBERTa's c2p and p2c."""

    distances: Tensor
    """Whole numbers, (..., query, key), by which the model looks it up."""
    at: Callable[[Tensor], Float[Tensor, "batch head query key"]]
    """What it would be at other distances, for the same queries and keys."""


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
    """What is added to the scores and is no product of hidden states."""
    scores: Float[Tensor, "batch head query key"]
    mask: Tensor | None
    """What is added to hide keys: 0 where a query attends."""
    looked: DistanceLookup | None = None
    """Where `bias` depends on content: how it comes about."""
    parts: Sequence[Float[Tensor, "batch head query key"]] = ()
    """What `bias` is the sum of, where that is more than one term: one for each of the family's `bias_terms`."""
    sink: bool = False
    """Whether the softmax has a learned score beside those of the keys, so that a pattern's rows sum to less than 1."""
    capped: bool = False
    """Whether the scores are squeezed into a range before the softmax; `scores` are those before."""

    @property
    def attended(self) -> Bool[Tensor, "batch query key"] | None:
        """The keys each query attends to; None where that is every one."""
        if self.mask is None:
            return None
        return (self.mask == 0).expand(len(self.scores), -1, *self.scores.shape[2:])[:, 0]


class Listener(Protocol):
    """Is told of every call of an attention function, in the order of the forward pass."""

    def scores(self, call: Call) -> Tensor:
        """The scores to go on with: `call.scores`, or others, which intervenes."""
        ...

    def pattern(self, call: Call, pattern: Float[Tensor, "batch head query key"]) -> None:
        """Told what the softmax gives. May raise Enough to end the forward pass here."""
        ...


class Enough(Exception):
    """Ends a forward pass once the wanted layer has been seen."""


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def listening() -> Listener | None:
    """Whoever listens to the forward pass that is running."""
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
    """Plain attention, as transformers' `eager`, that tells the listener its scores, pattern and mask.

    s_aux: a score for each head that no key has, in the softmax beside those of the keys (GPT-OSS's sinks).
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
    if softcap is not None:  # not linear, so the scores that are told are those before it
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
    """Keys and values are not kept for a next token: there is none, and they cannot keep their sources."""
    before = getattr(model.config, "use_cache", None)
    if before is None:
        yield
        return
    model.config.use_cache = False
    try:
        yield
    finally:
        model.config.use_cache = before


@contextmanager
def _our_attention(model: PreTrainedModel) -> Iterator[None]:
    before = model.config._attn_implementation or "eager"
    if before == IMPLEMENTATION:
        yield
        return
    model.set_attn_implementation(IMPLEMENTATION)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def listen(
    model: PreTrainedModel, inputs: Mapping[str, object], listener: Listener, *, interface: bool = True
) -> ModelOutput | None:
    """Runs the model with `listener` told of every attention; returns its output, None if it raised Enough.

    interface: False where the model ignores transformers' attention interface.
    """
    token = _listener.set(listener)
    try:
        with _our_attention(model) if interface else nullcontext(), no_cache(model), torch.inference_mode():
            return model(**inputs)
    except Enough:
        return None
    finally:
        _listener.reset(token)


class _Query:
    """A listener that keeps the query of one attention."""

    query: Tensor

    def scores(self, call: Call) -> Tensor:
        self.query = call.query
        return call.scores

    def pattern(self, call: Call, pattern: Tensor) -> None:
        pass


def query_of(
    module: nn.Module, args: Sequence[object], kwargs: Mapping[str, object]
) -> Float[Tensor, "batch head query dim"]:
    """The query that an attention of a model that is listened to has for these arguments; no other listener is told."""
    kept = _Query()
    token = _listener.set(kept)
    try:
        module.forward(*args, **kwargs)
    finally:
        _listener.reset(token)
    return kept.query
