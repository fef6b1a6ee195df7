"""Images to probe: a few drawn here, the same on every machine, and those that readers give."""

import io
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, UnidentifiedImageError

from analysis.core import settings
from analysis.core.errors import ImageError
from analysis.core.registry import Registry
from analysis.core.shown_image import as_shown

SIDE = 224
"""Pixels of a drawn image, both ways."""
CORPUS = "drawn_images"
"""The name of the drawn images as a corpus, under which results over them are stored."""
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
"""Pillow reads many more, some by old code."""
READABLE = (b"\x89PNG", b"\xff\xd8", b"GIF8", b"RIFF")
"""The first bytes of files in the `FORMATS`."""
MARKS = {
    "a TIFF file": b"II*\0",
    "a big-endian TIFF file": b"MM\0*",
    "a HEIC photograph": b"ftypheic",
    "an AVIF image": b"ftypavif",
    "a DirectDraw surface": b"DDS ",
    "a JPEG 2000 image": b"jP  ",
    "a Photoshop file": b"8BPS",
    "a PDF": b"%PDF",
    "an SVG drawing": b"<svg",
}
"""Other forms of images that people have -> what stands in their first 16 bytes."""
SMALLEST_SIDE = 16
START_OF_JPEG, START_OF_SCAN = b"\xff\xd8", b"\xff\xda"
MAX_SCANS = 100
"""The largest number of scans of a JPEG. A progressive one has about ten; each goes over the whole image, and 20 bytes
are enough for one."""
MAX_ASPECT_RATIO = 10
"""Times as long as wide: processors that bring the shorter side to a size would make a strip of pixels enormous."""

Picture = Image.Image


@dataclass(frozen=True)
class DrawnImage:
    """An image of ours: what it shows, and how it is drawn."""

    title: str
    draw: Callable[[], Picture]


IMAGES: Registry[DrawnImage] = Registry("image")


def image(name: str, title: str) -> Callable[[Callable[[], Picture]], Callable[[], Picture]]:
    """Registers a function that draws one."""

    def register(draw: Callable[[], Picture]) -> Callable[[], Picture]:
        IMAGES.add(name, DrawnImage(title, draw))
        return draw

    return register


@image("scene", "A house under a sun")
def scene() -> Picture:
    """Sky, ground, a house, a tree and a sun: things that have their usual places."""
    canvas = Image.new("RGB", (SIDE, SIDE), "#9cc9ec")
    pen = ImageDraw.Draw(canvas)
    pen.rectangle((0, 150, SIDE, SIDE), fill="#6aa84f")
    pen.ellipse((164, 18, 208, 62), fill="#f6c945")
    pen.rectangle((36, 104, 116, 176), fill="#d9b38c")
    pen.polygon([(26, 106), (76, 62), (126, 106)], fill="#a5453a")
    pen.rectangle((66, 136, 88, 176), fill="#5b3a29")
    pen.rectangle((94, 118, 108, 134), fill="#dff1fb")
    pen.rectangle((168, 128, 178, 172), fill="#7a5230")
    pen.ellipse((146, 84, 200, 138), fill="#38761d")
    return canvas


@image("circles", "Concentric circles")
def circles() -> Picture:
    """Rings around the centre: what is at the same distance looks the same."""
    y, x = np.indices((SIDE, SIDE)) - (SIDE - 1) / 2
    ring = (np.hypot(y, x) // 14).astype(int) % 2
    return Image.fromarray(np.where(ring[..., None] == 0, [244, 241, 232], [38, 84, 124]).astype(np.uint8))


@image("checkerboard", "A checkerboard with one odd square")
def checkerboard() -> Picture:
    """Squares of 28 pixels, two and two patches of 14: one among them is red."""
    rows, columns = np.indices((SIDE, SIDE)) // 28
    board = np.where(((rows + columns) % 2)[..., None] == 0, [235, 235, 235], [40, 40, 40])
    board[(rows == 2) & (columns == 5)] = [200, 40, 40]
    return Image.fromarray(board.astype(np.uint8))


@image("shapes", "Three shapes on a plain ground")
def shapes() -> Picture:
    """A disc, a square and a triangle, each of a colour."""
    canvas = Image.new("RGB", (SIDE, SIDE), "#f2efe6")
    pen = ImageDraw.Draw(canvas)
    pen.ellipse((20, 24, 90, 94), fill="#0072b2")
    pen.rectangle((134, 30, 200, 96), fill="#e69f00")
    pen.polygon([(112, 124), (64, 204), (160, 204)], fill="#009e73")
    return canvas


@image("gradient", "A smooth gradient")
def gradient() -> Picture:
    """Draws a gradient from dark to light down and from blue to red across: no edge anywhere."""
    down, across = np.indices((SIDE, SIDE)) / (SIDE - 1)
    return Image.fromarray(np.stack([255 * across, 200 * down, 255 * (1 - across)], -1).astype(np.uint8))


@image("blank", "Nothing but grey")
def blank() -> Picture:
    """Every patch shows the same, so that only positions tell them apart."""
    return Image.new("RGB", (SIDE, SIDE), "#808080")


def open_upload(data: bytes, name: str) -> Picture:
    """The image in a file, in red, green and blue as a viewer shows it: `analysis.core.shown_image`.

    Raises ImageError where it is none, too large or too small, or where it has no agreed colours.
    """
    megabytes, limit = len(data) / 1e6, settings.number("ADDEND_IMAGE_MB")
    if megabytes > limit:
        raise ImageError(
            f"{name} has {megabytes:.1f} MB; at most {limit} MB are accepted. "
            "Save it smaller: models see a few hundred pixels a side."
        )
    pixels = settings.number("ADDEND_MEGAPIXELS")
    try:
        result = Image.open(io.BytesIO(data), formats=FORMATS)
        width, height = result.size  # Known before a pixel is decoded.
        if data.startswith(START_OF_JPEG) and data.count(START_OF_SCAN) > MAX_SCANS:
            raise ImageError(
                f"{name} is a JPEG of more than {MAX_SCANS} scans, more than any picture needs. Save it again."
            )
        if width * height > pixels * 1e6:
            raise ImageError(
                f"{name} has {width} by {height} pixels; at most {pixels} million are accepted. Scale it down."
            )
        if min(width, height) < SMALLEST_SIDE:
            raise ImageError(
                f"{name} has {width} by {height} pixels; it needs at least {SMALLEST_SIDE} on each side to show "
                "anything."
            )
        if max(width, height) > MAX_ASPECT_RATIO * min(width, height):
            raise ImageError(
                f"{name} has {width} by {height} pixels; one side may be at most {MAX_ASPECT_RATIO} times the other. "
                "Crop it nearer to a square."
            )
        return as_shown(result, name)
    except Image.DecompressionBombError:  # what Pillow itself will not open
        raise ImageError(
            f"{name} has far too many pixels; at most {pixels} million are accepted. Scale it down."
        ) from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
        form = next((form for form, mark in MARKS.items() if mark in data[:16]), None)
        why = f": it is {form}" if form else ""
        if data.startswith(READABLE):
            why = ": it is cut short or damaged"
        raise ImageError(
            f"{name} is no image that can be read{why}; expected a whole PNG, JPEG, WebP or GIF file. Save it as one."
        ) from None
