"""What issue 5 budgets: all stored geometry of the embedded model, a sync with all verdicts, and the ledger's page.

    python -m tests.benchmarks.ledger [--only geometry sync page] [--repeats 5] [--write]

Seconds by the clock and, beside them, of processors: on a machine that does other work the second is what counts. The
page is run as Streamlit runs it, without a browser (AppTest), from another page to the ledger and to one claim. --write
keeps the table under tests/benchmarks/tables.
"""

import argparse
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from tests.benchmarks.machine import ROOT, Table

BUDGETS = {"geometry": 180.0, "sync": 5.0, "page": 1.0}
"""Seconds, on two cores."""
Taken = tuple[str, float, float]
"""What, seconds by the clock, seconds of processors."""


def processors(who: int) -> float:
    """Seconds that this process, or its ended children, have had of processors."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def timed(act: Callable[[], object], repeats: int = 1, who: int = resource.RUSAGE_SELF) -> tuple[float, float]:
    """Medians of both."""
    found = []
    for _ in range(repeats):
        started, used = time.perf_counter(), processors(who)
        act()
        found.append((time.perf_counter() - started, processors(who) - used))
    return median(one[0] for one in found), median(one[1] for one in found)


def command(folder: str, *arguments: str) -> Callable[[], object]:
    """A command of ours in a process of its own, with a store of its own."""
    environment = {**os.environ, "ADDEND_STORE": f"{folder}/store.duckdb", "ADDEND_DATA": f"{folder}/data"}
    called = [sys.executable, "-m", "analysis", *arguments]
    return lambda: subprocess.run(called, cwd=ROOT, env=environment, check=True, capture_output=True)


def geometry(folder: str, repeats: int) -> Iterator[Taken]:
    """The command that measures it, once: reading the model and the sync after it included."""
    del repeats
    yield ("measure-geometry", *timed(command(folder, "measure-geometry"), 1, resource.RUSAGE_CHILDREN))


def sync(folder: str, repeats: int) -> Iterator[Taken]:
    """The command, the start of Python included: everything built anew, and nothing to do."""
    build = command(folder, "sync", "--rebuild")
    build()
    yield ("sync that builds", *timed(build, repeats, resource.RUSAGE_CHILDREN))
    yield ("sync with nothing to do", *timed(command(folder, "sync"), repeats, resource.RUSAGE_CHILDREN))


def page(folder: str, repeats: int) -> Iterator[Taken]:
    """The first visit, when what Python reads once is read, and later ones."""
    os.environ |= {"ADDEND_STORE": f"{folder}/store.duckdb", "ADDEND_DATA": f"{folder}/data"}
    from streamlit.testing.v1 import AppTest

    logging.disable(logging.WARNING)  # Streamlit misses its server.
    command(folder, "sync")()
    for what, wanted in (("the ledger", {}), ("one claim, C09", {"claim": "C09"})):

        def visit(app: AppTest, wanted: dict[str, str] = wanted) -> None:
            app.switch_page("views/claims.py")
            for name, value in wanted.items():
                app.query_params[name] = value
            app.run()
            assert not app.exception, app.exception
            assert app.title[0].value == "Claims"

        def opened() -> AppTest:
            return AppTest.from_file(str(ROOT / "dashboard/app.py"), default_timeout=120).run()

        apps = [opened() for _ in range(1 + repeats)]
        yield (f"{what}, first visit", *timed(lambda apps=apps, visit=visit: visit(apps.pop())))
        yield (f"{what}, later visits", *timed(lambda apps=apps, visit=visit: visit(apps.pop()), repeats))


def main() -> None:
    """Prints one line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=BUDGETS, default=list(BUDGETS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    table = Table("ledger", f"ledger --only {' '.join(asked.only)} --repeats {asked.repeats}")
    table.say("what                              clock s  processor s  budget s   clock / budget  processor / budget")
    for name in asked.only:
        with tempfile.TemporaryDirectory() as folder:
            # The data as it is; what is measured is written beside it, and goes.
            (Path(folder) / "data").mkdir()
            for part in (ROOT / "data").iterdir():
                if part.name == "results":
                    for kind in part.iterdir():
                        (Path(folder) / "data/results" / kind.name).mkdir(parents=True)
                        for file in kind.iterdir():
                            (Path(folder) / "data/results" / kind.name / file.name).symlink_to(file)
                elif part.name != "store":
                    (Path(folder) / "data" / part.name).symlink_to(part)
            for what, clock, used in {"geometry": geometry, "sync": sync, "page": page}[name](folder, asked.repeats):
                budget = BUDGETS[name]
                table.say(
                    f"{what:32} {clock:8.2f} {used:12.2f} {budget:9.0f} {clock / budget:16.2f} {used / budget:19.2f}"
                )
    table.close(asked.write)


if __name__ == "__main__":
    main()
