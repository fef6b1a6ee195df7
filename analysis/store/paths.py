"""Finds the folder of the results files and the path of the store. Environment variables move them."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache, lru_cache, wraps
from pathlib import Path
from threading import RLock
from typing import ParamSpec, TypeVar

from analysis.core import settings
from analysis.core.provenance import ROOT

BUNDLE = Path(__file__).resolve().parents[1] / "bundled_data"
"""The results files inside an installed package; a checkout has them in data/."""
CHECKSUMS = "SHA256SUMS"
"""The file in the data folder with the checksums of the committed files."""


def data_folder() -> Path:
    """The folder of results files: ADDEND_DATA, or data/ in the checkout.

    Of an installed package, a copy of its results in the reader's home, where a store and imports may be written.
    """
    if configured := settings.text("ADDEND_DATA"):
        return Path(configured)
    return _unpack(BUNDLE) if BUNDLE.is_dir() else ROOT / "data"


@cache
def _unpack(bundle: Path) -> Path:
    """The copy of a package's results, made atomically and once for each content."""
    content = hashlib.sha256((bundle / CHECKSUMS).read_bytes()).hexdigest()[:12]
    folder = Path.home() / ".local" / "share" / "addend" / content
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as partial:
            copy = Path(partial) / "data"
            shutil.copytree(bundle, copy)
            try:
                os.rename(copy, folder)
            except OSError:
                if not folder.is_dir():  # else another process made the same copy a moment ago
                    raise
    return folder


def store_path() -> Path:
    """The DuckDB file: ADDEND_STORE, or store/addend.duckdb in the data folder."""
    return Path(settings.text("ADDEND_STORE") or data_folder() / "store" / "addend.duckdb")


def version() -> tuple[str, int, int]:
    """Identifies a state of the store, as a key of caches; ends in 0, 0 if there is no store."""
    path = store_path()
    try:
        stat = path.stat()
    except FileNotFoundError:  # The next read raises a StoreError.
        return str(path), 0, 0
    return str(path), stat.st_mtime_ns, stat.st_size


ArgumentsP = ParamSpec("ArgumentsP")
ResultT = TypeVar("ResultT")


def cached_until_store_changes(
    maxsize: int = 4,
) -> Callable[[Callable[ArgumentsP, ResultT]], Callable[ArgumentsP, ResultT]]:
    """Caches a function's last results for one state of the store: the only cache of what the store decides.

    Results are shared and must not be modified. Callers that ask for the same at once wait for one of them.
    """

    def decorate(function: Callable[ArgumentsP, ResultT]) -> Callable[ArgumentsP, ResultT]:
        @lru_cache(maxsize=maxsize)
        def entry(*key: object, **keywords: object) -> tuple[RLock, list[ResultT]]:
            return RLock(), []

        @wraps(function)
        def current(*args: ArgumentsP.args, **kwargs: ArgumentsP.kwargs) -> ResultT:
            lock, results = entry(version(), *args, **kwargs)
            with lock:
                if not results:
                    results.append(function(*args, **kwargs))
                return results[0]

        return current

    return decorate
