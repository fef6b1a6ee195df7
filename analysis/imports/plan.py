"""Plans what an import would add, and executes the plan: all results files are written, or none.

An import is a folder of its own under data/imported, named by its content, which appears in one step. What is stored
already is not added again, whichever files it comes in; to undo an import, remove its folder.
"""

import hashlib
import json
import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.core.errors import ImportProblem, StoreError
from analysis.core.provenance import git_sha
from analysis.imports.curves import end_at_first_not_finite
from analysis.imports.limits import MAX_BAD, MAX_FILES, MAX_LISTED, MAX_MIB, MAX_ROWS, STALE_SECONDS, max_stored_bytes
from analysis.imports.reader import BadRow, Files, UncheckedRow, UserMetadata
from analysis.imports.readers import READERS
from analysis.imports.rows import CURVE, KEYS, SCORE, CheckedTexts, InvalidValue, check_row
from analysis.imports.texts import UnreadableFile, disguise, text
from analysis.store import files as store_files
from analysis.store.paths import data_folder

Values = dict[str, Any]
Key = tuple[object, ...]
"""Identifies rows or runs: a kind, and values of the columns in `KEYS` or `GROUPS`."""
TEXT_SUFFIXES = (".csv", ".jsonl", ".json", ".yaml")
"""The ends of names of text files, whichever reader takes them."""
AS_SORTED_JSON = json.JSONEncoder(sort_keys=True).encode
GROUPS = ("preset", "variant", "seed")
"""The columns that the rows of one imported run share, besides the form and the kind."""


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """A run that would be stored: its kind, its rows and its settings."""

    run_id: str
    kind: str
    form: str
    rows: list[Values]
    sources: list[str]
    settings: Mapping[str, object]

    @property
    def preset(self) -> str:
        """The one that all its rows share."""
        return self.rows[0]["preset"]

    @property
    def variant(self) -> str:
        """The one that all its rows share."""
        return self.rows[0]["variant"]

    @property
    def seed(self) -> int:
        """The one that all its rows share."""
        return self.rows[0]["seed"]


@dataclass(kw_only=True)
class Plan:
    """The effect that an import would have.

    bad: the rows that prevent it. known: the number of rows that are stored already. left: numbers that were found
    and are ignored, one line per run or file. notes: what was done to numbers that are taken.
    """

    runs: list[PlannedRun] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    known: int = 0

    @property
    def rows(self) -> int:
        """The number of rows that would be added."""
        return sum(len(run.rows) for run in self.runs)

    @property
    def problems(self) -> list[str]:
        """The bad rows, a line each; of very many the first."""
        unlisted = len(self.bad) - MAX_LISTED
        return [str(bad) for bad in self.bad[:MAX_LISTED]] + ([f"and {unlisted:,} more"] if unlisted > 0 else [])


def gather(paths: list[Path]) -> dict[str, bytes]:
    """Reads the files at paths, folders recursively. Raises ImportProblem where there are too many.

    In folders only files that may hold results are opened, so no weights or pickles.
    """
    contents: dict[str, bytes] = {}
    remaining = MAX_MIB << 20
    for path in paths:
        if not path.exists():
            raise ImportProblem(f"There is no file or folder {str(path)!r}; check the path.")
        root = path.absolute().parent
        for file in [path] if path.is_file() else sorted(item for item in path.rglob("*") if _may_hold_results(item)):
            if file != path and not file.resolve().is_relative_to(path.resolve()):
                raise ImportProblem(f"{str(file)!r} is a link that leads out of its folder. Put the file in its place.")
            remaining -= file.stat().st_size
            if remaining < 0 or len(contents) >= MAX_FILES:
                raise ImportProblem(
                    f"{str(path)!r} holds more than {MAX_MIB} MiB or {MAX_FILES:,} files; import it in parts."
                )
            try:
                contents[file.absolute().relative_to(root).as_posix()] = file.read_bytes()
            except OSError as error:
                raise ImportProblem(f"{file.name} could not be read ({error.strerror}).") from None
    return contents


