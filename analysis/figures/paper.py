"""Pictures for papers: one or two columns wide, with letters of 8 points, and no title, since the caption says it.

A picture is laid out with letters of 12 pixels, as on the screen, in a width at which these letters become 8 points
when the whole is reduced to the width of the column. The plots get narrower, and their marks keep their proportions.
"""

import re
import textwrap
from collections.abc import Iterator
from typing import Any

import altair as alt
import vl_convert as vlc

from analysis.figures.drawing import Theme, columns, panels, themed
from analysis.figures.figure import Figure

COLUMN_INCHES = {"1-column": 3.3, "2-columns": 6.9}
"""The widths of a picture in inches, by the number of columns of a paper that it fills."""
POINTS_AN_INCH = 72
LETTERS = 12
"""The size of letters before the picture is reduced, in pixels."""
LETTERS_IN_PRINT = 8
"""The size of letters in print, in points."""
NARROWEST = 100
"""The least width of a plot in pixels: where names leave less, the picture is reduced more, and its letters with it."""
LETTERS_A_LINE = 6.2
"""The mean width of a letter of a panel's title, in pixels."""
PASSES = 4
"""Layouts until the width is met: the room of axes depends on their ticks, and these on the width."""
WIDTH = re.compile(r"\bwidth\b")
SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')

Specification = dict[str, Any]


def paper_svg(figure: Figure, kind: str, specification: Any) -> str:
    """The figure as an SVG element as wide as one or two columns.

    kind: a key of COLUMN_INCHES. specification: turns an Altair chart into Vega-Lite.
    """
    points = COLUMN_INCHES[kind] * POINTS_AN_INCH
    width = points * LETTERS / LETTERS_IN_PRINT
    drawn = list(panels(figure, Theme()))
    abreast = 1 if kind == "1-column" else min(2, columns(figure), len(drawn))
    composed = alt.concat(
        *drawn,
        columns=abreast,
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(color="independent", shape="independent")),
        background="white",
        padding=2,
    )
    laid_out: Specification = specification(themed(composed, Theme()))
    laid_out["config"]["title"] |= {"fontSize": LETTERS, "subtitleFontSize": LETTERS}
    plots = list(_plots(laid_out))
    _set_letters(laid_out, width)
    originals = [(plot["width"], plot.get("height")) for plot in plots]
    expressions = [list(_expressions(plot)) for plot in plots]
    share = (width - 70) / abreast

    def draw(share: float) -> str:
        for plot, original, texts in zip(plots, originals, expressions, strict=True):
            _resize(plot, original, max(NARROWEST, share))
            _set_width(texts, plot["width"])
        return vlc.vegalite_to_svg(laid_out)

    markup = draw(share)
    for _ in range(PASSES):
        excess = _size(markup)[0] - width
        if abs(excess) < 1 or share < NARROWEST:
            break
        share -= excess / abreast
        markup = draw(share)
    drawn_width, height = _size(markup)
    factor = points / drawn_width
    resized = f'width="{points:.2f}" height="{height * factor:.2f}" viewBox="0 0 {drawn_width:g} {height:g}"'
    return re.sub(r'width="[\d.]+" height="[\d.]+" viewBox="[^"]*"', resized, markup, count=1)


def paper_caption(figure: Figure, link: str) -> str:
    """The caption of the picture: its finding, what is drawn, how it was measured, and its origin."""
    finding = f"{figure.finding}. " if figure.finding else ""
    stop = "" if figure.title.endswith(("?", ".")) else "."
    return f"{finding}{figure.title}{stop} {figure.caption} Source: Addend, {link}"


def _size(markup: str) -> tuple[float, float]:
    found = SIZE.search(markup)
    assert found is not None, "an SVG element of vl-convert has a width and a height"
    return float(found[1]), float(found[2])


def _plots(part: Specification) -> Iterator[Specification]:
    """The parts of a chart that have a width of their own."""
    for name in ("concat", "hconcat", "vconcat"):
        for inner in part.get(name, []):
            yield from _plots(inner)
    if isinstance(part.get("width"), int | float):
        yield part


