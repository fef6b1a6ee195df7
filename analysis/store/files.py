"""Results files: what kinds there are, how one is written, and how one is read back and checked.

A Parquet results file holds the rows of one run and, in its metadata, the run itself (who, what, when,
on which device). It is written once and never changed. Files of an older version are upgraded as they
are read; the store knows the newest version only.
"""

import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.core.atomic_write import atomic_write
from analysis.core.errors import StoreError
from analysis.core.provenance import git_sha, library_versions, now
from analysis.store.kinds import KINDS, Kind
from analysis.store.paths import data_folder

IMPORTED = "imported"
"""The folder of imports under data/, and how the preset of every imported run begins."""
REQUIRED_RUN_FIELDS = {"run_id", "kind", "command", "created", "config"}
"""Fields that every run has. The others may be missing in older files."""


def new_run_id() -> str:
    """A unique name for a run."""
    return uuid.uuid4().hex[:12]


@dataclass(frozen=True, kw_only=True)
class Run:
    """The provenance that every row of a results file shares.

    architecture: the `model_type` of the model's config. causal: whether its tokens attend to no later one.
    """

    kind: str
    command: str
    model: str | None = None
    revision: str | None = None
    device: str = "cpu"
    dtype: str = "float64"
    architecture: str | None = None
    causal: bool | None = None
    seed: int | None = None
    variant: str | None = None
    preset: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    run_id: str = field(default_factory=new_run_id)
    created: str = field(default_factory=now)
    git_sha: str = field(default_factory=git_sha)
    versions: str = field(default_factory=library_versions)


def write(
    kind: str, columns: Mapping[str, Iterable[object]], run: Run, *, name: str | None = None, folder: Path | None = None
) -> Path:
    """Writes one results file atomically and returns its path.

    columns: column name -> values, as `KINDS[kind].schema` lists them. folder: where, if not in the kind's own.
    Raises StoreError when the folder cannot be written or the columns are not those of the kind.
    """
    definition = KINDS[kind]
    if mismatched := sorted(set(columns) ^ set(definition.schema.names)):
        raise StoreError(
            f"A {kind!r} file {'has no' if mismatched[0] in columns else 'lacks the'} column {mismatched[0]!r}; "
            f"expected: {', '.join(definition.schema.names)}."
        )
    try:
        # Cast afterwards: given the type at once, Arrow would silently truncate 1.5 to 1.
        arrays = [pa.array(columns[column.name]).cast(column.type) for column in definition.schema]
        table = pa.Table.from_arrays(arrays, schema=definition.schema)
    except (pa.ArrowException, TypeError) as error:
        raise StoreError(
            f"The columns of a {kind!r} file could not be taken ({error}); expected equally many values in each, "
            "of the types that analysis/store/kinds.py lists."
        ) from None
    metadata = {"addend.kind": kind, "addend.version": str(definition.version), "addend.run": json.dumps(asdict(run))}
    metadata["addend.check"] = footer_checksum(metadata, table)
    folder = folder or data_folder() / definition.folder
    target = folder / f"{name or run.run_id}.parquet"
    try:
        with atomic_write(target) as partial:
            write_table(table.replace_schema_metadata(metadata), partial)
    except OSError as error:
        raise StoreError(
            f"{target} could not be written ({error.strerror or error}). Free space or make the "
            "folder writable, or set ADDEND_DATA to one that is."
        ) from None
    return target


def write_rows(
    rows: Iterable[Mapping[str, object]],
    run: Run,
    *,
    name: str | None = None,
    shared: Mapping[str, object] | None = None,
) -> Path:
    """Writes rows of the kind that the run is of; see `write`. A column that a row lacks is empty there.

    shared: columns that have the same value in every row.
    """
    complete = [{**row, **(shared or {})} for row in rows]
    names = dict.fromkeys([*KINDS[run.kind].schema.names, *(name for row in complete[:1] for name in row)])
    columns = {column: [row.get(column) for row in complete] for column in names}
    return write(run.kind, columns, run, name=name)


