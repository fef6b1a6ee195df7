"""Exports: a figure as a file, with a manifest that says where its numbers come from.

Rendered by vl-convert, so the browser, the command line and a notebook give the same bytes.
"""

import hashlib
import io
import json
import re
import string
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from itertools import zip_longest
from typing import Any
from weakref import WeakKeyDictionary

import altair as alt
import vl_convert as vlc
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from pypdf import PdfReader, PdfWriter
from tabulate import tabulate

from analysis import __version__
from analysis.core import csv_export
from analysis.core.provenance import git_sha, library_versions, now
from analysis.figures import Figure, fonts, paper_table
from analysis.figures.drawing import FONT, Chart, Theme, compose, panels, printable, replace_data, themed
from analysis.figures.paper import COLUMN_INCHES, paper_svg, sized

vlc.register_font_directory(str(fonts.FOLDER))

Manifest = Mapping[str, object]
PNG_SCALE = 2
DIGITS = 4
"""Significant digits of numbers in a table for readers."""
IDS = re.compile(r'(?P<before>\bid="|url\(#|href="#)')


def manifest(figure: Figure, address: str) -> dict[str, object]:
    """The facts that a reader of the file needs to reproduce its numbers."""
    return {
        "made_by": f"Addend {__version__}",
        "figure": figure.name,
        "title": figure.title,
        "heading": figure.heading,
        "caption": figure.caption,
        "link": address,
        "command": figure.command,
        "provenance": dict(figure.provenance),
        "cite": list(figure.citation_keys),
        "data_sha256": data_digest(figure),
        "code": git_sha(),
        "versions": library_versions(),
        "exported": now(),
    }


_digests: WeakKeyDictionary[Figure, str] = WeakKeyDictionary()
"""The SHA-256 of figures' data: of a large map, writing the data takes seconds, and every manifest names it."""


def csv(figure: Figure) -> bytes:
    """The data behind the figure."""
    data = csv_export.to_csv(figure.frame()).encode()
    _digests[figure] = hashlib.sha256(data).hexdigest()
    return data


def data_digest(figure: Figure) -> str:
    """The SHA-256 of the data behind the figure, as CSV."""
    if figure not in _digests:
        csv(figure)
    return _digests[figure]


def _specification(chart: Chart) -> dict:
    """The chart as Vega-Lite. Tests hold every figure against its schema, which takes longer than all the rest."""
    replace_data(chart, lambda frame: alt.InlineData(values=alt.to_values(frame)["values"]))
    return _printable(chart.to_dict(validate=False))


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_printable(item) for item in value]
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    return value


def _svg(figure: Figure, metadata: Manifest) -> bytes:
    return _with_typeface(svg(figure, metadata))


def _with_typeface(markup: str) -> bytes:
    start = markup.index("</metadata>") + len("</metadata>")
    return f"{markup[:start]}<style>{fonts.faces(markup)}</style>{markup[start:]}".encode()


def svg(figure: Figure, metadata: Manifest) -> str:
    """An SVG element without its typeface, for a page that carries that once for all."""
    return _described(vlc.vegalite_to_svg(sized(_specification(compose(figure)))), figure, metadata)


def _described(markup: str, figure: Figure, metadata: Manifest) -> str:
    start = markup.index(">", markup.index("<svg")) + 1
    description = (
        f"<title>{escape(printable(figure.title))}</title><desc>{escape(printable(figure.alt))}</desc>"
        f"<metadata>{escape(json.dumps(metadata))}</metadata>"
    )
    return markup[:start] + description + markup[start:]


def panel_svgs(figure: Figure, theme: Theme, width: int | None = None) -> list[str]:
    """Each panel as an SVG element on no ground, for a page that has the typeface and describes the picture itself.

    width: of a panel in pixels, axes and names included, in place of its own; the height follows where the figure has
    proportions.
    """
    svgs = []
    for panel, proportion in zip_longest(panels(figure, theme), figure.proportions):
        if width:
            panel.width = width
            panel.height = round(proportion * width) if proportion else panel.height
            panel.autosize = alt.AutoSizeParams(type="fit-x", contains="padding")
        panel.background = "transparent"
        svgs.append(vlc.vegalite_to_svg(_specification(themed(panel, theme))))
    return svgs


def _png(figure: Figure, metadata: Manifest) -> bytes:
    picture = vlc.vegalite_to_png(sized(_specification(compose(figure))), scale=PNG_SCALE)
    metadata_chunks = PngInfo()
    metadata_chunks.add_itxt("Title", figure.title)
    metadata_chunks.add_itxt("Description", figure.alt)
    metadata_chunks.add_itxt("Addend", json.dumps(metadata))
    buffer = io.BytesIO()
    Image.open(io.BytesIO(picture)).save(buffer, "PNG", pnginfo=metadata_chunks, optimize=True)
    return buffer.getvalue()


def _paper_svg(figure: Figure, metadata: Manifest, kind: str) -> bytes:
    return _with_typeface(_described(paper_svg(figure, kind, _specification), figure, metadata))


def _paper_pdf(figure: Figure, metadata: Manifest, kind: str) -> bytes:
    return _about(vlc.svg_to_pdf(paper_svg(figure, kind, _specification)), figure, metadata)