TICK = 46
"""Pixels of an axis for each of its numbers, at least."""


def sized(specification: Specification) -> Specification:
    """A specification whose expressions hold the widths of their plots, which Vega knows of a plot alone only."""
    for plot in _plots(specification):
        _set_width(list(_expressions(plot)), plot["width"])
    return specification


def _expressions(part: Any) -> Iterator[tuple[Specification, str]]:
    """The expressions of a chart that depend on its width, each with its text."""
    if isinstance(part, list):
        for inner in part:
            yield from _expressions(inner)
    if isinstance(part, dict):
        if isinstance(text := part.get("expr"), str) and WIDTH.search(text):
            yield part, text
        for name, inner in part.items():
            if name not in ("datasets", "data"):
                yield from _expressions(inner)


def _set_width(expressions: list[tuple[Specification, str]], width: float) -> None:
    for holder, text in expressions:
        holder["expr"] = WIDTH.sub(f"{width:g}", text)


def _resize(plot: Specification, original: tuple[float, Any], width: float) -> None:
    """Gives a plot a width; a map keeps its proportions, and rows and curves with labels keep their height."""
    old_width, old_height = original
    plot["width"] = width
    fit_ticks(plot, width)
    if isinstance(old_height, int | float) and not _has_rows(plot):
        fitting = old_height if _has_text(plot) else min(old_height, 0.8 * width)
        # A wide map with text in its cells is a table, which needs the height of its rows.
        table = _has_text(plot) and old_width > old_height
        plot["height"] = old_height * width / old_width if _is_map(plot) and not table else fitting
    if isinstance(title := plot.get("title"), dict):
        for name in ("text", "subtitle"):
            if lines := title.get(name):
                text = lines if isinstance(lines, str) else " ".join(lines)
                title[name] = textwrap.wrap(text, max(10, int((width + 60) / LETTERS_A_LINE)))


def _units(plot: Specification) -> Iterator[Specification]:
    yield plot
    for layer in plot.get("layer", []):
        yield from _units(layer)


def _has_mark(plot: Specification, kind: str) -> bool:
    marks = (unit.get("mark") for unit in _units(plot))
    return any((mark.get("type") if isinstance(mark, dict) else mark) == kind for mark in marks)


def fit_ticks(plot: Specification, width: float) -> None:
    """Gives the axis of numbers across a plot no more of them than stand beside one another."""
    most = max(2, int(width // TICK))
    for unit in _units(plot):
        across = unit.get("encoding", {}).get("x", {})
        if across.get("type") == "quantitative" and (axis := across.get("axis")) and "values" not in axis:
            axis["tickCount"] = min(axis.get("tickCount", most), most)


def _is_map(plot: Specification) -> bool:
    """True if cells stand in rows; a band behind other marks is no map."""
    units = (unit for unit in _units(plot) if _has_mark({"mark": unit.get("mark")}, "rect"))
    return any("y" in unit.get("encoding", {}) for unit in units)


def _has_text(plot: Specification) -> bool:
    """True if labels stand at the marks: they were set apart for the height that the plot has."""
    return _has_mark(plot, "text")


def _has_rows(plot: Specification) -> bool:
    if _is_map(plot):
        return False
    return any(unit.get("encoding", {}).get("y", {}).get("type") in ("nominal", "ordinal") for unit in _units(plot))


def _set_letters(part: Any, width: float) -> None:
    """Sets all letters to one size, and lets no legend be wider than the picture."""
    if isinstance(part, list):
        for inner in part:
            _set_letters(inner, width)
    if isinstance(part, dict):
        for name, value in part.items():
            if name.lower().endswith("fontsize") and isinstance(value, int | float):
                part[name] = LETTERS
            elif name == "gradientLength":
                part[name] = min(value, width / 2)
            elif name not in ("datasets", "data"):
                _set_letters(value, width)
