"""How many times as long a step takes at width 256 as at width 128.

    python -m tests.benchmarks.widths [--steps 20] [--write]

A script, not a test. Steps of the presets width128 and width256 in turns in one process of one thread.
"""

import argparse
import time
from statistics import median

import torch

from analysis.ablation.costs import stepper
from analysis.ablation.presets import preset
from tests.benchmarks.machine import Table

WIDTHS = (128, 256)
WARM_UP = 3


def main() -> None:
    """Prints seconds and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="keep the table")
    given = parser.parse_args()
    torch.set_num_threads(1)
    steps = {width: stepper(preset(f"width{width}", variant="bert_a"), "cpu") for width in WIDTHS}
    seconds: dict[int, list[float]] = {width: [] for width in WIDTHS}
    for number in range(WARM_UP + given.steps):
        for width, step in steps.items():
            started = time.process_time()
            step()
            if number >= WARM_UP:
                seconds[width].append(time.process_time() - started)
    narrow, wide = (median(seconds[width]) for width in WIDTHS)
    table = Table("widths", f"widths --steps {given.steps}")
    table.say(f"cpu {torch.backends.cpu.get_cpu_capability()}, one thread, bert_a: {1000 * narrow:.0f} ms at width 128")
    table.say(f"and {1000 * wide:.0f} ms at width 256, {wide / narrow:.1f} times as long.")
    table.close(given.write)


if __name__ == "__main__":
    main()
