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
"""What is mirrored; beside it lie the store and unfinished work, which are this machine's own."""
KNOWN = ".mirror.json"
SECONDS = 30.0
"""How often pages look for what others wrote, at most."""
LOCK_SECONDS = 60.0
AT_ONCE = 8

Here = list[int]
"""A file's size and time of change, in bytes and ns."""


@dataclass(frozen=True, kw_only=True)
class State:
    """How the mirror stands. fetched: when it was last as the storage; waiting: files still to be sent."""

    fetched: str
    waiting: int
    problem: str


_tried: dict[Path, float] = {}
_problems: dict[Path, str] = {}
_trying = threading.Lock()


class Known(TypedDict):
    """What is known of the mirrored files."""

    fetched: str
    """When everything was fetched last: UTC; empty where it never was."""
    files: dict[str, list[list[str] | Here | None]]
    """Name -> the signs of the object in the storage and of the file here, None for what is being fetched."""


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
        _tried[folder] = time.monotonic()
    _problems.pop(folder, None)


def send() -> None:
    """Sends what was written here. What cannot be sent now is logged, and sent by a later exchange."""
    if not is_mirrored():
        return
    folder = data_folder()
    try:
        with _known(folder) as known:
            _send(folder, known, _storage())
    except StorageUnavailable as problem:
        _problems[folder] = str(problem)
        logging.getLogger(__name__).warning(f"{problem} What was written is kept here and sent by a later sync.")


def keep_current() -> None:
    """Exchanges when the last time is a while ago, while whoever asks goes on with what is here.

    Waits only where nothing was ever fetched; raises StorageUnavailable where nothing can be.
    """
    if not is_mirrored():
        return
    folder = data_folder()
    is_recent = folder in _tried and time.monotonic() - _tried[folder] < SECONDS
    if is_recent and folder not in _problems:
        return
    if not _read(folder)["fetched"]:
        if is_recent and folder in _problems:
            raise StorageUnavailable(_problems[folder])
        exchange()
    elif not is_recent and _trying.acquire(blocking=False):
        threading.Thread(target=_quietly, daemon=True).start()


def start() -> None:
    """Exchanges for a command, which may go on with what is here, and logs that it must."""
    try:
        exchange()
    except StorageUnavailable as problem:
        if not _read(data_folder())["fetched"]:
            raise
        logging.getLogger(__name__).warning(f"{problem} What was fetched before is used.")


def state() -> State | None:
    """How the mirror stands; None where results files lie in a folder of this machine."""
    if not is_mirrored():
        return None
    folder = data_folder()
    known = _read(folder)
    return State(fetched=known["fetched"], waiting=len(_unsent(folder, known)), problem=_problems.get(folder, ""))


def _quietly() -> None:
    try:
        exchange()
    except StoreError as problem:
        logging.getLogger(__name__).warning(str(problem))
    finally:
        _trying.release()


def _storage() -> Storage:
    return Storage("ADDEND_DATA", settings.text("ADDEND_DATA"))


def _exchange(folder: Path) -> None:
    with _known(folder) as known:
        storage = _storage()
        unsent: StorageUnavailable | None = None
        try:
            _send(folder, known, storage)
        except StorageUnavailable as problem:  # it may take nothing and give all the same
            unsent = problem
        _fetch(folder, known, storage)
        if unsent:
            raise unsent


def _send(folder: Path, known: Known, storage: Storage) -> None:
    for name in _unsent(folder, known):
        here = _here(folder / name)
        known["files"][name] = [storage.put(folder / name, name), here]


def _fetch(folder: Path, known: Known, storage: Storage) -> None:
    files = known["files"]
    there = {name: signs for name, signs in storage.contents().items() if _is_ours(name)}
    if files and not there:
        raise StorageUnavailable(
            f"The storage that ADDEND_DATA names is empty, but {len(files)} of its files are here, so nothing is "
            f"removed. Check the address; if the storage is meant to be empty, remove the folder {folder}."
        )
    for name in _unsent(folder, known):
        there.pop(name, None)
    wanted: list[str] = []
    for name, signs in there.items():
        if files.get(name, [None])[0] != signs or not (folder / name).is_file():
            wanted.append(name)
            files[name] = [None, None]
    # Said before it is done: a file that half an exchange left is none that was written here.
    _write(folder, known)

    def fetched(name: str) -> tuple[str, Here]:
        with atomic_write(folder / name) as partial:
            storage.get(name, partial)
            if partial.stat().st_size != int(there[name][0]):
                raise StorageUnavailable(
                    f"{name} changed while it was fetched, or arrived incomplete. It is fetched again."
                )
        return name, _here(folder / name)

    with ThreadPoolExecutor(AT_ONCE) as fetching:
        for name, here in fetching.map(fetched, wanted):
            files[name] = [there[name], here]
    for name in set(files) - set(there) - set(_unsent(folder, known)):
        (folder / name).unlink(missing_ok=True)
        del files[name]
    known["fetched"] = now()


def _is_ours(name: str) -> bool:
    """Whether an object is mirrored. None whose name leads out of the folder is."""
    parts = PurePosixPath(name).parts
    plain = str(PurePosixPath(name)) == name and not any(part.startswith(".") or "\\" in part for part in parts)
    return plain and len(parts) > 1 and parts[0] in FOLDERS and not name.endswith(".partial")


def _unsent(folder: Path, known: Known) -> list[str]:
    """The files that were written here since they were last sent or fetched."""
    items: list[str] = []
    for path in (path for one in FOLDERS for path in (folder / one).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if _is_ours(name) and path.is_file():
            _, here = known["files"].get(name, [None, ()])
            if here is not None and here != _here(path):
                items.append(name)
    return sorted(items)


def _here(path: Path) -> Here:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns]


@contextmanager
def _known(folder: Path) -> Iterator[Known]:
    """What is known of the files, for one at a time to change; written down however the block ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".mirror.lock", timeout=LOCK_SECONDS):
            known = _read(folder)
            try:
                yield known
            finally:
                _write(folder, known)
    except Timeout:
        raise StorageUnavailable(
            f"Another process has been exchanging files of {folder} for {LOCK_SECONDS:.0f} s. Wait, or end it."
        ) from None
    except OSError as refused:
        raise StoreError(
            f"The mirror {folder} could not be written ({refused.strerror or refused}). Free space or make it "
            "writable, or set ADDEND_MIRROR to a folder that is."
        ) from None


def _read(folder: Path) -> Known:
    path = folder / KNOWN
    return json.loads(path.read_bytes()) if path.is_file() else {"fetched": "", "files": {}}


def _write(folder: Path, known: Known) -> None:
    with atomic_write(folder / KNOWN) as partial:
        partial.write_text(json.dumps(known), encoding="utf-8")
