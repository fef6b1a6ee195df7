"""Proves that a figure's export is a sound file that shows what it should and says where it comes from.

Read back with libraries that had no part in making it (an XML parser, Pillow, pypdf, Vega-Lite's own schema):
pixels have the colours of the scale, text is really drawn, texts of readers come out as text and not as markup,
and no character of theirs, no size, and nothing another thread does to Altair costs the picture.
"""

import base64
import hashlib
import io
import json
import math
import re
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import altair as alt
import jsonschema
import numpy as np
import pandas as pd
import pytest
from fontTools.ttLib import TTFont
from PIL import Image
from pypdf import PdfReader

from analysis import __version__
from analysis.figures import Figure, drawing, export, fonts, panels
from analysis.figures.drawing import Theme, part_around_zero
from analysis.figures.heatmap import MAX_CELLS, heatmap
from analysis.figures.outliers import largest_near
from analysis.figures.terms.heads import draw_heads, sorted_by_largest
from dashboard.widgets.vega_specs import vega_specs

LINK = "https://addend.example/terms?head=3"
NO_SIGN = "\U000e0fff"
"""A code point that no font has a sign for."""
SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert(1)</script>&\"'"


def drawn(*panels: Any, columns: int = 1, **more: Any) -> Figure:
    """A figure named "made_up" with these panels."""
    given: dict[str, Any] = {
        "name": "made_up",
        "title": "Word → position",
        "frame": lambda: pd.DataFrame({"token": ["a", "b,c"], "value": [0.1, 2 / 3]}),
        "caption": "A caption",
        "alt": "What it shows",
        "command": "python -m analysis query 'SELECT 1'",
        "provenance": {"model": "all-MiniLM-L6-v2 (sha256:53aa)", "text": "two words", "versions": "numpy 2"},
        "citation_keys": ("ke2021tupe",),
        "draw": lambda theme: list(panels),
        "columns": columns,
    }
    return Figure(**{**given, **more})


def square(values: np.ndarray, labels: list[str] | None = None, **more: Any) -> Any:
    """A heat map from -1 to 1."""
    rows, columns = ([str(i) for i in range(n)] for n in values.shape)
    given: dict[str, Any] = {"domain": (-1, 1), "row_title": "query", "column_title": "key", "value_title": "score"}
    return heatmap(values, labels or rows, labels or columns, **{**given, **more})


def marks(specification: Any) -> Iterator[dict[str, Any]]:
    """Every unit of a specification that has a mark."""
    if "mark" in specification:
        yield specification
    for part in ("layer", "concat", "hconcat", "vconcat"):
        for inner in specification.get(part, []):
            yield from marks(inner)


def image_of(chart: Any) -> np.ndarray:
    """The picture inside a heat map that is drawn as an image: red, green, blue and opacity of (row, column)."""
    (url,) = chart.layer[0].data.url
    head, data = url.split(",")
    assert head == "data:image/png;base64"
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGBA")).astype(int)
    (height, width), (x, x2, y, y2) = pixels.shape[:2], chart.layer[0].data[["x", "x2", "y", "y2"]].to_numpy()[0]
    tall, wide = height / (y2 - y), width / (x2 - x)
    assert tall % 1 == wide % 1 == 0, "a cell must be whole pixels"
    cells = pixels[:: int(tall), :: int(wide)]
    assert (cells.repeat(int(tall), 0).repeat(int(wide), 1) == pixels).all(), "a cell must be of one colour"
    return cells


def rgb(colour: str) -> list[int]:
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def png(figure: Figure) -> np.ndarray:
    """A figure's PNG as grey values: (row, column)."""
    return np.asarray(Image.open(io.BytesIO(export.render(figure, "png", LINK))).convert("L"))


# Heat maps


