"""How much faster a step in bfloat16 is by products in float32 that are rounded, on a processor without bfloat16.

    python -m tests.benchmarks.rounded_products [--steps 10] [--write]

A script, not a test. Steps of the preset width128 in turns in one process of one thread: with products in bfloat16 as
PyTorch computes them by itself, with those of `analysis.ablation.rounded_products`, and in float32.
"""

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from statistics import median

import torch

from analysis.ablation import optimise
from analysis.ablation.costs import random_batch, seconds_in_turns, stepper
from analysis.ablation.presets import preset
from analysis.ablation.rounded_products import RoundedProducts
from tests.benchmarks.machine import Table

WAYS: dict[str, tuple[str, AbstractContextManager[object]]] = {
    "bfloat16, by PyTorch itself": ("bfloat16", nullcontext()),
    "bfloat16, rounded products": ("bfloat16", RoundedProducts()),
    "float32": ("float32", nullcontext()),
}
"""Name of a way -> the precision of its settings, and the context of its steps."""


def within(context: AbstractContextManager[object], step: Callable[[], None]) -> Callable[[], None]:
    """A step that is made in a context."""

    def made() -> None:
        with context:
            step()

    return made


def main() -> None:
    """Prints seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--write", action="store_true", help="keep the table")
    given = parser.parse_args()
    torch.set_num_threads(1)
    optimise.fast_bfloat16 = lambda device, *, enabled: nullcontext()  # The context of each way is given here.
    settings = preset("width128", variant="bert_a")
    steps = {
        name: within(context, stepper(replace(settings, precision=precision), "cpu"))
        for name, (precision, context) in WAYS.items()
    }
    seconds = seconds_in_turns(steps, given.steps)
    medians = {name: median(values) for name, values in seconds.items()}
    own, rounded, single = medians.values()
    tokens = random_batch(settings).step(0, settings.batch, 0, causal=False).ids.size
    table = Table("rounded-products", f"rounded_products --steps {given.steps}")
    table.say(f"cpu {torch.backends.cpu.get_cpu_capability()}, one thread, preset width128, {tokens} tokens a step")
    for name, value in medians.items():
        table.say(f"{name:28}{1000 * value:8.1f} ms")
    table.say(f"rounded products are {own / rounded:.1f}x as fast as PyTorch's own, and take {rounded / single:.2f}x")
    table.say("the time of float32; on a processor with bfloat16 they are not used.")
    table.close(given.write)


if __name__ == "__main__":
    main()
