"""How many times as long a step takes at width 256 as at width 128.

    python -m tests.benchmarks.widths [--steps 20] [--write]

A script, not a test. Steps of the presets width128 and width256 in turns in one process of one thread.
"""

import argparse
from statistics import median

import torch

from analysis.ablation.costs import seconds_in_turns, stepper
from analysis.ablation.presets import preset
from tests.benchmarks.machine import Table

WIDTHS = (128, 256)


def main() -> None:
    """Prints seconds and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="keep the table")
    given = parser.parse_args()
    torch.set_num_threads(1)
    steps = {str(width): stepper(preset(f"width{width}", variant="bert_a"), "cpu") for width in WIDTHS}
    narrow, wide = map(median, seconds_in_turns(steps, given.steps).values())
    table = Table("widths", f"widths --steps {given.steps}")
    table.say(f"cpu {torch.backends.cpu.get_cpu_capability()}, one thread, bert_a: {1000 * narrow:.0f} ms at width 128")
    table.say(f"and {1000 * wide:.0f} ms at width 256, {wide / narrow:.1f} times as long.")
    table.close(given.write)


if __name__ == "__main__":
    main()
