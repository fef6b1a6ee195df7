"""Combines word, position and segment into the first layer's input.

Shapes: B batch, L length, E hidden size, W word width, P position width.
"""

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from analysis.ablation.encoder.config import AddendConfig
from analysis.encodings import encode


class Inputs(nn.Module):
    """Embeds ids, under BERT's parameter names."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__()
        self.config = config
        width = config.word_dim
        self.word_embeddings = nn.Embedding(config.vocab_size, width, padding_idx=config.pad_token_id)
        if config.combine != "none":
            self.position_embeddings = PositionTable(config, config.position_width)
        if config.segments:
            self.token_type_embeddings = nn.Embedding(config.type_vocab_size, width)
        self.LayerNorm = nn.LayerNorm(width if config.blocked else config.hidden_size, eps=config.layer_norm_eps)
        if config.blocked or config.position_norm:
            part = config.position_dim if config.blocked else config.hidden_size
            self.position_LayerNorm = nn.LayerNorm(part, eps=config.layer_norm_eps)
        if config.combine in ("project", "add_project"):
            parts = 2 if config.combine == "project" else 1
            self.projection = nn.Linear(parts * config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        if config.recurrent:
            self.recurrent = nn.GRU(config.hidden_size, config.hidden_size // 2, batch_first=True, bidirectional=True)

    def forward(
        self, ids: Int64[Tensor, "B L"], segments: Int64[Tensor, "B L"] | None, mask: Int64[Tensor, "B L"] | None
    ) -> Float[Tensor, "B L E"]:
        """The hidden states that enter layer 0. The mask only keeps the recurrent variant from reading padding."""
        hidden = self.dropout(self._combined(ids, segments))
        if not self.config.recurrent:
            return hidden
        if mask is None:
            return self.recurrent(hidden)[0]
        packed = pack_padded_sequence(hidden, mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.recurrent(packed)[0], batch_first=True, total_length=ids.shape[1])[0]

    def words(self, ids: Int64[Tensor, "B L"]) -> Float[Tensor, "B L W"]:
        """Word embeddings, scaled where the variant scales them."""
        words = self.word_embeddings(ids)
        return words * self.config.hidden_size**0.5 if self.config.scale_words else words

    def _combined(self, ids: Tensor, segments: Tensor | None) -> Tensor:
        config = self.config
        words = self.words(ids)
        if config.segments:
            if segments is None or config.single_segment:
                segments = torch.zeros_like(ids)
            words = words + self.token_type_embeddings(segments)
        if config.word_width:
            words = nn.functional.pad(words, (0, config.hidden_size - config.word_width))
        if config.combine == "none":
            return self.LayerNorm(words)
        positions = self.position_embeddings(ids.shape[1])
        if config.combine == "multiply":
            if config.matched_scales:
                positions = 1 + positions / config.initializer_range
            return self.LayerNorm(words * positions)
        if config.combine == "add":
            if config.position_norm:
                return self.LayerNorm(words) + self.position_LayerNorm(positions)
            return self.LayerNorm(words + positions)
        if config.combine == "add_project":
            return self.LayerNorm(self.projection(words + positions))
        positions = positions.expand(len(ids), -1, -1)
        if config.combine == "project":
            return self.LayerNorm(self.projection(torch.cat([words, positions], -1)))
        if config.blocked:
            return torch.cat([self.LayerNorm(words), self.position_LayerNorm(positions)], -1)
        return self.LayerNorm(torch.cat([words, positions], -1))


class PositionTable(nn.Module):
    """A table of positions: learned, or fixed and saved with the weights."""

    def __init__(self, config: AddendConfig, width: int) -> None:
        super().__init__()
        self.config = config
        learned = config.position == "learned"
        self.weight = nn.Parameter(torch.empty(config.max_position_embeddings, width), requires_grad=learned)

    def initialise(self, generator: torch.Generator) -> None:
        """Draws or computes the table.

        A learned one is normal with the config's deviation; one that multiplies is 1 plus a standard
        normal, so that a word and what a position changes in it start equally strong.
        """
        config, (length, width) = self.config, self.weight.shape
        deviation = config.position_deviation or config.initializer_range
        if config.position == "sinusoidal":
            table = encode("sinusoidal", length=length, dim=config.hidden_size if config.leading else width)[:, :width]
            if config.leading and config.combine == "add":
                table = table * (np.arange(width) < config.position_dim)
            if config.position_deviation:
                self.weight.data.copy_(torch.from_numpy(table * deviation * 2**0.5))
                return
        elif config.position == "random_fixed":
            # The sinusoids' root mean square, so that only the structure differs.
            table = np.random.default_rng(generator.initial_seed()).normal(0, 0.5**0.5, (length, width))
        elif config.position_start == "sinusoidal":
            # Sines and cosines have a mean square of one half.
            table = encode("sinusoidal", length=length, dim=width) * deviation * 2**0.5
        elif config.combine == "multiply" and not config.matched_scales:
            self.weight.data.normal_(1.0, 1.0, generator=generator)
            return
        else:
            self.weight.data.normal_(0.0, deviation, generator=generator)
            return
        if config.matched_scales and config.position != "learned":
            table = table * config.initializer_range
        self.weight.data.copy_(torch.from_numpy(table))

    def forward(self, length: int) -> Float[Tensor, "L P"]:
        """The rows of the first positions."""
        return self.weight[:length]
