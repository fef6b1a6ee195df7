"""Guards of a hosted server: it lets pass a part of the messages and uploads that Streamlit would accept."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg

MESSAGES = {"rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "backend_operation_request"}
"""Kinds of messages that readers need. Others are for developers of an app: one clears the caches of every session, one
lists the files of the repository."""
BROWSER_OPERATIONS = {"deferred_file"}
"""Operations of a browser that readers need. Others install files."""

UPLOAD_PATH = "/_stcore/upload_file/"
SESSION_MB, TOTAL_MB = 60, 300
"""Limits of the uploads in Streamlit's memory, for one session and for all; config.toml limits each file."""
SESSION_FILES = 2_100
"""Files of one session: more than an import may have."""
ADDRESS_MB = 120
"""The share of one network address in the uploads of all."""
ADDRESS_UPLOADS = 12
"""Files that one network address may upload at once."""
PUT_SECONDS = 60.0
"""The time that the upload of one file may take."""
ABSENT_SECONDS = 30.0
"""The time for which a session keeps its files after losing its connection; browsers connect again within seconds."""
MB = 1_000_000


def is_accepted(data: bytes) -> bool:
    """True if a browser's message is passed on. Undecodable ones are: Streamlit then closes the connection."""
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return True
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in BROWSER_OPERATIONS
    return kind in MESSAGES


@dataclass(frozen=True)
class Upload:
    """A file on its way: whose it is, and the bytes that are kept free for it."""

    session: str
    address: str
    size: int


class Uploads:
    """Room for uploads: stored files and those being uploaded count alike.

    max_file_bytes: of one file. is_connected: whether a session has a connection. remove: drops a session's files.
    """

    def __init__(
        self,
        stored_files: Callable[[], dict[str, dict[str, Any]]],
        max_file_bytes: Callable[[], int],
        is_connected: Callable[[str], bool] = lambda _: True,
        remove: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._stored_files, self._max_file_bytes = stored_files, max_file_bytes
        self._is_connected, self._remove = is_connected, remove
        self._uploading: list[Upload] = []
        self._addresses: dict[str, str] = {}
        """Session -> the address that it uploads from."""
        self._absent_since: dict[str, float] = {}

    @contextmanager
    def room(self, session: str, address: str = "", size: int | None = None) -> Iterator[bool]:
        """True if a session may upload another file. Runs on the server's one event loop, so it needs no lock.

        address: the network address that it comes from. size: the bytes that it states; the most, where it states none.
        """
        self.free_absent()
        max_file_bytes = self._max_file_bytes()
        upload = Upload(session, address, max_file_bytes if size is None else min(size, max_file_bytes))
        if not self._fits(upload):
            yield False
            return
        self._uploading.append(upload)
        self._addresses[session] = address
        try:
            yield True
        finally:
            self._uploading.remove(upload)

    def _fits(self, upload: Upload) -> bool:
        sizes = {
            owner: [len(file.data) for file in files.copy().values()]
            for owner, files in self._stored_files().copy().items()
        }
        self._addresses = {
            owner: address
            for owner, address in self._addresses.items()
            if owner in sizes or any(owner == other.session for other in self._uploading)
        }
        of_session = [other for other in self._uploading if other.session == upload.session]
        of_address = [other for other in self._uploading if other.address == upload.address]
        stored_by_address = sum(
            sum(own) for owner, own in sizes.items() if self._addresses.get(owner) == upload.address
        )
        return (
            len(sizes.get(upload.session, [])) + len(of_session) < SESSION_FILES
            and len(of_address) < ADDRESS_UPLOADS
            and _total(upload, of_session) + sum(sizes.get(upload.session, [])) <= SESSION_MB * MB
            and _total(upload, of_address) + stored_by_address <= ADDRESS_MB * MB
            and _total(upload, self._uploading) + sum(map(sum, sizes.values())) <= TOTAL_MB * MB
        )

    def free_absent(self) -> None:
        """Drops the files of sessions that have had no connection for `ABSENT_SECONDS`; Streamlit keeps them longer."""
        now = time.monotonic()
        absent = [session for session in self._stored_files().copy() if not self._is_connected(session)]
        self._absent_since = {session: self._absent_since.get(session, now) for session in absent}
        for session, since in self._absent_since.items():
            if now - since >= ABSENT_SECONDS:
                self._remove(session)


def _total(upload: Upload, others: Sequence[Upload]) -> int:
    return upload.size + sum(other.size for other in others)


def streamlit_uploads() -> dict[str, dict[str, Any]]:
    """Session -> file id -> file, as Streamlit keeps them in memory; none before it runs."""
    return runtime.get_instance().uploaded_file_mgr.file_storage if runtime.exists() else {}  # type: ignore


def is_connected(session: str) -> bool:
    """True if a session of Streamlit has a connection."""
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def remove_uploads(session: str) -> None:
    """Drops the files that a session of Streamlit holds in memory."""
    if runtime.exists():
        runtime.get_instance().uploaded_file_mgr.remove_session_files(session)
