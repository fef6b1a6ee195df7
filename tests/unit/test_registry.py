"""Proves that a registry refuses a name it has, and that a name it lacks is answered with those it has."""

import sys
from pathlib import Path

import pytest

from analysis.core.errors import AddendError, UnknownName
from analysis.core.registry import Registry, import_all


def test_things_are_found_by_name_in_the_order_of_their_registration() -> None:
    shapes = Registry[int]("shape")
    assert shapes.add("square", 4) == 4
    assert shapes.register("circle")(0) == 0
    assert shapes["square"] == 4
    assert list(shapes) == ["square", "circle"]
    assert list(shapes.items()) == [("square", 4), ("circle", 0)]
    assert len(shapes) == 2
    assert "circle" in shapes
    assert "line" not in shapes


def test_a_name_is_registered_once() -> None:
    shapes = Registry[int]("shape")
    shapes.add("square", 4)
    with pytest.raises(ValueError, match=r"the shape 'square' is registered already; give the new one another name"):
        shapes.add("square", 5)
    with pytest.raises(ValueError, match="registered already"):
        shapes.register("square")(5)
    assert shapes["square"] == 4, "the first one stays"


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    shapes = Registry[int]("shape")
    with pytest.raises(UnknownName, match=r"^There is no shape named 'line'\. Known: none yet\.$"):
        shapes["line"]
    shapes.add("square", 4)
    shapes.add("circle", 0)
    with pytest.raises(UnknownName, match=r"^There is no shape named 'line'\. Known: square, circle\.$") as said:
        shapes["line"]
    assert isinstance(said.value, AddendError), "readers are told, not shown a traceback"
    assert said.value.__suppress_context__


def test_all_modules_of_a_package_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "addend_made_up"
    package.mkdir()
    (package / "__init__.py").write_text("from analysis.core.registry import Registry\nTHINGS = Registry('thing')\n")
    for name in ("b", "a"):
        (package / f"{name}.py").write_text(f"from addend_made_up import THINGS\nTHINGS.add('{name}', 1)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        import_all("addend_made_up")
        assert list(sys.modules["addend_made_up"].THINGS) == ["a", "b"]
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "addend_made_up"]:
            del sys.modules[name]


def test_our_registries_refuse_a_second_of_any_name() -> None:
    from analysis.encodings import ENCODINGS
    from analysis.figures import FIGURES

    for registry in (ENCODINGS, FIGURES):
        for name, entry in list(registry.items()):
            with pytest.raises(ValueError, match=repr(name)):
                registry.add(name, entry)  # type: ignore[arg-type]
