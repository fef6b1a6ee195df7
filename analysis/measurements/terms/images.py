"""Runs a model on an image and takes the scores between its patches apart."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int, UInt8
from numpy import ndarray
from PIL import Image
from torch import Tensor
from transformers import PreTrainedModel

from analysis.core.errors import ImageError
from analysis.core.shown_image import as_shown
from analysis.measurements.terms.image_result import ImageDecomposition
from analysis.measurements.terms.result import TokenInfo
from analysis.measurements.terms.run import LayerPass, check_layer, checked_family, decompose_layer, provenance
from analysis.models.families.patches import ImageInputs, Patches
from analysis.models.load import Loaded

MAX_PATCHES = 2_500
"""The largest number of patches of an image: every head's scores are its square."""


class ImageProcessor(Protocol):
    """The part of an image processor of transformers that is used here."""

    image_mean: Sequence[float]
    image_std: Sequence[float]

    def __call__(self, images: Image.Image, *, return_tensors: str) -> Mapping[str, Tensor]:
        """`pixel_values`, (1, 3, height, width), and whatever else."""
        ...


@dataclass(frozen=True)
class Prepared:
    """An image as a model is given it, and as a reader should see it."""

    inputs: ImageInputs
    grid: tuple[int, int]
    kept: Int[ndarray, " patch"]
    pixels: UInt8[ndarray, "height width 3"]


def decompose_image(
    loaded: Loaded, picture: Image.Image, layer: int = 0, *, masked: bool = False, title: str = "image"
) -> ImageDecomposition:
    """The scores of one layer between the patches of an image, as a sum of sixteen terms.

    masked: whether a masked autoencoder hides patches, as it did in training. title: what the image is called. The
    part of gated units that is held fixed is the activation.
    Raises ModelError for a model that reads no images, ImageError for an image of too many patches.
    """
    model = loaded.model
    family = checked_patches(model, loaded.source.name)
    check_layer(model, family, layer)
    with family.showing(model, masked=masked):
        prepared = prepare(model, family, loaded.tokenizer, picture)
        started = time.perf_counter()
        passed = LayerPass(
            model=model,
            family=family,
            inputs=prepared.inputs,
            layer=layer,
            freeze="activation",
            alone=family.native_inputs(model, prepared.inputs),
        )
        measured, dtype = decompose_layer(ImageDecomposition, passed)
    about = provenance(loaded, title, started, dtype=dtype)
    positions = family.patch_positions(model, prepared.inputs["pixel_values"])
    return measured(
        token_info=tokens(family, prepared),
        provenance=about,
        grid=prepared.grid,
        kept=prepared.kept,
        pixels=prepared.pixels,
        positions=positions.cpu().numpy().copy(),  # not the weights
        trained=family.trained_grid(model),
        specials=len(family.specials),
        masked=family.hides and masked,
    )


def checked_patches(model: PreTrainedModel, name: str | None) -> Patches:
    """The family of a model of images that is ready. Raises ModelError as `checked_family` does."""
    family = checked_family(model, name, reads="image")
    assert isinstance(family, Patches)
    return family


def prepare(model: PreTrainedModel, family: Patches, processor: ImageProcessor, picture: Image.Image) -> Prepared:
    """An image brought to the size and range that the model takes.

    Raises ImageError where it would be cut into too many patches, or into none, or has no agreed colours.
    """
    result: Tensor = processor(as_shown(picture), return_tensors="pt")["pixel_values"]
    inputs, grid = family.inputs(model, result.to(model.device, model.dtype))
    down, across = family.patch(model)
    if grid.rows * grid.columns > MAX_PATCHES or not grid.rows * grid.columns:
        raise ImageError(
            f"The model's processor makes {grid.rows} by {grid.columns} patches of this image; expected 1 to "
            f"{MAX_PATCHES:,}. Crop the image nearer to a square."
        )
    if "noise" in inputs:
        inputs["noise"] = inputs["noise"].to(model.device)
    return Prepared(
        inputs,
        (grid.rows, grid.columns),
        grid.kept,
        visible_image(processor, result[0], grid.rows * down, grid.columns * across),
    )


def visible_image(
    processor: ImageProcessor, result: Float[Tensor, "3 height width"], height: int, width: int
) -> UInt8[ndarray, "height width 3"]:
    """The input of the model as an image again: height and width are those that its whole patches cover."""
    image = result.permute(1, 2, 0).float().numpy()
    if getattr(processor, "do_normalize", True):
        image = image * np.asarray(processor.image_std) + np.asarray(processor.image_mean)
    return (image[:height, :width].clip(0, 1) * 255).round().astype(np.uint8)


def tokens(family: Patches, prepared: Prepared) -> tuple[TokenInfo, ...]:
    """The special tokens, then the patches by row and column, both from 0."""
    special = [TokenInfo(text, None, 0) for text in family.specials]
    columns = prepared.grid[1]
    return (*special, *(TokenInfo(f"r{at // columns} c{at % columns}", (0, int(at)), 0) for at in prepared.kept))
