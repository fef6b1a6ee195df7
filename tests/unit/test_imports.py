"""Proves that imports run one way, by reading the code of every file, imports inside functions included.

Pages import pickers, queries, charts, live; charts import neither Streamlit nor DuckDB; the analysis imports neither
the dashboard nor Streamlit nor Altair, but for the command line, inside its functions; no package of the analysis
leads back to itself; and pages that show stored results, with their figures, never import torch.
"""

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*(ROOT / "analysis").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")])
COMMAND_LINE = ("analysis/__main__.py", "analysis/commands/")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(code: str, module: str = "") -> Iterator[tuple[str, bool]]:
    """What a file imports, as dotted names, and whether it does so when it is itself imported."""
    tree = ast.parse(code)
    inside = {id(node) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef | ast.Lambda) for node in ast.walk(f)}
    for node in ast.walk(tree):
        at_once = id(node) not in inside
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


def found(path: Path) -> list[tuple[str, bool]]:
    return list(imports(path.read_text(encoding="utf-8"), name(path)))


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
    assert sorted(imports(code)) == [
        ("a.b", True),
        ("d", True),
        ("e.f.g", True),
        ("i", False),
        ("j.k", False),
        ("l.m", True),
    ]


@pytest.mark.parametrize("path", [p for p in FILES if name(p).startswith("analysis/")], ids=name)
def test_the_analysis_knows_nothing_of_the_dashboard(path: Path) -> None:
    for module, at_once in found(path):
        assert top(module) not in {"streamlit", "altair", "vl_convert"}, module
        if top(module) == "dashboard":
            assert name(path).startswith(COMMAND_LINE), f"{name(path)} imports {module}"
            assert not at_once, f"{name(path)} imports {module} before it is needed"
            assert module.startswith(("dashboard.charts", "dashboard.links")), module


@pytest.mark.parametrize("path", [p for p in FILES if name(p).startswith("dashboard/charts/")], ids=name)
def test_charts_know_neither_streamlit_nor_the_store(path: Path) -> None:
    for module, _ in found(path):
        assert top(module) not in {"streamlit", "duckdb", "torch", "transformers"}, module
        assert not module.startswith("analysis.store"), module
        if top(module) == "dashboard":
            assert module.startswith("dashboard.charts"), module


@pytest.mark.parametrize("path", [p for p in FILES if name(p).startswith("dashboard/views/")], ids=name)
def test_pages_ask_and_show_and_do_nothing_else(path: Path) -> None:
    for module, _ in found(path):
        assert top(module) not in {"duckdb", "torch", "transformers", "altair", "vl_convert"}, module
        assert not module.startswith("analysis.store"), f"{module}: pages ask dashboard.queries"
        if top(module) == "dashboard":
            assert not module.startswith(("dashboard.views", "dashboard.app")), module


@pytest.mark.parametrize("path", [p for p in FILES if p.parent.name == "dashboard"], ids=name)
def test_only_queries_asks_the_store_and_nobody_imports_pages(path: Path) -> None:
    for module, _ in found(path):
        assert not module.startswith("dashboard.views"), module
        if module.startswith(("analysis.store", "duckdb")):
            assert path.name == "queries.py", f"{name(path)} imports {module}"


def test_links_and_the_store_need_nothing_heavy() -> None:
    for module, _ in found(ROOT / "dashboard/links.py"):
        assert top(module) not in {"streamlit", "altair", "duckdb", "pandas", "numpy"}, module
    for path in (ROOT / "analysis/store").glob("*.py"):
        for module, _ in found(path):
            if top(module) == "analysis":
                assert package(module) in {"store", "errors", "provenance", "settings", "whole"}, module


def package(module: str) -> str:
    """The part of the analysis that a module belongs to: a folder, or a file beside the folders."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def graph() -> dict[str, set[str]]:
    """Which part of the analysis imports which, now or later."""
    edges: dict[str, set[str]] = {}
    for path in FILES:
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] == "analysis" and parts[1] != "__init__":
            targets = {package(module) for module, _ in found(path) if top(module) == "analysis"}
            # `from analysis import __version__` names no part.
            known = {t for t in targets if (ROOT / "analysis" / t).is_dir() or (ROOT / f"analysis/{t}.py").is_file()}
            edges.setdefault(parts[1], set()).update(known - {parts[1]})
    return edges


def test_no_part_of_the_analysis_leads_back_to_itself() -> None:
    edges = graph()
    assert {"store", "models", "terms", "encodings", "figures", "commands", "probes"} <= set(edges)
    assert "store" in edges["figures"], "the graph must hold what everyone knows to be there"
    order = list(graphlib.TopologicalSorter(edges).static_order())
    assert order.index("errors") < order.index("store") < order.index("figures") < order.index("commands")


STORED = """
import sys
import analysis.figures, dashboard.links, dashboard.queries
from analysis.errors import NoResults
from analysis.figures import FIGURES
made = []
for view in dashboard.links.VIEWS.values():
    for name in view.figures:
        if not FIGURES[name].live:
            try:
                asked = {"claim": "C09"} if name == "claim_evidence" else {}  # Its page asks for one, too.
                figure = FIGURES[name].build(view.defaults() | asked)
            except NoResults:  # Nothing of the kind is committed; the figure's own tests make some up.
                made.append(name)
                continue
            assert len(figure.frame()), name
            from dashboard import charts
            assert charts.panels(figure), name
            made.append(name)
heavy = {"torch", "transformers", "tokenizers"} & set(sys.modules)
assert not heavy, heavy
print(*made)
"""


def test_stored_pages_and_their_figures_import_no_torch(store: Path) -> None:
    """A process of its own builds and draws every figure that needs no live model, as its page first shows it."""
    done = subprocess.run([sys.executable, "-c", STORED], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    from analysis.figures import FIGURES
    from dashboard.links import VIEWS

    named = [name for view in VIEWS.values() for name in view.figures]
    assert done.stdout.split() == [name for name in named if not FIGURES[name].live]
    assert {"terms_heads", "terms_aggregates", "encoding_heat", "published_scores"} <= set(done.stdout.split())
