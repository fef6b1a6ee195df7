"""The exports' typeface inside the file itself: where a reader has no Source Sans, other letters would be cut off."""

import io
from base64 import b64encode
from html import unescape
from importlib.resources import files

from analysis.figures.drawing import FONT

FOLDER = files("font_source_sans_pro") / "files"
WEIGHTS = {"normal": "SourceSansPro-Regular.ttf", "bold": "SourceSansPro-Bold.ttf"}


def faces(markup: str) -> str:
    """CSS that carries the typeface in the weights that an SVG or a page asks for, cut to the characters it holds."""
    characters = "".join(sorted(set(unescape(markup))))
    rules = []
    for weight, file in WEIGHTS.items():
        if weight != "normal" and f'font-weight="{weight}"' not in markup:
            continue
        source = b64encode(_subset(file, characters)).decode()
        rules.append(f'@font-face{{font-family:"{FONT}";font-weight:{weight};src:url(data:font/woff;base64,{source})}}')
    return "".join(rules)


def _subset(file: str, characters: str) -> bytes:
    """A WOFF of these characters, those that the typeface has."""
    from fontTools import subset

    options = subset.Options(flavor="woff", hinting=False, layout_features=["kern"])
    font = subset.load_font(str(FOLDER / file), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    result = io.BytesIO()
    subset.save_font(font, result, options)
    return result.getvalue()
