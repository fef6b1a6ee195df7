"""Proves that images reach the models as transformers prepares them, and that what is no image gets a sentence.

The positions that are shown are those that transformers' own embeddings add, interpolated by its own code; the
pixels shown are those the model is given; patches are named by where they stand, also where some are hidden.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from family_specimens import SPECIMENS
from PIL import Image
from scipy.spatial.distance import cosine
from transformers import CLIPConfig, CLIPModel, ViTConfig, ViTModel
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from analysis.core.errors import AddendError, ImageError, ModelError
from analysis.measurements.terms import decompose
from analysis.measurements.terms.image_result import similarity
from analysis.measurements.terms.images import decompose_image
from analysis.models import random_vit
from analysis.models.families import FAMILIES
from analysis.models.load import Loaded, load
from analysis.models.source import resolve
from analysis.probes.drawn_images import IMAGES, SIDE, open_upload
from analysis.probes.image_probe import ImageRequest, command, local_image_file
from analysis.streams.tensor import stacked

SIZE = {"height": 12, "width": 12}
LARGER = {"height": 20, "width": 24}


def processor(size: dict[str, int]) -> Any:
    return ViTImageProcessorPil(size=size)


def picture(width: int = 40, height: int = 30) -> Image.Image:
    return Image.fromarray(np.random.default_rng(1).integers(0, 255, (height, width, 3), dtype=np.uint8))


def saved(picture: Image.Image, form: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, form)
    return buffer.getvalue()


@pytest.mark.parametrize("name", IMAGES)
def test_a_drawn_image_is_the_same_every_time(name: str) -> None:
    first, second = (np.asarray(IMAGES[name].draw()) for _ in range(2))
    assert first.shape == (SIDE, SIDE, 3)
    assert np.array_equal(first, second)
    assert (np.ptp(first) == 0) == (name == "blank")


def test_the_odd_square_is_odd() -> None:
    squares = np.asarray(IMAGES["checkerboard"].draw())[14::28, 14::28]
    colours, counts = np.unique(squares.reshape(-1, 3), axis=0, return_counts=True)
    assert sorted(counts) == [1, 31, 32] or sorted(counts) == [1, 31, 31, 1], colours


# What a reader uploads


def test_an_image_is_read_in_three_colours() -> None:
    grey = picture().convert("L")
    assert np.array_equal(np.asarray(open_upload(saved(grey), "a.png")), np.asarray(grey.convert("RGB")))
    assert open_upload(saved(picture().convert("P"), "GIF"), "a.gif").mode == "RGB"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is no image that can be read"),
        (b"word and position", "is no image that can be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is no image that can be read"),
        (saved(picture())[:200], "is no image that can be read"),
        (saved(picture(15, 400)), r"has 15 by 400 pixels; it needs at least 16 on each side"),
        (saved(picture(16, 400)), r"has 16 by 400 pixels; one side may be at most 10 times the other"),
        (saved(Image.new("1", (6000, 5000))), r"has 6000 by 5000 pixels; at most 25 million"),
        (bytes(11_000_000), r"has 11\.0 MB; at most 10 MB"),
    ],
)
def test_what_is_no_image_to_probe_is_said(data: bytes, said: str) -> None:
    with pytest.raises(ImageError, match=f"^holiday.png {said}"):
        open_upload(data, "holiday.png")


def test_a_jpeg_of_very_many_scans_is_refused_and_a_progressive_one_is_read() -> None:
    """Each scan goes over the whole image: 5 MB of them took half an hour, in code that nothing can stop."""
    buffer = io.BytesIO()
    picture().save(buffer, "JPEG", progressive=True)
    whole = buffer.getvalue()
    assert whole.count(b"\xff\xda") > 5
    assert open_upload(whole, "a.jpg").size == picture().size
    last = whole[whole.rindex(b"\xff\xda") : -2]
    with pytest.raises(ImageError, match=r"holiday\.jpg is a JPEG of more than 100 scans"):
        open_upload(whole[:-2] + last * 100 + whole[-2:], "holiday.jpg")


def test_an_unknown_drawn_image_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ImageError, match="There is no drawn image 'cat'; there are: scene, circles"):
        ImageRequest(model=random_vit.NAME, image="cat").run()


# From the file to the patches


@pytest.mark.parametrize("name", [name for name in SPECIMENS if name in FAMILIES and FAMILIES[name].reads == "image"])
@pytest.mark.parametrize("size", [SIZE, LARGER])
def test_the_positions_shown_are_those_the_model_adds(name: str, size: dict[str, int]) -> None:
    """transformers' own embeddings, with the position table and without it."""
    model: Any = SPECIMENS[name].build()
    if name == "vit_mae":
        model.config.mask_ratio = 0.0
    made = decompose_image(Loaded.of(model, processor(size)), picture())
    pixels = processor(size)(picture(), return_tensors="pt")["pixel_values"]
    extra = {} if name == "dinov2" else {"interpolate_pos_encoding": True}
    if name == "vit_mae":
        extra["noise"] = torch.arange(made.grid[0] * made.grid[1])[None] / 100

    def embedded() -> torch.Tensor:
        with torch.no_grad():
            found = model.embeddings(pixels, **extra)
        return (found[0] if isinstance(found, tuple) else found)[0, made.specials :]

    whole, table = embedded(), FAMILIES[name].table(model)
    with torch.no_grad():
        table.data.zero_()
    assert made.grid == (size["height"] // 4, size["width"] // 4)
    assert made.interpolated == (size is LARGER)
    np.testing.assert_allclose(made.positions, (whole - embedded()).numpy(), atol=1e-5)


@pytest.mark.parametrize("name", ["vit", "deit", "dinov2", "vit_mae", "clip_vision_model"])
def test_the_terms_of_an_image_are_the_models_own_scores(name: str) -> None:
    """The pattern is that of transformers' own pass over the pixels that its processor gives."""
    model: Any = SPECIMENS[name].build()
    if name == "vit_mae":
        model.config.mask_ratio = 0.0
    made = decompose_image(Loaded.of(model, processor(SIZE)), picture(), 1)
    pixels = processor(SIZE)(picture(), return_tensors="pt")["pixel_values"]
    given = {"noise": torch.arange(9)[None] / 9} if name == "vit_mae" else {}
    model.set_attn_implementation("eager")
    with torch.no_grad():
        own = model(pixels, output_attentions=True, **given).attentions[1][0].numpy()
    np.testing.assert_allclose(made.pattern, own, atol=1e-5)
    np.testing.assert_allclose(made.total(), made.scores, atol=1e-4)
    assert made.tokens[: made.specials] == list(FAMILIES[name].specials)
    assert made.tokens[made.specials :] == [f"r{r} c{c}" for r in range(3) for c in range(3)]


def test_the_pixels_shown_are_those_the_model_is_given() -> None:
    made = decompose_image(Loaded.of(SPECIMENS["vit"].build(), processor(SIZE)), picture())
    expected = np.asarray(picture().resize((12, 12), Image.Resampling.BILINEAR))
    assert np.abs(made.pixels.astype(int) - expected.astype(int)).max() <= 1


def test_what_is_no_whole_patch_is_not_shown() -> None:
    made = decompose_image(Loaded.of(SPECIMENS["dinov2"].build(), processor({"height": 14, "width": 19})), picture())
    assert made.grid == (3, 4)
    assert made.pixels.shape == (12, 16, 3)


def test_a_masked_autoencoder_is_shown_some_patches_and_they_keep_their_names() -> None:
    model: Any = SPECIMENS["vit_mae masked"].build()
    whole, part = (
        decompose_image(Loaded.of(model, processor(SIZE)), picture(), 0, masked=masked) for masked in (False, True)
    )
    assert len(whole.kept) == 9
    assert len(part.kept) == 4
    assert model.config.mask_ratio == 0.5, "the model is left as it was"
    assert part.tokens[1:] == [f"r{at // 3} c{at % 3}" for at in part.kept]
    for token, name in enumerate(part.tokens):  # At layer 0 a patch's query does not depend on the others.
        np.testing.assert_allclose(part.query[:, :, token], whole.query[:, :, whole.tokens.index(name)], atol=1e-4)
    laid = part.on_grid(np.arange(5.0))
    assert np.isnan(laid).sum() == 5
    assert laid.ravel()[part.kept].tolist() == [1, 2, 3, 4]


def test_half_precision_is_taken_apart_in_single() -> None:
    model: Any = SPECIMENS["vit"].build().bfloat16()
    made = decompose_image(Loaded.of(model, processor(SIZE)), picture(), 1)
    assert made.query.dtype == np.float32
    assert made.provenance.dtype == "bfloat16"
    assert made.relative_error < 0.05


def test_word_and_position_are_told_apart() -> None:
    """A grey image: at layer 0 no patch's word differs from another's, and every position does."""
    made = decompose_image(Loaded.of(SPECIMENS["vit"].build(), processor(SIZE)), IMAGES["blank"].draw())
    words, positions = made.key[0, :, 1:], made.key[1, :, 1:]
    scale = made.query.std()
    # The norm's statistics differ from patch to patch, and with them the size, but not the direction.
    unit = words / np.linalg.norm(words, axis=-1, keepdims=True)
    np.testing.assert_allclose(unit, np.broadcast_to(unit[:, :1], unit.shape), atol=1e-4)
    assert positions.std(1).min() > 0.01 * scale


def test_similarity_is_the_cosine() -> None:
    table = np.random.default_rng(0).normal(size=(5, 7))
    found = similarity(table)
    for i in range(5):
        for j in range(5):
            assert found[i, j] == pytest.approx(1 - cosine(table[i], table[j]), abs=1e-12)
    assert np.isnan(similarity(np.zeros((2, 3)))).all()


# Models


def tiny(folder: Path) -> Path:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "hidden_size": 32,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "intermediate_size": 16,
    }
    ViTModel(ViTConfig(**sizes, image_size=12, patch_size=4)).save_pretrained(folder)
    processor(SIZE).save_pretrained(folder)
    return folder


