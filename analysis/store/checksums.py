"""Checksums of the committed results: `data/SHA256SUMS`, which `sha256sum --check` reads too."""

import hashlib
from pathlib import Path

import pyarrow.parquet as pq

from analysis.core.atomic_write import atomic_write
from analysis.store import files

NAME = "SHA256SUMS"
FOLDERS = ("results", "published", "probe_set", "probes", "checkpoints")


def listed_sums(data: Path) -> dict[str, str]:
    """Path below the data folder -> SHA-256, as the file of sums has it; empty where there is none."""
    if not (data / NAME).is_file():
        return {}
    lines = (data / NAME).read_text(encoding="utf-8").splitlines()
    return {path: digest for digest, path in (line.split("  ", 1) for line in lines)}


def computed_sums(data: Path) -> dict[str, str]:
    """The same of the files that there are."""
    items = sorted(path for folder in FOLDERS for path in (data / folder).rglob("*") if path.is_file())
    return {path.relative_to(data).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in items}


def renew(data: Path) -> tuple[int, int]:
    """Writes the file of sums; gives older results files page checksums first, their content unchanged.

    Returns how many files are listed, and how many were rewritten. Raises StoreError for a file that cannot be read.
    """
    rewritten = 0
    for path in sorted((data / "results").rglob("*.parquet")):
        rewritten += _sealed(path)
    sums = computed_sums(data)
    with atomic_write(data / NAME) as partial:
        partial.write_text("".join(f"{digest}  {path}\n" for path, digest in sums.items()), encoding="utf-8")
    return len(sums), rewritten


def _sealed(path: Path) -> bool:
    """Whether the file had to be written anew, with checksums."""
    table = pq.read_table(path)
    about = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    if "addend.check" in about:
        return False
    files.read(path)  # refuses what is broken
    about["addend.check"] = files.footer_checksum(about, table)
    with atomic_write(path) as partial:
        files.write_table(table.replace_schema_metadata(about), partial)
    return True
