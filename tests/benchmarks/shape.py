"""How the code is shaped: a few counts that a redesign should move the right way. Prints a table; judges nothing.

    python tests/benchmarks/shape.py [ROOT]

ROOT: another checkout, such as one of an older commit, to be counted in the same way.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Every function of a file, methods included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def figure_files(root: Path) -> list[Path]:
    """The files of figures, without the base of all drawings."""
    return [path for path in (root / "analysis" / "figures").rglob("*.py") if path.name != "drawing.py"]


def names_any(function: ast.FunctionDef) -> bool:
    """Whether `Any` stands in a signature, or a parameter has no type at all."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    arguments = [one for one in arguments if one.arg not in ("self", "cls")]
    types = [one.annotation for one in arguments] + [function.returns]
    return any(one is None or "Any" in ast.unparse(one) for one in types)


def asserts(function: ast.FunctionDef) -> bool:
    """Whether a test asserts, expects or raises by itself, or calls a helper that does so by its name."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if any(word in name for word in ("assert", "raises", "expect", "check", "refused")):
                return True
    return False


CACHES = ("cache", "lru_cache", "cached_property", "store_cache", "cached_until_store_changes", "cache_data")
"""Names of decorators that keep results."""
RELATIVES = ("What", "How", "Whether", "Which", "Where", "That")
"""Words that begin a clause in the place of a noun or a verb."""


def trees(paths: list[Path]) -> list[ast.Module]:
    """The syntax trees of files."""
    return [ast.parse(path.read_text(encoding="utf-8")) for path in paths]


def caching_decorators(modules: list[ast.Module]) -> int:
    """Decorators that keep results, and calls of Streamlit's caches as functions."""
    found = 0
    for node in (node for module in modules for node in ast.walk(module)):
        for decorator in getattr(node, "decorator_list", ()):
            name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
            found += name.split(".")[-1] in (*CACHES, "cache_resource")
    return found


def repeated_classes(modules: list[ast.Module]) -> list[str]:
    """Names that more than one class has."""
    names = Counter(node.name for module in modules for node in ast.walk(module) if isinstance(node, ast.ClassDef))
    return sorted(name for name, times in names.items() if times > 1)


def relative_docstrings(modules: list[ast.Module]) -> int:
    """Docstrings that begin with a free relative."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for module in modules for node in ast.walk(module) if isinstance(node, documented)]
    return sum((ast.get_docstring(node) or "").split(" ")[0] in RELATIVES for node in nodes)


def counts(root: Path) -> dict[str, str]:
    """What is counted, in the order in which it is printed."""
    code = [*(root / "analysis").rglob("*.py"), *(root / "dashboard").rglob("*.py")]
    tests = [path for path in (root / "tests").rglob("test_*.py")]
    every = [function for path in code for function in functions(path)]
    untyped = sum(names_any(function) for function in every)
    tested = [function for path in tests for function in functions(path) if function.name.startswith("test_")]
    without = sum(not asserts(function) for function in tested)
    figures = [path for path in (root / "analysis" / "figures").iterdir() if path.is_dir() and path.name[0] != "_"]
    modules = trees(code)
    registered = sum(path.read_text().count("@drawing(") for path in figure_files(root))
    return {
        "files under analysis and dashboard": str(len(code)),
        "statements": f"{sum(isinstance(node, ast.stmt) for module in modules for node in ast.walk(module)):,}",
        "caching decorators": str(caching_decorators(modules)),
        "class names used more than once": str(len(repeated_classes(modules))),
        "docstrings that begin with a free relative": str(relative_docstrings(modules)),
        "drawings registered apart from their figure": str(registered),
        "lines of analysis and dashboard": f"{sum(len(path.read_text().splitlines()) for path in code):,}",
        "lines of tests": f"{sum(len(path.read_text().splitlines()) for path in tests):,}",
        "files at the root of analysis": str(len(list((root / "analysis").glob("*.py")))),
        "files at the root of dashboard": str(len(list((root / "dashboard").glob("*.py")))),
        "folders of figures": str(len(figures)),
        "functions with Any, or without a type": f"{untyped} of {len(every)} ({100 * untyped / len(every):.0f} %)",
        "test functions without an assertion of their own": f"{without} of {len(tested)}",
    }


def main() -> None:
    """Prints the counts of one checkout."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    for name, value in counts(root).items():
        sys.stdout.write(f"{name:50} {value}\n")


if __name__ == "__main__":
    main()
