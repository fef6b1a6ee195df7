"""The process in which a stranger's model is opened and run, under limits of the operating system.

Run as `python -m analysis.probes.worker DESCRIPTOR`, a template: it imports what models need, which takes seconds, and
copies itself (fork) for each model that the server asks for. It opens no model itself. A copy reads orders of the
server, which are pickled, and answers with results as `transfer` packs them, which run no code where they are read.
`dashboard/model_server/foreign_models.py` is the server's side.
"""

import ctypes
import gc
import os
import pickle
import resource
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.models.load import Loaded
    from analysis.models.source import Source
    from analysis.probes.model_request import ModelRequest

LENGTH_BYTES = 8
"""Bytes of the number that precedes a message, and of the number of a process."""
START = 0
"""Asks the template for a copy; any other number is that of a copy to be ended."""
ANSWER_MIB = 1_024
"""Bytes that a result may take, in MiB."""
SPARE_SECONDS = 5
"""A process whose server does not end it in time is ended by the operating system so much later."""
SET_PARENT_DEATH_SIGNAL = 1
"""Of prctl."""
NICENESS = 5
"""Pages, and probes of the embedded model, go before."""
NO_MEMORY = "MemoryError"
"""The word by which a process says that it has reached its limit, whichever library met that."""
NEEDED = (
    "analysis.models.load",
    "analysis.models.cancellation",
    "analysis.measurements.interventions.images",
    "analysis.measurements.interventions.run",
    "analysis.measurements.positions.measure",
    "analysis.measurements.positions.remove_rotation",
    "analysis.measurements.terms.images",
    "analysis.measurements.terms.layers",
    "analysis.measurements.terms.run",
    "analysis.probes.image_probe",
    "analysis.probes.intervention_probe",
    "analysis.probes.position_probe",
    "analysis.probes.text_probe",
    "analysis.probes.transfer",
)
"""Modules that the template imports."""


@dataclass(frozen=True)
class Order:
    """A task that the server gives a process: to load the model that `source` names, or to run a request on it.

    memory_mib: what the process may take beyond what it has at its start. seconds: the time that it may take.
    """

    request: "ModelRequest[Any]"
    source: "Source | None"
    memory_mib: int
    seconds: int


def main() -> None:
    """Makes copies of this process until the server ends."""
    control, copies = socket.socket(fileno=int(sys.argv[1])), set[int]()
    for module in NEEDED:
        import_module(module)
    gc.collect()
    gc.freeze()  # memory that is never collected stays shared with the copies
    while True:
        message, descriptors, *_ = socket.recv_fds(control, LENGTH_BYTES, 1)
        if len(message) < LENGTH_BYTES:
            return
        _forget_ended(copies)
        if number := int.from_bytes(message, "little"):
            if number in copies:  # which is its number until this process waits for it: no other process can have it
                os.kill(number, signal.SIGKILL)
                os.waitpid(number, 0)
                copies.discard(number)
            continue
        copy = os.fork()
        if not copy:
            try:
                control.close()
                _end_with_template()
                _serve(socket.socket(fileno=descriptors[0]))
            finally:
                os._exit(0)
        copies.add(copy)
        os.close(descriptors[0])


def _forget_ended(copies: set[int]) -> None:
    """Waits for the copies that have ended."""
    with suppress(ChildProcessError):
        while number := os.waitpid(-1, os.WNOHANG)[0]:
            copies.discard(number)


def _end_with_template() -> None:
    """Has the system end this process when the template ends, which ends with the server. Only Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _serve(connection: socket.socket) -> None:
    """Answers orders until the server hangs up, or until something failed after which this process is not used."""
    os.nice(NICENESS)
    connection.sendall(os.getpid().to_bytes(LENGTH_BYTES, "little"))
    loaded: Loaded | None = None
    while message := _receive(connection):
        order: Order = pickle.loads(message)  # of the server, which is trusted
        if loaded is None:
            _limit(order.memory_mib)
        signal.alarm(order.seconds + SPARE_SECONDS)
        answer, loaded, usable = _answer(order, loaded)
        connection.sendall(len(answer).to_bytes(LENGTH_BYTES, "little"))
        connection.sendall(answer)
        signal.alarm(0)
        if not usable:
            return


def _receive(connection: socket.socket) -> bytes:
    """One message; nothing where the server has hung up."""
    length = int.from_bytes(connection.recv(LENGTH_BYTES, socket.MSG_WAITALL), "little")
    return connection.recv(length, socket.MSG_WAITALL) if length else b""


def _limit(mebibytes: int) -> None:
    """Limits the memory of this process, and lets it write no file.

    RLIMIT_DATA counts what a process may write to and shares with nobody. RLIMIT_AS would count addresses, too, of
    which CUDA reserves more than any machine has memory.
    """
    import psutil

    data = getattr(psutil.Process().memory_info(), "data", 0) + (mebibytes << 20)
    for kind, limit in ((resource.RLIMIT_DATA, data), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (limit, limit))


def _answer(order: Order, loaded: "Loaded | None") -> tuple[bytes, "Loaded | None", bool]:
    """The packed answer to an order, the model, and whether the process can be used again."""
    from analysis.core.errors import AddendError
    from analysis.probes.transfer import pack

    try:
        if order.source is not None:
            loaded = order.request.load(result=order.source)
            return pack({"result": None}), loaded, True
        assert loaded is not None, "the server loads a model first"
        result = order.request.run(loaded.with_head(order.request.head))
        answer = pack({"result": _measured(result)})
        if len(answer) > ANSWER_MIB << 20:
            raise AddendError(f"The result takes more than {ANSWER_MIB:,} MiB. Shorten the text.")
        return answer, loaded, True
    except AddendError as error:
        return pack({"error": type(error).__name__, "message": str(error)}), loaded, loaded is not None
    except BaseException as error:  # noqa: BLE001  told to the server; a panic of Rust is no Exception
        no_memory = isinstance(error, MemoryError) or "allocate memory" in str(error) or "out of memory" in str(error)
        return pack({"error": "", "message": NO_MEMORY if no_memory else type(error).__name__}), loaded, False


def _measured(result: Any) -> Any:
    """The result, with what every page shows of it computed here."""
    from analysis.probes.text_probe import compute_measures

    compute_measures(result)
    return result


if __name__ == "__main__":
    # Under its own name, so that what the server pickles is found here.
    from analysis.probes import worker

    worker.main()
