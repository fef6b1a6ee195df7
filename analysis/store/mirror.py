"""Results files on object storage: where ADDEND_DATA is an address, a folder here that mirrors what lies there.

Everything else reads and writes that folder as it would data/. What is written here is sent; what changed there is
fetched, each object whole before it takes its place; what was removed there is removed here. Beside the files stands
what is known of them: each one's signs there, and its size and time here. A file that is not as known was written
here and is still to be sent, so that nothing is lost while the storage is away.

DuckDB could read the objects by itself, through an fsspec filesystem registered on its connection. That was not
simpler. A results file is more than rows: the run in its metadata is checked, an old version upgraded, a bad file
named and left out, all by `files.read`. Texts and checkpoints are wanted as files besides. And every page asks
whether the store is current: of a folder that costs a look at each file, of a bucket a listing over the network.
"""

import json
import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypedDict

from filelock import FileLock, Timeout

from analysis.core import settings
from analysis.core.atomic_write import atomic_write
from analysis.core.errors import StorageUnavailable, StoreError
from analysis.core.provenance import now
from analysis.store.paths import data_folder, is_mirrored
from analysis.store.storage import Storage

FOLDERS = ("results", "imported", "probes", "published", "probe_set", "checkpoints")
"""The folders that are mirrored; the store and unfinished work stay on this machine."""
MANIFEST = ".mirror.json"
REFRESH_SECONDS = 30.0
"""The shortest time between two looks of pages at the storage."""
LOCK_SECONDS = 60.0
PARALLEL_DOWNLOADS = 8

Stamp = list[int]
"""A file's size and time of change, in bytes and ns."""


@dataclass(frozen=True, kw_only=True)
class State:
    """The state of the mirror. fetched: when it last equalled the storage; waiting: files still to be sent."""

    fetched: str
    waiting: int
    problem: str


_last_exchange: dict[Path, float] = {}
_problems: dict[Path, str] = {}
_exchange_lock = threading.Lock()


class Manifest(TypedDict):
    """The last recorded state of the mirrored files."""

    fetched: str
    """The time in UTC of the last complete fetch; empty if there was none."""
    files: dict[str, list[list[str] | Stamp | None]]
    """Name -> the version of the object and the stamp of the local file; None while it is being fetched."""


def exchange() -> None:
    """Sends, then fetches. Raises StorageUnavailable where either failed; what could be done is done all the same."""
    if not is_mirrored():
        return
    folder = data_folder()
    try:
        _exchange(folder)
    except StorageUnavailable as problem:
        _problems[folder] = str(problem)
        raise
    finally:
        _last_exchange[folder] = time.monotonic()
    _problems.pop(folder, None)


def send() -> None:
    """Sends what was written here. What cannot be sent now is logged, and sent by a later exchange."""
    if not is_mirrored():
        return
    folder = data_folder()
    try:
        with _locked_manifest(folder) as manifest:
            _send(folder, manifest, _storage())
    except StorageUnavailable as problem:
        _problems[folder] = str(problem)
        logging.getLogger(__name__).warning(f"{problem} What was written is kept here and sent by a later sync.")


def keep_current() -> None:
    """Exchanges in the background if the last exchange is older than `REFRESH_SECONDS`.

    Waits only where nothing was ever fetched; raises StorageUnavailable where nothing can be.
    """
    if not is_mirrored():
        return
    folder = data_folder()
    is_recent = folder in _last_exchange and time.monotonic() - _last_exchange[folder] < REFRESH_SECONDS
    if is_recent and folder not in _problems:
        return
    if not _read(folder)["fetched"]:
        if is_recent and folder in _problems:
            raise StorageUnavailable(_problems[folder])
        exchange()
    elif not is_recent and _exchange_lock.acquire(blocking=False):
        threading.Thread(target=_exchange_in_background, daemon=True).start()


def start() -> None:
    """Exchanges for a command; where that fails, logs that the local files are used."""
    try:
        exchange()
    except StorageUnavailable as problem:
        if not _read(data_folder())["fetched"]:
            raise
        logging.getLogger(__name__).warning(f"{problem} What was fetched before is used.")


def state() -> State | None:
    """The state of the mirror; None where results files lie in a folder of this machine."""
    if not is_mirrored():
        return None
    folder = data_folder()
    manifest = _read(folder)
    return State(fetched=manifest["fetched"], waiting=len(_unsent(folder, manifest)), problem=_problems.get(folder, ""))


