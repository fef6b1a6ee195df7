"""Many readers of a hosted server at once: how long they wait, what fails, what memory the server takes.

    python -m tests.benchmarks.load [--readers 50] [--probing 10] [--minutes 5] [--seed 0] [--write]

A script, not a test. It builds a store of its own, starts the server as dashboard/hosting/README.md says, and sends
readers without browsers (reader.py), each a session of its own at an address of its own. Each does something every 10 s
on average (exponential, seeded): goes to another stored page, or uses a drop-down, a row of buttons or a slider of the
page it is on. Those who probe send a new text of 128 tokens through the form of Look inside each time, so that none
is answered from memory. What a reader does is timed until the server has sent all of it.

A probe's wait is the time from its asking until its turn at the device, which the server logs.

Budgets: 95 of 100 interactions with stored pages under 1.5 s, no error, 95 of 100 probes in line for less than 10 s,
the server's process tree under 2.5 GB. The readers run on the same machine and take some of its time. The first visit
of each page, of which the server keeps what it made, counts.
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.large_maps import WORDS
from tests.benchmarks.machine import Server, Table, against, percentile, served, synced
from tests.benchmarks.reader import Reader, Shown, Unanswered

PAGES = ["", "read", "claims", "geometry", "encodings", "published", "glue", "training", "choose"]
PAGES += ["runs", "about"]
"""Those that show what is stored."""
TOKENS = 128
EVERY_SECONDS = 10.0
SAMPLE_SECONDS = 2.0
SECONDS, QUEUE_SECONDS, MEGABYTES = 1.5, 10.0, 2_500
"""The budgets."""


@dataclass
class Seen:
    """What all readers saw."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """What was done -> seconds of each time."""
    bytes: int = 0
    errors: list[str] = field(default_factory=list)

    def take(self, what: str, shown: Shown) -> None:
        """One interaction."""
        self.seconds[what].append(shown.seconds)
        self.bytes += shown.bytes
        self.errors += [f"{what}: {problem}" for problem in shown.problems]


async def reads(reader: Reader, seen: Seen, chance: random.Random, until: float) -> None:
    """One who goes through stored pages."""
    shown = await reader.open(chance.choice(PAGES))
    seen.take(f"open {reader.page or 'home'}", shown)
    while await pause(chance, until):
        used = await reader.click(shown, chance) if chance.random() < 0.5 else None
        what = "use" if used else "open"
        shown = used or await reader.open(chance.choice([page for page in PAGES if page != reader.page]))
        seen.take(f"{what} {reader.page or 'home'}", shown)


async def probes(reader: Reader, seen: Seen, chance: random.Random, until: float) -> None:
    """One who probes a new text each time."""
    shown = await reader.open("inside")
    seen.take("open probe", shown)
    while await pause(chance, until):
        text = " ".join(chance.choice(WORDS) for _ in range(TOKENS - 2))
        box, button = shown.labelled("text_area", "Text"), shown.labelled("button", "Take apart")
        shown = await reader.send(button, {box.id: text})
        if not any(f"{TOKENS} tokens" in one.markdown.body for one in shown.elements if one.HasField("markdown")):
            seen.errors.append(f"probe: the page does not speak of {TOKENS} tokens")
        seen.take("probe", shown)


async def pause(chance: random.Random, until: float) -> bool:
    """Waits as long as a reader looks at a page; False once the time is over."""
    await asyncio.sleep(min(chance.expovariate(1 / EVERY_SECONDS), max(0.0, until - time.monotonic())))
    return time.monotonic() < until


async def session(number: int, server: Server, seen: Seen, asked: argparse.Namespace, until: float) -> None:
    """One reader from coming to leaving."""
    chance = random.Random(f"{asked.seed} {number}")
    await asyncio.sleep(chance.uniform(0, min(EVERY_SECONDS, 0.2 * asked.minutes * 60)))
    does = probes if number < asked.probing else reads
    try:
        async with Reader(server.address, source=f"127.0.1.{number % 250 + 1}") as reader:
            await does(reader, seen, chance, until)
    except (Unanswered, OSError, LookupError) as failed:
        seen.errors.append(f"reader {number}: {type(failed).__name__}: {failed}")


async def watched(server: Server, every: list[tuple[float, float]]) -> None:
    """Notes the server's memory."""
    started = time.monotonic()
    while True:
        every.append((time.monotonic() - started, server.megabytes()))
        await asyncio.sleep(SAMPLE_SECONDS)


