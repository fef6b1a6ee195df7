"""Strangers' models, each in a process of its own that is ended at its deadline: `analysis/probes/worker.py`."""

import os
import pickle
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import psutil

from analysis.core import errors
from analysis.core.errors import AddendError, ModelError
from analysis.core.provenance import ROOT
from analysis.core.settings import PREFIX
from analysis.probes import worker
from analysis.probes.transfer import unpack
from analysis.probes.worker import ANSWER_MIB, LENGTH_BYTES, NO_MEMORY, START, Order

ENVIRONMENT = ("HOME", "PATH", "LANG", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")
"""The environment that the processes get besides our settings: no token."""
OFFLINE = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
"""No network and no threads before the copies are made; nor CUDA, which a copy could not use once it has begun."""
SPARE_MIB = 2_048
"""Memory that a model may take beside twice its weights, for its tokenizer and its passes."""
BEAT_SECONDS = 0.2
"""The time between two checks that somebody still waits."""
CHUNK_BYTES = 1 << 20

Check = Callable[[], None]
"""Raises when the work is to end."""


class Template:
    """The process that others are copies of. It starts with the first model, or before by `start`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a model may be dropped by this thread meanwhile
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def start(self) -> None:
        """Starts it where it does not run; it imports what models need meanwhile."""
        with self._lock:
            self._running()

    def copy(self, check: Check) -> tuple[socket.socket, int]:
        """A new process: the connection to it, and its number. Raises what `check` raises while it waits."""
        ours, theirs = socket.socketpair()
        ours.settimeout(BEAT_SECONDS)
        try:
            with self._lock, theirs:
                socket.send_fds(self._running(), [START.to_bytes(LENGTH_BYTES, "little")], [theirs.fileno()])
            return ours, int.from_bytes(_receive(ours, LENGTH_BYTES, check), "little")
        except OSError:
            self._stop()
            raise ModelError("The process for models could not be started. Try again in a moment.") from None
        except BaseException:
            ours.close()  # a copy that is still to come ends by itself
            raise

    def end(self, number: int) -> None:
        """Ends a copy."""
        with self._lock:
            if self._control is not None:
                try:
                    self._control.sendall(number.to_bytes(LENGTH_BYTES, "little"))
                except OSError:
                    self._stop()

    def _running(self) -> socket.socket:
        if self._control is None or self._process is None or self._process.poll() is not None:
            self._stop()
            self._control, theirs = socket.socketpair()
            self._control.settimeout(BEAT_SECONDS)
            variables = {k: v for k, v in os.environ.items() if k in ENVIRONMENT or k.startswith(PREFIX)}
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-B", "-m", worker.__name__, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=ROOT,
                    env={**variables, **OFFLINE},
                    pass_fds=[theirs.fileno()],
                )
        return self._control

    def _stop(self) -> None:
        """Ends it, and with it its copies."""
        with self._lock:
            if self._control is not None:
                self._control.close()
                self._control = None
            if self._process is not None:
                self._process.kill()
                self._process.wait()
                self._process = None


TEMPLATE = Template()


class ForeignModel:
    """A model that is loaded in a process of its own, which ends when this object is dropped.

    Any failure but a refusal ends it, too: `serves` is then false.
    """

    def __init__(self, request: Any, source: Any, seconds: int, check: Check) -> None:
        """Loads the model of a source, as a request needs it. Raises ModelError, and what `check` raises."""
        self.name, self.headed, self._seconds = source.name, request.head, seconds
        self._memory_mib = 2 * (source.bytes >> 20) + SPARE_MIB
        self._connection, self._number = TEMPLATE.copy(check)
        self._close = weakref.finalize(self, _close, self._connection, self._number)
        self._ask(Order(request, source, self._memory_mib, seconds), check)

    def run(self, request: Any, check: Check) -> Any:
        """The result of a request. Raises what the run raises, ModelError, and what `check` raises."""
        return self._ask(Order(request, None, self._memory_mib, self._seconds), check)

    def serves(self, head: bool) -> bool:
        """True if it serves a request that needs the head of the model, or one that does not."""
        return self._close.alive and (self.headed or not head)

    def with_head(self, head: bool) -> "ForeignModel":
        """Itself: each request says whether it needs the head."""
        return self

    @property
    def bytes(self) -> int:
        """The memory that only this process takes."""
        try:
            return int(psutil.Process(self._number).memory_full_info().uss)
        except psutil.Error:
            return 0

    def _ask(self, order: Order, check: Check) -> Any:
        try:
            message = pickle.dumps(order)
            _send(self._connection, len(message).to_bytes(LENGTH_BYTES, "little") + message, check)
            length = int.from_bytes(_receive(self._connection, LENGTH_BYTES, check), "little")
            if length > (ANSWER_MIB + 1) << 20:
                raise ValueError("the answer is too long")
            answer = unpack(bytes(_receive(self._connection, length, check)))
            name, text = (str(answer.get(key, "")) for key in ("error", "message"))
            if "error" not in answer:
                return answer["result"]
        except (OSError, ValueError, LookupError, AttributeError):
            self._close()
            raise ModelError(
                f"The process of {self.name} ended: its tokenizer or its weights take more than {self._memory_mib:,} "
                "MiB on this input, or make a library fail. Shorten the text or choose another model."
            ) from None
        except BaseException:
            self._close()
            raise
        if order.source is not None or not name:
            self._close()
        raise self._error(name, text)

    def _error(self, name: str, text: str) -> AddendError:
        """The exception that the process reports, where it is one of ours."""
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, AddendError):
            return kind(text)
        if text == NO_MEMORY:
            return ModelError(
                f"{self.name} takes more than {self._memory_mib:,} MiB on this input. Shorten the text or choose a "
                "smaller model."
            )
        return ModelError(f"{self.name} fails on this input ({text[:100]}). Change the text or choose another model.")


def _close(connection: socket.socket, number: int) -> None:
    connection.close()
    TEMPLATE.end(number)


def _send(connection: socket.socket, message: bytes, check: Check) -> None:
    rest = memoryview(message)
    while rest:
        check()
        try:
            rest = rest[connection.send(rest[:CHUNK_BYTES]) :]
        except TimeoutError:
            continue


def _receive(connection: socket.socket, length: int, check: Check) -> bytearray:
    """So many bytes. Raises ConnectionError where the other side has hung up."""
    received = bytearray()
    while len(received) < length:
        check()
        try:
            chunk = connection.recv(min(CHUNK_BYTES, length - len(received)))
        except TimeoutError:
            continue
        if not chunk:
            raise ConnectionError
        received += chunk
    return received
