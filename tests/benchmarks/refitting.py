"""How fast a sentence encoder is refitted: against a plain loop over transformers' models on the same texts, in turns.

    python -m tests.benchmarks.refitting [--repeats 3] [--tokens 20000] [--write]

A script, not a test. Both teach all-MiniLM-L6-v2, its positions exchanged, the states of the intact one on the same
made-up texts of 16 to 128 tokens, 16 a step, with AdamW, the same loss and one thread. The plain loop asks the intact
model at each step, pads texts in the order that they come in, and computes in float32, or in bfloat16 as ours does. Our
training reads the intact model's states from a file, whose making is shown apart: all arms and seeds share it.
"""

import argparse
import copy
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import torch
from transformers import BertModel, PreTrainedModel

from analysis.core import default_model
from analysis.measurements.refit.distil import Distillation, RefitSettings, Targets, losses, variance_of
from analysis.measurements.refit.texts import Texts, write_states
from analysis.measurements.surgery import tables
from analysis.measurements.surgery.apply_arm import operate
from analysis.measurements.surgery.arms import ARMS
from analysis.measurements.surgery.finetuned import intact_encoder, mean_positions
from tests.benchmarks.machine import Table

BUDGET = 1.5
BATCH = 16
RATE = 3e-4


def made_up(tokens: int) -> Texts:
    """Texts of as many tokens, drawn at random."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(16, 129, tokens // 72)
    return Texts(rng.integers(1_000, 20_000, lengths.sum()), np.concatenate([[0], np.cumsum(lengths)]))


def own_seconds(targets: Targets) -> float:
    """Seconds of our training over all texts."""
    model = copy.deepcopy(intact_encoder().model)
    operate(model, ARMS["minilm_permuted"], mean_positions())
    settings = RefitSettings(tokens=len(targets.texts.ids), learning_rate=RATE, batch_size=BATCH)
    training = Distillation(model, targets, settings, seed=0)
    started = time.perf_counter()
    training.train(10**12)
    return time.perf_counter() - started


def plain_seconds(texts: Texts, variance: float, half: bool) -> float:
    """Seconds of the plain loop over all texts."""
    teacher, student = (BertModel.from_pretrained(Path(default_model.folder())) for _ in range(2))
    assert isinstance(student, PreTrainedModel)
    table = tables.weights(student)[1]
    table.data = tables.permuted(tables.tables(student), 0).positions.float()
    for weight in student.embeddings.parameters():
        weight.requires_grad_(weight.ndim == 1)
    optimizer = torch.optim.AdamW([weight for weight in student.parameters() if weight.requires_grad], lr=RATE)
    order = np.random.default_rng(0).permutation(len(texts))
    started = time.perf_counter()
    for start in range(0, len(order), BATCH):
        ids, real = map(torch.from_numpy, texts.rows(order[start : start + BATCH]))
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            with torch.no_grad():
                expected = teacher(ids, attention_mask=real.long()).last_hidden_state
            found = student(ids, attention_mask=real.long()).last_hidden_state
        loss = sum(part.mean() for part in losses(found, real, expected[real].float(), variance))
        assert isinstance(loss, torch.Tensor)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
    return time.perf_counter() - started


def main() -> None:
    """Prints seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=20_000)
    parser.add_argument("--write", action="store_true", help="keep the table")
    given = parser.parse_args()
    torch.set_num_threads(1)
    texts = made_up(given.tokens)
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "states.npy"
        started = time.perf_counter()
        write_states(texts, intact_encoder(), file)
        preparing = time.perf_counter() - started
        states = np.load(file, mmap_mode="r")
        targets = Targets(texts, states, variance_of(states))
        for _ in range(given.repeats):
            plain = [plain_seconds(texts, targets.variance, half) for half in (False, True)]
            rounds.append((own_seconds(targets), *plain))
    table = Table("refitting", f"refitting --repeats {given.repeats} --tokens {given.tokens}", "cpu")
    table.say(f"all-MiniLM-L6-v2, {len(texts.ids)} tokens in {len(texts)} texts, {BATCH} a step, one thread")
    names = ("ours", "plain loop, float32", "plain loop, bfloat16")
    for name, seconds in zip(names, map(median, zip(*rounds, strict=True)), strict=True):
        table.say(f"{name:22}{seconds:8.1f} s  {len(texts.ids) / seconds:7.0f} tokens/s")
    table.say(f"{'states, once for all':22}{preparing:8.1f} s  {len(texts.ids) / preparing:7.0f} tokens/s")
    plain, half = (median(row[at] / row[0] for row in rounds) for at in (1, 2))
    table.say(
        f"ours is {plain:.2f}x the plain loop ({half:.2f}x with bfloat16); "
        f"budget {BUDGET}x: {'kept' if plain >= BUDGET else 'MISSED'}"
    )
    table.close(given.write)


if __name__ == "__main__":
    main()
