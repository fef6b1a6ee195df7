"""Images in red, green and blue as a viewer shows them: turned upright, on white, 16 bits scaled to 8."""

import struct

import numpy as np
from PIL import Image, ImageFile

from analysis.core.errors import ImageError

ORIENTATION = 0x0112
"""The EXIF tag that says how a camera was held."""
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""Orientation (EXIF 2.32, table 6) -> what brings the image upright; 1 is upright already."""
SIXTEEN_BITS = ("I;16", "I;16L", "I;16B", "I;16N")
FEW_BITS = {"L;2": 85, "L;4": 17}
"""Grey of fewer than 8 bits in a PNG -> the factor by which Pillow scales the pixels, but not the transparent one."""
WHITE = 255


def as_shown(picture: Image.Image, name: str = "The image") -> Image.Image:
    """An image in mode RGB as a viewer shows it on a white page; one that is so already is returned as it is.

    Grey of 16 bits is divided by 257 and rounded; what is transparent is laid on white; CMYK without a profile is
    (255 - ink) x (255 - black) / 255. Raises ImageError where Pillow cannot say what a viewer shows: floats and whole
    numbers of 32 bits, which have no agreed white; CMYK with a colour profile; Lab. A file that is cut short gives
    Pillow's OSError.
    """
    _refuse_unknown_white(picture, name)
    transparent = _transparent_colour(picture, name)
    picture.load()  # before its EXIF data, whose errors are ignored; those of the pixels are not
    upright = _upright(picture)
    if upright.mode in SIXTEEN_BITS:
        return _from_sixteen_bits(upright, transparent)
    if upright.has_transparency_data:
        return _on_white(upright.copy(), transparent)
    return upright if upright.mode == "RGB" else upright.convert("RGB")


def _refuse_unknown_white(picture: Image.Image, name: str) -> None:
    if picture.mode in ("F", "I"):
        kind = "floating-point numbers" if picture.mode == "F" else "whole numbers of 32 bits"
        raise ImageError(f"{name} holds {kind}, of which none is agreed to be white. Save it as a PNG of 8 or 16 bits.")
    if picture.mode == "CMYK" and picture.info.get("icc_profile"):
        raise ImageError(
            f"{name} is a CMYK image for a printer, whose colours are those of its profile. Save it as RGB (sRGB)."
        )
    if picture.mode == "LAB":
        raise ImageError(f"{name} holds Lab colours, which are not read. Save it as RGB (sRGB).")


def _upright(picture: Image.Image) -> Image.Image:
    """The image turned as its EXIF data say; as it is where they are broken, as viewers do."""
    try:
        orientation = picture.getexif().get(ORIENTATION)
    except (OSError, SyntaxError, ValueError, TypeError, LookupError, struct.error):
        return picture
    return picture.transpose(UPRIGHT[orientation]) if orientation in UPRIGHT else picture


def _from_sixteen_bits(picture: Image.Image, transparent: object) -> Image.Image:
    """Grey of 16 bits, of which one value may be transparent."""
    values = np.asarray(picture).astype(np.uint32)
    grey = ((values + 128) // 257).astype(np.uint8)
    if isinstance(transparent, int):
        grey[values == transparent] = WHITE
    return Image.fromarray(grey).convert("RGB")


def _on_white(picture: Image.Image, transparent: object) -> Image.Image:
    if isinstance(transparent, int | tuple | bytes):
        picture.info["transparency"] = transparent
    if picture.mode == "La":
        picture = picture.convert("LA")
    coloured = np.asarray(picture.convert("RGBA")).astype(np.uint32)
    colour, alpha = coloured[..., :3], coloured[..., 3:]
    return Image.fromarray(((colour * alpha + WHITE * (255 - alpha) + 127) // 255).astype(np.uint8))


def _transparent_colour(picture: Image.Image, name: str) -> object:
    """The colour that the file makes transparent, on the scale of Pillow's pixels; None where there is none."""
    transparent = picture.info.get("transparency")
    raw = str(picture.tile[0][3]) if isinstance(picture, ImageFile.ImageFile) and picture.tile else ""
    if isinstance(transparent, tuple) and (raw == "RGB;16B" or max(transparent) > WHITE):
        raise ImageError(
            f"{name} has colours of 16 bits, one of which is transparent. Save it with a white background."
        )
    if isinstance(transparent, int) and raw in FEW_BITS:
        return transparent * FEW_BITS[raw]
    return transparent
