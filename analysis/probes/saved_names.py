"""The ids of saved probes, and the room for them.

An id is a keyed hash of what was run: the same probe has the same id, so that it is stored once however often it is
saved. The key is random and lies with the probes: whoever guesses a text cannot compute its id.
"""

import hmac
import json
import secrets
import threading
from collections.abc import Sequence
from pathlib import Path

from analysis.core import settings
from analysis.core.atomic_write import atomic_write
from analysis.core.errors import StoreError
from analysis.store import files
from analysis.store.paths import data_folder

KEY = "key"
"""The file that holds the key. It is no probe: those are Parquet files."""
KEY_BYTES, ID_DIGITS = 32, 32
SUFFIX = ".parquet"
MB = 1_000_000

saving = threading.Lock()
"""Held while a probe is written, so that the room that was found is there."""


def folder() -> Path:
    """The folder of saved probes."""
    return Path(settings.text("ADDEND_PROBES") or data_folder() / files.KINDS["probe"].folder)


def probe_id(identity: Sequence[object]) -> str:
    """The id of the probe that these values tell from others: 128 bits in hexadecimal digits."""
    message = json.dumps(list(identity)).encode()
    return hmac.new(_key(), message, "sha256").hexdigest()[:ID_DIGITS]


def is_stored(name: str) -> bool:
    """True if there is a probe of this id."""
    return (folder() / (name + SUFFIX)).is_file()


def check_room(size: int) -> None:
    """Raises StoreError where a probe of so many bytes is more than all may take together (ADDEND_PROBES_MB)."""
    limit = settings.number("ADDEND_PROBES_MB")
    if not limit:
        return
    sizes = [path.stat().st_size for path in folder().glob(f"*{SUFFIX}")]
    if sum(sizes) + size > limit * MB:
        raise StoreError(
            f"This probe takes about {size / MB:,.1f} MB, and those that are saved {sum(sizes) / MB:,.1f} MB; at most "
            f"{limit:,} MB are kept (ADDEND_PROBES_MB). Copy the link to the text instead, or run Addend yourself."
        )


def _key() -> bytes:
    """The key, which is made when there is none."""
    path = folder() / KEY
    try:
        if not path.is_file():
            with atomic_write(path) as partial:
                partial.write_bytes(secrets.token_bytes(KEY_BYTES))
            path.chmod(0o600)
        return path.read_bytes()
    except OSError as error:
        raise StoreError(
            f"The probe could not be saved ({error.strerror or error}). Make the folder of saved probes writable."
        ) from None
