"""What following every source through a model costs, against a plain forward pass in the same run.

    python -m tests.benchmarks.streams [--repeats 7] [--threads N]

A script, not a test. In every round the ways take turns, so that a busy machine slows all of them; the ratios
are medians over rounds. Ways: `plain`, transformers' own pass (sdpa); `eager`, the same with plain attention;
`capture`, every layer's scores and patterns with our attention function and no sources; `output_attentions`,
transformers' own way to the patterns alone; `run_with_cache`, TransformerLens where it is installed; `shares`,
every source followed through every layer and the shares of every head, no map kept; `map`, the sixteen maps of
one layer on demand, against that layer's part of `shares`. Peak memory is what a process of its own adds to
its resident set while it does one thing once.
"""

import argparse
import ctypes
import gc
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM, BertModel

from analysis.core import default_model
from analysis.core.peak_memory import status_kib
from analysis.measurements.terms import measures
from analysis.measurements.terms.run import sum_of_terms
from analysis.models.families import FAMILIES
from analysis.models.load import best_device
from analysis.models.trace_sources import Layer, trace_sources
from tests.benchmarks.machine import timed

MODELS = ("embedded", "bert-base")
LENGTHS = (128, 512)
KEPT_BY_LENS = ("hook_attn_scores", "hook_pattern")
BUDGET = {"shares": 6.0, "capture/output_attentions": 1.0, "map": 2.0}


def model_of(name: str, device: str) -> Any:
    """The embedded model, or BERT-base's shape with random weights."""
    torch.manual_seed(0)
    model: Any = BertModel.from_pretrained(default_model.folder()) if name == "embedded" else BertModel(BertConfig())
    return model.eval().to(device)


def batch(tokens: int, device: str) -> dict[str, Tensor]:
    """One text of so many tokens."""
    ids = torch.randint(1000, 20000, (1, tokens), generator=torch.Generator().manual_seed(0))
    return {"input_ids": ids.to(device), "attention_mask": torch.ones_like(ids).to(device)}


def shares(model: Any, inputs: Mapping[str, Tensor]) -> list[Tensor]:
    """The shares of every term, head and layer."""
    found: list[Tensor] = []

    def each(seen: Layer) -> None:
        factors = seen.factors()
        found.append(measures.shares(factors.query, factors.key, factors.scale, seen.attended(), factors.bias))

    trace_sources(model, FAMILIES["bert"], inputs, each)
    return found


def layer_of(model: Any, inputs: Mapping[str, Tensor], index: int) -> Layer:
    """One layer of a followed pass."""
    found: list[Layer] = []
    trace_sources(model, FAMILIES["bert"], inputs, found.append, last=index)
    return found[-1]


def ways(model: Any, inputs: Mapping[str, Tensor]) -> dict[str, Callable[[], Any]]:
    """Everything that is timed."""

    def plainly(implementation: str, **more: Any) -> Callable[[], Any]:
        def run() -> Any:
            model.set_attn_implementation(implementation)
            with torch.inference_mode():
                return model(**inputs, **more)

        return run

    def captured() -> list[tuple[Tensor, Tensor]]:
        kept: list[tuple[Tensor, Tensor]] = []
        trace_sources(
            model, FAMILIES["bert"], inputs, lambda seen: kept.append((seen.call.scores, seen.pattern)), sources=False
        )
        return kept

    found: dict[str, Callable[[], Any]] = {
        "plain": plainly("sdpa"),
        "eager": plainly("eager"),
        "output_attentions": plainly("eager", output_attentions=True),
        "capture": captured,
        "shares": lambda: shares(model, inputs),
    }
    if find_spec("transformer_lens"):
        found["run_with_cache"] = _lens(model, inputs)
    return found


