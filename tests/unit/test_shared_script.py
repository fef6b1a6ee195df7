"""One script stands before that of every board: together they are one module, in which no name is declared twice."""

import re
from pathlib import Path

import pytest

WIDGETS = Path(__file__).parents[2] / "dashboard" / "widgets"
SHARED = WIDGETS / "shared.js"
SCRIPTS = sorted(WIDGETS.glob("*/*.js"))


def declared(script: Path) -> list[str]:
    """The names that a script declares for all of itself."""
    pattern = r"^(?:export )?(?:const|let|var|function|class) (\w+)"
    return re.findall(pattern, script.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_two_scripts_are_one_module(script: Path) -> None:
    names = [*declared(SHARED), *declared(script)]
    assert len(names) == len(set(names)), "a browser refuses a module that declares a name twice"


def test_every_shared_name_is_used_by_a_script() -> None:
    text = "".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    inside = SHARED.read_text(encoding="utf-8")
    unused = [name for name in declared(SHARED) if not re.search(rf"\b{name}\(", text) and inside.count(f"{name}(") < 2]
    assert declared(SHARED)
    assert not unused


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_elements_are_made_by_the_shared_script_alone(script: Path) -> None:
    """It leaves out attributes and children that are not there; text from readers never becomes markup."""
    assert "createElement" not in script.read_text(encoding="utf-8")