def _exchange_in_background() -> None:
    try:
        exchange()
    except StoreError as problem:
        logging.getLogger(__name__).warning(str(problem))
    finally:
        _exchange_lock.release()


def _storage() -> Storage:
    return Storage("ADDEND_DATA", settings.text("ADDEND_DATA"))


def _exchange(folder: Path) -> None:
    with _locked_manifest(folder) as manifest:
        storage = _storage()
        failure: StorageUnavailable | None = None
        try:
            _send(folder, manifest, storage)
        except StorageUnavailable as problem:  # it may take nothing and give all the same
            failure = problem
        _fetch(folder, manifest, storage)
        if failure:
            raise failure


def _send(folder: Path, manifest: Manifest, storage: Storage) -> None:
    for name in _unsent(folder, manifest):
        stamp = _stamp_of(folder / name)
        manifest["files"][name] = [storage.put(folder / name, name), stamp]


def _fetch(folder: Path, manifest: Manifest, storage: Storage) -> None:
    files = manifest["files"]
    remote = {name: version for name, version in storage.contents().items() if _is_mirrored_name(name)}
    if files and not remote:
        raise StorageUnavailable(
            f"The storage that ADDEND_DATA names is empty, but {len(files)} of its files are here, so nothing is "
            f"removed. Check the address; if the storage is meant to be empty, remove the folder {folder}."
        )
    for name in _unsent(folder, manifest):
        remote.pop(name, None)
    outdated: list[str] = []
    for name, version in remote.items():
        if files.get(name, [None])[0] != version or not (folder / name).is_file():
            outdated.append(name)
            files[name] = [None, None]
    # Recorded first: a file that an interrupted exchange left must not count as written here.
    _write(folder, manifest)

    def download(name: str) -> tuple[str, Stamp]:
        with atomic_write(folder / name) as partial:
            storage.get(name, partial)
            if partial.stat().st_size != int(remote[name][0]):
                raise StorageUnavailable(
                    f"{name} changed while it was fetched, or arrived incomplete. It is fetched again."
                )
        return name, _stamp_of(folder / name)

    with ThreadPoolExecutor(PARALLEL_DOWNLOADS) as pool:
        for name, stamp in pool.map(download, outdated):
            files[name] = [remote[name], stamp]
    for name in set(files) - set(remote) - set(_unsent(folder, manifest)):
        (folder / name).unlink(missing_ok=True)
        del files[name]
    manifest["fetched"] = now()


def _is_mirrored_name(name: str) -> bool:
    """True if an object of this name is mirrored; false for a name that leads out of the folder."""
    parts = PurePosixPath(name).parts
    plain = str(PurePosixPath(name)) == name and not any(part.startswith(".") or "\\" in part for part in parts)
    return plain and len(parts) > 1 and parts[0] in FOLDERS and not name.endswith(".partial")


def _unsent(folder: Path, manifest: Manifest) -> list[str]:
    """The files that were written here since they were last sent or fetched."""
    names: list[str] = []
    for path in (path for top in FOLDERS for path in (folder / top).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if _is_mirrored_name(name) and path.is_file():
            _, stamp = manifest["files"].get(name, [None, ()])
            if stamp is not None and stamp != _stamp_of(path):
                names.append(name)
    return sorted(names)


def _stamp_of(path: Path) -> Stamp:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns]


@contextmanager
def _locked_manifest(folder: Path) -> Iterator[Manifest]:
    """The manifest under a file lock; it is written back however the block ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".mirror.lock", timeout=LOCK_SECONDS):
            manifest = _read(folder)
            try:
                yield manifest
            finally:
                _write(folder, manifest)
    except Timeout:
        raise StorageUnavailable(
            f"Another process has been exchanging files of {folder} for {LOCK_SECONDS:.0f} s. Wait, or end it."
        ) from None
    except OSError as error:
        raise StoreError(
            f"The mirror {folder} could not be written ({error.strerror or error}). Free space or make it "
            "writable, or set ADDEND_MIRROR to a folder that is."
        ) from None


def _read(folder: Path) -> Manifest:
    path = folder / MANIFEST
    return json.loads(path.read_bytes()) if path.is_file() else {"fetched": "", "files": {}}


def _write(folder: Path, manifest: Manifest) -> None:
    with atomic_write(folder / MANIFEST) as partial:
        partial.write_text(json.dumps(manifest), encoding="utf-8")
