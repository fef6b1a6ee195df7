"""How fast a sentence encoder is fine-tuned after surgery: against transformers' Trainer on the same rows, in turns.

    python -m tests.benchmarks.finetuning [--repeats 3] [--rows 512] [--write]

A script, not a test. Both train all-MiniLM-L6-v2 on the same made-up sentence pairs, whose lengths spread as those of
STS-B do, with 32 rows a step and one thread, and both pad a batch to its longest row. The Trainer runs twice: as it is
by default (float32), and with bf16, which our fine-tuning uses too.
"""

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, DataCollatorWithPadding, Trainer, TrainingArguments

from analysis.ablation.glue.examples import Split, TaskData
from analysis.ablation.glue.finetune import FinetuneSettings, finetune
from analysis.ablation.glue.tasks import TASKS
from analysis.core import default_model
from analysis.measurements.surgery import finetuned
from tests.benchmarks.machine import Table

BUDGET = 1.5
BATCH = 32
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "while",
    "two",
    "men",
    "were",
    "playing",
    "guitar",
    "near",
    "old",
    "river",
    "and",
    "many",
    "people",
    "walked",
    "home",
]


def pairs(rows: int) -> TaskData:
    """Pairs of sentences of 5 to 30 words, most of them short (log-normal, as in STS-B)."""
    random = np.random.RandomState(0)

    def sentence() -> str:
        return " ".join(random.choice(WORDS, int(np.clip(random.lognormal(2.3, 0.45), 5, 30))))

    def split(count: int) -> Split:
        return Split(
            texts=[sentence() for _ in range(count)],
            pairs=[sentence() for _ in range(count)],
            labels=random.uniform(0, 5, count),
        )

    return TaskData(task="stsb", train=split(rows), dev={"stsb": split(BATCH)}, data="made up")


def own_seconds(data: TaskData, arm: str = "minilm_intact") -> float:
    """Seconds of an epoch of our fine-tuning."""
    settings = FinetuneSettings(epochs=1, batch_size=BATCH, half=True)
    tokenizer = finetuned.intact_encoder().tokenizer
    return finetune(
        lambda labels: finetuned.build_classifier(arm, labels), tokenizer, TASKS["stsb"], data, settings, 0
    ).seconds


def trainer_seconds(data: TaskData, folder: str, half: bool) -> float:
    """Seconds of an epoch of the Trainer."""
    torch.manual_seed(0)
    tokenizer = finetuned.intact_encoder().tokenizer
    model = AutoModelForSequenceClassification.from_pretrained(Path(default_model.folder()), num_labels=1)
    encoded = tokenizer(list(data.train.texts), list(data.train.pairs or ()), truncation=True, max_length=128)
    rows = [
        {"input_ids": ids, "token_type_ids": kinds, "labels": float(label)}
        for ids, kinds, label in zip(encoded["input_ids"], encoded["token_type_ids"], data.train.labels, strict=True)
    ]
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=BATCH,
            num_train_epochs=1,
            logging_strategy="no",
            save_strategy="no",
            report_to=[],
            bf16=half,
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=rows,  # pyright: ignore[reportArgumentType]
        data_collator=DataCollatorWithPadding(tokenizer),
    )
    started = time.perf_counter()
    trainer.train()
    return time.perf_counter() - started


def main() -> None:
    """Prints seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--write", action="store_true", help="keep the table")
    given = parser.parse_args()
    torch.set_num_threads(1)
    data = pairs(given.rows)
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(given.repeats):
            rounds.append(
                (own_seconds(data), trainer_seconds(data, folder, False), trainer_seconds(data, folder, True))
            )
    own, plain, half = (median(column) for column in zip(*rounds, strict=True))
    against_plain, against_half = (median(row[at] / row[0] for row in rounds) for at in (1, 2))
    table = Table("finetuning", f"finetuning --repeats {given.repeats} --rows {given.rows}", "cpu")
    table.say(f"all-MiniLM-L6-v2, {given.rows} pairs, {BATCH} a step, one thread, one epoch")
    for name, seconds in (("ours", own), ("Trainer, float32", plain), ("Trainer, bf16", half)):
        table.say(f"{name:20}{seconds:8.1f} s  {given.rows / seconds:7.1f} pairs/s")
    table.say(
        f"ours is {against_plain:.2f}x the Trainer as it is by default ({against_half:.2f}x with bf16); "
        f"budget {BUDGET}x: {'kept' if against_plain >= BUDGET else 'MISSED'}"
    )
    table.close(given.write)


if __name__ == "__main__":
    main()
