"""A model's own scores, taken from its real forward pass.

transformers returns attention patterns but no scores, so an attention function of ours is registered
beside its own. It computes what `eager` computes and hands scores and pattern to whoever listens.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from transformers import AttentionInterface, PreTrainedModel
from transformers.masking_utils import AttentionMaskInterface, eager_mask

from analysis.errors import ModelError

IMPLEMENTATION = "addend"

_listener: ContextVar[Callable[[nn.Module, Tensor, Tensor, Tensor | None], None] | None] = ContextVar(
    "listener", default=None
)


class _Enough(Exception):
    """Ends a forward pass once the wanted layer has been seen."""


@dataclass(frozen=True)
class Captured:
    """One layer's scores before the mask is added, its pattern after softmax, and which keys it attended to."""

    scores: Float[Tensor, "batch head query key"]
    pattern: Float[Tensor, "batch head query key"]
    attended: Bool[Tensor, "batch query key"] | None
    """None where every query attends to every key."""


def attend(
    module: nn.Module,
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch head key dim"],
    value: Float[Tensor, "batch head key dim"],
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    position_bias: Tensor | None = None,
    **_: object,
) -> tuple[Tensor, Tensor]:
    """Plain attention, as transformers' `eager`, that tells the listener its scores, pattern and mask."""
    scores = (query @ key.transpose(2, 3)) * (query.size(-1) ** -0.5 if scaling is None else scaling)
    if position_bias is not None:
        scores = scores + position_bias
    pattern = (scores if attention_mask is None else scores + attention_mask).softmax(-1)
    if listener := _listener.get():
        listener(module, scores, pattern, attention_mask)
    dropped = nn.functional.dropout(pattern, p=dropout, training=module.training)
    return (dropped @ value).transpose(1, 2).contiguous(), pattern


AttentionInterface.register(IMPLEMENTATION, attend)
AttentionMaskInterface.register(IMPLEMENTATION, eager_mask)


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


def capture(model: PreTrainedModel, inputs: Mapping[str, Tensor], attention: nn.Module) -> Captured:
    """Runs the model as far as `attention` and returns what that module computed.

    Raises ModelError when the module never calls the attention function (an architecture whose
    attention transformers does not route through its interface).
    """
    found: list[Captured] = []

    def listen(module: nn.Module, scores: Tensor, pattern: Tensor, mask: Tensor | None) -> None:
        if module is attention:
            attended = None if mask is None else (mask == 0).expand(len(scores), -1, *scores.shape[2:])[:, 0]
            found.append(Captured(scores, pattern, attended))
            raise _Enough

    token = _listener.set(listen)
    try:
        with _our_attention(model), torch.inference_mode():
            model(**inputs)
    except _Enough:
        pass
    finally:
        _listener.reset(token)
    if not found:
        raise ModelError(
            f"The attention of {type(model).__name__} does not go through transformers' attention interface, "
            "so its own scores cannot be read. Choose a model of a supported architecture."
        )
    return found[0]
