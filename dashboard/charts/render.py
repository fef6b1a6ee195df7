"""Exports: a figure as a file, with a manifest that says where its numbers come from.

Rendered by vl-convert, so the browser, the command line and a notebook give the same bytes.
"""

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import altair as alt
import vl_convert as vlc
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from pypdf import PdfReader, PdfWriter

from analysis import __version__, spreadsheet
from analysis.figures import Figure
from analysis.provenance import git_sha, library_versions, now
from dashboard.charts import fonts
from dashboard.charts.base import compose, printable, replace_data

vlc.register_font_directory(str(fonts.FOLDER))

Manifest = Mapping[str, object]
PNG_SCALE = 2


def manifest(figure: Figure, address: str) -> dict[str, object]:
    """What a reader of the file needs to find its numbers again."""
    data = csv(figure)
    return {
        "made_by": f"Addend {__version__}",
        "figure": figure.name,
        "title": figure.title,
        "caption": figure.caption,
        "link": address,
        "command": figure.command,
        "provenance": dict(figure.provenance),
        "cite": list(figure.citation_keys),
        "data_sha256": hashlib.sha256(data).hexdigest(),
        "code": git_sha(),
        "versions": library_versions(),
        "exported": now(),
    }


def csv(figure: Figure) -> bytes:
    """The data behind the figure."""
    return spreadsheet.csv(figure.frame()).encode()


def _specification(figure: Figure) -> dict:
    chart = compose(figure)
    replace_data(chart, lambda frame: alt.InlineData(values=alt.to_values(frame)["values"]))
    return _printable(chart.to_dict())


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_printable(item) for item in value]
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    return value


def _svg(figure: Figure, about: Manifest) -> bytes:
    drawn = svg(figure, about)
    start = drawn.index("</metadata>") + len("</metadata>")
    return f"{drawn[:start]}<style>{fonts.faces(drawn)}</style>{drawn[start:]}".encode()


def svg(figure: Figure, about: Manifest) -> str:
    """An SVG element without its typeface, for a page that carries that once for all."""
    drawn = vlc.vegalite_to_svg(_specification(figure))
    start = drawn.index(">", drawn.index("<svg")) + 1
    inside = (
        f"<title>{escape(printable(figure.title))}</title><desc>{escape(printable(figure.alt))}</desc>"
        f"<metadata>{escape(json.dumps(about))}</metadata>"
    )
    return drawn[:start] + inside + drawn[start:]


def _png(figure: Figure, about: Manifest) -> bytes:
    drawn = vlc.vegalite_to_png(_specification(figure), scale=PNG_SCALE)
    text = PngInfo()
    text.add_itxt("Title", figure.title)
    text.add_itxt("Description", figure.alt)
    text.add_itxt("Addend", json.dumps(about))
    buffer = io.BytesIO()
    Image.open(io.BytesIO(drawn)).save(buffer, "PNG", pnginfo=text, optimize=True)
    return buffer.getvalue()


def _pdf(figure: Figure, about: Manifest) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(vlc.vegalite_to_pdf(_specification(figure)))))
    writer.add_metadata({"/Title": figure.title, "/Subject": figure.caption, "/Creator": str(about["made_by"])})
    writer.add_attachment("manifest.json", json.dumps(about, indent=2).encode())
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def _vega_lite(figure: Figure, about: Manifest) -> bytes:
    specification = _specification(figure)
    specification["usermeta"] = {**specification.get("usermeta", {}), "addend": about}
    return json.dumps(specification).encode()


FORMATS: dict[str, tuple[str, Callable[[Figure, Manifest], bytes]]] = {
    "svg": ("image/svg+xml", _svg),
    "png": ("image/png", _png),
    "pdf": ("application/pdf", _pdf),
    "json": ("application/json", _vega_lite),
    "csv": ("text/csv", lambda figure, _: csv(figure)),
}
"""Format -> media type and renderer. The manifest is inside all but CSV, beside which it goes."""


def render(figure: Figure, form: str, address: str) -> bytes:
    """The figure in one of `FORMATS`."""
    return FORMATS[form][1](figure, manifest(figure, address))
