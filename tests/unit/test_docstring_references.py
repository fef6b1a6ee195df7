"""A docstring names parameters, modules and files that exist, and begins with a noun or a verb."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for folder in ("analysis", "dashboard") for path in (ROOT / folder).rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef
EXPLAINED = re.compile(r"(?:^|\. )(\w+(?:, \w+)*): ")
"""Where a paragraph explains parameters: `texts: of the corpus`, at the beginning of a sentence."""
MODULE = re.compile(r"\b(?:analysis|dashboard)(?:\.\w+)+")
FILE = re.compile(r"(?<![\w./])[\w/-]+\.(?:md|toml|sql)\b")


def functions(tree: ast.Module) -> Iterator[tuple[Function, str]]:
    for node in ast.walk(tree):
        if isinstance(node, Function) and (docstring := ast.get_docstring(node)):
            yield node, docstring


def undefined_names(function: Function, docstring: str) -> list[str]:
    """Names that the docstring explains, and that are neither parameters nor anything that the code names.

    A name in the code is a column of a frame or a key of a mapping that the function makes.
    """
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    arguments += [argument for argument in (function.args.vararg, function.args.kwarg) if argument]
    parameters = {argument.arg for argument in arguments}
    paragraphs = [" ".join(paragraph.split()) for paragraph in docstring.split("\n\n")]
    explained = [name for text in paragraphs for match in EXPLAINED.findall(text) for name in match.split(", ")]
    others = [name for name in explained if name.islower() and not name.isdigit() and name not in parameters]
    if not others:  # as of most functions, whose code is then not written out
        return []
    named = set(re.findall(r"\w+", " ".join(ast.unparse(statement) for statement in function.body[1:])))
    return [name for name in others if name not in named]


@pytest.mark.parametrize(
    ("source", "undefined"),
    [
        ('def f(a):\n    """Sum. a: one. b: other."""\n    return a', ["b"]),
        ('def f(a):\n    """Sum. a: one. total: of all."""\n    return {"total": a}', []),
        ('def f(*texts, **more):\n    """Sum.\n\n    texts, more: words.\n    """\n    return 1', []),
    ],
)
def test_the_check_finds_what_is_not_there(source: str, undefined: list[str]) -> None:
    [(function, docstring)] = functions(ast.parse(source))
    assert undefined_names(function, docstring) == undefined


def test_docstrings_explain_parameters_that_there_are() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}: {name}"
        for path in SOURCES
        for function, docstring in functions(ast.parse(path.read_text(encoding="utf-8")))
        for name in undefined_names(function, docstring)
    ]
    assert not wrong, "\n".join(wrong)


@cache
def texts(path: Path) -> list[str]:
    """Every docstring of a file, those of modules and classes and the texts below assignments included."""
    return [
        statement.value.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(body := getattr(node, "body", None), list)
        for statement in body
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    ]


def exists(name: str) -> bool:
    """A module, or something in one, by its dotted name."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:count]))
        except (ImportError, ValueError):
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_modules_that_docstrings_name_exist() -> None:
    named = {
        (name, str(path.relative_to(ROOT))) for path in SOURCES for text in texts(path) for name in MODULE.findall(text)
    }
    wrong = sorted(f"{path}: {name}" for name, path in named if not exists(name))
    assert not wrong, "\n".join(wrong)


def test_files_that_docstrings_name_exist() -> None:
    files = {
        path.name for path in ROOT.rglob("*") if path.suffix in (".md", ".toml", ".sql") and ".venv" not in path.parts
    }
    named = {
        (name, str(path.relative_to(ROOT))) for path in SOURCES for text in texts(path) for name in FILE.findall(text)
    }
    wrong = sorted(f"{path}: {name}" for name, path in named if Path(name).name not in files and not exists(name))
    assert not wrong, "\n".join(wrong)


FREE_RELATIVE = re.compile(r"(?:What|Whether|Which|How|That|Where|When|Whose|Who|Why)\b")


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    """A free relative ("What a link says") hides the noun; say the thing ("The part of a link that ...")."""
    wrong = [
        f"{path.relative_to(ROOT)}: {text.strip().splitlines()[0]}"
        for path in SOURCES
        for text in texts(path)
        if FREE_RELATIVE.match(text.strip())
    ]
    assert not wrong, "\n".join(wrong)