def test_a_folder_with_an_image_processor_opens(tmp_path: Path) -> None:
    loaded = load(resolve(str(tiny(tmp_path))), device="cpu")
    made = ImageRequest(model=str(tmp_path), image="scene", layer=1).run(loaded)
    assert made.grid == (3, 3)
    assert made.relative_error < 1e-5
    assert command(made).endswith("--image scene --layer 1")


def test_a_folder_without_an_image_processor_is_refused(tmp_path: Path) -> None:
    (tiny(tmp_path) / "preprocessor_config.json").unlink()
    with pytest.raises(ModelError, match=r"holds no preprocessor_config\.json, which says to what size"):
        resolve(str(tmp_path))


def test_of_a_whole_clip_the_image_encoder_is_read(tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "hidden_size": 32,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "intermediate_size": 16,
    }
    both = CLIPModel(
        CLIPConfig(vision_config={**sizes, "image_size": 12, "patch_size": 4}, text_config={**sizes, "vocab_size": 25})
    ).eval()
    both.save_pretrained(tmp_path)
    CLIPImageProcessorPil(size={"shortest_edge": 12}, crop_size=SIZE).save_pretrained(tmp_path)
    loaded = load(resolve(str(tmp_path)), device="cpu")
    pixels = loaded.tokenizer(picture(), return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        own, ours = both.vision_model(pixels).last_hidden_state, loaded.model(pixels).last_hidden_state
    torch.testing.assert_close(ours, own)
    made = decompose_image(loaded, picture(), 1)
    assert made.relative_error < 1e-5


def test_models_of_the_other_kind_are_refused(tmp_path: Path) -> None:
    loaded = random_vit.random_vit()
    with pytest.raises(ModelError, match=r"reads images, not text\. Choose Image in the form of Look inside"):
        decompose(loaded.model, None, "some text")
    with pytest.raises(ModelError, match=r"reads text, not images\. Choose Text in the form of Look inside"):
        decompose_image(Loaded.of(SPECIMENS["bert"].build(), processor(SIZE)), picture())


def test_an_image_of_too_many_patches_is_refused() -> None:
    with pytest.raises(ImageError, match="60 by 60 patches of this image; expected 1 to 2,500"):
        decompose_image(Loaded.of(SPECIMENS["vit"].build(), processor({"height": 240, "width": 240})), picture())


def test_the_model_with_random_weights_is_the_same_every_time() -> None:
    first, second = (random_vit.random_vit().model.state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    made = ImageRequest(model=random_vit.NAME, image="circles", layer=3).run()
    assert made.provenance.model == random_vit.NAME
    assert "random" in random_vit.NAME
    assert made.relative_error < 1e-5
    assert made.pattern.max(-1).mean() > 2 / len(made.tokens), "attention is not uniform"


def test_a_file_is_probed_from_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "a cat.png"
    path.write_bytes(saved(picture()))
    assert local_image_file("scene") is None
    assert local_image_file(str(path)) == ("a cat.png", path.read_bytes())
    made = ImageRequest(model=random_vit.NAME, image="a cat.png", uploaded=path.read_bytes()).run()
    assert made.provenance.text == "uploaded a cat.png"
    with pytest.raises(AddendError, match="There is no drawn image"):
        ImageRequest(model=random_vit.NAME, image=str(tmp_path / "none.png")).run()


def test_positions_of_a_table_with_sources_are_followed() -> None:
    """The rule for embedding: rows of a table whose parts add up, chosen by number."""
    from analysis.streams.tensor import decomposed

    parts = torch.randn(2, 6, 4)
    table = decomposed(parts.sum(0), list(parts))
    found = torch.nn.functional.embedding(torch.tensor([[3, 0]]), table)
    torch.testing.assert_close(stacked(found, 2), parts[:, [[3, 0]]])
