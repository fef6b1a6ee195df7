"""What a hosted server lets pass of what Streamlit itself would take: messages of browsers, and uploads."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from google.protobuf.message import DecodeError
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg

TAKEN = {"rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "backend_operation_request"}
"""Kinds of messages that readers need. Others are for who develops an app: one clears the caches of every session, one
lists the files of the repository."""
OPERATIONS = {"deferred_file"}
"""Of the operations that a browser may ask for, those that readers need. Others install files."""

UPLOAD_PATH = "/_stcore/upload_file/"
SESSION_MB, ALL_MB = 60, 300
"""Of uploads that Streamlit keeps in memory, for one session and for all; each file is bounded by its config.toml."""
FILES = 2_100
"""Files of one session: more than an import may have."""
MB = 1_000_000


def is_accepted(data: bytes) -> bool:
    """Whether a browser's message is passed on. What is no message is: Streamlit ends its connection."""
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return True
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in OPERATIONS
    return kind in TAKEN


class Uploads:
    """Room for uploads: what is kept and what is on its way count alike. largest: bytes that one file may have."""

    def __init__(self, kept: Callable[[], dict[str, dict[str, Any]]], largest: Callable[[], int]) -> None:
        self._kept, self._largest = kept, largest
        self._coming: list[str] = []

    @contextmanager
    def room(self, session: str) -> Iterator[bool]:
        """Whether one more file of a session may come. Asked on the server's one event loop, so it needs no lock."""
        sizes = {who: [len(file.data) for file in files.copy().values()] for who, files in self._kept().copy().items()}
        own, largest = sizes.get(session, []), self._largest()
        coming = self._coming.count(session)
        fits = (
            len(own) + coming < FILES
            and sum(own) + (coming + 1) * largest <= SESSION_MB * MB
            and sum(map(sum, sizes.values())) + (len(self._coming) + 1) * largest <= ALL_MB * MB
        )
        if not fits:
            yield False
            return
        self._coming.append(session)
        try:
            yield True
        finally:
            self._coming.remove(session)


def kept_by_streamlit() -> dict[str, dict[str, Any]]:
    """Session -> file id -> file, as Streamlit keeps them in memory; none before it runs."""
    return runtime.get_instance().uploaded_file_mgr.file_storage if runtime.exists() else {}  # type: ignore
