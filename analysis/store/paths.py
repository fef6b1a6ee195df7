"""Where the results files and the store lie. Environment variables move them."""

import hashlib
from pathlib import Path

from analysis import settings
from analysis.provenance import ROOT
from analysis.store.storage import is_address


def data_folder() -> Path:
    """The folder of results files: ADDEND_DATA, or data/ in the checkout; of an address, the mirror of it here."""
    if is_mirrored():
        mirrors = Path(settings.text("ADDEND_MIRROR") or Path.home() / ".cache" / "addend")
        return mirrors / hashlib.sha256(settings.text("ADDEND_DATA").encode()).hexdigest()[:12]
    return Path(settings.text("ADDEND_DATA") or ROOT / "data")


def is_mirrored() -> bool:
    """Whether the results files lie on object storage; see `analysis.store.mirror`."""
    return is_address(settings.text("ADDEND_DATA"))


def store_path() -> Path:
    """The DuckDB file: ADDEND_STORE, or store/addend.duckdb in the data folder."""
    return Path(settings.text("ADDEND_STORE") or data_folder() / "store" / "addend.duckdb")


def version() -> tuple[str, int, int]:
    """Tells one state of the store from another, for whoever keeps what was read from it; 0, 0 where there is none."""
    path = store_path()
    try:
        stat = path.stat()
    except FileNotFoundError:  # Who reads it next says so in a sentence.
        return str(path), 0, 0
    return str(path), stat.st_mtime_ns, stat.st_size