def _may_hold_results(file: Path) -> bool:
    has_name = (
        file.suffix in {".csv", ".jsonl", ".parquet", ".json", ".yaml", ".db", ".db-wal"} or file.name == "README.md"
    )
    return (has_name or not {"metrics", "params", "tags"}.isdisjoint(file.parent.parts[-4:])) and file.is_file()


def plan(files: Files, metadata: UserMetadata | None = None) -> Plan:
    """The plan of importing these files, with the rows that would be added and bad ones. Nothing is written."""
    result = Plan()
    remaining, result.bad = _readable(files)
    grouped: dict[Key, list[tuple[UncheckedRow, Values]]] = {}
    seen: dict[Key, tuple[UncheckedRow, Values]] = {}
    stored = _stored_rows()
    settings: dict[str, Mapping[str, object]] = {}
    checked: CheckedTexts = {}
    count = 0
    for form, reader in sorted(READERS.items(), key=lambda item: item[1].last):
        reading = reader.read(remaining, metadata or UserMetadata())
        remaining = {path: content for path, content in remaining.items() if path not in reading.used}
        end_at_first_not_finite(reading)
        result.bad += reading.bad
        result.left += reading.left
        result.notes += reading.notes
        settings |= reading.settings
        for row in reading.rows:
            if len(result.bad) > MAX_BAD:
                break
            count += 1
            try:
                kind, values = check_row(row.values, checked)
                key = (kind, *(values[name] for name in KEYS[kind]))
                _check_consistent(key, values, row, seen)
            except InvalidValue as error:
                result.bad.append(row.bad(f"{error}."))
                continue
            if key in stored:
                if stored[key] != values["value"]:
                    problem = f"is stored already with the value {stored[key]:g}, here {values['value']:g}."
                    result.bad.append(row.bad(problem))
                result.known += 1
            elif key not in seen or seen[key][0] is row:
                grouped.setdefault((form, kind, *(values[name] for name in GROUPS)), []).append((row, values))
    forms = "; or ".join(reader.expects for _, reader in READERS.items())
    for path in _unrecognised(remaining):
        known = disguise(remaining[path])
        result.bad.append(BadRow(path, None, f"{known}." if known else f"is of no known form; expected {forms}."))
    if len(result.bad) > MAX_BAD:
        result.bad.append(BadRow("all files", None, f"more than {MAX_BAD} bad rows; the rest was not read."))
    if count > MAX_ROWS:
        result.bad.append(BadRow("all files", None, f"{count:,} rows; expected at most {MAX_ROWS:,} in one import."))
    result.bad.sort(key=lambda bad: (bad.file, bad.line or 0))
    if not result.bad:
        result.runs = [_planned_run(key, entries, settings) for key, entries in grouped.items()]
    return result


def _readable(files: Files) -> tuple[dict[str, bytes], list[BadRow]]:
    """The files without those that should be text and are not, and what these are instead."""
    readable, bad = dict(files), []
    for path, content in files.items():
        if path.lower().endswith(TEXT_SUFFIXES):
            try:
                text(content)
            except UnreadableFile as error:
                bad.append(BadRow(path, None, f"could not be read: it {error}."))
                readable.pop(path)
    return readable, bad


def _unrecognised(remaining: Files) -> list[str]:
    """Unused files that should have been used: every table, and other files outside of folders."""
    companions = (".json", ".yaml", ".md")
    return sorted(path for path in remaining if "/" not in path or not path.lower().endswith(companions))


def _check_consistent(
    key: Key, values: Values, row: UncheckedRow, seen: dict[Key, tuple[UncheckedRow, Values]]
) -> None:
    """Raises InvalidValue where another row of this import gives another value for the same thing."""
    first, first_values = seen.setdefault(key, (row, values))
    if first_values["value"] != values["value"]:
        raise InvalidValue(
            f"gives {values['value']:g} where {first.where} gives {first_values['value']:g} for the same run"
        )


