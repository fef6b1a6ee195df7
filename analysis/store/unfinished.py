"""What a long measurement has found so far, kept item by item, so that one that was killed goes on where it was.

It lies under `unfinished/` in the data folder until the results file is written, and is nobody's evidence.
"""

import hashlib
import json
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from analysis.core.atomic_write import atomic_write
from analysis.core.errors import StoreError
from analysis.core.provenance import git_sha, library_versions
from analysis.store.paths import data_folder

FOLDER = "unfinished"
Found = Mapping[str, ndarray]
"""What was found of one item: arrays by name, none of objects."""


class PartialResults:
    """The items of one measurement that are done. Two with other settings, code or libraries share nothing.

    Code that is not committed has no name, so a checkout with changes keeps nothing and starts anew.
    """

    def __init__(self, **settings: Any) -> None:
        """settings: all that the numbers depend on but code and libraries; JSON."""
        sha = git_sha()
        about = {"git_sha": sha, "versions": library_versions(), **settings}
        name = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
        self._folder: Path | None = None if sha.endswith("+") else data_folder() / FOLDER / name
        self.resumed = 0
        """How many items were found done."""

    def get(self, item: int) -> Found | None:
        """What was found of an item; None where it is not done, or was cut off while it was written."""
        if self._folder is None:
            return None
        try:
            with np.load(self._folder / f"{item}.npz", allow_pickle=False) as kept:
                entries = dict(kept)
        except (FileNotFoundError, zipfile.BadZipFile, EOFError, ValueError):
            return None
        self.resumed += 1
        return entries

    def keep(self, item: int, results: Found) -> None:
        """Keeps what was found of an item, whole or not at all. Raises StoreError where it cannot be written."""
        if self._folder is None:
            return
        try:
            with atomic_write(self._folder / f"{item}.npz") as partial, partial.open("wb") as file:
                np.savez(file, allow_pickle=False, **results)
        except OSError as refused:
            raise StoreError(
                f"{self._folder} could not be written ({refused.strerror or refused}). Make the data folder writable, "
                "or set ADDEND_DATA to one that is."
            ) from None

    def discard(self) -> None:
        """Forgets all of it: the results file is written."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