def test_few_cells_are_cells_with_tooltips_and_many_are_an_image() -> None:
    side = int(MAX_CELLS**0.5)
    few, many = square(np.zeros((side, side))).to_dict(), square(np.zeros((side, side + 1))).to_dict()
    (cells,) = marks(few)
    assert cells["mark"]["type"] == "rect"
    assert [field["field"] for field in cells["encoding"]["tooltip"]] == ["row_label", "column_label", "value"]
    assert sum(len(rows) for rows in few["datasets"].values()) == MAX_CELLS
    assert [unit["mark"]["type"] for unit in marks(many)] == ["image", "point"]


def test_cells_hold_the_values_where_they_belong() -> None:
    values = np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]])
    chart = heatmap(
        values,
        ["the", "the"],
        ["a", "b", "a"],
        domain=(-1, 1),
        row_title="query",
        column_title="key",
        value_title="score",
    )
    frame = chart.data
    assert frame.pivot(index="row", columns="column", values="value").to_numpy().tolist() == values.tolist()
    assert frame.row_label.tolist() == ["the"] * 6, "a label may repeat"
    assert frame.column_label.tolist() == ["a", "b", "a"] * 2


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("diverging", [True, False])
def test_an_images_colours_are_those_of_the_scale(diverging: bool, dark: bool) -> None:
    """At the stops theirs to half of one of 254 steps, halfway between two their mean, beyond the ends the ends'."""
    theme = drawing.Theme(dark=dark)
    stops = theme.diverging if diverging else theme.sequential
    values = np.zeros((65, 65))
    knots = np.linspace(-2, 2, len(stops))
    values[0, : len(stops)] = knots
    values[1, :2] = -9, 9
    values[2, 0] = (knots[0] + knots[1]) / 2
    chart = square(values, domain=(-2, 2), diverging=diverging, theme=theme)
    pixels = image_of(chart)[..., :3]
    assert pixels.shape == (65, 65, 3)
    step = np.abs(np.diff([rgb(stop) for stop in stops], axis=0)).max() * (len(stops) - 1) / 254
    np.testing.assert_allclose(pixels[0, : len(stops)], [rgb(stop) for stop in stops], atol=step / 2 + 0.5)
    assert pixels[1, :2].tolist() == [rgb(stops[0]), rgb(stops[-1])]
    halfway = np.mean([rgb(stops[0]), rgb(stops[1])], axis=0)
    np.testing.assert_allclose(pixels[2, 0], halfway, atol=step / 2 + 0.5)
    (key,) = (unit for unit in marks(chart.to_dict()) if unit["mark"]["type"] == "point")
    scale = key["encoding"]["color"]["scale"]
    assert scale["range"] == stops, "the legend is that of the picture"
    np.testing.assert_allclose(scale["domain"], knots)


