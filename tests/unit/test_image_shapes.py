"""Images and patches of any shape: what is shown is what the model does by itself, or a sentence says why not.

The reference is the model's own pass over the pixels that its processor gives, and nothing else.
"""

from typing import Any

import numpy as np
import pytest
import torch
from family_specimens import IMAGE, randomised
from PIL import Image
from transformers import (
    CLIPVisionConfig,
    CLIPVisionModel,
    DeiTConfig,
    DeiTModel,
    Dinov2Config,
    Dinov2Model,
    ViTConfig,
    ViTMAEConfig,
    ViTMAEModel,
    ViTModel,
)
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from analysis.core.errors import ImageError
from analysis.measurements.interventions.images import intervene_image
from analysis.measurements.terms.image_corpus import measure_images
from analysis.measurements.terms.images import decompose_image
from analysis.models import random_vit
from analysis.models.families.patches import Patches
from analysis.models.load import Loaded

KINDS: dict[str, tuple[Any, Any]] = {
    "vit": (ViTModel, ViTConfig),
    "deit": (DeiTModel, DeiTConfig),
    "dinov2": (Dinov2Model, Dinov2Config),
    "vit_mae": (ViTMAEModel, ViTMAEConfig),
    "clip_vision_model": (CLIPVisionModel, CLIPVisionConfig),
}


def tiny(kind: str, image: Any, patch: Any, **more: Any) -> Any:
    """A model of images of this size, (height, width) or a side, in float64."""
    model, config = KINDS[kind]
    hides = {"mask_ratio": 0.0} if kind == "vit_mae" else {}
    sizes = {**IMAGE, "image_size": image, "patch_size": patch, **hides, **more}
    return randomised(model._from_config(config(**sizes), attn_implementation="eager"), 0.15).double()


def processor(height: int, width: int) -> Any:
    return ViTImageProcessorPil(size={"height": height, "width": width})


def picture() -> Image.Image:
    return Image.fromarray(np.random.default_rng(1).integers(0, 255, (40, 50, 3), dtype=np.uint8))


def alone(model: Any, height: int, width: int, layer: int) -> np.ndarray:
    """The pattern of the model's own pass over the pixels; a masked autoencoder's patches stay in their order."""
    pixels = processor(height, width)(picture(), return_tensors="pt")["pixel_values"].double()
    noise = {}
    if isinstance(model, ViTMAEModel):
        noise = {"noise": torch.arange(model.embeddings.patch_embeddings.num_patches)[None] / 1000}
    model.set_attn_implementation("eager")
    with torch.no_grad():
        return model(pixels, output_attentions=True, **noise).attentions[layer][0].numpy()


OBLONG = [
    (kind, image, patch)
    for kind in ("vit", "deit")
    for image, patch in (((64, 16), 8), ((16, 64), 8), ([16, 32], [8, 4]), ((16, 32), 8), ((35, 19), 8), (32, [8, 16]))
]


