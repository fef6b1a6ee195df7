"""Pictures for papers have the width of a column, and letters of one size that is 8 points where names leave room."""

import io
import re
import xml.etree.ElementTree as ET

import altair as alt
import pandas as pd
import pytest
from pypdf import PdfReader

from analysis.figures import Figure, export, paper
from analysis.figures.drawing import Theme
from analysis.figures.paper import COLUMN_INCHES, paper_caption

LINK = "https://addend.example/terms?head=3"
INCHES = {"1-column": 3.3, "2-columns": 6.9}
"""The columns of common templates of two-column papers, such as ACL's and IEEE's, in inches."""


def curves(theme: Theme) -> list[alt.Chart]:
    frame = pd.DataFrame({"x": [0, 1, 2], "y": [3.0, 1.0, 2.0]})
    return [alt.Chart(frame, width=430, height=300, title="A panel").mark_line().encode(x="x:Q", y="y:Q")]


def rows(theme: Theme) -> list[alt.Chart]:
    frame = pd.DataFrame({"x": range(8), "name": [f"a variant with a long name {row}" for row in range(8)]})
    names = alt.Y("name:N", axis=alt.Axis(labelLimit=260))
    return [alt.Chart(frame, width=500, height=240).mark_point().encode(x="x:Q", y=names)] * 2


def cells(theme: Theme) -> list[alt.Chart]:
    frame = pd.DataFrame([{"x": x, "y": y, "value": x * y} for x in range(5) for y in range(5)])
    return [alt.Chart(frame, width=400, height=400).mark_rect().encode(x="x:O", y="y:O", color="value:Q")]


def made(draw) -> Figure:
    return Figure(
        name="made_up", title="Loss", finding="It falls", frame=lambda: pd.DataFrame({"a": [1]}), caption="Of a model.",
        alt="A line.", draw=draw, columns=2, command="run",
    )  # fmt: skip


@pytest.mark.parametrize("kind", INCHES)
@pytest.mark.parametrize("draw", [curves, rows, cells])
def test_a_picture_is_as_wide_as_its_columns_and_its_letters_are_of_eight_points(kind, draw) -> None:
    assert COLUMN_INCHES == INCHES
    svg = export.render(made(draw), f"{kind}.svg", LINK).decode()
    root = ET.fromstring(svg)
    assert float(root.attrib["width"]) == pytest.approx(72 * INCHES[kind], abs=0.01)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    factor = float(root.attrib["width"]) / width
    assert factor == pytest.approx(float(root.attrib["height"]) / height, abs=1e-3)
    sizes = {float(size) * factor for size in re.findall(r'font-size="([\d.]+)px"', svg)}
    assert sizes
    assert min(sizes) == pytest.approx(8, rel=0.02)
    assert max(sizes) == pytest.approx(8, rel=0.02)
    (page,) = PdfReader(io.BytesIO(export.render(made(draw), f"{kind}.pdf", LINK))).pages
    assert float(page.mediabox.width) == pytest.approx(72 * INCHES[kind], abs=1)


def test_the_title_is_left_to_the_caption_which_says_all() -> None:
    svg = export.render(made(curves), "1-column.svg", LINK).decode()
    assert ">It falls<" not in svg
    assert ">A panel<" in svg
    assert paper_caption(made(curves), LINK) == f"It falls. Loss. Of a model. Source: Addend, {LINK}"


def test_a_map_keeps_its_proportions() -> None:
    root = ET.fromstring(export.render(made(cells), "1-column.svg", LINK))
    marks = [path.attrib["d"] for path in root.iter("{http://www.w3.org/2000/svg}path") if "d" in path.attrib]
    squares = [re.fullmatch(r"M([\d.-]+),([\d.-]+)h([\d.]+)v([\d.]+)h-[\d.]+Z", path) for path in marks]
    sizes = {(round(float(square[3]), 2), round(float(square[4]), 2)) for square in squares if square}
    assert any(width == pytest.approx(height, rel=0.05) and width > 5 for width, height in sizes)


def test_numbers_on_a_narrow_axis_do_not_touch() -> None:
    """And an axis whose numbers are given keeps them."""
    wide: dict = {"width": 400, "layer": [{"encoding": {"x": {"type": "quantitative", "axis": {"tickCount": 9}}}}]}
    given: dict = {"width": 400, "encoding": {"x": {"type": "quantitative", "axis": {"values": [0, 1, 2]}}}}
    for width in (300, 140, 100):
        for plot in (wide, given):
            paper.fit_ticks(plot, width)
        count = wide["layer"][0]["encoding"]["x"]["axis"]["tickCount"]
        assert width / count >= 46
        assert given["encoding"]["x"]["axis"] == {"values": [0, 1, 2]}


def test_an_expression_holds_the_width_of_its_own_plot() -> None:
    plots = [
        {"width": width, "mark": {"type": "text", "angle": {"expr": "width < 50 ? 270 : 0"}}} for width in (40, 90)
    ]
    paper.sized({"hconcat": plots})
    assert [plot["mark"]["angle"]["expr"] for plot in plots] == ["40 < 50 ? 270 : 0", "90 < 50 ? 270 : 0"]
