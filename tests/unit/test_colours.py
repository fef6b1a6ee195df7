"""Colours keep their meaning: each is its own, can be told from its family by every eye, and can be read."""

from itertools import combinations

import numpy as np
import pytest
from colorspacious import cspace_convert, deltaE

from analysis.core import colours
from analysis.core.colours import GROUND, SOURCES, TERMS, VERDICTS, WAYS, Colour
from analysis.figures.drawing import Theme

EYES = (None, "deuteranomaly", "protanomaly", "tritanomaly")
"""Full colour vision, and the three kinds of colour blindness at their strongest (Machado et al. 2009)."""
TELLS_APART = 9.0
"""In CAM02-UCS, where 1 is what an eye just notices side by side."""


def rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255


def seen(colour: str, eye: str | None) -> np.ndarray:
    if eye is None:
        return rgb(colour)
    space = {"name": "sRGB1+CVD", "cvd_type": eye, "severity": 100}
    return np.clip(cspace_convert(rgb(colour), space, "sRGB1"), 0, 1)


def contrast(first: str, second: str) -> float:
    """The contrast ratio of WCAG 2.2."""
    linear = [np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in map(rgb, (first, second))]
    low, high = sorted(float(c @ [0.2126, 0.7152, 0.0722]) for c in linear)
    return (high + 0.05) / (low + 0.05)


FAMILIES = {"terms": TERMS, "ways": WAYS, "sources": SOURCES, "verdicts": VERDICTS}


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005), "the example of WCAG's own tutorials"


@pytest.mark.parametrize("dark", [False, True])
def test_no_two_meanings_share_a_colour(dark: bool) -> None:
    every = [colour.on(dark=dark) for family in FAMILIES.values() for colour in family.values()]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_colours_of_a_family_are_told_apart(family: str, dark: bool, eye: str | None) -> None:
    for (a, first), (b, second) in combinations(FAMILIES[family].items(), 2):
        one, other = (seen(colour.on(dark=dark), eye) for colour in (first, second))
        distance = float(deltaE(one, other, input_space="sRGB1"))
        assert distance >= TELLS_APART, f"{a} and {b} are {distance:.1f} apart to {eye or 'every eye'}"


@pytest.mark.parametrize("dark", [False, True])
def test_marks_stand_out_and_text_can_be_read(dark: bool) -> None:
    ground = GROUND.on(dark=dark)
    for family in FAMILIES.values():
        for name, colour in family.items():
            assert contrast(colour.on(dark=dark), ground) >= 3, f"{name}: WCAG asks 3 to 1 of marks"
    text = [colours.INK, colours.SOFT, colours.LINK, *colours.VERDICTS.values()]
    text += [colours.TERMS["word"], colours.TERMS["position"]]
    for colour in text:
        for behind in (GROUND, colours.PANEL):
            assert contrast(colour.on(dark=dark), behind.on(dark=dark)) >= (4.5 if behind is GROUND else 4.1)


@pytest.mark.parametrize("dark", [False, True])
def test_series_without_a_meaning_are_told_apart_and_are_neither_word_nor_position(dark: bool) -> None:
    theme = Theme(dark=dark)
    for eye in EYES:
        for one, other in combinations([seen(colour, eye) for colour in theme.many(4)], 2):
            assert float(deltaE(one, other, input_space="sRGB1")) >= TELLS_APART
    for colour in theme.many(7):
        assert contrast(colour, theme.ground) >= 3
        for meaning in (TERMS["word"], TERMS["position"]):
            assert float(deltaE(rgb(colour), rgb(theme.colour(meaning)), input_space="sRGB1")) >= 2 * TELLS_APART


@pytest.mark.parametrize("dark", [False, True])
def test_digits_on_cells_can_be_read(dark: bool) -> None:
    """One colour up to a part of the way to an end, another beyond: at least 3.9 to 1 anywhere on any scale."""
    on_pale, on_strong = colours.DIGITS[dark]
    around_zero = colours.DIVERGING[dark]
    both_sides = [around_zero[3:], around_zero[3::-1]]
    for stops in (*both_sides, colours.SEQUENTIAL[dark]):
        knots = np.linspace(0, 1, len(stops))
        for place in np.linspace(0, 1, 201):
            cell = [np.interp(place, knots, [rgb(stop)[channel] for stop in stops]) for channel in range(3)]
            written = "#" + "".join(f"{round(255 * value):02x}" for value in cell)
            assert contrast(on_strong if place > colours.STRONG[dark] else on_pale, written) >= 3.9, (
                f"{written} at {place:.2f}"
            )


def test_a_term_of_one_part_with_itself_has_that_parts_colour() -> None:
    assert colours.of_term("word_to_word") is colours.TERMS["word"]
    assert colours.of_term("position_to_position") is colours.TERMS["position"]
    assert colours.of_term("word_to_position") is colours.TERMS["word_to_position"]
    assert colours.of_term("segment_to_word") is colours.TERMS["bias"]
    assert colours.of_term("score_bias") is colours.TERMS["bias"]


def test_a_colour_is_picked_by_the_ground() -> None:
    assert [Colour("#111111", "#222222").on(dark=dark) for dark in (False, True)] == ["#111111", "#222222"]
