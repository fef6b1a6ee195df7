"""Self-attention with whatever a variant does inside it.

Shapes: B batch, L length, H head, E hidden size, D head dimension, R relative positions.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from analysis.ablation.encoder.config import AddendConfig
from analysis.encodings.sinusoidal import frequencies


@dataclass(frozen=True)
class PassTensors:
    """Tensors that all layers of one forward pass share.

    bias, mask: added to the scores; mask is 0 or the lowest number. added: two tensors, added to queries and to keys.
    told: the positions that `untied="shared"` adds to each layer's input. angles: of rotary positions. phases: of polar
    positions. position_rows: the rows that `untied="word"` projects in every layer. relative: DeBERTa's table.
    """

    bias: Float[Tensor, "1 H L L"] | None = None
    mask: Float[Tensor, "B 1 L L"] | None = None
    added: tuple[Tensor, Tensor] | None = None
    told: Float[Tensor, "L E"] | None = None
    angles: tuple[Tensor, Tensor] | None = None
    phases: Float[Tensor, "L D"] | None = None
    position_rows: Float[Tensor, "rows E"] | None = None
    relative: Float[Tensor, "R E"] | None = None


def eager(
    module: nn.Module,
    query: Float[Tensor, "B H L D"],
    key: Float[Tensor, "B H L D"],
    value: Float[Tensor, "B H L D"],
    attention_mask: Tensor | None,
    scaling: float,
    dropout: float = 0.0,
    position_bias: Tensor | None = None,
    **_: object,
) -> tuple[Tensor, Tensor]:
    """Plain attention. At 64 tokens on a processor it is faster than the fused kind."""
    scores = (query * scaling) @ key.transpose(2, 3)
    if position_bias is not None:
        scores = scores + position_bias
    if attention_mask is not None:
        scores = scores + attention_mask
    pattern = scores.softmax(-1)
    dropped = nn.functional.dropout(pattern, p=dropout, training=module.training) if dropout else pattern
    return (dropped @ value).transpose(1, 2), pattern


class SelfAttention(nn.Module):
    """Queries, keys and values, under BERT's parameter names."""

    is_causal = False  # the mask is causal instead
    position_scores: Any

    def __init__(self, config: AddendConfig, scores: nn.Module) -> None:
        super().__init__()
        self.config = config
        self.scaling = (config.scale_terms * config.head_dim) ** -0.5
        width = config.hidden_size
        self.query, self.key = (BlockedLinear(config) if config.blocked else nn.Linear(width, width) for _ in range(2))
        if config.one_turned_key:
            self.key = OneTurnedKey(config)
        self.value = nn.Linear(width, width)
        if config.disentangled:
            self.pos_key = nn.Linear(width, width, bias=False)
            self.pos_query = nn.Linear(width, width)
        if config.polar:
            self.phase = nn.Parameter(torch.zeros(width))
        # Not registered as a child module, or every layer would have its weights.
        object.__setattr__(self, "position_scores", scores)

    def heads(self, x: Float[Tensor, "... L E"]) -> Float[Tensor, "... H L D"]:
        """Split into heads."""
        return x.unflatten(-1, (self.config.num_attention_heads, -1)).transpose(-2, -3)

    def forward(
        self, hidden: Float[Tensor, "B L E"], shared: PassTensors
    ) -> tuple[Float[Tensor, "B L E"], Tensor | None]:
        """Attended values before the output projection, and the pattern where the implementation gives one."""
        asked = read = hidden
        if shared.told is not None and self.config.told_to != "hidden":
            asked = hidden + shared.told
            read = asked if self.config.told_to == "values" else hidden
        query, key, value = (self.heads(f(x)) for f, x in ((self.query, asked), (self.key, asked), (self.value, read)))
        if shared.added is not None:
            query, key = query + shared.added[0], key + shared.added[1]
        if shared.angles is not None:
            query, key = rotated(query, *shared.angles), rotated(key, *shared.angles)
        if shared.phases is not None:
            shift = self.phase.clamp(-2 * math.pi, 0).unflatten(0, (-1, 1, self.config.head_dim))
            query, key = polar(query, shared.phases), polar(key, shared.phases + shift)
        bias = shared.bias
        if shared.position_rows is not None:
            position_bias = self.position_scores.untied(
                self.heads(self.query(shared.position_rows)), self.heads(self.key(shared.position_rows))
            )
            bias = position_bias if bias is None else bias + position_bias
        if shared.relative is not None:
            bias = self.disentangled(query, key, shared.relative)
        implementation: Callable[..., tuple[Tensor, Tensor | None]] = ALL_ATTENTION_FUNCTIONS.get_interface(
            self.config._attn_implementation or "eager", eager
        )
        attended, pattern = implementation(
            self,
            query,
            key,
            value,
            shared.mask,
            dropout=self.config.attention_probs_dropout_prob if self.training else 0.0,
            scaling=self.scaling,
            position_bias=bias,
        )
        return attended.flatten(2), pattern

    def disentangled(
        self, query: Float[Tensor, "B H L D"], key: Float[Tensor, "B H L D"], relative: Float[Tensor, "R E"]
    ) -> Float[Tensor, "B H L L"]:
        """Content-to-position and position-to-content scores (He et al. 2021, equation 4), R = 2 * distance.

        Both use the row of query minus key, as the official code has it; the paper's equation has key minus
        query in the second.
        """
        distance = self.config.disentangled
        positions = torch.arange(query.shape[2], device=query.device)
        row = (
            (positions[:, None] - positions[None] + distance)
            .clamp(0, 2 * distance - 1)
            .expand(*query.shape[:2], -1, -1)
        )
        c2p = (query @ self.heads(self.pos_key(relative)).transpose(1, 2)).gather(-1, row)
        p2c = (key @ self.heads(self.pos_query(relative)).transpose(1, 2)).gather(-1, row.mT).mT
        return (c2p + p2c) * self.scaling


