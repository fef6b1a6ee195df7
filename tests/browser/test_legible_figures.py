"""Proves that the texts of pictures can be read: none lies on another, and none is cut by the edge of its picture.

Each figure of stored results is drawn as its page draws it, by Vega with Streamlit's theme and typeface, but without a
page around it, so that all of them take less time than a few pages would.
"""

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import pytest
import streamlit
import vl_convert
from playwright.sync_api import Browser, Page

from analysis.core.errors import NoResults
from analysis.figures import FIGURES, Figure, drawing, stored_figure
from analysis.links import VIEWS
from analysis.moved_links import MOVED
from dashboard.widgets.vega_specs import vega_specs

STORED = {name: page for page in VIEWS if page not in MOVED for name in VIEWS[page].figures if not FIGURES[name].live}
"""The figures of stored results, each with the page that shows it."""
PLACES = {390: 358, 1280: 932}
"""The width of a window, and of the place that a page has for a figure in it."""
GAP, STACKED = 16, 640
"""Pixels between two panels side by side, and the width of a window below which they stand below one another."""
TOLERATED = 2
"""Pixels by which texts may overlap or lie beyond the edge, since few letters fill their box."""
AS_STREAMLIT = {
    "font": "Source Sans",
    "autosize": {"type": "fit", "contains": "padding"},
    "title": {"align": "left", "anchor": "start", "fontWeight": 600, "fontSize": 16, "offset": 26},
    "axis": {
        "labelFontSize": 12, "titleFontSize": 14, "titleFontWeight": 400, "ticks": False, "domain": False,
        "labelFlush": True, "labelFlushOffset": 1, "labelLimit": 100, "titlePadding": 16, "labelPadding": 16,
        "labelSeparation": 4, "labelOverlap": True,
    },
    "legend": {
        "labelFontSize": 14, "titleFontSize": 14, "titleFontWeight": 400, "titlePadding": 8, "labelPadding": 16,
        "columnPadding": 8, "rowPadding": 4, "padding": 8,
    },
    "view": {"strokeWidth": 0},
    "axisDiscrete": {"grid": False},
    "bar": {"discreteBandSize": {"band": 0.85}},
}  # fmt: skip
"""What Streamlit's theme says of the places and sizes of texts."""
FAULTS = """async ([specification, width, tolerated]) => {
  document.body.innerHTML = `<div style="width: ${width}px"></div>`;
  const place = document.body.firstChild;
  const options = {renderer: "svg", actions: false, defaultStyle: false};
  const {view} = await vegaEmbed(place, specification, options);
  const svg = place.querySelector("svg");
  const edge = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")]
    .filter((text) => text.textContent.trim() && text.checkVisibility({checkOpacity: true}))
    .map((text) => {
      // A slanting text is a slanting rectangle; of a line's height, the letters take their size.
      const {x, y, width, height} = text.getBBox(), matrix = text.getScreenCTM();
      const lines = text.querySelectorAll("tspan").length || 1;
      const leading = Math.max(0, height / lines - parseFloat(getComputedStyle(text).fontSize)) / 2;
      const [top, bottom] = [y + leading, y + height - leading];
      const corners = [[x, top], [x + width, top], [x + width, bottom], [x, bottom]]
        .map(([x, y]) => new DOMPoint(x, y).matrixTransform(matrix));
      const words = text.textContent;
      return {words, corners, shortened: words.endsWith("…") && !`${text.__data__.text}`.endsWith("…")};
    });
  const along = (corners, [x, y]) => {
    const positions = corners.map((corner) => corner.x * x + corner.y * y);
    return [Math.min(...positions), Math.max(...positions)];
  };
  const directions = ({corners: [a, b, , d]}) =>
    [[b.x - a.x, b.y - a.y], [d.x - a.x, d.y - a.y]].map(([x, y]) => [x / Math.hypot(x, y), y / Math.hypot(x, y)]);
  const overlap = (one, other) => Math.min(...[...directions(one), ...directions(other)].map((direction) => {
    const [[low, high], [from, to]] = [along(one.corners, direction), along(other.corners, direction)];
    return Math.min(high, to) - Math.max(low, from);
  }));
  const apart = (one, other) =>
    Math.hypot(one.corners[0].x - other.corners[0].x, one.corners[0].y - other.corners[0].y);
  const faults = [];
  texts.forEach((one, place) => {
    const {words, corners} = one;
    if (corners.some(({x, y}) =>
      Math.max(edge.left - x, x - edge.right, edge.top - y, y - edge.bottom) > tolerated))
      faults.push(`${words} | is cut by the edge`);
    else if (one.shortened) faults.push(`${words} | is cut short`);
    for (const other of texts.slice(place + 1)) {
      const halo = words === other.words && apart(one, other) < 1;
      if (!halo && overlap(one, other) > tolerated) faults.push(`${words} | ${other.words}`);
    }
  });
  view.finalize();
  return [texts.length, faults];
}"""
"""Draws a picture and gives the number of its texts, and those that lie on one another or are cut."""


