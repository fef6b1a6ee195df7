"""Measures the differences of two passes of one text. Pure; shapes: H head, Q query, K key, T token, W width."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def pattern_kl(
    before: Float[Tensor, "H Q K"], after: Float[Tensor, "H Q K"], mask: Bool[Tensor, "Q K"] | None = None
) -> Float[Tensor, " H"]:
    """Mean over queries of KL(before || after) in nats. Queries that see one key alone are left out; 0 if all do.

    A probability that is 0 by underflow counts as the dtype's smallest, so that a KL is large and not infinite.
    """
    tiny = torch.finfo(before.dtype).tiny
    ratio = before.clamp(min=tiny).log() - after.clamp(min=tiny).log()
    kl = (before * ratio).sum(-1).clamp(min=0)
    if mask is None:
        return kl.mean(-1)
    counted = mask.sum(-1) > 1
    return kl[:, counted].mean(-1) if counted.any() else kl.new_zeros(len(kl))


def cosines(before: Float[Tensor, "T W"], after: Float[Tensor, "T W"]) -> Float[Tensor, " T"]:
    """Cosine of each token's two hidden states."""
    return torch.nn.functional.cosine_similarity(before, after, dim=-1)
