"""Checksums of the committed results: `data/SHA256SUMS`, which `sha256sum --check` reads too."""

import hashlib
from pathlib import Path

import pyarrow.parquet as pq

from analysis.core.atomic_write import atomic_write
from analysis.store import files
from analysis.store.paths import CHECKSUMS

FOLDERS = ("results", "published", "probe_set", "probes", "opening", "checkpoints")


def listed_sums(data: Path) -> dict[str, str]:
    """Path below the data folder -> SHA-256, read from the checksum file; empty if there is none."""
    if not (data / CHECKSUMS).is_file():
        return {}
    lines = (data / CHECKSUMS).read_text(encoding="utf-8").splitlines()
    return {path: digest for digest, path in (line.split("  ", 1) for line in lines)}


def computed_sums(data: Path) -> dict[str, str]:
    """Path below the data folder -> SHA-256, computed from the files themselves."""
    paths = sorted(path for folder in FOLDERS for path in (data / folder).rglob("*") if path.is_file())
    return {path.relative_to(data).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def renew(data: Path) -> tuple[int, int]:
    """Adds page checksums to older results files, whose content stays the same, and writes the checksum file.

    Returns how many files are listed, and how many were rewritten. Raises StoreError for a file that cannot be read.
    """
    rewritten = sum(_add_checksum(path) for path in sorted((data / "results").rglob("*.parquet")))
    sums = computed_sums(data)
    with atomic_write(data / CHECKSUMS) as partial:
        partial.write_text("".join(f"{digest}  {path}\n" for path, digest in sums.items()), encoding="utf-8")
    return len(sums), rewritten


def _add_checksum(path: Path) -> bool:
    """Rewrites a results file with checksums unless it has them; returns whether it did."""
    table = pq.read_table(path)
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    if "addend.check" in metadata:
        return False
    files.read(path)  # refuses what is broken
    metadata["addend.check"] = files.footer_checksum(metadata, table)
    with atomic_write(path) as partial:
        files.write_table(table.replace_schema_metadata(metadata), partial)
    return True
