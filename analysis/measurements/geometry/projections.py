"""The query and key projections of an attention module, head by head, and the module whose input they read."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

APART = (("query", "key"), ("q_proj", "k_proj"), ("q_lin", "k_lin"), ("q", "k"))
"""Names of the query and key projections in models where they are separate modules, weights (out, in)."""
TOGETHER = "c_attn"
"""The name of the one weight (in, 3 out) that holds query, key and value in GPT-2."""


def projections(
    attention: nn.Module, heads: int
) -> tuple[nn.Module, Float[Tensor, "H D K"], Float[Tensor, "H D K"]] | None:
    """The module whose input the projections read, and the query and key projections of each head.

    None where query and key cannot be told apart. Keys that serve several queries' heads are repeated for each.
    """
    for query, key in APART:
        first, second = getattr(attention, query, None), getattr(attention, key, None)
        if isinstance(first, nn.Linear) and isinstance(second, nn.Linear):
            q, k = (_split(module.weight.T, heads) for module in (first, second))
            width = q.shape[-1]
            k = k.transpose(0, 1).flatten(1).unflatten(1, (-1, width)).transpose(0, 1)
            return first, q, k.repeat_interleave(heads // len(k), 0)
    fused = getattr(attention, TOGETHER, None)
    if fused is None:
        return None
    q, k, _ = (_split(part, heads) for part in fused.weight.chunk(3, dim=1))
    return fused, q, k


def _split(weight: Float[Tensor, "D out"], heads: int) -> Float[Tensor, "H D K"]:
    return weight.detach().unflatten(1, (heads, -1)).transpose(0, 1).to(torch.float64).cpu()
