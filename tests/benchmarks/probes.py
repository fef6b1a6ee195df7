"""Whether memory stays flat while many probes of several models go through a cache that holds two of them.

    python -m tests.benchmarks.probes [--probes 1000] [--tokens 64] [--seed 0] [--write]

A script, not a test. Five models of five families with random weights are saved to folders; each probe picks one of
them and a text that was not asked before, and asks the product's own owner of models and results
(dashboard/model_server, as dashboard/session/live.py sets it up) for what the live probe shows: the terms of one
layer, and every layer. ADDEND_MODELS_MB lets two of the models be kept, ADDEND_RESULTS_MB a few dozen results. Memory
is this process's resident set, after a collection of garbage; what C's allocator holds back is counted. Flat means
that a line through the points once everything is full climbs by less than 1 % of the memory in a hundred probes.
"""

import argparse
import gc
import os
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from tests.benchmarks.large_maps import WORDS
from tests.benchmarks.machine import Table

EVERY = 100
FULL = 200
"""Probes until models, results and allocators are taken to be full."""
FLAT_PERCENT = 1.0
RESULTS_MB = 20
WIDE, LAYERS, HEADS, VOCABULARY = 192, 4, 6, 8_000


def models() -> dict[str, Any]:
    """Five small models of five families, with random weights."""
    import transformers as hf

    sizes = {"vocab_size": VOCABULARY, "max_position_embeddings": 256}
    usual = {"hidden_size": WIDE, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 768}
    configs = {
        "bert": hf.BertConfig(**sizes, **usual),
        "roberta": hf.RobertaConfig(**sizes, **usual),
        "distilbert": hf.DistilBertConfig(**sizes, dim=WIDE, n_layers=LAYERS, n_heads=HEADS, hidden_dim=768),
        "electra": hf.ElectraConfig(**sizes, **usual, embedding_size=WIDE),
        "gpt2": hf.GPT2Config(vocab_size=VOCABULARY, n_positions=256, n_embd=WIDE, n_layer=LAYERS, n_head=HEADS),
    }
    return {name: hf.AutoModel.from_config(config) for name, config in configs.items()}


def tokenizer() -> Any:
    """Words as whole tokens, with the special tokens of BERT: it fits every one of the five."""
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    # RoBERTa takes position ids from where the padding, token 1, is not.
    words = ["[UNK]", "[PAD]", "[CLS]", "[SEP]", *dict.fromkeys(WORDS)]
    words += [f"word{number}" for number in range(VOCABULARY - len(words))]
    made = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )


def megabytes() -> float:
    """This process's resident set, in MB."""
    gc.collect()
    return psutil.Process().memory_info().rss / 1e6


def slope(points: list[tuple[int, float]]) -> tuple[float, float]:
    """MB in a hundred probes, by least squares, and its standard error."""
    at, memory = np.array(points, dtype=float).T
    at = at / 100
    climb, start = np.polyfit(at, memory, 1)
    left = memory - (climb * at + start)
    spread = np.sqrt((left**2).sum() / max(len(at) - 2, 1) / ((at - at.mean()) ** 2).sum())
    return float(climb), float(spread)


def main() -> None:
    """Prints memory every hundred probes, and whether it is flat."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", type=int, default=1000)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), asked)


def run(folder: Path, asked: argparse.Namespace) -> None:
    """Saves the models, asks the probes, and says how memory went."""
    from analysis.probes.text_probe import LayersRequest, TermsRequest

    folders = []
    for name, model in models().items():
        model.save_pretrained(folder / name)
        tokenizer().save_pretrained(folder / name)
        folders.append(folder / name)
        del model
    from dashboard.session import live

    shared = live.shared().service
    largest = 0
    os.environ["ADDEND_RESULTS_MB"] = str(RESULTS_MB)
    for path in folders:  # how large each is, as the product counts it
        os.environ["ADDEND_MODELS_MB"] = "1"
        shared.ask(TermsRequest(model=str(path), text="the cat"))
        largest = max(largest, shared.models.bytes)
    os.environ["ADDEND_MODELS_MB"] = str(int(2.5 * largest / 1e6))
    command = f"probes --probes {asked.probes} --tokens {asked.tokens} --seed {asked.seed}"
    table = Table("probes", command)
    table.say(
        f"{len(folders)} models of at most {largest / 1e6:.1f} MB each, {os.environ['ADDEND_MODELS_MB']} MB for "
        f"models, {RESULTS_MB} MB for results, {asked.tokens} tokens"
    )
    table.say("probes  memory MB  models kept  models MB  results kept  results MB  loaded  seconds")
    chance, loaded, most, points = random.Random(asked.seed), 0, 0, []
    started = time.perf_counter()
    for number in range(asked.probes + 1):
        if number % EVERY == 0:
            points.append((number, megabytes()))
            kept, results = shared.models.contents(), shared.results.contents()
            table.say(
                f"{number:6} {points[-1][1]:10.1f} {len(kept):12} {shared.models.bytes / 1e6:10.1f} {len(results):13} "
                f"{shared.results.bytes / 1e6:11.1f} {loaded:7} {time.perf_counter() - started:8.0f}"
            )
        before = {key for key, _ in shared.models.contents()}
        text = " ".join(chance.choice(WORDS) for _ in range(asked.tokens - 2))
        place = str(chance.choice(folders))
        shared.ask(TermsRequest(model=place, text=text))
        shared.ask(LayersRequest(model=place, text=text))
        after = {key for key, _ in shared.models.contents()}
        loaded, most = loaded + len(after - before), max(most, len(after))
    full = [point for point in points if point[0] >= FULL]
    table.say(f"models kept at once: at most {most}")
    if len(full) < 3:
        table.say(f"too few probes to tell: memory is followed from {FULL} on")
    else:
        climb, spread = slope(full)
        percent = 100 * climb / full[0][1]
        word = "flat" if percent < FLAT_PERCENT else "NOT FLAT"
        table.say(
            f"from {FULL} probes on memory changes by {climb:+.2f} MB in a hundred (standard error {spread:.2f}), "
            f"{percent:+.2f} %: {word}; the last is {full[-1][1] - full[0][1]:+.1f} MB from the first"
        )
    table.close(asked.write)


if __name__ == "__main__":
    main()
