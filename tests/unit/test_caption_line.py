"""The line under a figure's heading goes on where the heading ends, and never repeats it."""

import pytest

from analysis.figures import Figure
from analysis.narrative.glossary import definitions_in
from dashboard.widgets.show.figure import _under_heading


def figure(caption: str, finding: str) -> Figure:
    return Figure(
        title="Title",
        finding=finding,
        caption=caption,
        alt="",
        frame=lambda: None,
        draw=lambda theme: [],  # type: ignore
    )


@pytest.mark.parametrize(
    ("caption", "line"),
    [
        ("Words hold 5 %. Over all texts. More.", "Over all texts"),
        ("Words hold 5 %; random ones hold 7 %. More.", "Random ones hold 7"),
        ("Words hold 5 %: largest of all. More.", "Largest of all"),
        ("Measured on texts. More.", "Measured on texts"),
    ],
)
def test_the_line_under_a_heading_does_not_repeat_it(caption: str, line: str) -> None:
    shown, _, rest = _under_heading(figure(caption, "Words hold 5 %"))
    text = shown.replace("\\", "").replace("\u00a0", " ")
    assert text.startswith(f"**Title.** {line}")
    assert "Words hold" not in text
    assert rest == "More."


def test_words_in_sight_are_not_escaped_so_that_their_meaning_is_found() -> None:
    _, in_sight, _ = _under_heading(figure("TUPE-A keeps them apart. More.", "Words hold 5 %"))
    assert "TUPE-A keeps them apart." in in_sight
    assert "TUPE-A" in definitions_in(in_sight)
