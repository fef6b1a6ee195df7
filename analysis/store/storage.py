"""Object storage through fsspec, with its errors translated into ours.

Which server, and with which credentials, is told to fsspec and the storage's own library (AWS_ENDPOINT_URL,
AWS_ACCESS_KEY_ID, FSSPEC_S3_...). Their errors may quote addresses and keys, so only the kind of error is passed on.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from analysis.core.errors import NotInstalled, SettingError, StorageUnavailable

_S3_TIMEOUTS = {"config_kwargs": {"connect_timeout": 5, "read_timeout": 30, "retries": {"max_attempts": 2}}}
"""Seconds and attempts; S3's own defaults would block a caller for minutes."""
OPTIONS = {"s3": _S3_TIMEOUTS, "s3a": _S3_TIMEOUTS, "file": {"auto_mkdir": True}, "local": {"auto_mkdir": True}}
VERSION_FIELDS = ("ETag", "etag", "mtime", "last_modified", "updated", "created")
"""Fields of an object's description that change with its content; each storage has some of them."""


def is_address(location: str) -> bool:
    """True if a setting names object storage rather than a folder."""
    return "://" in location


class Storage:
    """The objects under the address that a setting holds; their names are their paths below it."""

    def __init__(self, setting: str, address: str) -> None:
        """Raises NotInstalled, and SettingError for an address that fsspec does not know."""
        self._description = f"The storage that {setting} names"
        protocol = address.partition("://")[0]
        try:
            import fsspec

            # Without its cache of listings: what others put there is seen at once.
            self._system, root = fsspec.url_to_fs(address, use_listings_cache=False, **OPTIONS.get(protocol, {}))
        except ImportError as error:
            remedy = "pip install -r requirements-s3.txt" if protocol in ("s3", "s3a") else f"{error}"
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
        """Name -> version of every object: its size, then fields that differ when its content does."""
        with self._translated_errors():
            objects: Mapping[str, Mapping[str, object]] = self._system.find(self._root, detail=True)
        return {path[len(self._root) + 1 :]: _object_version(info) for path, info in objects.items()}

    def has(self, name: str) -> bool:
        """True if there is an object of this name."""
        with self._translated_errors():
            return bool(self._system.exists(f"{self._root}/{name}"))

    def get(self, name: str, path: Path) -> None:
        """Fetches an object into a file."""
        with self._translated_errors():
            self._system.get_file(f"{self._root}/{name}", str(path))

    def put(self, path: Path, name: str) -> list[str]:
        """Sends a file; returns the object's version."""
        with self._translated_errors():
            self._system.put_file(str(path), f"{self._root}/{name}")
            return _object_version(self._system.info(f"{self._root}/{name}"))

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise StorageUnavailable(
                f"{self._description} is not there, or lacks a file. Check its address."
            ) from error
        except PermissionError as error:
            raise StorageUnavailable(f"{self._description} refused access. Check the credentials.") from error
        except Exception as error:  # of whichever library speaks to it
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise StorageUnavailable(
                f"{self._description} could not be reached ({reason}). Try again in a moment, or check the network, "
                "the address and the credentials."
            ) from error


def _object_version(info: Mapping[str, object]) -> list[str]:
    return [str(info["size"]), *(str(info[sign]) for sign in VERSION_FIELDS if sign in info)]
