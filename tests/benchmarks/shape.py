"""How the code is shaped: a few counts that a redesign should move the right way. Prints a table; judges nothing.

    python tests/benchmarks/shape.py [ROOT]

ROOT: another checkout, such as one of an older commit, to be counted in the same way.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Every function of a file, methods included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


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


def counts(root: Path) -> dict[str, str]:
    """What is counted, in the order in which it is printed."""
    code = [*(root / "analysis").rglob("*.py"), *(root / "dashboard").rglob("*.py")]
    tests = [path for path in (root / "tests").rglob("test_*.py")]
    every = [function for path in code for function in functions(path)]
    untyped = sum(names_any(function) for function in every)
    tested = [function for path in tests for function in functions(path) if function.name.startswith("test_")]
    without = sum(not asserts(function) for function in tested)
    figures = [path for path in (root / "analysis" / "figures").iterdir() if path.is_dir() and path.name[0] != "_"]
    return {
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
