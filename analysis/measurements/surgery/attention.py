"""BERT's attention with other queries and keys: what the arms of surgery need beyond changed tables.

Each change takes a layer's queries and keys, (batch head token dim), and gives ones whose products are the changed
scores; the scale stays. One that has a `bias` adds it to the scaled scores. P are the mean positions of what enters the
layer, (slot, hidden), less their common mean.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask

IMPLEMENTATION = "addend_surgery"
BASE = 10_000.0
"""The base of the angles of rotary positions (Su et al. 2021)."""


def attend(
    module: nn.Module,
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch head key dim"],
    value: Float[Tensor, "batch head key width"],
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: object,
) -> tuple[Tensor, Tensor]:
    """Plain attention, as transformers' `eager`, on what the module's `surgery` makes of its queries and keys."""
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    change = getattr(module, "surgery", None)
    if change is not None:
        query, key = change(module, query, key)
    scores = query @ key.mT * scale
    if (bias := getattr(change, "bias", None)) is not None:
        scores = scores + bias(scores.shape[-1]).to(scores.dtype)
    pattern = (scores if attention_mask is None else scores + attention_mask).softmax(-1)
    dropped = nn.functional.dropout(pattern, dropout, module.training).to(value.dtype)
    return (dropped @ value).transpose(1, 2).contiguous(), pattern


AttentionInterface.register(IMPLEMENTATION, attend)
AttentionMaskInterface.register(IMPLEMENTATION, eager_mask)


def _by_head(x: Float[Tensor, "token hidden"], heads: int) -> Float[Tensor, "head token dim"]:
    return x.unflatten(-1, (heads, -1)).transpose(0, 1)


def _beside(first: Tensor, second: Float[Tensor, "head token dim"]) -> Tensor:
    """Two parts of a query or key side by side: products of such vectors are sums of the parts' products."""
    return torch.cat([first, second.to(first.dtype).expand(len(first), -1, -1, -1)], -1)


class Rotary(nn.Module):
    """Queries and keys turned by where they stand, in pairs of dimensions half a head apart."""

    cos: Tensor
    sin: Tensor

    def __init__(self, slots: int, dim: int) -> None:
        super().__init__()
        angles = torch.arange(slots)[:, None] / BASE ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("cos", torch.cat([angles.cos()] * 2, -1))
        self.register_buffer("sin", torch.cat([angles.sin()] * 2, -1))

    def forward(self, module: nn.Module, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Turned queries and keys."""
        return self._turned(query), self._turned(key)

    def _turned(self, x: Tensor) -> Tensor:
        tokens = x.shape[-2]
        first, second = x.chunk(2, -1)
        return x * self.cos[:tokens] + torch.cat([-second, first], -1) * self.sin[:tokens]


class NoCross(nn.Module):
    """Scores without what a position asks of the rest and the rest of a position: (q - p U)(k - p V)' + p U (p V)'.

    U and V are the layer's own projections, which may be trained meanwhile.
    """

    positions: Tensor

    def __init__(self, positions: Float[Tensor, "slot hidden"]) -> None:
        super().__init__()
        self.register_buffer("positions", positions)

    def forward(self, module: nn.Module, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Content and position beside each other."""
        items = []
        for x, projection in ((query, "query"), (key, "key")):
            weight = module.get_parameter(f"{projection}.weight")
            at = nn.functional.linear(self.positions[: x.shape[-2]], weight)
            placed = _by_head(at, x.shape[1]).to(x.dtype)
            items.append(_beside(x - placed, placed))
        return items[0], items[1]


class Untied(nn.Module):
    """TUPE's position scores (Ke et al. 2021): p U (p V)' is added, with projections of its own in every layer.

    They start as the layer's own projections, so that the scores start as the model's mean ones.
    """

    positions: Tensor

    def __init__(self, positions: Float[Tensor, "slot hidden"], module: nn.Module) -> None:
        super().__init__()
        self.register_buffer("positions", positions)
        self.query, self.key = (
            nn.Parameter(module.get_parameter(f"{name}.weight").detach().clone()) for name in ("query", "key")
        )

    def forward(self, module: nn.Module, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Content as it is, and position beside it."""
        items = []
        for x, weight in ((query, self.query), (key, self.key)):
            at = nn.functional.linear(self.positions[: x.shape[-2]], weight)
            items.append(_beside(x, _by_head(at, x.shape[1])))
        return items[0], items[1]


class EveryLayer(nn.Module):
    """The positions told again to a layer's queries and keys: (q + p U)(k + p V)'.

    U and V are the layer's own projections, which go on being trained, or with `own` projections beside them, which
    start as the layer's own.
    """

    positions: Tensor

    def __init__(self, positions: Float[Tensor, "slot hidden"], module: nn.Module, *, own: bool) -> None:
        super().__init__()
        self.register_buffer("positions", positions)
        weights = (module.get_parameter(f"{name}.weight").detach().clone() for name in ("query", "key"))
        self.query, self.key = (nn.Parameter(weight) for weight in weights) if own else (None, None)

    def forward(self, module: nn.Module, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and keys of the sum of content and position."""
        items = []
        for x, name, own in ((query, "query", self.query), (key, "key", self.key)):
            weight = module.get_parameter(f"{name}.weight") if own is None else own
            at = nn.functional.linear(self.positions[: x.shape[-2]], weight)
            items.append(x + _by_head(at, x.shape[1]).to(x.dtype))
        return items[0], items[1]


class RelativeBias(nn.Module):
    """A number for each head and distance, from 0 on, added to the scores (Raffel et al. 2020, without its buckets)."""

    def __init__(self, slots: int, heads: int) -> None:
        super().__init__()
        self.slots = slots
        self.table = nn.Parameter(torch.zeros(heads, 2 * slots - 1))

    def forward(self, module: nn.Module, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and keys as they are."""
        return query, key

    def bias(self, tokens: int) -> Float[Tensor, "head token token"]:
        """The number that each query adds to its score with each key."""
        places = torch.arange(tokens, device=self.table.device)
        return self.table[:, places - places[:, None] + self.slots - 1]
