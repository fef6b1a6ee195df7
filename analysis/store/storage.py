"""Object storage, through fsspec: the one place that speaks to it, and what its refusals are called.

Which server, and with which credentials, is told to fsspec and the storage's own library (AWS_ENDPOINT_URL,
AWS_ACCESS_KEY_ID, FSSPEC_S3_...). Their errors may quote addresses and keys, so only the kind of error is passed on.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from analysis.core.errors import NotInstalled, SettingError, StorageUnavailable

_PATIENCE = {"config_kwargs": {"connect_timeout": 5, "read_timeout": 30, "retries": {"max_attempts": 2}}}
"""Seconds and tries of S3, whose own defaults would hold who waits for minutes."""
OPTIONS = {"s3": _PATIENCE, "s3a": _PATIENCE, "file": {"auto_mkdir": True}, "local": {"auto_mkdir": True}}
SIGNS = ("ETag", "etag", "mtime", "last_modified", "updated", "created")
"""What a storage may say of an object that changes when the object does; none says all of them."""


def is_address(place: str) -> bool:
    """Whether what a setting names is object storage, not a folder."""
    return "://" in place


class Storage:
    """The objects under the address that a setting holds; their names are their paths below it."""

    def __init__(self, setting: str, address: str) -> None:
        """Raises NotInstalled, and SettingError for an address that fsspec does not know."""
        self._what = f"The storage that {setting} names"
        protocol = address.partition("://")[0]
        try:
            import fsspec

            # Without its cache of listings: what others put there is seen at once.
            self._system, root = fsspec.url_to_fs(address, use_listings_cache=False, **OPTIONS.get(protocol, {}))
        except ImportError as absent:
            remedy = "pip install -r requirements-s3.txt" if protocol in ("s3", "s3a") else f"{absent}"
            raise NotInstalled(
                f"{setting} is an address of {protocol}://, which needs a package that is not installed. Run: {remedy}."
            ) from None
        except ValueError:
            raise SettingError(
                f"{setting} is an address of {protocol}://, which fsspec does not know; expected a folder, or an "
                "address such as s3://bucket/folder."
            ) from None
        self._root = root.rstrip("/")

    def contents(self) -> dict[str, list[str]]:
        """Every object: its name, and its signs (the size first), which differ when its content does."""
        with self._reaching():
            entries: Mapping[str, Mapping[str, object]] = self._system.find(self._root, detail=True)
        return {path[len(self._root) + 1 :]: _signs(about) for path, about in entries.items()}

    def has(self, name: str) -> bool:
        """Whether there is an object of this name."""
        with self._reaching():
            return bool(self._system.exists(f"{self._root}/{name}"))

    def get(self, name: str, path: Path) -> None:
        """Fetches an object into a file."""
        with self._reaching():
            self._system.get_file(f"{self._root}/{name}", str(path))

    def put(self, path: Path, name: str) -> list[str]:
        """Sends a file; returns the object's signs."""
        with self._reaching():
            self._system.put_file(str(path), f"{self._root}/{name}")
            return _signs(self._system.info(f"{self._root}/{name}"))

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as absent:
            raise StorageUnavailable(f"{self._what} is not there, or lacks a file. Check its address.") from absent
        except PermissionError as refused:
            raise StorageUnavailable(f"{self._what} refused access. Check the credentials.") from refused
        except Exception as failed:  # of whichever library speaks to it
            text = getattr(failed, "strerror", None) or type(failed).__name__
            raise StorageUnavailable(
                f"{self._what} could not be reached ({text}). Try again in a moment, or check the network, the address "
                "and the credentials."
            ) from failed


def _signs(about: Mapping[str, object]) -> list[str]:
    return [str(about["size"]), *(str(about[sign]) for sign in SIGNS if sign in about)]