@pytest.mark.parametrize("dark", [False, True])
def test_zero_is_the_ground_of_the_page(dark: bool) -> None:
    theme = drawing.Theme(dark=dark)
    assert len(theme.diverging) % 2 == 1
    assert theme.diverging[len(theme.diverging) // 2] == theme.sequential[0] == theme.ground
    zeros = image_of(square(np.zeros((65, 65)), theme=theme))
    assert zeros.reshape(-1, 4).tolist() == [[*rgb(theme.ground), 255]] * 65**2


def test_no_value_has_no_colour() -> None:
    """Zero is a value; what is missing must not look like it."""
    values = np.zeros((65, 65))
    values[3, 4] = np.nan
    opacity = image_of(square(values))[..., 3]
    assert opacity[3, 4] == 0
    assert (np.delete(opacity.ravel(), 3 * 65 + 4) == 255).all()


def test_an_image_is_drawn_in_the_colours_of_cells() -> None:
    """Both as Vega draws them: four by four patches, as 32 x 32 cells and as an image of 128 x 128."""
    patches = np.linspace(-1, 1, 16).reshape(4, 4)
    colours = []
    for size in (8, 32):
        values = np.kron(patches, np.ones((size, size)))
        panel = square(values, row_title="", column_title="", legend=False, side=256)
        picture = Image.open(io.BytesIO(export.render(drawn(panel, title=" "), "png", LINK))).convert("RGB")
        pixels = np.asarray(picture).astype(int)
        # The map is where there is colour; its blue and its brown corner make its extent certain.
        (top, left), (bottom, right) = (
            edge(np.argwhere(np.ptp(pixels, axis=-1) > 40), axis=0) for edge in (np.min, np.max)
        )
        rows, columns = (
            (low + (np.arange(4) + 0.5) / 4 * (high - low + 1)).astype(int)
            for low, high in ((top, bottom), (left, right))
        )
        colours.append(pixels[np.ix_(rows, columns)])
    assert 32 * 32 <= MAX_CELLS < 128 * 128
    np.testing.assert_allclose(colours[0], colours[1], atol=2)
    np.testing.assert_allclose(
        colours[0][[0, -1], [0, -1]], [rgb(drawing.Theme().diverging[0]), rgb(drawing.Theme().diverging[-1])], atol=2
    )


def test_a_large_map_is_less_than_a_megabyte() -> None:
    """512 x 512 of noise, the worst an encoding can be for the picture, would be 20 MB of JSON as cells."""
    values = np.random.default_rng(0).normal(size=(512, 512))
    reach = float(np.abs(values).max())
    assert len(json.dumps(square(values, domain=(-reach, reach)).to_dict())) < 1_000_000


def test_a_map_of_one_value_is_drawn() -> None:
    for side in (3, 65):
        ET.fromstring(export.render(drawn(square(np.zeros((side, side)), domain=(0, 0))), "svg", LINK))


def test_on_screen_a_map_without_a_legend_stays_as_large_as_one_with() -> None:
    screen = Theme(screen=True)
    with_legend, without = (square(np.eye(3), legend=legend, theme=screen) for legend in (True, False))
    assert without.height < with_legend.height
    assert square(np.eye(3), legend=False).height == square(np.eye(3)).height


# Files


@pytest.fixture
def figure() -> Figure:
    return drawn(square(np.eye(3), ["the", "cat", "sat"]), square(np.eye(2)), columns=2)


def test_svg_is_xml_that_says_where_it_comes_from(figure: Figure) -> None:
    root = ET.fromstring(export.render(figure, "svg", LINK))
    assert root.tag == f"{SVG}svg"
    assert root.findtext(f"{SVG}title") == figure.title
    assert root.findtext(f"{SVG}desc") == figure.alt
    about = json.loads(root.findtext(f"{SVG}metadata") or "")
    assert about["link"] == LINK
    assert about["provenance"] == dict(figure.provenance)
    assert about["command"] == figure.command
    assert about["made_by"] == f"Addend {__version__}"
    assert about["cite"] == ["ke2021tupe"]
    assert about["data_sha256"] == hashlib.sha256(export.render(figure, "csv", LINK)).hexdigest()
    for library in ("python", "torch", "transformers", "numpy", "duckdb"):
        assert f"{library} " in about["versions"]
    assert {"code", "exported", "figure", "title", "caption"} <= set(about)
    assert figure.title in "".join(root.itertext())


def test_svg_carries_its_typeface_in_the_weights_it_uses(figure: Figure) -> None:
    root = ET.fromstring(export.render(figure, "svg", LINK))
    carried = re.findall(
        r"font-weight:(\w+);src:url\(data:font/woff;base64,([^)]*)\)", root.findtext(f"{SVG}style") or ""
    )
    assert [weight for weight, _ in carried] == ["normal", "bold"]
    for weight, font in carried:
        ours = TTFont(io.BytesIO(base64.b64decode(font)))
        whole = TTFont(fonts.FOLDER / fonts.WEIGHTS[weight])
        for letter in map(ord, set("".join(root.itertext())) & set("the cat sat 0.5")):
            ours_wide, whole_wide = (one["hmtx"][one.getBestCmap()[letter]][0] for one in (ours, whole))
            assert ours_wide == whole_wide
        assert len(ours.getBestCmap()) < len(whole.getBestCmap()) / 5
    plain = ET.fromstring(export.svg(figure, export.manifest(figure, LINK)))
    assert plain.find(f"{SVG}style") is None


def test_png_is_twice_as_large_as_svg_and_carries_the_manifest(figure: Figure) -> None:
    root = ET.fromstring(export.render(figure, "svg", LINK))
    picture = Image.open(io.BytesIO(export.render(figure, "png", LINK)))
    expected = (export.PNG_SCALE * float(root.attrib["width"]), export.PNG_SCALE * float(root.attrib["height"]))
    assert picture.size == pytest.approx(expected, abs=2)
    assert export.PNG_SCALE == 2
    picture.load()
    assert picture.info["Title"] == figure.title
    assert picture.info["Description"] == figure.alt
    assert json.loads(picture.info["Addend"])["link"] == LINK


def test_pdf_opens_and_holds_the_manifest(figure: Figure) -> None:
    reader = PdfReader(io.BytesIO(export.render(figure, "pdf", LINK)))
    assert len(reader.pages) == 1
    assert reader.metadata is not None
    assert reader.metadata.title == figure.title
    (attached,) = reader.attachments["manifest.json"]
    assert json.loads(attached)["link"] == LINK
    assert "Word" in reader.pages[0].extract_text()


def test_json_is_vega_lite_by_its_own_schema(figure: Figure) -> None:
    specification = json.loads(export.render(figure, "json", LINK))
    schema = json.loads((files("altair") / "vegalite/v6/schema/vega-lite-schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(specification, schema)
    assert specification["$schema"].startswith("https://vega.github.io/schema/vega-lite/v6")
    assert specification["usermeta"]["addend"]["link"] == LINK
    assert len(list(marks(specification))) == 2


def test_csv_is_the_frame(figure: Figure) -> None:
    pd.testing.assert_frame_equal(pd.read_csv(io.BytesIO(export.render(figure, "csv", LINK))), figure.frame())


def test_the_formats_are_the_promised_ones() -> None:
    assert {form: media for form, (media, _) in export.FORMATS.items()} == {
        "svg": "image/svg+xml",
        "png": "image/png",
        "pdf": "application/pdf",
        "json": "application/json",
        "html": "text/html",
        "csv": "text/csv",
        "md": "text/markdown",
        "tex": "application/x-tex",
        "1-column.svg": "image/svg+xml",
        "1-column.pdf": "application/pdf",
        "2-columns.svg": "image/svg+xml",
        "2-columns.pdf": "application/pdf",
    }


def test_html_holds_all_it_needs_and_its_manifest(figure: Figure) -> None:
    page = export.render(figure, "html", LINK).decode()
    outside = re.sub(r"(<script[^>]*>).*?</script>", r"\1", page, flags=re.DOTALL)
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=", outside), "nothing is fetched"
    (about,) = re.findall(r'<script type="application/json" id="addend">(.*?)</script>', page, re.DOTALL)
    assert json.loads(about)["link"] == LINK
    assert f"<title>{escape(figure.heading)}</title>" in page
    assert '"actions":false' in page.replace(" ", ""), "the library's menu saves pictures without a manifest"
    assert page.count("@font-face") >= 1


def test_a_bar_in_a_cell_does_not_end_it_in_markdown() -> None:
    frame = pd.DataFrame({"a": ["x|y"]})
    assert r"| x\|y |" in export.render(drawn(square(np.eye(2)), frame=lambda: frame), "md", LINK).decode()


def test_markdown_is_the_frame(figure: Figure) -> None:
    lines = export.render(figure, "md", LINK).decode().split("\n\n")[0].splitlines()
    read = [[cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], *lines[2:])]
    frame = figure.frame()
    # Numbers have four significant digits here; the CSV has them exactly.
    expected = frame.map(lambda value: f"{value:.4g}" if isinstance(value, float) else str(value))
    assert read == [list(frame.columns), *expected.values.tolist()]


def test_a_table_for_a_paper_is_the_summary_where_a_figure_has_one() -> None:
    summary = pd.DataFrame({"variant": ["a", "b"], "loss": [3.141592653589793, 1234567.891], "seeds": [5, 8]})
    figure = drawn(square(np.eye(2)), summary=lambda: summary)
    written = export.render(figure, "tex", LINK).decode()
    assert [cell.strip() for cell in written.splitlines()[6].rstrip("\\").split("&")] == ["a", "3.142", "5"]
    assert [cell.strip() for cell in written.splitlines()[7].rstrip("\\").split("&")] == ["b", "1234568", "8"]


def test_latex_is_a_booktabs_table_whose_marks_are_escaped() -> None:
    frame = pd.DataFrame({"a_b": ["50 %", "x & y"], "n": [1, 2]})
    written = export.render(drawn(square(np.eye(2)), frame=lambda: frame), "tex", LINK).decode()
    assert written.startswith("% ")
    assert r"\toprule" in written
    assert r"\bottomrule" in written
    assert r"50 \%" in written
    assert r"x \& y" in written
    assert r"a\_b" in written


# Text


@cache
def titled(title: str) -> np.ndarray:
    """A picture with a title, as grey values."""
    return png(drawn(square(np.eye(2), legend=False, side=60), title=title))


def ink(title: str) -> int:
    """How many dark pixels a title adds, in the strip above the panel."""
    with_title, without = (int((titled(text)[:50] < 128).sum()) for text in (title, " "))
    return with_title - without


def test_text_is_really_drawn() -> None:
    """Without its font the renderer leaves text out and says nothing."""
    assert ink("Head 3, term by term") > 200
    root = ET.fromstring(export.render(drawn(square(np.eye(2))), "svg", LINK))
    assert drawing.FONT in {node.attrib.get("font-family", "").strip("'\"") for node in root.iter(f"{SVG}text")}


@pytest.mark.parametrize("sign", list("→‖–−×²αé…%"))
def test_every_sign_that_our_texts_use_is_drawn(sign: str) -> None:
    """It must leave ink, and other ink than the box that stands for a missing sign."""
    shown, missing = titled(sign * 3), titled(NO_SIGN * 3)
    assert ink(sign * 3) > 3
    assert shown.shape != missing.shape or (shown != missing).any()


def test_texts_of_readers_are_text_not_markup() -> None:
    figure = drawn(
        square(np.eye(2), [EVIL, "b"], row_title=EVIL, title=EVIL),
        title=EVIL,
        alt=EVIL,
        caption=EVIL,
        command=EVIL,
        provenance={"text": EVIL},
    )
    svg = export.render(figure, "svg", f"{LINK}&text={EVIL}")
    root = ET.fromstring(svg)
    assert {node.tag for node in root.iter()}.isdisjoint({f"{SVG}script", "script"})
    assert b"<script" not in svg
    shown = [node.text for node in root.iter(f"{SVG}text")]
    assert shown.count(EVIL) == 3, "the figure's title, the panel's and the axis's are there to be read"
    assert root.findtext(f"{SVG}title") == root.findtext(f"{SVG}desc") == EVIL
    assert json.loads(root.findtext(f"{SVG}metadata") or "")["provenance"]["text"] == EVIL
    for form in ("png", "pdf", "json"):
        assert export.render(figure, form, LINK)


@pytest.mark.parametrize(
    "label", ["it's", 'say "so"', "back\\slash", "a\nb", "a\rb", "a\u2028b", "${x}", "datum.value]"]
)
def test_any_label_is_drawn_as_it_is(label: str) -> None:
    """Labels go through an expression of Vega's, where a quote or a line break could end the string they are in."""
    root = ET.fromstring(export.render(drawn(square(np.eye(2), [label, "b"])), "svg", LINK))
    shown = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    assert label.split() in [text.split() for text in shown]


@pytest.mark.parametrize("sign", ["\x00", "\x01", "\x1b", "\x7f", "\ufffe"])
def test_a_sign_that_no_file_may_hold_is_replaced(sign: str) -> None:
    """The renderer ends the whole process at such a sign: no test could catch it, and no server would live on."""
    text = f"a{sign}b"
    figure = drawn(square(np.eye(2), [text, "b"], title=text, row_title=text), title=text, alt=text)
    root = ET.fromstring(export.render(figure, "svg", LINK))
    assert root.findtext(f"{SVG}title") == "a\ufffdb"
    assert "a\ufffdb" in {node.text for node in root.iter(f"{SVG}text")}


# Panels


@pytest.mark.parametrize(("low", "high"), [(-0.2, 1.0), (0.0, 0.7), (-3.0, 1.0), (-2.0, 2.0), (-0.5, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("dark", [False, True])
def test_a_part_of_a_scale_around_zero_has_its_colours(low: float, high: float, dark: bool) -> None:
    """Its ends are those of the values, and each colour that of the whole scale, by NumPy."""
    stops = Theme(dark=dark).diverging
    scale = part_around_zero(stops, low, high)
    limit = max(-low, high) or 1.0
    assert (scale.domain[0], scale.domain[-1]) == ((low, high) if low < high else (-limit, limit))
    assert scale.domain == sorted(scale.domain)
    for value, colour in zip(scale.domain, scale.range, strict=True):
        for channel in (1, 3, 5):
            whole = [int(stop[channel : channel + 2], 16) for stop in stops]
            expected = np.interp(value, np.linspace(-limit, limit, len(stops)), whole)
            assert abs(int(colour[channel : channel + 2], 16) - expected) <= 0.5


def test_panels_keep_their_own_colour_scale() -> None:
    """Side by side, a map from -1 to 1 and one from 0 to 100: neither is drawn on the scale of the other."""
    left, right = square(np.full((2, 2), 1.0)), square(np.full((2, 2), 100.0), domain=(0, 100), diverging=False)
    specification = drawing.compose(drawn(left, right, columns=2)).to_dict()
    assert specification["resolve"]["scale"]["color"] == "independent"
    domains = [unit["encoding"]["color"]["scale"]["domain"] for unit in marks(specification)]
    assert [(domain[0], domain[-1]) for domain in domains] == [(-1, 1), (0, 100)]
    root = ET.fromstring(export.render(drawn(left, right, columns=2), "svg", LINK))
    colours = {node.attrib["fill"] for node in root.iter(f"{SVG}path") if node.attrib.get("fill", "").startswith("rgb")}
    wanted = {
        f"rgb({', '.join(map(str, rgb(stops[-1])))})"
        for stops in (drawing.Theme().diverging, drawing.Theme().sequential)
    }
    assert wanted <= colours


def test_the_content_of_a_figure_may_say_how_many_panels_stand_abreast() -> None:
    panels = [square(np.eye(2)) for _ in range(4)]
    figure = drawn(*panels, columns=2)
    assert drawing.columns(figure) == drawing.compose(figure).to_dict()["columns"] == 2
    assert drawing.columns(replace(figure, columns=4)) == 4


def scatter(theme: Theme) -> list[Any]:
    frame = pd.DataFrame({"x": np.arange(6_000), "y": np.arange(6_000) % 7})
    dots = alt.Chart(frame).mark_point().encode(x="x:Q", y="y:Q")
    line = alt.Chart().mark_rule().encode(y=alt.datum(3))
    return [dots, line + dots]


def test_a_figure_of_many_rows_is_exported() -> None:
    """Altair refuses frames of over 5,000 rows unless told otherwise."""
    figure = drawn(draw=scatter)
    specification = json.loads(export.render(figure, "json", LINK))
    assert max(len(rows) for rows in specification["datasets"].values()) == 6_000


def test_an_export_holds_its_data_whatever_another_thread_does_to_altair() -> None:
    """Streamlit, while it draws a chart, tells Altair to take the data out, for all threads at once."""
    figure = drawn(square(np.eye(3)))
    expected = export.render(figure, "svg", LINK)
    taken: list[Any] = []

    def take_out(data: Any, **_: Any) -> dict[str, str]:
        taken.append(data)
        return {"name": "elsewhere"}

    alt.data_transformers.register("take_out", take_out)
    done: list[bytes] = []
    with alt.data_transformers.enable("take_out"):
        other = threading.Thread(target=lambda: done.append(export.render(figure, "svg", LINK)))
        other.start()
        other.join()
        assert alt.data_transformers.active == "take_out", "nor must an export change it for the others"
    assert taken == []
    without: Callable[[bytes], list[str | None]] = lambda svg: [  # noqa: E731
        node.attrib.get("d") for node in ET.fromstring(svg).iter(f"{SVG}path")
    ]
    assert without(done[0]) == without(expected)


@pytest.mark.parametrize("dark", [False, True])
def test_names_on_screen_are_in_ink_and_whole(dark: bool) -> None:
    theme = Theme(dark=dark, screen=True)
    panel = alt.Chart(pd.DataFrame({"x": [1], "y": ["a name of a row"]})).mark_point().encode(x="x:Q", y="y:N")
    config = vega_specs(drawn(panel), theme)[0]["config"]
    assert config["axis"]["labelColor"] == config["axis"]["titleColor"] == config["legend"]["labelColor"] == theme.ink
    assert config["axis"]["labelLimit"] > 100, "Streamlit's own limit cuts names off"


def test_heads_of_one_largest_term_stand_together():
    """By the order of the terms, the larger first; a head that is not told apart stands last."""
    table = pd.DataFrame({"word_to_word": [0.1, 0.6, np.nan, 0.9], "position_to_position": [0.9, 0.4, np.nan, 0.1]})
    assert list(sorted_by_largest(table).index) == [3, 1, 0, 2]


def test_what_rounds_to_nothing_has_no_sign() -> None:
    table = pd.DataFrame(
        {"word_to_word": [-0.001], "position_to_position": [-0.25]}, index=pd.Index([0], name="head")
    ).rename_axis(columns="term")
    made = drawn(draw_heads(table, "share", Theme(screen=True)))
    panel = vega_specs(made, Theme(screen=True))[0]
    written = {name for frame in panel["datasets"].values() for name in getattr(frame, "written", ())}
    assert {"0 %", "−25 %"} <= written
    assert "−0 %" not in written


def kept(value: float, series: str) -> pd.DataFrame:
    return pd.DataFrame(
        {"along": [1.0, 2.0], "value": value, "low": value, "high": value, "series": series, "baseline": 1.0}
    ).assign(baseline_low=0.97, baseline_high=1.0)


def test_curves_over_chance_stay_on_the_axis_given_and_show_through_one_another() -> None:
    rows = pd.concat([kept(1.0, "one"), kept(1.0, "other")])
    panel = panels.curves_over_chance(rows, Theme(), 800, value="share", along="position", domain=(0.95, 1.0))
    layers = vega_specs(drawn(panel), Theme(screen=True))[0]["layer"]
    # Vega-Lite would begin the axis at 0 for any band that does not say where it begins.
    assert [layer["encoding"]["y"]["scale"]["domain"] for layer in layers] == [[0.95, 1.0]] * len(layers)
    (dashes,) = [layer["encoding"]["strokeDash"]["scale"] for layer in layers if "strokeDash" in layer["encoding"]]
    first, second = (dash[1] for dash in dashes["range"])
    assert dashes["domain"] == ["one", "other"]
    assert first == 0 < second


@pytest.mark.parametrize(
    ("differences", "largest"),
    [
        ((-0.3, 0.1, 0.2, 2.3), 0.3),
        ((-0.3, 0.1, 0.2, 0.8), 0.8),
        ((0.1, -0.2, 0.2, 0.25, 2.2, 2.3), 0.25),
        ((0.1, 0.2, 2.1, 2.2, 2.3), 2.3),
        ((0.1, 2.0), 2.0),
        ((0.0, 0.0, 1.0), 1.0),
        ((math.nan, -0.5), 0.5),
    ],
    ids=["one far", "none is over three times the next", "two far", "most are far", "two alone", "zeros", "missing"],
)
def test_far_differences_do_not_set_an_axis(differences: tuple[float, ...], largest: float) -> None:
    assert largest_near(differences) == largest
