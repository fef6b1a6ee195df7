"""Proves that a model is given the pixels that a viewer shows, for every kind of image that Pillow opens.

What is expected is computed in numpy from the samples that are written into the file, by the rules of the PNG and EXIF
specifications; PNGs of depths that Pillow does not write are written here, chunk by chunk.
"""

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import ViTConfig, ViTModel
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from analysis.core.errors import ImageError
from analysis.core.shown_image import as_shown
from analysis.measurements.terms.images import decompose_image
from analysis.models.load import Loaded
from analysis.probes.drawn_images import open_upload

HEIGHT, WIDTH = 24, 40
GREY, COLOUR, PALETTE, GREY_ALPHA, COLOUR_ALPHA = 0, 2, 3, 4, 6
SAMPLES = {GREY: 1, COLOUR: 3, PALETTE: 1, GREY_ALPHA: 2, COLOUR_ALPHA: 4}


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(samples: np.ndarray, kind: int, depth: int, **chunks: bytes) -> bytes:
    """A PNG of samples, height x width x samples of a pixel. chunks: those before the pixels, by their names."""
    rows = samples.reshape(HEIGHT, -1)
    if depth == 16:
        packed = rows.astype(">u2").view(np.uint8).reshape(HEIGHT, -1)
    else:
        bits = (rows[..., None] >> np.arange(depth - 1, -1, -1)) & 1
        packed = np.packbits(bits.reshape(HEIGHT, -1).astype(np.uint8), axis=1)
    lines = np.concatenate([np.zeros((HEIGHT, 1), np.uint8), packed], axis=1).tobytes()
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, kind, 0, 0, 0)
    more = b"".join(chunk(name.encode(), data) for name, data in chunks.items())
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + more + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    )


def drawn(kind: int, depth: int, top: int | None = None) -> np.ndarray:
    high = (1 << depth) if top is None else top
    return np.random.default_rng(depth).integers(0, high, (HEIGHT, WIDTH, SAMPLES[kind]), dtype=np.int64)


def shown(data: bytes) -> np.ndarray:
    return np.asarray(open_upload(data, "a.png")).astype(float)


def on_white(colour: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """The rule of PNG 13.16, in floats from 0 to 1."""
    return 255 * (colour * alpha + 1 - alpha)


DEPTHS = [(GREY, depth) for depth in (1, 2, 4, 8, 16)] + [
    (kind, depth) for kind in (COLOUR, GREY_ALPHA, COLOUR_ALPHA) for depth in (8, 16)
]


@pytest.mark.parametrize(("kind", "depth"), DEPTHS)
def test_every_depth_and_kind_of_png_is_shown_by_its_specification(kind: int, depth: int) -> None:
    samples = drawn(kind, depth)
    unit = samples / ((1 << depth) - 1)
    colour, alpha = (unit[..., :-1], unit[..., -1:]) if kind in (GREY_ALPHA, COLOUR_ALPHA) else (unit, 1.0)
    expected = np.broadcast_to(on_white(colour, np.asarray(alpha)), (HEIGHT, WIDTH, 3))
    worst = np.abs(shown(png(samples, kind, depth)) - expected).max()
    # Pillow keeps the upper half of 16 bits of colour and of alpha, less than one step below.
    assert worst <= (2.0 if depth == 16 and kind != GREY else 0.51)


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
def test_the_transparent_grey_of_a_png_is_white(depth: int) -> None:
    samples = drawn(GREY, depth)
    hidden = int(samples[3, 5, 0])
    expected = np.where(samples == hidden, 255, 255 * samples / ((1 << depth) - 1))
    made = shown(png(samples, GREY, depth, tRNS=struct.pack(">H", hidden)))
    assert np.abs(made - expected).max() <= 0.51


def test_the_transparent_colour_of_a_png_is_white_or_refused() -> None:
    samples = drawn(COLOUR, 8, 3)
    hidden = samples[1, 1]
    expected = np.where((samples == hidden).all(-1, keepdims=True), 255, samples)
    assert np.array_equal(shown(png(samples, COLOUR, 8, tRNS=struct.pack(">HHH", *hidden))), expected)
    with pytest.raises(ImageError, match=r"a\.png has colours of 16 bits, one of which is transparent\. Save it"):
        open_upload(png(drawn(COLOUR, 16), COLOUR, 16, tRNS=struct.pack(">HHH", 1, 2, 3)), "a.png")


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("alphas", ["none", "one", "all"])
def test_a_palette_is_looked_up_with_its_alpha(depth: int, alphas: str) -> None:
    samples = drawn(PALETTE, depth)
    rng = np.random.default_rng(1)
    palette = rng.integers(0, 256, (1 << depth, 3))
    alpha = {
        "none": np.full(1 << depth, 255),
        "one": np.where(np.arange(1 << depth) == 1, 0, 255),
        "all": rng.integers(0, 256, 1 << depth),
    }[alphas]
    chunks = {"PLTE": palette.astype(np.uint8).tobytes()}
    if alphas != "none":
        chunks["tRNS"] = alpha.astype(np.uint8).tobytes()
    expected = on_white(palette[samples[..., 0]] / 255, alpha[samples[..., 0], None] / 255)
    assert np.abs(shown(png(samples, PALETTE, depth, **chunks)) - expected).max() <= 0.51


def saved(picture: Image.Image, form: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, form, **options)
    return buffer.getvalue()


UPRIGHT = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.swapaxes(0, 1),
    6: lambda a: a.swapaxes(0, 1)[:, ::-1],
    7: lambda a: a[::-1, ::-1].swapaxes(0, 1),
    8: lambda a: a.swapaxes(0, 1)[::-1],
}
"""EXIF 2.32: where the first row and column of the file are seen, as steps of numpy."""