def _lens(model: Any, inputs: Mapping[str, Tensor]) -> Callable[[], Any]:
    """TransformerLens' bridge to the same weights, every score and pattern cached; its head has two words only."""
    from transformer_lens.model_bridge import (  # pyright: ignore[reportMissingImports]  an environment of its own
        TransformerBridge,
    )

    with_head: Any = BertForMaskedLM(model.config)
    with_head.bert = model
    with_head.cls.predictions.decoder = torch.nn.Linear(model.config.hidden_size, 2)
    with TemporaryDirectory() as folder:
        tokenizer = AutoTokenizer.from_pretrained(default_model.folder())
        tokenizer.save_pretrained(folder)
        config = model.config.to_dict() | {"architectures": ["BertForMaskedLM"]}
        (Path(folder) / "config.json").write_text(json.dumps(config, default=str), encoding="utf-8")
        peer = TransformerBridge.boot_transformers(
            folder, hf_model=with_head.eval(), device=str(model.device), tokenizer=tokenizer
        )

    def run() -> Any:
        model.set_attn_implementation("eager")
        with torch.inference_mode():
            return peer.run_with_cache(inputs["input_ids"], names_filter=lambda name: name.endswith(KEPT_BY_LENS))

    return run


def maps(model: Any, inputs: Mapping[str, Tensor], device: str, repeats: int) -> float:
    """Making the sixteen maps of a layer, as a multiple of that layer's share in `shares`."""
    seen = layer_of(model, inputs, 1)
    factors = seen.factors()

    def one() -> Tensor:
        return measures.shares(factors.query, factors.key, factors.scale, seen.attended(), factors.bias)

    layers = model.config.num_hidden_layers
    ratios = []
    for _ in range(repeats):
        whole = timed(lambda: shares(model, inputs), device) / layers
        ratios.append(timed(lambda: (sum_of_terms(factors), one()), device) / whole)
    return median(ratios)


def peak(model: str, tokens: int, way: str) -> float:
    """MiB that one way adds to the resident set, in a process of its own."""
    asked = [sys.executable, "-m", "tests.benchmarks.streams", "--peak", json.dumps([model, tokens, way])]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    return float(done.stdout.strip().splitlines()[-1])


def _peak(name: str, tokens: int, way: str) -> float:
    model = model_of(name, "cpu")
    warm, inputs = batch(8, "cpu"), batch(tokens, "cpu")
    ways(model, warm)[way]()
    work = ways(model, inputs)[way]
    # Loading a model takes more than running it: what it has freed is given back, and the peak so far forgotten.
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = status_kib("VmRSS")
    kept = work()
    del kept
    return (status_kib("VmHWM") - before) / 1024


def main() -> None:
    """Prints one line a device, model, length and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--peak", default="")
    asked = parser.parse_args()
    if asked.threads:
        torch.set_num_threads(asked.threads)
    if asked.peak:
        print(_peak(*json.loads(asked.peak)))
        return
    print("device model      tokens  way                     ms   x plain  peak MiB")
    for device in dict.fromkeys(["cpu", best_device()]):
        for name in MODELS:
            model = model_of(name, device)
            for tokens in LENGTHS:
                inputs, head = batch(tokens, device), f"{device:6} {name:10} {tokens:6}"
                todo = ways(model, inputs)
                for work in todo.values():
                    work()
                rounds = [{way: timed(work, device) for way, work in todo.items()} for _ in range(asked.repeats)]
                for way in todo:
                    ratio = median(row[way] / row["plain"] for row in rounds)
                    memory = peak(name, tokens, way) if device == "cpu" else float("nan")
                    over = "  over" if way in BUDGET and ratio > BUDGET[way] else ""
                    milliseconds = median(row[way] for row in rounds)
                    print(f"{head}  {way:18} {milliseconds:7.1f} {ratio:9.2f} {memory:9.0f}{over}")
                against = median(row["capture"] / row["output_attentions"] for row in rounds)
                print(f"{head}  capture / output_attentions  {against:5.2f}")
                print(f"{head}  a layer's maps / its shares  {maps(model, inputs, device, 3):5.2f}")


if __name__ == "__main__":
    main()
