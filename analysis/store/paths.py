"""Where the results files and the store lie. Two environment variables move them."""

from pathlib import Path

from analysis import settings
from analysis.provenance import ROOT


def data_folder() -> Path:
    """The folder of results files: ADDEND_DATA, or data/ in the checkout."""
    return Path(settings.text("ADDEND_DATA") or ROOT / "data")


def store_path() -> Path:
    """The DuckDB file: ADDEND_STORE, or store/addend.duckdb in the data folder."""
    return Path(settings.text("ADDEND_STORE") or data_folder() / "store" / "addend.duckdb")


def version() -> tuple[str, int, int]:
    """Tells one state of the store from another, for whoever keeps what was read from it."""
    stat = store_path().stat()
    return str(store_path()), stat.st_mtime_ns, stat.st_size