def _pdf(figure: Figure, metadata: Manifest) -> bytes:
    return _about(vlc.vegalite_to_pdf(sized(_specification(compose(figure)))), figure, metadata)


def _about(pdf: bytes, figure: Figure, metadata: Manifest) -> bytes:
    """The PDF with its title and, attached, its manifest."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf)))
    writer.add_metadata({"/Title": figure.title, "/Subject": figure.caption, "/Creator": str(metadata["made_by"])})
    writer.add_attachment("manifest.json", json.dumps(metadata, indent=2).encode())
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def _vega_lite(figure: Figure, metadata: Manifest) -> bytes:
    specification = sized(_specification(compose(figure)))
    specification["usermeta"] = {**specification.get("usermeta", {}), "addend": metadata}
    return json.dumps(specification).encode()


def _html(figure: Figure, metadata: Manifest) -> bytes:
    """The chart as one file with everything in it: tooltips work, and nothing is fetched.

    The library's own menu is left out, since what it saves has no manifest.
    """
    specification = sized(_specification(compose(figure)))
    specification["usermeta"] = {"embedOptions": {"actions": False}}
    page = vlc.vegalite_to_html(specification, bundle=True)
    typeface = fonts.faces(f"{vlc.vegalite_to_svg(specification)}{string.printable}")
    text = escape(printable(f"{figure.title}. {figure.caption}" if figure.finding else figure.caption))
    metadata_json = json.dumps(metadata).replace("</", "<\\/")
    footer = (
        f'<p>{text}</p><p>From <a href="{escape(str(metadata["link"]), quote=True)}">Addend</a>, '
        f"code {escape(str(metadata['code']))}.</p>"
        f'<script type="application/json" id="addend">{metadata_json}</script>'
    )
    head = (
        f"<title>{escape(printable(figure.heading))}</title>"
        f'<style>{typeface}body{{font-family:"{FONT}",sans-serif;margin:1.5rem}}p{{max-width:60em;color:#444}}</style>'
    )
    # Of the library's own text, the last end of the body is the page's: its scripts may name one.
    before, _, after = page.rpartition("</body>")
    return f"{before}{footer}</body>{after}".replace("<head>", f"<head>{head}", 1).encode()


def _table(figure: Figure, form: str, escaped: Callable[[str], str] = str) -> str:
    """A figure's summary, or its data where it has none, as text in a form that `tabulate` knows."""
    frame = figure.summary() if figure.summary else figure.frame()
    rows = [[_cell(value, escaped) for value in row] for row in frame.astype(object).values.tolist()]
    return tabulate(rows, headers=list(frame.columns), tablefmt=form, disable_numparse=True)


def _cell(value: object, escaped: Callable[[str], str]) -> object:
    """A value as a table for readers has it: numbers with four significant digits, as CSV has them exactly."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}" if abs(value) < 10**DIGITS else f"{value:.0f}"
    return escaped(value) if isinstance(value, str) else value


def _source_line(metadata: Manifest) -> str:
    return f"{metadata['heading']} {metadata['made_by']}, {metadata['link']}".replace("\n", " ")


def _markdown(figure: Figure, metadata: Manifest) -> bytes:
    if found := paper_table.of_figure(figure):
        table = paper_table.markdown(found)
    else:
        table = _table(figure, "github", lambda text: text.replace("|", r"\|"))
    return f"{table}\n\n<!-- {_source_line(metadata).replace('--', '- -')} -->\n".encode()


def _latex(figure: Figure, metadata: Manifest) -> bytes:
    """A table by booktabs, with the numbers of a paper's table by siunitx."""
    if found := paper_table.of_figure(figure):
        table, packages = paper_table.latex(found), "booktabs and siunitx"
        rest = f"% {found.left_out} more rows are in the CSV export.\n" if found.left_out else ""
    else:
        table, packages, rest = _table(figure, "latex_booktabs"), "booktabs", ""
    return f"% {_source_line(metadata)}\n% Needs the packages {packages}.\n{rest}{table}\n".encode()


FORMATS: dict[str, tuple[str, Callable[[Figure, Manifest], bytes]]] = {
    "svg": ("image/svg+xml", _svg),
    "png": ("image/png", _png),
    "pdf": ("application/pdf", _pdf),
    "json": ("application/json", _vega_lite),
    "html": ("text/html", _html),
    "csv": ("text/csv", lambda figure, _: csv(figure)),
    "md": ("text/markdown", _markdown),
    "tex": ("application/x-tex", _latex),
    **{f"{kind}.svg": ("image/svg+xml", partial(_paper_svg, kind=kind)) for kind in COLUMN_INCHES},
    **{f"{kind}.pdf": ("application/pdf", partial(_paper_pdf, kind=kind)) for kind in COLUMN_INCHES},
}
"""Format -> media type and renderer. The manifest is inside pictures and pages, and goes beside what holds the data."""


def render(figure: Figure, form: str, address: str) -> bytes:
    """The figure in one of `FORMATS`."""
    return FORMATS[form][1](figure, manifest(figure, address))


def prefix_ids(svg: str, prefix: str) -> str:
    """The SVG with a prefix on its ids: several in one page would otherwise use each other's clips and gradients."""
    return IDS.sub(lambda result: f"{result['before']}{prefix}-", svg)
