"""How fast pre-training is: against transformers' Trainer, in turns in one run; and tupe_a against bert_a.

    python -m tests.benchmarks.pretraining [--repeats 5] [--steps 20] [--write]

A script, not a test. Both train BERT's architecture at the shape of the cpu preset (of the gpu preset where there is a
GPU) on the same packed windows of random tokens; they take turns. The Trainer predicts over the whole vocabulary at
every token, as BertForMaskedLM does, and is given the collator of transformers. It runs twice: with our dropout (none),
and with BERT's own default of 0.1. On a GPU, also the share of the bf16 matrix-product rate that training reaches.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
import torch
from transformers import (
    BertConfig,
    BertForMaskedLM,
    DataCollatorForLanguageModeling,
    PreTrainedTokenizerFast,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from analysis.ablation.corpus import MASKED_SHARE, SPECIALS
from analysis.ablation.costs import random_batch, sizes, stepper
from analysis.ablation.presets import Pretraining, preset
from tests.benchmarks.machine import Table, against

TRAINER_BUDGET, TUPE_BUDGET = 2.0, 1.15


def tokenizer(vocabulary: int) -> PreTrainedTokenizerFast:
    """One that knows as many words; the collator asks it for its special tokens only."""
    from tokenizers import Tokenizer, models

    words = {**{s: i for i, s in enumerate(SPECIALS)}, **{f"w{i}": i for i in range(len(SPECIALS), vocabulary)}}
    made = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(tokenizer_object=made, **dict(zip(names, SPECIALS, strict=True)))


class Clock(TrainerCallback):
    """Notes when each step ends."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Called by the Trainer."""
        self.ends.append(time.perf_counter())


def trainer_seconds(settings: Pretraining, steps: int, dropout: float, folder: str) -> float:
    """Median seconds of a Trainer step."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=settings.vocabulary,
        hidden_size=settings.hidden_size,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        intermediate_size=4 * settings.hidden_size,
        max_position_embeddings=settings.positions,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    ids, segments = random_batch(settings).packed(np.arange(random_batch(settings).count))
    rows = [{"input_ids": i, "token_type_ids": s} for i, s in zip(ids, segments, strict=True)]
    clock = Clock()
    trainer = Trainer(
        model=BertForMaskedLM(config),
        args=TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=min(settings.batch, 64),
            max_steps=steps,
            logging_strategy="no",
            save_strategy="no",
            report_to=[],
            bf16=torch.cuda.is_available(),
            disable_tqdm=True,
            adam_beta2=settings.beta2,
        ),
        train_dataset=rows * 1000,  # pyright: ignore[reportArgumentType]
        data_collator=DataCollatorForLanguageModeling(tokenizer(settings.vocabulary), mlm_probability=MASKED_SHARE),
        callbacks=[clock],
    )
    trainer.train()
    return median(np.diff(clock.ends[2:]))


def own_seconds(step: Callable[[], None], settings: Pretraining, steps: int, windows: Any) -> float:
    """Median seconds of one of our steps, the drawing of its batch included."""
    times = []
    for number in range(steps):
        started = time.perf_counter()
        windows.step(number, min(settings.batch, 64), 0, causal=False)
        step()
        times.append(time.perf_counter() - started)
    return median(times[2:])


def matrix_rate() -> float:
    """Measured bf16 FLOPs a second of large matrix products."""
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    for _ in range(3):
        a @ b
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(20):
        a @ b
    torch.cuda.synchronize()
    return 20 * 2 * 8192**3 / (time.perf_counter() - started)


def main() -> None:
    """Prints seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="keep the table")
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    settings = preset("gpu" if device == "cuda" else "cpu", variant="bert_a")
    windows = random_batch(settings)
    own = stepper(settings, device, compiled=True)
    plain = stepper(settings, device)
    tupe = stepper(replace(settings, variant="tupe_a"), device, compiled=True)
    for step in (own, plain, tupe):
        step()  # compiles
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(given.repeats):
            rounds.append(
                (
                    own_seconds(own, settings, given.steps, windows),
                    own_seconds(tupe, settings, given.steps, windows),
                    own_seconds(plain, settings, given.steps, windows),
                    trainer_seconds(settings, given.steps, 0.0, folder),
                    trainer_seconds(settings, given.steps, 0.1, folder),
                )
            )
    compiled, of_tupe, eager, trainer, usual = (median(column) for column in zip(*rounds, strict=True))
    faster, plainly, usually, dearer = (
        median(f(row) for row in rounds)
        for f in (lambda r: r[3] / r[0], lambda r: r[3] / r[2], lambda r: r[4] / r[0], lambda r: r[1] / r[0])
    )
    tokens = min(settings.batch, 64) * settings.length
    table = Table("pretraining", f"pretraining --repeats {given.repeats} --steps {given.steps}", device)
    table.say(f"{device}, one thread, {settings.layers} layers x {settings.hidden_size}, {tokens} tokens a step")
    for name, seconds in (
        ("ours, compiled", compiled),
        ("ours, not compiled", eager),
        ("ours, tupe_a, compiled", of_tupe),
        ("Trainer, no dropout", trainer),
        ("Trainer, dropout 0.1", usual),
    ):
        table.say(f"{name:24}{1000 * seconds:8.1f} ms  {tokens / seconds:9,.0f} tokens/s")
    table.say(
        f"ours is {faster:.2f}x the Trainer ({plainly:.2f}x not compiled, {usually:.2f}x of the Trainer with dropout); "
        f"budget {TRAINER_BUDGET}x: {'kept' if faster >= TRAINER_BUDGET else 'MISSED'}"
    )
    table.say(f"tupe_a's step is {dearer:.2f}x bert_a's; budget {TUPE_BUDGET}x: {against(dearer, TUPE_BUDGET)}")
    if device == "cuda":
        share = sizes(settings)["flops_per_token"] * tokens / compiled / matrix_rate()
        table.say(f"{share:.0%} of the measured bf16 matrix-product rate")
    table.close(given.write)


if __name__ == "__main__":
    main()
