"""From files to what would be added, and from that to results files: all of them or none.

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
from analysis.imports.base import BadRow, Files, Row, StatedByReader
from analysis.imports.limits import LEFT_SECONDS, MOST_BAD, MOST_FILES, MOST_MIB, MOST_PROBLEMS, MOST_ROWS, most_stored
from analysis.imports.readers import READERS
from analysis.imports.rows import CURVE, KEYS, SCORE, InvalidValue, check_row
from analysis.store import files as store_files
from analysis.store import mirror
from analysis.store.paths import data_folder

Values = dict[str, Any]
Key = tuple[object, ...]
"""What tells rows or runs apart: a kind, and values of columns that `KEYS` or `GROUPS` names."""
GROUPS = ("preset", "variant", "seed")
"""What the rows of one imported run share, besides the form and the kind."""


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """One run that would be stored: its kind, its rows, and what its files say of it."""

    run_id: str
    kind: str
    form: str
    rows: list[Values]
    sources: list[str]
    settings: Mapping[str, object]

    @property
    def preset(self) -> str:
        """That of all its rows."""
        return self.rows[0]["preset"]

    @property
    def variant(self) -> str:
        """That of all its rows."""
        return self.rows[0]["variant"]

    @property
    def seed(self) -> int:
        """That of all its rows."""
        return self.rows[0]["seed"]


@dataclass(kw_only=True)
class Plan:
    """What an import would do. bad: why it cannot be done, if it cannot. known: rows that are stored already.

    left: numbers that were found and are not taken, one line per run or file.
    """

    runs: list[PlannedRun] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    known: int = 0

    @property
    def rows(self) -> int:
        """How many rows would be added."""
        return sum(len(run.rows) for run in self.runs)

    @property
    def problems(self) -> list[str]:
        """The bad rows, a line each; of very many the first."""
        more = len(self.bad) - MOST_PROBLEMS
        return [str(bad) for bad in self.bad[:MOST_PROBLEMS]] + ([f"and {more:,} more"] if more > 0 else [])


def gather(paths: list[Path]) -> dict[str, bytes]:
    """The files that paths name, folders with all that is in them. Raises ImportProblem where there are too many.

    Only what a reader of results may want is opened: weights and pickles are not.
    """
    entries: dict[str, bytes] = {}
    room = MOST_MIB << 20
    for path in paths:
        if not path.exists():
            raise ImportProblem(f"There is no file or folder {str(path)!r}; check the path.")
        root = path.parent if path.is_file() else path.absolute().parent
        for file in [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file()):
            if not path.is_file() and not _wanted(file):
                continue
            if not path.is_file() and not file.resolve().is_relative_to(path.resolve()):
                raise ImportProblem(f"{str(file)!r} is a link that leads out of its folder. Put the file in its place.")
            room -= file.stat().st_size
            if room < 0 or len(entries) >= MOST_FILES:
                raise ImportProblem(
                    f"{str(path)!r} holds more than {MOST_MIB} MiB or {MOST_FILES:,} files; import it in parts."
                )
            name = file.relative_to(root) if path.is_file() else file.absolute().relative_to(root)
            try:
                entries[name.as_posix()] = file.read_bytes()
            except OSError as refused:
                raise ImportProblem(f"{file.name} could not be read ({refused.strerror}).") from None
    return entries


def _wanted(file: Path) -> bool:
    if file.suffix in {".csv", ".jsonl", ".parquet", ".json", ".yaml"}:
        return True
    return file.name == "README.md" or bool({"metrics", "params", "tags"} & set(file.parent.parts[-4:]))


def plan(files: Files, stated: StatedByReader | None = None) -> Plan:
    """What an import of these files would add. Bad rows are in the plan; nothing is written."""
    result = Plan()
    waiting = dict(files)
    grouped: dict[Key, list[tuple[Row, Values]]] = {}
    seen: dict[Key, tuple[Row, Values]] = {}
    stored = _stored()
    settings: dict[str, Mapping[str, object]] = {}
    count = 0
    for form, reader in sorted(READERS.items(), key=lambda named: named[1].last):
        reading = reader.read(waiting, stated or StatedByReader())
        waiting = {path: content for path, content in waiting.items() if path not in reading.used}
        result.bad += reading.bad
        result.left += reading.left
        settings |= reading.settings
        for row in reading.rows:
            if len(result.bad) > MOST_BAD:
                break
            count += 1
            try:
                kind, values = check_row(row.values)
                _once(kind, values, row, seen)
            except InvalidValue as wrong:
                result.bad.append(BadRow(row.file, row.line, f"{wrong}."))
                continue
            key = (kind, *(values[name] for name in KEYS[kind]))
            if key in stored:
                if stored[key] != values["value"]:
                    problem = f"is stored already with the value {stored[key]:g}, here {values['value']:g}."
                    result.bad.append(BadRow(row.file, row.line, problem))
                result.known += 1
            elif key not in seen or seen[key][0] is row:
                grouped.setdefault((form, kind, *(values[name] for name in GROUPS)), []).append((row, values))
    result.bad += [BadRow(path, None, f"is of no known form; expected {_forms()}.") for path in _strange(waiting)]
    if len(result.bad) > MOST_BAD:
        result.bad.append(BadRow("all files", None, f"more than {MOST_BAD} bad rows; the rest was not read."))
    if count > MOST_ROWS:
        result.bad.append(BadRow("all files", None, f"{count:,} rows; expected at most {MOST_ROWS:,} in one import."))
    result.bad.sort(key=lambda bad: (bad.file, bad.line or 0))
    if not result.bad:
        result.runs = [_planned(key, held, settings) for key, held in grouped.items()]
    return result


def _strange(waiting: Files) -> list[str]:
    """Files that nobody took and that are meant to be taken: every table, and others that came alone."""
    beside = (".json", ".yaml", ".md")
    return sorted(path for path in waiting if "/" not in path or not path.lower().endswith(beside))


def _forms() -> str:
    return "; or ".join(reader.expects for _, reader in READERS.items())


def _once(kind: str, values: Values, row: Row, seen: dict[Key, tuple[Row, Values]]) -> None:
    """Raises InvalidValue where another row of this import gives another value for the same thing."""
    key = (kind, *(values[name] for name in KEYS[kind]))
    first, other = seen.setdefault(key, (row, values))
    if other["value"] != values["value"]:
        where = first.file if first.line is None else f"{first.file}, line {first.line}"
        raise InvalidValue(f"gives {values['value']:g} where {where} gives {other['value']:g} for the same run")


def _stored() -> dict[Key, float]:
    """The imported rows that lie under data/: kind and key -> value."""
    entries: dict[Key, float] = {}
    for path in store_files.imported_files():
        try:
            kind, table, _ = store_files.read(path)
        except StoreError:
            continue  # A sync names it.
        for row in table.to_pylist():
            entries[(kind, *(row[name] for name in KEYS[kind]))] = row["value"]
    return entries


def _planned(key: Key, held: list[tuple[Row, Values]], settings: dict[str, Mapping[str, object]]) -> PlannedRun:
    form, kind = str(key[0]), str(key[1])
    rows = [values for _, values in held]
    canonical = json.dumps([kind, sorted(json.dumps(row, sort_keys=True) for row in rows)])
    sources = list(dict.fromkeys(row.file for row, _ in held))
    own = [settings.get(row.file if row.line is None else f"{row.file}:{row.line}") for row, _ in held]
    text = next((one for one in own if one), {})
    return PlannedRun(
        run_id=f"i{hashlib.sha256(canonical.encode()).hexdigest()[:24]}",
        kind=kind,
        form=form,
        rows=rows,
        sources=sources,
        settings=text if all(one in (None, text) for one in own) else {},
    )


def carry_out(plan: Plan) -> Path | None:
    """Writes the planned runs, whole or not at all; None where there is nothing to add.

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
        _clear(parent)
        partial = Path(tempfile.mkdtemp(dir=parent, prefix="."))
        try:
            for run in plan.runs:
                _write(run, partial)
            _check_room(parent, partial)
            os.chmod(partial, 0o755)
            os.rename(partial, parent / name)
            mirror.send()
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except FileExistsError:
        return parent / name
    except OSError as refused:
        if (parent / name).is_dir():
            return parent / name  # Another process brought the very same a moment ago.
        raise StoreError(
            f"The import could not be written ({refused.strerror or refused}). Free space or make the data folder "
            "writable."
        ) from None
    return parent / name


def _clear(parent: Path) -> None:
    """Removes what imports that were killed left behind."""
    for folder in parent.glob(".*"):
        if folder.is_dir() and time.time() - folder.stat().st_mtime > LEFT_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _check_room(parent: Path, partial: Path) -> None:
    """Raises ImportProblem where all imports together would be more than may be stored."""
    most = most_stored()
    stored = sum(file.stat().st_size for file in parent.rglob("*") if file.is_file())  # the new one is among them
    if most and stored > most:
        new = sum(file.stat().st_size for file in partial.rglob("*") if file.is_file())
        raise ImportProblem(
            f"This import takes {new / 1e6:,.1f} MB, and with it all imports would take {stored / 1e6:,.1f} MB; at "
            f"most {most / 1e6:,.0f} MB are stored (ADDEND_IMPORTED_MB). Remove older imports, or run Addend yourself."
        )


def _write(run: PlannedRun, folder: Path) -> None:
    columns = {name: [row[name] for row in run.rows] for name in (SCORE if run.kind == "scores" else CURVE)}
    about = store_files.Run(
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
    store_files.write(run.kind, columns, about, name=f"{run.kind}-{run.run_id}", folder=folder)
