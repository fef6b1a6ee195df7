"""Steps that all trainings here share: placing a model on a device, choosing the weights that decay, updating them."""

import ctypes
import sys
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from analysis.ablation.rounded_products import fast_bfloat16

Model = TypeVar("Model", bound=PreTrainedModel)
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Options of glibc's mallopt (malloc.h)."""


def keep_freed_memory() -> None:
    """Lets the C library keep freed memory for the next step instead of giving it back to the system.

    A step allocates the same few megabytes again and again, and on a processor a quarter of its time goes into pages
    that the system takes back and hands out anew. Does nothing where there is no glibc.
    """
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "mallopt"):
        library.mallopt(M_MMAP_THRESHOLD, 1 << 30)
        library.mallopt(M_TRIM_THRESHOLD, -1)


def to_device(model: Model, device: str) -> Model:
    """The model, on the device, with the attention that is fastest there."""
    nn.Module.to(model, torch.device(device))  # transformers wraps `to` so that its type is lost
    if device == "cpu":
        # At short lengths plain attention is faster on a processor than the fused kind.
        model.set_attn_implementation("eager")
    return model


def groups(model: nn.Module, weight_decay: float) -> list[dict[str, list[nn.Parameter] | float]]:
    """The trained parameters that decay, and those that do not: biases, gains of norms, all that have one axis."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return [
        {"params": [parameter for parameter in trained if parameter.ndim > 1], "weight_decay": weight_decay},
        {"params": [parameter for parameter in trained if parameter.ndim < 2], "weight_decay": 0.0},
    ]


def warm_up_and_decay(steps: int, warmup_share: float) -> Callable[[int], float]:
    """The factor of the learning rate at each step, from 0. No step is made at a factor of 0."""
    warm_up = round(steps * warmup_share)
    return lambda step: (step + 1) / (warm_up + 1) if step < warm_up else (steps - step) / (steps - warm_up)


def train_step(
    model: nn.Module,
    losses: Callable[..., Tensor],
    batch: tuple[Tensor, ...],
    optimizer: torch.optim.Optimizer,
    clip: float,
    device: str,
    use_bfloat16: bool,
) -> Tensor:
    """One step on the mean of `losses(*batch)`; returns that mean.

    use_bfloat16: matrix products in bfloat16 by autocast, weights and optimiser in float32.
    """
    with fast_bfloat16(device, enabled=use_bfloat16):
        with torch.autocast(device, torch.bfloat16, enabled=use_bfloat16):
            loss = losses(*batch).mean()
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), clip, foreach=True)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.detach()
