"""What a large map costs to build and to send: our live probe's maps of one head, BertViz's head view beside them.

    python -m tests.benchmarks.large_maps [--tokens 128 512] [--repeats 3]

A script, not a test. Ours: the four terms of one head and layer of the embedded model, and the figure that adds them
up, from the decomposition to the panels that a browser is sent; bytes are those of the panels and their data as JSON.
BertViz's: `head_view` of every layer and head of the same tokens, from the attentions to the HTML that a notebook
holds, where it is installed (tests/benchmarks/requirements.txt). The two show different things: it sends every head at
once, and no terms. Reading the model and running the text are left out of both.
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from statistics import median
from typing import Any

import torch
from transformers import AutoModel, AutoTokenizer

from analysis.core import default_model
from analysis.figures import FIGURES
from analysis.figures.drawing import Theme
from analysis.links import VIEWS
from analysis.measurements.terms import Decomposition, decompose
from dashboard.widgets.vega_specs import vega_specs

TEXT = "the dog that chased a cat along the river came back to an old house on the hill and slept there"
WORDS = TEXT.split()


def text_of(tokens: int) -> str:
    """A text of so many tokens, [CLS] and [SEP] included: each word is one."""
    return " ".join(WORDS[number % len(WORDS)] for number in range(tokens - 2))


def sent(panel: Mapping[str, Any]) -> int:
    """Bytes of a panel with its data."""
    own = {key: value for key, value in panel.items() if key != "datasets"}
    frames = [json.loads(frame.to_json(orient="records")) for frame in panel["datasets"].values()]
    return len(json.dumps([own, *frames]).encode())


def ours(made: Decomposition, name: str) -> int:
    """Bytes of a figure's panels."""
    figure = FIGURES[name].of(VIEWS["probe"].defaults(), made)
    return sum(sent(panel) for panel in vega_specs(figure, Theme(screen=True)))


def theirs(attentions: Any, tokens: list[str]) -> int:
    """Bytes of BertViz's head view."""
    from bertviz import head_view  # pyright: ignore[reportMissingImports]  an environment of its own

    return len(head_view(attentions, tokens, html_action="return").data.encode())


def timed(work: Callable[[], int], repeats: int) -> tuple[int, float]:
    """Bytes, and seconds as the median over repeats."""
    seconds, size = [], 0
    for _ in range(repeats):
        started = time.perf_counter()
        size = work()
        seconds.append(time.perf_counter() - started)
    return size, median(seconds)


def main() -> None:
    """Prints one line a way and length."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=[128, 512])
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(default_model.folder())
    model: Any = AutoModel.from_pretrained(default_model.folder(), attn_implementation="eager").eval()
    print("tokens  way                                              bytes  seconds")
    for tokens in asked.tokens:
        text = text_of(tokens)
        made = decompose(model, tokenizer, text)
        _ = made.shares(), made.effects()
        if len(made.tokens) != tokens:
            raise SystemExit(f"The text has {len(made.tokens)} tokens, not {tokens}.")
        ways: dict[str, Callable[[], int]] = {
            "ours, four terms of a head": lambda made=made: ours(made, "probe_maps"),
            "ours, their sum and the pattern": lambda made=made: ours(made, "probe_total"),
        }
        if find_spec("bertviz"):
            with torch.inference_mode():
                attentions = model(**tokenizer(text, return_tensors="pt"), output_attentions=True).attentions
            ways["BertViz head_view, all layers and heads"] = lambda a=attentions, made=made: theirs(
                a, list(made.tokens)
            )
        for way, work in ways.items():
            size, seconds = timed(work, asked.repeats if way.startswith("ours") else 1)
            print(f"{tokens:6}  {way:40} {size:13,} {seconds:8.2f}", flush=True)


if __name__ == "__main__":
    main()
