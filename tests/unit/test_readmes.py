"""READMEs name files, commands and entries of the menu that exist."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from analysis.commands import app
from dashboard.session.rooms import ROOMS

ROOT = Path(__file__).resolve().parents[2]
READMES = [ROOT / "README.md", *sorted(ROOT.glob("analysis/*/README.md")), *sorted(ROOT.glob("dashboard/*/README.md"))]


@pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_commands_of_a_readme_exist(readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (readme.parent / target).exists(), f"{readme} links to {target}"
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for name in re.findall(r"python -m analysis ([a-z][a-z-]*)", text):
        assert name in commands, f"{readme} names the command {name}"


def test_the_readme_has_a_row_for_each_entry_of_the_menu() -> None:
    rows = re.findall(r"^\| ([A-Z][^|]*?) \| [A-Z]", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)
    assert rows == [room.title for room in ROOMS]


def test_the_tree_of_the_readme_names_what_is_there() -> None:
    tree = (ROOT / "README.md").read_text(encoding="utf-8").split("## Where things are")[1].split("```")[1]
    folder = ""
    for line in tree.strip().splitlines():
        if name := re.match(r"(  )?([\w.]+/?) ", line):
            folder = folder if name[1] else name[2]
            path = ROOT / (folder if name[1] else "") / name[2]
            assert path.exists(), f"the README's tree names {path.relative_to(ROOT)}"