@pytest.fixture(scope="module")
def canvas(browser: Browser) -> Iterator[Page]:
    """An empty tab with Vega and the typeface of the pages."""
    [file] = (Path(streamlit.__file__).parent / "static/static/media").glob("SourceSansVF-Upright*")
    face = f"font-family:'Source Sans';font-weight:200 900;src:url(data:font/woff2;base64,{_base64(file)})"
    page = browser.new_page()
    page.set_content(f"<style>@font-face{{{face}}} body{{margin:0;font-family:'Source Sans'}}</style><body>")
    page.add_script_tag(content=vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed"))
    page.evaluate("Promise.all([400, 600, 700].map((weight) => document.fonts.load(`${weight} 12px 'Source Sans'`)))")
    yield page
    page.close()


def _base64(file: Path) -> str:
    return b64encode(file.read_bytes()).decode()


def faults(canvas: Page, panel: dict[str, Any], width: float) -> list[str]:
    """The texts of a panel that lie on one another, each pair as "one | other", or are cut."""
    title = panel.get("title")
    if isinstance(title, dict):
        panel = {**panel, "title": {"limit": width - 40, **title}}
    config = {part: {**AS_STREAMLIT.get(part, {}), **own} for part, own in panel.get("config", {}).items()}
    datasets = {
        name: alt.to_values(frame)["values"] if isinstance(frame, pd.DataFrame) else frame
        for name, frame in panel["datasets"].items()
    }
    drawn = {**panel, "width": width, "padding": {"bottom": 20}, "config": AS_STREAMLIT | config, "datasets": datasets}
    count, found = canvas.evaluate(FAULTS, [json.loads(json.dumps(drawn, default=str)), width, TOLERATED])
    assert count, "no text was drawn"
    return found


def stored(name: str) -> Figure:
    """A figure as its page shows it first, or of an earlier preset where that of the page has no such results yet."""
    values = VIEWS[STORED[name]].defaults()
    for preset in ({}, {"preset": "width128"}, {"preset": "cpu"}):
        with suppress(NoResults):
            return stored_figure(name, {**values, **preset})
    pytest.fail(f"no results of {name} are stored")


def test_no_text_of_a_figure_lies_on_another_or_is_cut(
    canvas: Page, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADDEND_STORE", str(built))
    found = []
    for name in STORED:
        figure = stored(name)
        for window, place in PLACES.items():
            abreast = drawing.columns(figure) if window >= STACKED else 1
            for panel in vega_specs(figure, drawing.Theme(screen=True)):
                width = (place - GAP * (abreast - 1)) / abreast
                found += [f"{name} at {window}: {fault}" for fault in faults(canvas, panel, width)]
    assert found == []


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([("nearer", 100), ("farther", 125)], ["nearer | farther"]),
        ([("nearer", 100), ("farther", 160)], []),
        ([("a halo", 100), ("a halo", 100)], []),
        ([("beyond the edge", 290)], ["beyond the edge | is cut by the edge"]),
    ],
)
def test_what_cannot_be_read_is_found(canvas: Page, labels: list[tuple[str, int]], expected: list[str]) -> None:
    frame = pd.DataFrame({"name": [name for name, _ in labels]})
    texts = [alt.Chart(frame.iloc[[row]]).mark_text().encode(x=alt.value(x), y=alt.value(50), text="name:N")
             for row, (_, x) in enumerate(labels)]  # fmt: skip
    panel = alt.layer(*texts, height=200).properties(autosize="none")
    assert faults(canvas, {"datasets": {}, **panel.to_dict()}, 300) == expected


def test_a_label_that_is_cut_short_is_found(canvas: Page) -> None:
    frame = pd.DataFrame({"name": ["a name that ends …", "a name of more letters than the axis has room for"]})
    axis = alt.Axis(labelLimit=120)
    panel = alt.Chart(frame, height=200).mark_point().encode(y=alt.Y("name:N", axis=axis))
    [fault] = faults(canvas, {"datasets": {}, **panel.to_dict()}, 300)
    assert fault.startswith("a name of")
    assert fault.endswith("… | is cut short")
