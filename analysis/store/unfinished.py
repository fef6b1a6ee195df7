"""Partial results of a long measurement, saved item by item, so that a measurement that was killed can resume.

They lie under `unfinished/` in the data folder until the results file is written.
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
Arrays = Mapping[str, ndarray]
"""The arrays of one item by name, without dtype object."""


class PartialResults:
    """The finished items of one measurement, with the same settings, code and libraries.

    A checkout with uncommitted changes has no version, so nothing is saved for it.
    """

    def __init__(self, **settings: Any) -> None:
        """settings: everything that the numbers depend on except code and libraries, as JSON."""
        sha = git_sha()
        identity = {"git_sha": sha, "versions": library_versions(), **settings}
        name = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
        self._folder: Path | None = None if sha.endswith("+") else data_folder() / FOLDER / name
        self.resumed = 0
        """The number of items that were loaded."""

    def get(self, item: int) -> Arrays | None:
        """The arrays of an item; None if it is not finished, or was interrupted while it was written."""
        if self._folder is None:
            return None
        try:
            with np.load(self._folder / f"{item}.npz", allow_pickle=False) as archive:
                arrays = dict(archive)
        except (FileNotFoundError, zipfile.BadZipFile, EOFError, ValueError):
            return None
        self.resumed += 1
        return arrays

    def save(self, item: int, results: Arrays) -> None:
        """Saves the arrays of an item, completely or not at all. Raises StoreError where it cannot be written."""
        if self._folder is None:
            return
        try:
            with atomic_write(self._folder / f"{item}.npz") as partial, partial.open("wb") as file:
                np.savez(file, allow_pickle=False, **results)
        except OSError as error:
            raise StoreError(
                f"{self._folder} could not be written ({error.strerror or error}). Make the data folder writable, "
                "or set ADDEND_DATA to one that is."
            ) from None

    def discard(self) -> None:
        """Deletes all items, once the results file is written."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
