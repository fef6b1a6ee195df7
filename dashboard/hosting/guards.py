"""Which of the messages and uploads that Streamlit would accept a hosted server lets pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
MB = 1_000_000


def is_accepted(data: bytes) -> bool:
    """Whether a browser's message is passed on. Undecodable ones are: Streamlit then closes the connection."""
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return True
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in BROWSER_OPERATIONS
    return kind in MESSAGES


class Uploads:
    """Room for uploads: stored files and those being uploaded count alike. max_file_bytes: of one file."""

    def __init__(
        self, stored_files: Callable[[], dict[str, dict[str, Any]]], max_file_bytes: Callable[[], int]
    ) -> None:
        self._stored_files, self._max_file_bytes = stored_files, max_file_bytes
        self._uploading: list[str] = []

    @contextmanager
    def room(self, session: str) -> Iterator[bool]:
        """Whether a session may upload another file. Runs on the server's one event loop, so it needs no lock."""
        sizes = {
            owner: [len(file.data) for file in files.copy().values()]
            for owner, files in self._stored_files().copy().items()
        }
        session_sizes, max_file_bytes = sizes.get(session, []), self._max_file_bytes()
        uploading = self._uploading.count(session)
        fits = (
            len(session_sizes) + uploading < SESSION_FILES
            and sum(session_sizes) + (uploading + 1) * max_file_bytes <= SESSION_MB * MB
            and sum(map(sum, sizes.values())) + (len(self._uploading) + 1) * max_file_bytes <= TOTAL_MB * MB
        )
        if not fits:
            yield False
            return
        self._uploading.append(session)
        try:
            yield True
        finally:
            self._uploading.remove(session)


def streamlit_uploads() -> dict[str, dict[str, Any]]:
    """Session -> file id -> file, as Streamlit keeps them in memory; none before it runs."""
    return runtime.get_instance().uploaded_file_mgr.file_storage if runtime.exists() else {}  # type: ignore
