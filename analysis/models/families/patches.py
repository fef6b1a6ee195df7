"""ViT, and the base of other families that read images: patches after special tokens, and a table of positions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Required, TypedDict

import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor
from transformers import PreTrainedModel

from analysis.core.errors import ImageError
from analysis.core.term_names import SOURCES
from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import InputSource, SourceInput, WeightSource, follow_sources
from analysis.streams.tensor import stacked


@dataclass(frozen=True)
class Grid:
    """The cut of an image: rows and columns of patches, and those that the model is given, in its order."""

    rows: int
    columns: int
    kept: Int[ndarray, " patch"]


class ImageInputs(TypedDict, total=False):
    """The arguments of a model of images."""

    pixel_values: Required[Float[Tensor, "1 3 height width"]]
    interpolate_pos_encoding: bool
    noise: Float[Tensor, "1 patch"]
    """The model keeps the patches with the smallest values."""


class Patches(Family):
    """An encoder of image patches whose positions are a table that is added.

    Sources: word is what a patch shows (its pixels through the convolution; the convolution's bias is bias)
    and what stands in for content where there are no pixels: the class token, a distillation token, mask
    tokens. Position is the table, also where it is interpolated to another grid, which is linear.
    """

    reads = "image"
    layer_list = "layers"
    attention = "attention"
    specials: tuple[str, ...] = ("[CLS]",)
    """The tokens before the patches, each with a row of its own in the table of positions."""
    contents: tuple[str, ...] = ("cls_token", "mask_token")
    """Parameters of the embeddings that are word."""
    asks_to_interpolate: bool = True
    """True if the model interpolates its positions on request only."""
    hides: bool = False
    """True if it was trained with patches hidden."""

    def source_inputs(self, model: PreTrainedModel) -> Sequence[SourceInput]:
        """Pixels and learned tokens are word, the table is position."""
        embeddings = model.base_model.get_submodule("embeddings")
        tokens = [name for name in self.contents if getattr(embeddings, name, None) is not None]
        return (
            InputSource("word", "pixel_values"),
            *(WeightSource("word", embeddings, name) for name in tokens),
            WeightSource("position", embeddings, "position_embeddings"),
        )

    @contextmanager
    def showing(self, model: PreTrainedModel, *, masked: bool) -> Iterator[None]:
        """Within, a model that hides patches hides as many as in training, or none; others see all they are given."""
        yield

    def table(self, model: PreTrainedModel) -> Float[Tensor, "position width"]:
        """The table of positions as it is stored, special tokens first."""
        return model.base_model.get_parameter("embeddings.position_embeddings")[0]

    def inputs(self, model: PreTrainedModel, pixels: Float[Tensor, "1 3 height width"]) -> tuple[ImageInputs, Grid]:
        """The model's arguments for one image, and the grid of its patches.

        It is asked to interpolate its positions where it would refuse the image otherwise, and only there.
        Raises ImageError for an image of a shape that its code cannot interpolate for.
        """
        channels, height, width = pixels.shape[1:]
        if channels != model.config.num_channels:
            count = model.config.num_channels
            raise ImageError(
                f"This model takes images of {count} channel{'s' if count > 1 else ''} but its processor makes "
                f"{channels}; choose a model for images in red, green and blue."
            )
        patch_height, patch_width = self.patch(model)
        rows, columns = height // patch_height, width // patch_width
        arguments: ImageInputs = {"pixel_values": pixels}
        if self.asks_to_interpolate and (height, width) != _pair(model.config.image_size):
            self._check_square(model, height, width)
            arguments["interpolate_pos_encoding"] = True
        return arguments, Grid(rows, columns, torch.arange(rows * columns).numpy())

    def native_inputs(self, model: PreTrainedModel, arguments: ImageInputs) -> ImageInputs:
        """The arguments without the request to interpolate positions, where the image has the model's native size."""
        is_native_size = tuple(arguments["pixel_values"].shape[-2:]) == _pair(model.config.image_size)
        result = arguments.copy()
        if is_native_size:
            result.pop("interpolate_pos_encoding", None)
        return result

    def patch(self, model: PreTrainedModel) -> tuple[int, int]:
        """Height and width of a patch, in pixels."""
        return _pair(model.config.patch_size)

    def trained_grid(self, model: PreTrainedModel) -> tuple[int, int]:
        """Rows and columns of the grid that the table of positions is for."""
        height, width = _pair(model.config.image_size)
        patch_height, patch_width = self.patch(model)
        return height // patch_height, width // patch_width

    def _check_square(self, model: PreTrainedModel, height: int, width: int) -> None:
        """transformers' code takes the table for one of a square grid, and the side of a patch for one number."""
        rows, columns = self.trained_grid(model)
        if rows != columns or not isinstance(model.config.patch_size, int):
            size = _pair(model.config.image_size)
            raise ImageError(
                f"This model takes only images of {size[0]} by {size[1]} pixels, since transformers cannot interpolate "
                f"its {rows} by {columns} positions, but its processor makes {height} by {width}. Save it with a "
                "processor that resizes images to the model's own size."
            )

    def patch_positions(
        self, model: PreTrainedModel, pixels: Float[Tensor, "1 3 height width"]
    ) -> Float[Tensor, "patch width"]:
        """The position part that the model's own code adds to each patch of such an image, with no patch hidden."""
        with self.showing(model, masked=False), torch.inference_mode():
            arguments, _ = self.inputs(model, pixels)
            with follow_sources(model, self.source_inputs(model), arguments) as inputs:
                result = model.base_model.get_submodule("embeddings")(**inputs)
            embedded = result[0] if isinstance(result, tuple) else result
            return stacked(embedded, len(SOURCES))[SOURCES.index("position"), 0, len(self.specials) :].float()


def _pair(size: int | Sequence[int]) -> tuple[int, int]:
    """Height and width, of two numbers or of one for both."""
    height, width = (size, size) if isinstance(size, int) else size
    return int(height), int(width)


FAMILIES.add("vit", Patches("ViT"))  # the class token is word (Dosovitskiy et al. 2021)