def _stored_rows() -> dict[Key, float]:
    """The imported rows that are stored already: kind and key -> value."""
    stored: dict[Key, float] = {}
    for path in store_files.imported_files():
        try:
            kind, table, _ = store_files.read(path)
        except StoreError:
            continue  # A sync names it.
        for row in table.to_pylist():
            stored[(kind, *(row[name] for name in KEYS[kind]))] = row["value"]
    return stored


def _planned_run(
    key: Key, members: list[tuple[UncheckedRow, Values]], settings: dict[str, Mapping[str, object]]
) -> PlannedRun:
    form, kind = str(key[0]), str(key[1])
    rows = [values for _, values in members]
    canonical = json.dumps([kind, sorted(map(AS_SORTED_JSON, rows))])
    sources = list(dict.fromkeys(row.file for row, _ in members))
    candidates = [settings.get(row.file if row.line is None else f"{row.file}:{row.line}") for row, _ in members]
    settings_of_run = next((candidate for candidate in candidates if candidate), {})
    return PlannedRun(
        run_id=f"i{hashlib.sha256(canonical.encode()).hexdigest()[:24]}",
        kind=kind,
        form=form,
        rows=rows,
        sources=sources,
        settings=settings_of_run if all(candidate in (None, settings_of_run) for candidate in candidates) else {},
    )


def execute(plan: Plan) -> Path | None:
    """Writes the planned runs, all or none, and returns their folder; None if there is nothing to add.

    Raises ImportProblem for a plan with bad rows, StoreError where the folder cannot be written.
    """
    if plan.bad:
        raise ImportProblem(f"Nothing was imported: {len(plan.bad)} bad row(s). {plan.problems[0]}")
    if not plan.runs:
        return None
    parent = data_folder() / store_files.IMPORTED
    name = hashlib.sha256("".join(sorted(run.run_id for run in plan.runs)).encode()).hexdigest()[:24]
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(parent)
        partial = Path(tempfile.mkdtemp(dir=parent, prefix="."))
        try:
            for run in plan.runs:
                _write(run, partial)
            _check_room(parent, partial)
            os.chmod(partial, 0o755)
            os.rename(partial, parent / name)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except FileExistsError:
        return parent / name
    except OSError as error:
        if (parent / name).is_dir():
            return parent / name  # Another process brought the very same a moment ago.
        raise StoreError(
            f"The import could not be written ({error.strerror or error}). Free space or make the data folder writable."
        ) from None
    return parent / name


def _remove_stale(parent: Path) -> None:
    """Removes what imports that were killed left behind."""
    for folder in parent.glob(".*"):
        if folder.is_dir() and time.time() - folder.stat().st_mtime > STALE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _check_room(parent: Path, partial: Path) -> None:
    """Raises ImportProblem if all imports together would exceed ADDEND_IMPORTED_MB."""
    limit = max_stored_bytes()
    stored = sum(file.stat().st_size for file in parent.rglob("*") if file.is_file())  # the new one is among them
    if limit and stored > limit:
        new = sum(file.stat().st_size for file in partial.rglob("*") if file.is_file())
        raise ImportProblem(
            f"This import takes {new / 1e6:,.1f} MB, and with it all imports would take {stored / 1e6:,.1f} MB; at "
            f"most {limit / 1e6:,.0f} MB are stored (ADDEND_IMPORTED_MB). Remove older imports, or run Addend yourself."
        )


def _write(run: PlannedRun, folder: Path) -> None:
    columns = {name: [row[name] for row in run.rows] for name in (SCORE if run.kind == "scores" else CURVE)}
    run_info = store_files.Run(
        kind=run.kind,
        command=f"python -m analysis import {shlex.join(run.sources[:3])}{' ...' if len(run.sources) > 3 else ''}",
        device="not said",
        dtype="not said",
        seed=run.seed,
        variant=run.variant,
        preset=run.preset,
        config={"imported_from": run.form, "files": run.sources[:20], **run.settings},
        run_id=run.run_id,
        git_sha=f"imported by {git_sha()}",
        versions="not said",
    )
    store_files.write(run.kind, columns, run_info, name=f"{run.kind}-{run.run_id}", folder=folder)