@pytest.mark.parametrize(("kind", "image", "patch"), OBLONG, ids=str)
def test_an_oblong_model_is_shown_as_it_is_by_itself(kind: str, image: Any, patch: Any) -> None:
    model = tiny(kind, image, patch)
    height, width = (image, image) if isinstance(image, int) else image
    down, across = (patch, patch) if isinstance(patch, int) else patch
    made = decompose_image(Loaded.of(model, processor(height, width)), picture(), 1)
    assert made.grid == made.trained == (height // down, width // across)
    assert not made.interpolated
    assert made.pixels.shape == (made.grid[0] * down, made.grid[1] * across, 3)
    assert made.relative_error < 1e-9
    np.testing.assert_allclose(made.pattern, alone(model, height, width, 1), rtol=0, atol=1e-6)
    specials, table = made.specials, model.embeddings.position_embeddings[0].detach().numpy()
    np.testing.assert_allclose(made.positions, table[specials:], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("kind", "image", "patch"), OBLONG[:4], ids=str)
def test_interventions_begin_with_the_model_as_it_is_by_itself(kind: str, image: Any, patch: Any) -> None:
    model = tiny(kind, image, patch)
    loaded = Loaded(model, processor(*image), random_vit.source(), "cpu")
    made = intervene_image(loaded, picture(), ["zero_positions"], 1)
    np.testing.assert_allclose(made.before, alone(model, *image, 1), rtol=0, atol=1e-6)


def test_an_oblong_masked_autoencoder_is_shown_as_it_is_by_itself() -> None:
    """transformers gives it a table for 4 by 4 patches and adds it row by row to its 8 by 2."""
    model = tiny("vit_mae", (64, 16), 8)
    made = decompose_image(Loaded.of(model, processor(64, 16)), picture(), 1)
    assert made.grid == (8, 2)
    np.testing.assert_allclose(made.pattern, alone(model, 64, 16, 1), rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [(32, 32), (64, 16), (16, 64), (40, 24), (35, 39)])
def test_a_model_that_interpolates_by_itself_is_shown_as_it_does(size: tuple[int, int]) -> None:
    model = tiny("dinov2", 32, [8, 8])
    made = decompose_image(Loaded.of(model, processor(*size)), picture(), 1)
    np.testing.assert_allclose(made.pattern, alone(model, *size, 1), rtol=0, atol=1e-6)
    pixels = processor(*size)(picture(), return_tensors="pt")["pixel_values"].double()
    with torch.no_grad():
        whole = model.embeddings(pixels)
        model.embeddings.position_embeddings.zero_()
        bare = model.embeddings(pixels)
    np.testing.assert_allclose(made.positions, (whole - bare)[0, 1:].numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", [35, 39])
def test_a_processor_may_bring_images_to_a_size_that_is_no_whole_number_of_patches(kind: str, side: int) -> None:
    """The pixels that no patch covers are not shown, and no others."""
    model = tiny(kind, 32, 8)
    made = decompose_image(Loaded.of(model, processor(side, side)), picture(), 1)
    assert made.grid == (4, 4)
    assert made.pixels.shape == (32, 32, 3)
    expected = np.asarray(picture().resize((side, side), Image.Resampling.BILINEAR))[:32, :32]
    assert np.abs(made.pixels.astype(int) - expected.astype(int)).max() <= 1
    assert made.relative_error < 1e-5


@pytest.mark.parametrize(
    ("kind", "image", "patch", "size", "said"),
    [
        ("vit", (64, 16), 8, (32, 32), "takes only images of 64 by 16 pixels"),
        ("deit", (16, 32), 8, (32, 32), "takes only images of 16 by 32 pixels"),
        ("vit", 32, [8, 8], (40, 40), "takes only images of 32 by 32 pixels"),
        ("dinov2", (16, 32), 8, (16, 32), "8 positions form no square grid"),
    ],
)
def test_a_size_that_the_model_cannot_take_is_said(
    kind: str, image: Any, patch: Any, size: tuple[int, int], said: str
) -> None:
    with pytest.raises(ImageError, match=said):
        decompose_image(Loaded.of(tiny(kind, image, patch), processor(*size)), picture())


def test_a_model_of_other_channels_is_answered_with_a_sentence() -> None:
    with pytest.raises(ImageError, match="takes images of 1 channel"):
        decompose_image(Loaded.of(tiny("vit", 32, 8, num_channels=1), processor(32, 32)), picture())


def test_the_error_is_measured_against_the_pass_that_the_model_makes_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked of the model besides its pixels shows in the error, whatever asks it."""
    own = Patches.inputs

    def forced(self: Patches, model: Any, pixels: torch.Tensor) -> Any:
        given, grid = own(self, model, pixels)
        return {**given, "interpolate_pos_encoding": True}, grid

    monkeypatch.setattr(Patches, "inputs", forced)
    made = decompose_image(Loaded.of(tiny("vit", (64, 16), 8), processor(64, 16)), picture(), 1)
    assert made.relative_error > 0.01
    assert made.pattern_error > 0.01


def test_an_oblong_model_is_measured(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    loaded = Loaded(tiny("vit", (64, 16), 8), processor(64, 16), random_vit.source(), "cpu")
    terms, positions = measure_images(loaded, [picture()], "drawn_images", each=iter([0]))
    assert terms.is_file()
    assert positions.is_file()


def test_half_precision_may_be_interpolated_too() -> None:
    made = decompose_image(Loaded.of(tiny("vit", 32, 8).bfloat16(), processor(40, 24)), picture(), 1)
    assert made.interpolated
    assert made.provenance.dtype == "bfloat16"
    assert made.relative_error < 0.05
