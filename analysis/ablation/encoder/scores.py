"""Computes the scores that positions add in every layer, once for each forward pass.

Shapes: L length, H head, E hidden size, D head dimension.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from analysis.ablation.encoder.config import AddendConfig
from analysis.encodings.alibi import slopes
from analysis.encodings.encoding import relative_positions
from analysis.encodings.t5_bias import bucket

MAX_DISTANCE = 128
"""The distance from which on all distances share a T5 bucket (Raffel et al. 2020)."""


class PositionScores(nn.Module):
    """TUPE's position-to-position scores, T5's bias, ALiBi: a (1, H, L, L) term added to the words' scores."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__()
        self.config = config
        # Row 0 is that of [CLS] as a query, and token i (from 0) uses row i + 1; not so if positions are added.
        self.extra_rows = 0 if config.untied in ("added", "shared") else 1
        if config.untied != "none":
            self.positions = nn.Embedding(config.max_position_embeddings + self.extra_rows, config.hidden_size)
            self.LayerNorm = (
                nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps) if config.told_norm else nn.Identity()
            )
        if config.untied in ("own", "added"):
            self.query = nn.Linear(config.hidden_size, config.hidden_size)
            self.key = nn.Linear(config.hidden_size, config.hidden_size)
        if config.relative_buckets:
            # One row more where [CLS] has buckets of its own: its row takes one that T5 leaves unused.
            rows = config.relative_buckets + (1 if config.untie_cls else 0)
            self.relative = nn.Embedding(rows, config.num_attention_heads)
        if config.alibi:
            self.slopes = nn.Buffer(torch.empty(config.num_attention_heads), persistent=False)
        self._buckets: dict[tuple[int, torch.device], Tensor] = {}

    def initialise(self) -> None:
        """Fills the buffers that are computed rather than drawn at random."""
        if self.config.alibi:
            self.slopes.copy_(torch.from_numpy(slopes(self.config.num_attention_heads)))

    def normed(self, length: int) -> Float[Tensor, "rows E"]:
        """The rows that a text of this length uses, layer-normalised but where the config leaves the norm out."""
        return self.LayerNorm(self.positions.weight[: length + self.extra_rows])

    def heads(self, rows: Float[Tensor, "rows E"]) -> Float[Tensor, "H rows D"]:
        """Split into heads."""
        return rows.unflatten(-1, (self.config.num_attention_heads, -1)).transpose(0, 1)

    def untied(self, query: Float[Tensor, "H rows D"], key: Float[Tensor, "H rows D"]) -> Float[Tensor, "1 H L L"]:
        """Ke et al. 2021, equations 7 and 10, as the official code has them.

        theta_1 comes from row 0 and fills the first row, corner included; theta_2 from row 1 and fills the
        rest of the first column. Without untie_cls, row 0 is not used.
        """
        scale = (self.config.scale_terms * self.config.head_dim) ** -0.5
        products = query @ key.transpose(1, 2) * scale
        scores = products[:, 1:, 1:]
        if not self.config.untie_cls:
            return scores[None]
        length = scores.shape[-1]
        theta_1, theta_2 = products[:, 0, 0, None, None], products[:, 1, 1, None, None]
        column = torch.cat([theta_2.expand(-1, length - 1, 1), scores[:, 1:, 1:]], -1)
        return torch.cat([theta_1.expand(-1, 1, length), column], 1)[None]

    def forward(self, length: int) -> Float[Tensor, "1 H L L"] | None:
        """The sum of the terms that the config has; None where scores come from the hidden states alone."""
        scores: Tensor | None = None
        if self.config.untied == "own":
            rows = self.normed(length)
            scores = self.untied(self.heads(self.query(rows)), self.heads(self.key(rows)))
        if self.config.relative_buckets:
            # Unscaled, as in T5 and TUPE-R.
            bias = self.relative(self.buckets(length)).permute(2, 0, 1)[None]
            scores = bias if scores is None else scores + bias
        if self.config.alibi:
            distance = torch.arange(length, device=self.slopes.device)
            bias = -self.slopes[:, None, None] * (distance[None] - distance[:, None]).abs()
            scores = bias[None] if scores is None else scores + bias[None]
        return scores

    def buckets(self, length: int) -> Tensor:
        """T5's bucket of every query and key: int64 (L, L)."""
        device = self.relative.weight.device
        if (length, device) not in self._buckets:
            count = self.config.relative_buckets
            table = bucket(
                relative_positions(length),
                bidirectional=not self.config.causal,
                buckets=count,
                max_distance=MAX_DISTANCE,
            )
            if self.config.untie_cls:
                # Official code: the column takes a row of its own, the [CLS] row the bucket that T5 leaves unused.
                table = table.copy()
                table[:, 0] = count
                table[0, :] = count // 2
            self._buckets[length, device] = torch.from_numpy(np.ascontiguousarray(table)).to(device)
        return self._buckets[length, device]

    def queries_and_keys(self, length: int) -> tuple[Float[Tensor, "1 H L D"], Float[Tensor, "1 H L D"]]:
        """The queries and keys that `untied="added"` adds to those of every layer."""
        rows = self.normed(length)
        return self.heads(self.query(rows))[None], self.heads(self.key(rows))[None]
