"""What position maps cost, against plain passes of the same model in the same run.

    python -m tests.benchmarks.positions [--repeats 9] [--write]

A script, not a test. A Llama of 135 million parameters (30 layers, 9 heads of 64, 3 of keys) with random weights, in
float32, on one thread of the processor. Two ratios of processor time, which other work on the machine hardly touches,
each of rounds that take turns with the plain pass:

- bands: the shares and kernels of one layer's bands at 512 tokens, without the pairs of tokens that each joins, over
  that layer's plain pass (goal: at most 2);
- map: `position_map` at 128 tokens, over a plain pass of the whole model (goal: at most 6).
"""

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from analysis.measurements.positions.measure import _by_bands, _split
from analysis.measurements.positions.without_rotation import unrotated_calls
from tests.benchmarks.machine import Table

SHAPE = {
    "vocab_size": 49_152,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "head_dim": 64,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": True,
}
GOALS = {"bands of a layer, 512 tokens": 2.0, "map of the model, 128 tokens": 6.0}


def milliseconds(work: Callable[[], object]) -> float:
    """Of processor time, in one run."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def rounds(plain: Callable[[], object], ours: Callable[[], object], repeats: int) -> tuple[float, float, float]:
    """Median milliseconds of both, and the median of the rounds' ratios; one round before is not counted."""
    times = [(milliseconds(plain), milliseconds(ours)) for _ in range(repeats + 1)][1:]
    return *(median(each) for each in zip(*times, strict=True)), median(b / a for a, b in times)


def layer_pass(model: Any, inputs: dict[str, torch.Tensor], layer: int) -> Callable[[], object]:
    """The plain pass of one layer, on what it is given in a pass of the model."""
    given: list[Any] = []
    module = model.model.layers[layer]
    hook = module.register_forward_pre_hook(lambda _m, args, kwargs: given.append((args, kwargs)), with_kwargs=True)
    model(**inputs)
    hook.remove()
    args, kwargs = given[0]
    return lambda: module(*args, **{**kwargs, "past_key_values": None})


def main() -> None:
    """Prints a line a ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**SHAPE, attn_implementation="sdpa")).eval()
    short, long = ({"input_ids": torch.randint(0, 49_152, (1, tokens))} for tokens in (128, 512))
    table = Table("positions", f"positions --repeats {asked.repeats}")
    table.say("what                              plain ms   ours ms   x plain   goal")
    with torch.inference_mode():
        call = unrotated_calls(model, long)[15]
        assert call is not None
        works = {
            "bands of a layer, 512 tokens": (layer_pass(model, long, 15), lambda: _split(call, joined=False)),
            "map of the model, 128 tokens": (
                lambda: model(**short),
                lambda: _by_bands(unrotated_calls(model, short), "the model"),
            ),
        }
        for name, (plain, ours) in works.items():
            a, b, ratio = rounds(plain, ours, asked.repeats)
            over = "" if ratio <= GOALS[name] else "  over"
            table.say(f"{name:32} {a:9.1f} {b:9.1f} {ratio:9.2f} {GOALS[name]:6.1f}{over}")
    table.close(asked.write)


if __name__ == "__main__":
    main()
