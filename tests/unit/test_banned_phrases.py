"""Phrases that readers stumbled over stay gone from pages, figures, the guided reading and the README.

Finding them takes reading aloud; this keeps those that were found from coming back.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GONE = (
    "is position asking position",
    "for who must pick",
    "what is not linear is held at its true value",
    "of equals the best on average",
    "smaller ones are ties here",
    "that nothing stands behind says so",
    "upright: the slider",
    "who says so, and what the ledger makes of it",
    "what the files do not say",
    "*slave*",
    "document 00",
    "documents 00",
    "what is lacking",
    "held against",
    "for want of",
    "with commas between",
    "apart by commas",
    "articles apart by",
    "a minute of one",
    "settings not said",
    "on the plateau to the end",
    "where a tie says nothing",
    "a path of its own for position",
    "own projections",
    "not taken",
    "the store says",
    "bears on it",
    "whose size is not matched",
)
FOLDERS = (
    "dashboard",
    "analysis/figures",
    "analysis/narrative/reading",
    "analysis/narrative/answer",
    "analysis/narrative/choosing",
    "analysis/narrative/site",
    "analysis/commands",
    "analysis/core",
    "analysis/claims/statements",
    "analysis/measurements/interventions",
)


def words(path: Path) -> str:
    """A file's text in lower case, on one line, without the seams between strings that follow each other."""
    return re.sub(r'"\s+f?"', "", re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))).lower()


@pytest.mark.parametrize("phrase", GONE)
def test_a_phrase_that_needed_a_second_reading_is_gone(phrase: str) -> None:
    files = [ROOT / "README.md", *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))]
    files += (ROOT / "analysis").glob("*/README.md")
    files += (ROOT / "analysis/narrative/site").glob("*.j2")
    assert len(files) > 100
    assert [str(path.relative_to(ROOT)) for path in files if phrase in words(path)] == []


def test_seams_between_strings_do_not_hide_a_phrase(tmp_path: Path) -> None:
    file = tmp_path / "page.py"
    file.write_text('"Upright: "\n    "the slider."')
    assert "upright: the slider" in words(file)
