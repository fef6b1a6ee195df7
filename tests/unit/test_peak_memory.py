"""Proves that a process's peak memory is its own: not that of the one that started it."""

import subprocess
import sys

import numpy as np

from analysis.core.peak_memory import peak_mib

ASK = "from analysis.core.peak_memory import peak_mib; import numpy as np; {}; print(peak_mib())"


def asked(work: str) -> float:
    done = subprocess.run([sys.executable, "-c", ASK.format(work)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_the_peak_is_the_processs_own_and_holds_what_was_freed() -> None:
    ballast = np.ones(50 * 2**20)  # 400 MiB
    assert peak_mib() > 400
    idle = asked("pass")
    assert idle < 200, "the ballast of the process that asks is counted"
    assert 190 < asked("x = np.ones(25 * 2**20); del x") - idle < 210
    assert ballast[0] == 1