class BlockedLinear(nn.Module):
    """W_Q or W_K with two blocks in every head: one reads the word part, one the position part."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__()
        self.config = config
        share = config.position_dim // config.num_attention_heads
        self.word = nn.Linear(config.word_dim, config.hidden_size - share * config.num_attention_heads)
        self.position = nn.Linear(config.position_dim, share * config.num_attention_heads)

    def forward(self, hidden: Float[Tensor, "... E"]) -> Float[Tensor, "... E"]:
        """Head by head, the word block's dimensions and then the position block's."""
        heads = self.config.num_attention_heads
        words, positions = hidden.split([self.config.word_dim, self.config.position_dim], -1)
        parts = [f(x).unflatten(-1, (heads, -1)) for f, x in ((self.word, words), (self.position, positions))]
        return torch.cat(parts, -1).flatten(-2)


class OneTurnedKey(nn.Module):
    """W_K with one turned part, which every head reads, and a part of each head's own (DeepSeek-AI 2024, MLA)."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        width, turned = config.hidden_size, config.rotated_dims
        self.turned = nn.Linear(width, turned)
        self.content = nn.Linear(width, width - turned * self.heads)

    def forward(self, hidden: Float[Tensor, "... E"]) -> Float[Tensor, "... E"]:
        """Head by head, the dimensions that are turned and then those that are not."""
        content = self.content(hidden).unflatten(-1, (self.heads, -1))
        turned = self.turned(hidden).unsqueeze(-2).expand(*content.shape[:-1], -1)
        return torch.cat([turned, content], -1).flatten(-2)


class RotaryAngles(nn.Module):
    """The angles by which rotary rotates queries and keys: a module without weights, so that they can be seen."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__()
        self.dim = config.head_dim
        self.rotated_dims = config.rotated_dims

    def forward(self, length: int, reference: Tensor) -> tuple[Float[Tensor, "L D"], Float[Tensor, "L D"]]:
        """Cosines and sines of the angles, each twice in a row (Su et al. 2021, equation 34).

        Dimensions that are not rotated have the angle 0.
        """
        angles = torch.arange(length, dtype=torch.float64)[:, None] * torch.from_numpy(frequencies(self.rotated_dims))
        paired_angles = nn.functional.pad(angles.repeat_interleave(2, -1), (0, self.dim - self.rotated_dims))
        return paired_angles.cos().to(reference), paired_angles.sin().to(reference)


def rotated(x: Float[Tensor, "B H L D"], cos: Tensor, sin: Tensor) -> Float[Tensor, "B H L D"]:
    """Each pair of neighbouring dimensions rotated by its position's angle."""
    quarter_turn = torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)
    return x * cos + quarter_turn * sin


class Phases(nn.Module):
    """The angles of polar positions, in radians: a module without weights, so that they can be seen."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__()
        self.dim = config.head_dim

    def forward(self, length: int, reference: Tensor) -> Float[Tensor, "L D"]:
        """Position times frequency; dimension c of D has the frequency 10,000^(-c / D)."""
        angles = torch.arange(length, dtype=torch.float64)[:, None] * torch.from_numpy(frequencies(2 * self.dim))
        return angles.to(reference)


def polar(x: Float[Tensor, "B H L D"], angles: Float[Tensor, "*H L D"]) -> Float[Tensor, "B H L 2*D"]:
    """Each number as a length (its softplus) at its position's angle, in Cartesian coordinates.

    The product of two such rows is the sum over dimensions of both lengths times the cosine of the angle between
    them (Gopalakrishnan et al. 2025).
    """
    length = nn.functional.softplus(x)
    return torch.cat([length * angles.cos(), length * angles.sin()], -1)
