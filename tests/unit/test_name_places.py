"""Proves that names stand at their own curves, by measuring the drawn pictures of every stored model."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import vl_convert
from numpy import ndarray

from analysis.figures import FIGURES, drawing
from analysis.narrative.geometry import QUESTIONS
from analysis.store import read

LETTER, LINE = 6.5, 15
"""Pixels of a letter and of a line, of 13 pixels."""
SAME = 3
"""Pixels within which two curves that lie on each other may both be nearest."""
NUMBERS = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def models_with_cosines() -> list[str]:
    rows = read.query("SELECT DISTINCT model FROM newest_geometry WHERE measure = 'cosine_histogram' ORDER BY model")
    return list(rows.model)


def points(path: str) -> ndarray:
    """Points along a path of straight pieces, less than a pixel apart."""
    corners = np.array([float(number) for number in NUMBERS.findall(path)]).reshape(-1, 2)
    pieces = [np.linspace(start, end, max(2, int(np.abs(end - start).max()) + 2)) for start, end in pairwise(corners)]
    return np.concatenate(pieces)


def box(text: ET.Element) -> tuple[str, ndarray]:
    """The words of a name, and the lower and the upper corner of its box."""
    x, y = map(float, NUMBERS.findall(text.attrib["transform"])[:2])
    lines = [span.text or "" for span in text.findall("{*}tspan")] or [text.text or ""]
    width = LETTER * max(map(len, lines))
    left = x - {"start": 0, "middle": 0.5, "end": 1}[text.attrib["text-anchor"]] * width
    upper = y - 0.75 * LINE  # `y` is the base line of the first line.
    return " ".join(lines), np.array([[left, upper], [left + width, upper + len(lines) * LINE]])


def distance(corners: ndarray, curve: ndarray) -> float:
    outside = np.maximum(np.maximum(corners[0] - curve, curve - corners[1]), 0)
    return float(np.hypot(*outside.T).min())


@pytest.mark.parametrize("width", [270, 620])
@pytest.mark.parametrize("dim", [0, 2, 64, 1024])
def test_a_name_stands_nearer_to_its_own_curve_than_to_another(store: Path, width: int, dim: int) -> None:
    models = models_with_cosines()
    assert len(models) > 3
    for model in models:
        (panel,) = drawing.panels(FIGURES["geometry_cosines"].of({"model": model, "dim": dim}))
        picture = ET.fromstring(vl_convert.vegalite_to_svg(panel.properties(width=width).to_dict()))
        curves, names = {}, {}
        for mark in picture.iter():
            label, role = mark.attrib.get("aria-label", ""), mark.attrib.get("aria-roledescription", "")
            if role == "area mark":
                curves["random"] = points(mark.attrib["d"])
            elif role == "line mark":
                curves[label.rpartition("series: ")[2]] = points(mark.attrib["d"])
            elif role == "text mark" and "name: " in label:
                words, corners = box(mark)
                names[words.partition(":")[0]] = corners
        assert set(curves) == set(names) == {"random", "as they are", "means subtracted"}
        for name, corners in names.items():
            far = {other: distance(corners, curve) for other, curve in curves.items()}
            others = {other: far[other] for other in curves if other != name}
            assert far[name] < 4 * LINE, f"{model}: “{name}” stands at no curve"
            assert far[name] < min(others.values()) + SAME, f"{model}: “{name}” stands at another curve: {far}"
            assert min(far.values()) > 0, f"{model}: “{name}” is written over a curve: {far}"
            assert 0 < corners[0, 0] < corners[1, 0] < width, f"{model}: “{name}” leaves the plot"
            for other, there in names.items():
                apart = (corners[1] < there[0]) | (there[1] < corners[0])
                assert name == other or apart.any(), f"{model}: “{name}” and “{other}” overlap"
        top = curves["random"][:, 1]
        for name in ("as they are", "means subtracted"):
            (left, _), (right, lower) = names[name]
            below = top[(curves["random"][:, 0] > left) & (curves["random"][:, 0] < right)]
            assert lower < below.min(), f"{model}: “{name}” stands on the grey area"


def test_cards_have_only_letters_that_our_fonts_have(store: Path) -> None:
    """Letters of other scripts, which a word of a model may have, are told by their names."""
    for model in models_with_cosines():
        numbers = QUESTIONS["words"].of(model).numbers
        assert not set(re.sub(r"[ -~À-ſ“”…−\u00a0]", "", numbers)), f"{model}: {numbers}"
