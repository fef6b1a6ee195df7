"""Proves that imports run one way, by reading the code of every file, imports inside functions included.

The rooms of the analysis lie in layers, and each imports from those below it alone; the dashboard stands on the
analysis, which knows nothing of it; only figures import Altair; the dashboard never asks the store. That stored
figures import no torch is proved where none is there: tests/app/test_results_only.py.
"""

import ast
from collections import deque
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*(ROOT / "analysis").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")])
PICTURES = ("drawing", "fonts", "heatmap", "marks")
"""What drawings share, beside the folders of figures."""
LAYERS = (
    "core",
    "statistics, streams, rules",
    "store, engine",
    "literature, sql, encodings",
    "glue_comparison, ablation",
    "models, imports",
    "links, measurements",
    "moved_links, probes, claims",
    "figures",
    "narrative",
    "store_build",
    "commands",
)
"""The rooms of the analysis from the ground up; those on one line know nothing of each other."""
WITHIN_MEASUREMENTS = (
    "means",
    "decoding, terms",
    "geometry, interventions",
    "order, positions, similarity, surgery",
    "pieces, refit",
)
DASHBOARD = ("hosting, model_server", "session", "widgets", "views")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def walked(tree: ast.Module) -> Iterator[tuple[ast.AST, bool]]:
    """Every node of a file, and whether it is outside of functions, whose code runs later."""
    waiting: deque[tuple[ast.AST, bool]] = deque([(tree, True)])
    while waiting:
        node, at_once = waiting.popleft()
        yield node, at_once
        at_once = at_once and not isinstance(node, ast.FunctionDef | ast.Lambda)
        waiting.extend((child, at_once) for child in ast.iter_child_nodes(node))


def imports(tree: ast.Module, module: str = "") -> Iterator[tuple[str, bool]]:
    """What a file imports, as dotted names, and whether it does so when it is itself imported."""
    for node, at_once in walked(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} imports relatively, which this test cannot follow"
            assert node.module
            yield from ((f"{node.module}.{alias.name}", at_once) for alias in node.names)
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith(("import_module", "import_all"))
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value), at_once


@cache
def read(path: Path) -> tuple[list[tuple[str, bool]], list[str]]:
    """What a file imports, and the names of its classes: each file is parsed once."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return list(imports(tree, name(path))), [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def found(path: Path) -> list[tuple[str, bool]]:
    return read(path)[0]


def top(module: str) -> str:
    return module.split(".")[0]


def test_the_reader_of_imports_sees_every_kind() -> None:
    code = """
import a.b as c, d
from e.f import g as h
def later():
    import i
    class Inner:
        from j import k
importlib.import_module("l.m")
"""
    assert sorted(imports(ast.parse(code))) == [
        ("a.b", True),
        ("d", True),
        ("e.f.g", True),
        ("i", False),
        ("j.k", False),
        ("l.m", True),
    ]


@pytest.mark.parametrize("path", [p for p in FILES if name(p).startswith("analysis/")], ids=name)
def test_the_analysis_knows_nothing_of_the_dashboard_and_only_figures_know_altair(path: Path) -> None:
    for module, _ in found(path):
        assert top(module) not in {"streamlit", "dashboard"}, module
        if not name(path).startswith("analysis/figures/"):
            assert top(module) not in {"altair", "vl_convert"}, module


@pytest.mark.parametrize("shared", PICTURES)
def test_what_drawings_share_asks_neither_the_store_nor_a_model(shared: str) -> None:
    for module, _ in found(ROOT / "analysis/figures" / f"{shared}.py"):
        assert top(module) not in {"duckdb", "torch", "transformers"}, module
        assert not module.startswith("analysis.store"), f"{module}: a drawing draws what its figure holds"


@pytest.mark.parametrize("path", [p for p in FILES if name(p).startswith("dashboard/views/")], ids=name)
def test_pages_ask_and_show_and_do_nothing_else(path: Path) -> None:
    for module, _ in found(path):
        assert top(module) not in {"duckdb", "torch", "transformers", "altair", "vl_convert"}, module
        assert not module.startswith("analysis.store"), f"{module}: a page asks the topic"
        if top(module) == "dashboard":
            assert not module.startswith(("dashboard.views", "dashboard.app")), module


@pytest.mark.parametrize("path", [p for p in FILES if name(p).startswith("dashboard/")], ids=name)
def test_the_dashboard_asks_the_topics_and_never_the_store(path: Path) -> None:
    for module, _ in found(path):
        if module.startswith(("analysis.store.checkpoints", "analysis.store.paths")):
            continue  # names of folders beside the store; what is cached until the store changes
        assert not module.startswith(("analysis.store.", "duckdb")), f"{name(path)} imports {module}"


def test_links_and_the_store_need_nothing_heavy() -> None:
    for module, _ in found(ROOT / "analysis/links.py"):
        assert top(module) not in {"streamlit", "altair", "duckdb", "pandas", "numpy"}, module
    for path in (ROOT / "analysis/store").glob("*.py"):
        for module, _ in found(path):
            if top(module) == "analysis":
                assert package(module) in {"store", "core"}, module


def package(module: str) -> str:
    """The room that a module belongs to: a folder, or a file beside the folders."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def rooms(below: Path) -> Iterator[tuple[str, str, str]]:
    """Every import from one room of a folder into another: file, room, room imported."""
    start = list(below.relative_to(ROOT).parts)
    for path in FILES:
        parts = path.relative_to(ROOT).with_suffix("").parts
        if list(parts[: len(start)]) != start or parts[len(start)] == "__init__":
            continue
        for module, _ in found(path):
            other = module.split(".")
            if other[: len(start)] == start and len(other) > len(start):
                target = other[len(start)]
                # `from analysis import __version__` names no room.
                if target != parts[len(start)] and ((below / target).is_dir() or (below / f"{target}.py").is_file()):
                    yield name(path), parts[len(start)], target


@pytest.mark.parametrize(
    ("below", "layers", "loose"),
    [
        (ROOT / "analysis", LAYERS, {"__main__"}),
        (ROOT / "analysis/measurements", WITHIN_MEASUREMENTS, set()),
        (ROOT / "dashboard", DASHBOARD, {"app", "server", "__main__"}),
    ],
    ids=["analysis", "measurements", "dashboard"],
)
def test_every_room_imports_from_below_alone(below: Path, layers: tuple[str, ...], loose: set[str]) -> None:
    height = {room: number for number, line in enumerate(layers) for room in line.split(", ")}
    there = {path.stem for path in below.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert there - {"__init__", "__pycache__", "assets"} == set(height) | loose, "every room has its layer"
    seen = set()
    for path, room, target in rooms(below):
        if room not in loose:
            assert height[target] < height[room], f"{path} imports {target}, which is not below {room}"
            seen.add((room, target))
    assert seen, "nothing was read"


@pytest.mark.parametrize("folder", ["analysis", "dashboard"])
def test_few_files_are_loose(folder: str) -> None:
    assert len(list((ROOT / folder).glob("*.py"))) <= 5


def test_no_two_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for path in FILES:
        for kind in read(path)[1]:
            places.setdefault(kind, []).append(name(path))
    assert {one: found for one, found in places.items() if len(found) > 1} == {}
