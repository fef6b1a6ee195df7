"""The exact expansion of layer 0: each source's queries and keys.

`u = word + position + segment` goes through a LayerNorm, which is linear once its statistics are held
at the values they take on u; then every source passes through the query and key projections on its
own. What no source owns (the LayerNorm's beta, the projections' biases) is the source `bias`.
Shapes: S source (word, position, segment, bias), T token, E hidden size, H head, D head dimension.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn


@dataclass(frozen=True)
class Factors:
    """Queries and keys of every source, and the scale of their products."""

    query: Float[Tensor, "S H T D"]
    key: Float[Tensor, "S H T D"]
    scale: float


def through_layer_norm(parts: Float[Tensor, "P T E"], norm: nn.LayerNorm) -> Float[Tensor, "P+1 T E"]:
    """Each part's contribution to LayerNorm(sum of parts), and beta as one part more.

    Each part x gives gamma * (x - mean(x)) / sigma(u) with sigma taken on the full sum u: only so do
    the parts add up (normalising each on its own would not).
    """
    whole = parts.sum(0)
    deviation = (whole.var(-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
    scaled = norm.weight * (parts - parts.mean(-1, keepdim=True)) / deviation
    return torch.cat([scaled, norm.bias.expand_as(whole)[None]])


def project(
    parts: Float[Tensor, "S T E"], linear: nn.Linear, heads: int, *, constant: bool = True
) -> Float[Tensor, "S H T D"]:
    """Each source through a linear map, split into heads; the map's bias goes to the last source.

    constant: the last source is the same for every token; it is computed once and expanded, so that it
    stays exactly constant along tokens. After a second norm it is not.
    """
    if constant:
        last = (parts[-1, :1] @ linear.weight.T).expand(parts.shape[1], -1)
        if linear.bias is not None:
            last = (last[:1] + linear.bias).expand_as(last)
    else:
        last = linear(parts[-1])
    mapped = torch.cat([parts[:-1] @ linear.weight.T, last[None]])
    return mapped.unflatten(-1, (heads, -1)).transpose(1, 2)
