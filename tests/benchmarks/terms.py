"""What a text's terms cost, against one plain forward pass of the same model in the same run.

    python -m tests.benchmarks.terms [--repeats 15]

A script, not a test. Every round times the plain pass (sdpa, inference mode) and the whole of what a
probe does: `decompose`, then shares and effects of all heads, tokenisation included. The two take turns, so
that a busy machine slows both; the budget is about the median of the rounds' ratios.
"""

import argparse
from statistics import median

import torch

from analysis.measurements.terms import Decomposition, decompose
from analysis.models.load import Loaded, best_device, load
from analysis.models.source import resolve
from tests.benchmarks.machine import timed

BUDGET = {128: 1.0, 512: 3.0}
"""Tokens -> most that a probe may cost, in plain forward passes."""
WORDS = "every word stands somewhere and somewhere else it would be another "


def rounds(loaded: Loaded, tokens: int, repeats: int) -> list[tuple[float, ...]]:
    """Milliseconds of the plain pass, decompose, shares and effects, once a round."""
    text = " ".join((WORDS * tokens).split()[: tokens - 2])
    inputs = loaded.tokenizer(text, return_tensors="pt").to(loaded.device)
    assert inputs["input_ids"].shape[1] == tokens

    def plain() -> None:
        with torch.inference_mode():
            loaded.model(**inputs)

    def one_round() -> tuple[float, ...]:
        made: list[Decomposition] = []
        return (
            timed(plain, loaded.device),
            timed(lambda: made.append(decompose(loaded.model, loaded.tokenizer, text)), loaded.device),
            timed(lambda: made[0].shares(), loaded.device),
            timed(lambda: made[0].effects(), loaded.device),
        )

    for _ in range(2):
        one_round()
    return [one_round() for _ in range(repeats)]


def main() -> None:
    """Prints one line a device and length."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    print("device tokens  plain ms  decompose  shares  effects  probe ms  ratio  budget")
    for device in dict.fromkeys(["cpu", best_device()]):
        loaded = load(resolve(), device=device)
        loaded.model.set_attn_implementation("sdpa")
        for tokens, budget in BUDGET.items():
            times = rounds(loaded, tokens, repeats)
            plain, *parts = (median(column) for column in zip(*times, strict=True))
            probe = median(sum(row[1:]) for row in times)
            ratio = median(sum(row[1:]) / row[0] for row in times)
            print(
                f"{device:6} {tokens:6} {plain:9.1f} {parts[0]:10.1f} {parts[1]:7.1f} {parts[2]:8.1f} "
                f"{probe:9.1f} {ratio:6.2f} {budget:7.1f}{'' if ratio <= budget else '  over'}"
            )


if __name__ == "__main__":
    main()