async def visited(server: Server, asked: argparse.Namespace) -> tuple[Seen, list[tuple[float, float]]]:
    """All readers, for the minutes asked for; and the memory meanwhile, as (seconds, MB)."""
    seen, memory = Seen(), []
    watching = asyncio.create_task(watched(server, memory))
    until = time.monotonic() + 60 * asked.minutes
    await asyncio.gather(*(session(number, server, seen, asked, until) for number in range(asked.readers)))
    watching.cancel()
    return seen, memory


def waits(log: Path) -> list[float]:
    """Seconds that each probe stood in line, from the server's log."""
    found = []
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("{") and "waited" in (said := json.loads(line)):
            found.append(said["waited"])
    return found


def main() -> None:
    """Prints a line for each thing that readers do, then the budgets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--probing", type=int, default=10, help="how many of the readers probe")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store, log = Path(folder) / "store.duckdb", Path(folder) / "log"
        synced(store)
        settings = {"ADDEND_HOSTED": "1", "ADDEND_STORE": str(store)}
        with served("dashboard/server.py", settings, log=log) as server:
            table = Table(
                "load",
                f"load --readers {asked.readers} --probing {asked.probing} --minutes {asked.minutes:g} "
                f"--seed {asked.seed}",
            )
            before = server.cpu_seconds(), time.monotonic(), os.times()
            seen, memory = asyncio.run(visited(server, asked))
            cpu, lasted, mine = server.cpu_seconds() - before[0], time.monotonic() - before[1], os.times()
        lines = waits(log)
    report(table, seen, memory, lines)
    clicks = sum(map(len, seen.seconds.values()))
    own = mine.user + mine.system - before[2].user - before[2].system
    table.say(
        f"{clicks} interactions in {lasted:.0f} s, {seen.bytes / 1e6:.0f} MB sent. The server took {cpu:.0f} s of "
        f"processor ({cpu / max(clicks, 1):.3f} s each, {cpu / lasted:.2f} cores), the readers {own:.0f} s."
    )
    table.close(asked.write)


def report(table: Table, seen: Seen, memory: list[tuple[float, float]], lines: list[float]) -> None:
    """What was seen, and the budgets."""
    table.say(f"{'what':18} {'times':>6} {'p50 s':>7} {'p95 s':>7} {'most s':>7}")
    for what, seconds in sorted(seen.seconds.items(), key=lambda item: item[0].split()[::-1]):
        table.say(
            f"{what:18} {len(seconds):6} {percentile(seconds, 50):7.2f} {percentile(seconds, 95):7.2f} "
            f"{max(seconds):7.2f}"
        )
    stored = [one for what, seconds in seen.seconds.items() if not what.endswith("probe") for one in seconds]
    probed = seen.seconds["probe"]
    at = [megabytes for _, megabytes in memory]
    step = max(1, len(memory) // 6)
    over_time = ", ".join(f"{megabytes:.0f} at {seconds:.0f} s" for seconds, megabytes in memory[::step])
    table.say(f"memory of the server in MB: {over_time}")
    for problem, times in sorted({one: seen.errors.count(one) for one in seen.errors}.items()):
        table.say(f"error, {times} times: {problem[:300]}")
    budgets = [
        ("stored pages, p95", percentile(stored, 95), SECONDS, "s"),
        ("errors", len(seen.errors), 0, ""),
        ("line before the device, p95", percentile(lines, 95), QUEUE_SECONDS, "s"),
        ("memory, most", max(at), MEGABYTES, "MB"),
    ]
    table.say(f"stored pages: {len(stored)} interactions, p50 {percentile(stored, 50):.2f} s")
    table.say(
        f"probes of {TOKENS} tokens: {len(probed)}, from pressing to the last chart "
        f"p50 {percentile(probed, 50):.2f} s, p95 {percentile(probed, 95):.2f} s; {len(lines)} turns at the device, "
        f"waited p50 {percentile(lines, 50):.2f} s"
    )
    for name, value, budget, unit in budgets:
        table.say(f"{name:30} {value:8.2f} {unit:2}  budget {budget:g}  {against(value, budget)}")


if __name__ == "__main__":
    main()