@pytest.mark.parametrize("orientation", UPRIGHT)
@pytest.mark.parametrize(
    ("form", "mode"),
    [(form, mode) for form in ("PNG", "JPEG", "WEBP") for mode in ("RGB", "L")]
    + [("PNG", "I;16"), ("PNG", "RGBA"), ("WEBP", "RGBA")],
)
def test_a_photograph_is_turned_upright(orientation: int, form: str, mode: str) -> None:
    base = Image.fromarray(drawn(COLOUR, 8).astype(np.uint8))
    if mode == "I;16":
        base = Image.fromarray(drawn(GREY, 16)[..., 0].astype(np.uint16))
    elif mode != "RGB":
        base = base.convert(mode)
    exif = Image.Exif()
    exif[0x0112] = orientation
    quality = {"lossless": True} if form == "WEBP" else {}
    turned = shown(saved(base, form, exif=exif, **quality))
    assert np.array_equal(turned, UPRIGHT[orientation](shown(saved(base, form, **quality))))


def test_broken_exif_is_ignored_as_viewers_do() -> None:
    picture = Image.fromarray(drawn(COLOUR, 8).astype(np.uint8))
    for broken in (b"Exif\0\0MM\0*\xff\xff\xff\xff", b"Exif\0\0II*\0\x08\0\0\0\x05\0\x12\x01", b"Exif\0\0nothing"):
        assert open_upload(saved(picture, "JPEG", exif=broken), "a.jpg").size == (WIDTH, HEIGHT)
    exif = Image.Exif()
    exif[0x0112] = 77
    assert np.array_equal(shown(saved(picture, "PNG", exif=exif)), np.asarray(picture))


def test_ink_becomes_light() -> None:
    ink = np.random.default_rng(3).integers(0, 256, (HEIGHT, WIDTH, 4), dtype=np.uint8)
    picture = Image.frombytes("CMYK", (WIDTH, HEIGHT), ink.tobytes())
    expected = (255 - ink[..., :3].astype(float)) * (255 - ink[..., 3:].astype(float)) / 255
    assert np.abs(np.asarray(as_shown(picture)).astype(float) - expected).max() <= 1
    white = Image.new("CMYK", (WIDTH, HEIGHT), (0, 0, 0, 0))
    assert shown(saved(white, "JPEG")).min() >= 254
    with pytest.raises(ImageError, match=r"a\.png is a CMYK image for a printer.*Save it as RGB"):
        open_upload(saved(white, "JPEG", icc_profile=b"a profile" * 20), "a.png")


@pytest.mark.parametrize(
    ("mode", "said"),
    [("F", "floating-point numbers"), ("I", "whole numbers of 32 bits"), ("LAB", "Lab colours")],
)
def test_what_has_no_agreed_colours_is_refused(mode: str, said: str) -> None:
    with pytest.raises(ImageError, match=rf"^The image holds {said}.*Save it as"):
        as_shown(Image.new(mode, (WIDTH, HEIGHT)))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (saved(Image.new("RGB", (40, 24)), "TIFF"), "it is a TIFF file"),
        (b"\0\0\0\x1cftypheic" + bytes(40), "it is a HEIC photograph"),
        (saved(Image.effect_noise((40, 24), 90), "PNG")[:200], "it is cut short or damaged"),
    ],
)
def test_another_form_of_image_is_named(data: bytes, said: str) -> None:
    with pytest.raises(ImageError, match=f"a.tif is no image that can be read: {said}; expected a whole PNG") as told:
        open_upload(data, "a.tif")
    assert "Error" not in str(told.value)


def test_the_python_api_gives_a_model_what_a_viewer_shows() -> None:
    model = ViTModel(ViTConfig(hidden_size=16, num_attention_heads=2, num_hidden_layers=1, intermediate_size=16,
                               image_size=24, patch_size=8)).eval()  # fmt: skip
    processor: Any = ViTImageProcessorPil(size={"height": 24, "width": 24})
    eight = drawn(GREY, 8)[..., 0]
    pictures = [Image.fromarray(eight.astype(np.uint8)), Image.fromarray((eight * 257).astype(np.uint16))]
    first, second = (decompose_image(Loaded.of(model, processor), picture, 0) for picture in pictures)
    assert np.array_equal(first.pixels, second.pixels)
    given = processor(pictures[0].convert("RGB"), return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        whole = model.embeddings(given)
    assert first.pixels.shape == (24, 24, 3)
    assert whole.shape[1] == 10
    with pytest.raises(ImageError, match="floating-point"):
        decompose_image(Loaded.of(model, processor), Image.fromarray(eight.astype(np.float32)), 0)
