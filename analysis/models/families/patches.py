"""What families that read images share: patches in a row, special tokens before them, a table of positions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor, nn
from torch.nn import functional

from analysis.models.families import Family
from analysis.models.seeds import Input, Seed, Weight


@dataclass(frozen=True)
class Grid:
    """How an image is cut: rows and columns of patches, and which of them the model is given, in its order."""

    rows: int
    columns: int
    kept: Int[ndarray, " patch"]


class Patches(Family):
    """An encoder of image patches whose positions are a table that is added.

    Sources: word is what a patch shows (its pixels through the convolution; the convolution's bias is bias)
    and what stands in for content where there are no pixels: the class token, a distillation token, mask
    tokens. Position is the table, also where it is interpolated to another grid, which is linear.
    """

    reads = "image"
    specials: tuple[str, ...] = ("[CLS]",)
    """The tokens before the patches, each with a row of its own in the table of positions."""
    contents: tuple[str, ...] = ("cls_token", "mask_token")
    """Parameters of the embeddings that are word."""
    asks_to_interpolate: bool = True
    """Whether the model wants to be asked before it interpolates its positions."""
    hides: bool = False
    """Whether it was trained with patches hidden."""

    def seeds(self, model: Any) -> Sequence[Seed]:
        """Pixels and learned tokens are word, the table is position."""
        inside = model.base_model.embeddings
        tokens = [name for name in self.contents if getattr(inside, name, None) is not None]
        return (
            Input("word", "pixel_values"),
            *(Weight("word", inside, name) for name in tokens),
            Weight("position", inside, "position_embeddings"),
        )

    def layers(self, model: Any) -> Sequence[Any]:
        """ViTLayer and its kin."""
        return list(model.base_model.layers)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The attention of each layer."""
        return [layer.attention for layer in self.layers(model)]

    @contextmanager
    def showing(self, model: Any, *, masked: bool) -> Iterator[None]:
        """Within, a model that hides patches hides as many as in training, or none; others see all they are given."""
        yield

    def table(self, model: Any) -> Float[Tensor, "position width"]:
        """The table of positions as it is stored, special tokens first."""
        return model.base_model.embeddings.position_embeddings[0]

    def inputs(self, model: Any, pixels: Float[Tensor, "1 3 height width"]) -> tuple[Mapping[str, Any], Grid]:
        """What the model is called with for one image, and how that cuts the image."""
        height, width = pixels.shape[-2:]
        size = model.config.patch_size
        down, across = size if isinstance(size, list | tuple) else (size, size)
        rows, columns = height // down, width // across
        given: dict[str, Any] = {"pixel_values": pixels}
        if self.asks_to_interpolate and self.interpolated(model, rows, columns):
            given["interpolate_pos_encoding"] = True
        return given, Grid(rows, columns, torch.arange(rows * columns).numpy())

    def side(self, model: Any) -> int:
        """Rows, and columns, of the grid that the table of positions was trained on."""
        return int((len(self.table(model)) - len(self.specials)) ** 0.5)

    def interpolated(self, model: Any, rows: int, columns: int) -> bool:
        """Whether positions for this grid are interpolated from those of the table."""
        return (rows, columns) != (self.side(model), self.side(model))

    def patch_positions(self, model: Any, rows: int, columns: int) -> Float[Tensor, "patch width"]:
        """The positions of the patches of a grid, as the model adds them: bicubic where the grid is not the table's."""
        own = self.table(model)[len(self.specials) :].float()
        if not self.interpolated(model, rows, columns):
            return own
        side = self.side(model)
        square = own.reshape(1, side, side, -1).permute(0, 3, 1, 2)
        grid = functional.interpolate(square, size=(rows, columns), mode="bicubic", align_corners=False)
        return grid[0].flatten(1).T
