"""Provenance of a number: the code, libraries, machine and moment that produced it."""

import platform
import re
import subprocess
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shlex import quote

ROOT = Path(__file__).resolve().parents[2]
CODE = ROOT / "CODE"
PACKAGE = "addend-dashboard"
"""The name of the distribution; pyproject.toml has it, too."""
LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "duckdb")


@lru_cache(maxsize=1)
def git_sha() -> str:
    """The checkout's commit, with "+" when tracked files differ from it; outside git what the file CODE says, which
    an image is given when it is built; of an installed package its version; else "unknown".
    """
    if not (ROOT / ".git").exists():  # a repository further up is not ours
        return CODE.read_text(encoding="utf-8").strip() if CODE.is_file() else _package()

    def git(*arguments: str) -> str:
        completed = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
        return completed.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "analysis", "dashboard")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _package() -> str:
    try:
        return f"{PACKAGE} {version(PACKAGE)}"
    except PackageNotFoundError:
        return "unknown"


def library_versions() -> str:
    """Versions of Python and of the libraries that numbers depend on, "name version" joined by commas."""
    return ", ".join([f"python {platform.python_version()}", *(f"{name} {_version(name)}" for name in LIBRARIES)])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # stored results are shown without PyTorch, too
        return "not installed"


def model_options(model: str, revision: str = "", called: str | None = None) -> str:
    """The command line's options that name a model again; the hash of files on disk is no revision to ask for.

    called: the name of a folder in the results, if its path shall not be shown.
    """
    if called is not None:
        return f"--model FOLDER --called {quote(called)}"
    pinned = f" --revision {revision}" if re.fullmatch("[0-9a-f]{40}", revision) else ""
    return f"--model {quote(model)}{pinned}"


def now() -> str:
    """The moment, in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
