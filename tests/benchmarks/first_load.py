"""The first minute of a server under many readers, before and after: seconds of pages and clicks, as a ratio.

    python -m tests.benchmarks.first_load --before FOLDER [--rounds 2] [--readers 30] [--probing 5] [--minutes 1]

A script, not a test. FOLDER is another checkout of this repository, such as `git worktree add FOLDER COMMIT` makes it.
Each round starts a server of that code and one of this code, one after the other, each new, on a store that is built
already, and sends the readers of load.py from the moment at which it answers. The machine is the same, and so is what
else runs on it, so the ratio of the two says what has changed. Goal: 95 of 100 pages and clicks under 2 s.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.benchmarks.load import visited
from tests.benchmarks.machine import ROOT, Table, against, answers, percentile, served, synced

GOAL_SECONDS = 2.0


def first_minute(code: Path, asked: argparse.Namespace, folder: Path) -> tuple[float, list[float], list[float]]:
    """Seconds until a new server answers, those of each page and click, and those of each probe."""
    store = folder / f"{code.name}.duckdb"
    if not store.exists():
        synced(store, {"PYTHONPATH": str(code)}, code)
    settings = {"ADDEND_HOSTED": "1", "ADDEND_STORE": str(store), "PYTHONPATH": str(code)}
    started = time.monotonic()
    with served("dashboard/server.py", settings, code=code, wait=False) as server:
        answers(server)
        answered = time.monotonic() - started
        seen, _ = asyncio.run(visited(server, asked))
    for problem in seen.errors[:5]:
        print(f"error: {problem[:300]}")
    pages = [one for what, seconds in seen.seconds.items() if what != "probe" for one in seconds]
    return answered, pages, seen.seconds["probe"]


def main() -> None:
    """Prints one line a server, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--readers", type=int, default=30)
    parser.add_argument("--probing", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    table = Table(
        "first-load", f"first_load --before {asked.before.name} --rounds {asked.rounds} --readers {asked.readers}"
    )
    table.say(
        f"{'server':7} {'answers s':>9} {'pages':>6} {'p50 s':>7} {'p95 s':>7} {'most s':>7} {'probes p95 s':>13}"
    )
    found: dict[str, list[float]] = {"before": [], "after": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(asked.rounds):
            for name, code in (("before", asked.before.resolve()), ("after", ROOT)):
                answered, pages, probes = first_minute(code, asked, Path(folder))
                found[name] += pages
                table.say(
                    f"{name:7} {answered:9.1f} {len(pages):6} {percentile(pages, 50):7.2f} "
                    f"{percentile(pages, 95):7.2f} {max(pages):7.2f} {percentile(probes, 95):13.2f}"
                )
    before, after = (percentile(found[name], 95) for name in ("before", "after"))
    table.say(
        f"pages and clicks, p95: {before:.2f} s before, {after:.2f} s after, a ratio of {after / before:.2f}; goal "
        f"{GOAL_SECONDS:g} s: {against(after, GOAL_SECONDS)}"
    )
    table.close(asked.write)


if __name__ == "__main__":
    main()
