"""Plans the import of untrusted files in a process of its own: a few kB can take all memory, or hours.

Repeated values and empty cells take next to nothing in a Parquet or CSV file, and much where they are read; what reads
them is native code that nothing here can stop.
"""

import json
import os
import pickle
import resource
import subprocess
import sys
import threading

import psutil

from analysis.core.errors import ImportProblem
from analysis.core.provenance import ROOT
from analysis.core.settings import PREFIX
from analysis.imports.plan import Plan, PlannedRun, plan
from analysis.imports.reader import BadRow, Files, UserMetadata

MEMORY_MIB = 1_024
"""Beyond what the process has when it starts: the most rows that are accepted, with every column, take two thirds."""
CPU_SECONDS, SECONDS = 20, 60
AT_ONCE = 2
"""Imports that are read at once; of one network address, the dashboard lets in one."""
ANSWER_MIB = 128
ENVIRONMENT = ("HOME", "PATH", "LANG")
"""The environment that the process gets besides our settings: no token."""

_places = threading.BoundedSemaphore(AT_ONCE)


def plan_in_child(files: Files, metadata: UserMetadata) -> Plan:
    """`plan` in a child process. Raises ImportProblem if it exceeds the limits, or waits too long for other imports."""
    environment = {name: value for name, value in os.environ.items() if name in ENVIRONMENT or name.startswith(PREFIX)}
    if not _places.acquire(timeout=SECONDS / 2):
        raise ImportProblem("Files of other readers are being read. Try again in a moment.")
    try:
        completed = subprocess.run(
            [sys.executable, "-B", "-m", __name__, str(MEMORY_MIB), str(CPU_SECONDS)],
            input=pickle.dumps((dict(files), metadata)),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env={**environment, "OMP_NUM_THREADS": "1"},
            timeout=SECONDS,
            check=False,
        )
        answer = completed.stdout if completed.returncode == 0 else b""
    except subprocess.TimeoutExpired:
        answer = b""
    finally:
        _places.release()
    if not answer:
        raise ImportProblem(
            f"Reading these files takes more than {CPU_SECONDS} s or {MEMORY_MIB} MiB. Import them in parts, or run: "
            "python -m analysis import FILES"
        )
    result = json.loads(answer)
    return Plan(
        runs=[PlannedRun(**run) for run in result["runs"]],
        bad=[BadRow(**bad) for bad in result["bad"]],
        left=result["left"],
        notes=result["notes"],
        known=result["known"],
    )


def main() -> None:
    """Reads files from standard input and writes their plan to standard output."""
    mebibytes, seconds = map(int, sys.argv[1:])
    for resource_type, limit in (
        (resource.RLIMIT_AS, psutil.Process().memory_info().vms + (mebibytes << 20)),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(resource_type, (limit, limit))
    files, metadata = pickle.load(sys.stdin.buffer)
    answer = json.dumps(vars(plan(files, metadata)), default=vars).encode()  # asdict would copy every row
    if len(answer) > ANSWER_MIB << 20:
        sys.exit("too long")
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
