"""What a killed process was doing: run results, saved probes, imports and syncs, one after another, until it is ended.

Run as a script it is a nursery: it imports everything once and forks a worker for each line it reads, so that a kill
costs milliseconds, not an interpreter's start. Each worker writes a line to its log after each thing that is done.
"""

import os
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from analysis.imports.plan import execute, plan  # noqa: E402
from analysis.store import files, sync  # noqa: E402

Values = dict[str, list[float]]
"""run id or variant -> the values of its rows."""


def values(seed: int, place: int) -> list[float]:
    """What the rows of a run hold: made from its name, so that whoever knows the name can tell."""
    return [round(random.Random(f"{seed} {place} {row}").random(), 9) for row in range(1 + place % 5)]


def scores(seed: int, place: int) -> str:
    """A results file as a sweep writes it. Returns its run id."""
    run_id, held = f"run-{seed}-{place}", values(seed, place)
    row = {
        "pretraining": "p", "variant": "bert_a", "preset": "cpu", "task": "rte", "metric": "accuracy", "seed": seed,
        "learning_rate": 1e-4, "data": "official", "train_examples": 1, "dev_examples": 1, "seconds": 1.0,
    }  # fmt: skip
    columns = {name: [value] * len(held) for name, value in row.items()}
    columns |= {"finetune_seed": list(range(len(held))), "value": held}
    files.write("scores", columns, files.Run(kind="scores", command="a sweep", run_id=run_id), name=f"cpu-{run_id}")
    return run_id


def probe(seed: int, place: int) -> str:
    """A results file as saving a probe writes it, of two heads. Returns its run id."""
    run_id, vector = f"probe-{seed}-{place}", [values(seed, place)] * 2
    columns = dict.fromkeys(("query", "key", "share", "effect", "top1", "rms", "score_bias"), vector)
    config = {"text": run_id, "tokens": [], "token_count": 0, "layer": 0, "title": run_id}
    files.write(
        "probe", {"head": [0, 1], **columns}, files.Run(kind="probe", command="x", run_id=run_id, config=config)
    )
    return run_id


def imported(seed: int, place: int) -> str:
    """An import of two runs in one file. Returns the variant that both begin with."""
    name, held = f"mine-{seed}-{place}", values(seed, place)
    lines = [f"{name}-{half},rte,accuracy,{row},1e-4,{value}" for half in "ab" for row, value in enumerate(held)]
    header = "variant,task,metric,seed,learning_rate,value"
    execute(plan({"mine.csv": "\n".join([header, *lines]).encode()}))
    return name


def work(seed: int, log: str) -> None:
    """Ends only with the nursery."""
    nursery_id = os.getppid()
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    chance = random.Random(seed)
    place = 0
    while os.getppid() == nursery_id:
        act = chance.choice((scores, scores, probe, imported, sync.sync))
        if act is sync.sync:
            sync.sync({})
            done = "sync done"
        else:
            place += 1
            done = f"{act.__name__} {act(seed, place)}"
        os.write(out, f"{done} {place}\n".encode())


def nursery() -> None:
    """Forks a worker a line; the line says its seed and its log."""
    for line in sys.stdin:
        seed, log = line.split()
        pid = os.fork()
        if not pid:
            try:
                work(int(seed), log)
            finally:
                os._exit(1)
        print(pid, flush=True)
        os.waitpid(pid, 0)
        print("ended", flush=True)


if __name__ == "__main__":
    nursery()