def read(path: Path) -> tuple[str, pa.Table, dict[str, Any]]:
    """A results file's kind, its rows in the newest version, and its run.

    Raises StoreError when it is truncated, of no known kind, of a newer version, of one that cannot be
    upgraded, lacks a column, or does not say which run it holds.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:  # half the time of `read_table`
            table = file.read(use_threads=False)
        list(table.schema.names)  # a damaged name is no UTF-8, which shows when it is asked for
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise StoreError(f"{path.name} is not a readable Parquet file ({error}). Restore or remove it.") from None
    metadata = {key: value.decode(errors="replace") for key, value in (table.schema.metadata or {}).items()}
    kind = KINDS.get(metadata.get(b"addend.kind", ""))
    if kind is None:
        raise StoreError(f"{path.name} is not a results file of ours: it names no known kind. Remove it from data/.")
    if (stated := metadata.get(b"addend.check")) is not None and stated != footer_checksum(
        {name.decode(errors="replace"): value for name, value in metadata.items()}, table
    ):
        raise StoreError(
            f"{path.name} is damaged: its content is not what was written. Restore it from a copy, or remove it."
        )
    stated = metadata.get(b"addend.version", "")
    if not stated.isdecimal():
        raise StoreError(f"{path.name} is of version {stated!r}; expected a whole number. Restore or remove it.")
    table = _upgrade(path, table, kind, int(stated))
    run = _parse_run(path, metadata.get(b"addend.run", ""))
    missing = [name for name in kind.schema.names if name not in table.column_names]
    if missing:
        raise StoreError(f"{path.name} lacks the column {missing[0]!r} of kind {kind.name!r}. Restore or remove it.")
    try:
        table = table.select(kind.schema.names).cast(kind.schema)
    except (pa.ArrowException, ValueError) as error:
        raise StoreError(
            f"{path.name} has a column of another type than expected ({error}). Restore or remove it."
        ) from None
    return kind.name, table.replace_schema_metadata(None), run


def write_table(table: pa.Table, path: Path) -> None:
    """One Parquet file whose pages carry checksums, which `read` verifies."""
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def footer_checksum(metadata: Mapping[str, str], table: pa.Table) -> str:
    """The SHA-256 of what the footer holds besides the pages: kind, version, run, columns and number of rows.

    Parquet has checksums of pages alone; a flipped bit in the footer would give another run or fewer rows silently.
    """
    # The element of a list type is called "item" in memory and "element" in a file.
    types = [f"list<{t.value_type}>" if pa.types.is_list(t) else str(t) for t in table.schema.types]
    columns = list(zip(table.schema.names, types, strict=True))
    values = [metadata.get(f"addend.{name}", "") for name in ("kind", "version", "run")]
    return hashlib.sha256(json.dumps([values, columns, table.num_rows]).encode()).hexdigest()


def _upgrade(path: Path, table: pa.Table, kind: Kind, version: int) -> pa.Table:
    if version > kind.version:
        raise StoreError(
            f"{path.name} is of version {version} and this Addend reads up to {kind.version}. Update Addend."
        )
    for step in range(version, kind.version):
        if step not in kind.upgrades:
            raise StoreError(
                f"{path.name} is of version {step}, which cannot be brought to {kind.version}. "
                "Measure it again, or read it with the Addend that wrote it."
            )
        try:
            table = kind.upgrades[step](table)
        except (pa.ArrowException, LookupError, TypeError, ValueError) as error:
            raise StoreError(
                f"{path.name} could not be brought from version {step} to {step + 1} ({error}). Restore or remove it."
            ) from None
    return table


def _parse_run(path: Path, text: str) -> dict[str, Any]:
    try:
        run = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        run = None
    if not isinstance(run, dict) or not run.keys() >= REQUIRED_RUN_FIELDS or not isinstance(run["config"], dict):
        raise StoreError(
            f"{path.name} does not describe its run; expected at least {', '.join(sorted(REQUIRED_RUN_FIELDS))}. "
            "Restore or remove it."
        )
    return run


def results_files() -> list[Path]:
    """Every Parquet results file under the data folder, sorted."""
    folder = data_folder()
    measured = sorted(path for kind in KINDS.values() for path in (folder / kind.folder).glob("*.parquet"))
    return [*measured, *imported_files()]


def imported_files() -> list[Path]:
    """Imported results, one folder per import; a folder whose name begins with a dot is unfinished."""
    return sorted((data_folder() / IMPORTED).glob("[!.]*/*.parquet"))
