"""The HTTP client of huggingface_hub, with checks of every response before the library acts on it.

The library names files of its cache by headers of the answer (ETag, X-Repo-Commit), and reads descriptions of any size
for any time. Whoever runs a mirror writes those headers, so they are held to what a hub's own look like. The library
uses this client in a process that has imported this module.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2
from huggingface_hub import set_client_factory
from huggingface_hub.utils._http import default_client_factory

from analysis.core import settings
from analysis.core.errors import ModelError
from analysis.models import file_checks

NAMING_HEADERS = ("etag", "x-linked-etag", "x-repo-commit")
"""Headers that become names of files and folders."""
NAME = re.compile(r"[0-9A-Za-z](?:[0-9A-Za-z_-]|\.(?!\.)){0,149}")
COMMIT = re.compile(r"[0-9a-f]{40}")
DESCRIPTION_BYTES = 20_000_000
TEXT_BYTES = file_checks.MAX_TOKENIZER_BYTES
"""Of a config or a tokenizer; what is stated is checked before, this is what arrives."""
DESCRIPTION_SECONDS = 10.0
"""The time that a description of a repository may take to arrive."""


def client() -> httpx2.Client:
    """The library's own client, with the checks."""
    http_client = default_client_factory()
    http_client.event_hooks = {**http_client.event_hooks, "response": [*http_client.event_hooks["response"], check]}
    return http_client


def check(response: httpx2.Response) -> None:
    """Refuses headers that would lead out of the cache, and bounds what the body may hold and how long it may take.

    Raises ModelError for such headers.
    """
    for header in NAMING_HEADERS:
        value = response.headers.get(header)
        if value is not None and not NAME.fullmatch(value.removeprefix("W/").strip('"')):
            response.close()
            raise ModelError(
                f"The hub answers {response.request.url.path[:100]!r} with the {header} {value[:80]!r}, which no hub "
                "gives: it could name a file outside the cache. The download was ended. Use another hub, or a local "
                "folder."
            )
    path, stream = response.request.url.path, response.stream
    assert isinstance(stream, httpx2.SyncByteStream)  # the client is not an asynchronous one
    if "/api/" in path:
        response.stream = BoundedStream(stream, path, DESCRIPTION_BYTES, DESCRIPTION_SECONDS)
    else:
        weight_bytes = settings.number("ADDEND_MODEL_MB") * 1_000_000
        max_bytes = weight_bytes if file_checks.is_weights(path) else TEXT_BYTES
        response.stream = BoundedStream(stream, path, max_bytes or None, settings.number("ADDEND_DOWNLOAD_SECONDS"))


set_client_factory(client)
_check_download: Callable[[], None] | None = None


@contextmanager
def checked_downloads(check: Callable[[], None]) -> Iterator[None]:
    """Within, `check` is called at every chunk of any response, and may raise to end the download.

    The library downloads in threads of its own, so this is one for the process: downloads take turns.
    """
    global _check_download
    _check_download = check
    try:
        yield
    finally:
        _check_download = None


class BoundedStream(httpx2.SyncByteStream):
    """The body of a response, up to so many bytes and seconds."""

    def __init__(self, stream: httpx2.SyncByteStream, path: str, max_bytes: int | None, seconds: float) -> None:
        self.stream, self.path, self.max_bytes = stream, path, max_bytes
        self.deadline, self.seconds = time.monotonic() + seconds, seconds

    def __iter__(self) -> Iterator[bytes]:
        """Raises ModelError where there is more, or where it takes longer."""
        arrived = 0
        for chunk in self.stream:
            arrived += len(chunk)
            if self.max_bytes is not None and arrived > self.max_bytes:
                raise self._error(f"sends more than {self.max_bytes / 1e6:,.0f} MB")
            if time.monotonic() > self.deadline:
                raise self._error(f"takes more than {self.seconds:,.0f} s")
            if _check_download is not None:
                _check_download()
            yield chunk

    def _error(self, reason: str) -> ModelError:
        return ModelError(
            f"The hub {reason} for {self.path[:100]!r}. The download was ended. Try again later, use another hub, or a "
            "local folder."
        )

    def close(self) -> None:
        """Ends the connection's use."""
        self.stream.close()


def commit(sha: str | None, model: str) -> str:
    """The commit that a hub names. Raises ModelError for what is none."""
    if sha is None or not COMMIT.fullmatch(sha):
        raise ModelError(
            f"The hub names {str(sha)[:80]!r} as the commit of {model}; expected 40 hexadecimal digits. Nothing was "
            "downloaded. Use another hub, or a local folder."
        )
    return sha
