"""The peak memory of this process."""

import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_mib() -> float:
    """MiB of memory in use at most, since the process's program began.

    Of Linux's own two answers ru_maxrss is the other one: it goes on from the process that started this one, however
    large that was.
    """
    if STATUS.is_file():
        return status_kib("VmHWM") / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def status_kib(name: str) -> int:
    """A line of this process's status on Linux, in KiB."""
    lines = STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
