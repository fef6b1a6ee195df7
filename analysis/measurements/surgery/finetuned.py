"""Fine-tuning of a sentence encoder after surgery: one arm and seed on every task, written as scores.

A task that is done is kept in a file of its own, so that a run goes on where it was stopped. Its results file appears
at the end, under a name that depends on the settings alone.
"""

from __future__ import annotations

import copy
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypedDict

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from analysis.ablation.presets import identify
from analysis.core import default_model
from analysis.core.atomic_write import atomic_write
from analysis.core.provenance import now
from analysis.engine.task import Report
from analysis.measurements.surgery.apply_arm import operate
from analysis.measurements.surgery.arms import ARMS
from analysis.rules import surgery_rules
from analysis.store.files import Run, write_rows
from analysis.store.kinds import KINDS
from analysis.store.paths import data_folder

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from analysis.ablation.glue.examples import TaskData
    from analysis.ablation.glue.finetune import StoredRows
    from analysis.models.load import Loaded

PRESET = "surgery"
DROPOUT = 0.1


class Classifier(nn.Module):
    """A sentence encoder with a linear head on the mean of its tokens' last hidden states."""

    def __init__(self, encoder: PreTrainedModel, labels: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout, self.head = nn.Dropout(DROPOUT), nn.Linear(encoder.config.hidden_size, labels)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(
        self,
        input_ids: Int64[Tensor, "batch token"],
        attention_mask: Int64[Tensor, "batch token"],
        token_type_ids: Int64[Tensor, "batch token"],
    ) -> SimpleNamespace:
        """`logits`, (batch, label)."""
        hidden = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        mask = attention_mask[..., None].to(hidden.dtype)
        pooled = (hidden * mask).sum(1) / mask.sum(1)
        return SimpleNamespace(logits=self.head(self.dropout(pooled)))


def intact_encoder() -> Loaded:
    """The embedded model."""
    from analysis.models.load import load
    from analysis.models.source import resolve

    return load(resolve(), device="cpu")


def mean_positions() -> list[Float[Tensor, "slot hidden"]]:
    """The stored mean positions of what enters each of its layers."""
    from analysis.measurements.means.stored_bases import stored_basis

    loaded = intact_encoder()
    layers = range(loaded.model.config.num_hidden_layers)
    result = (stored_basis(default_model.NAME, loaded.source.revision, layer).basis.position for layer in layers)
    return [torch.tensor(position, dtype=torch.float32) for position in result]


def build_classifier(arm: str, labels: int, weights: Path | None = None) -> Classifier:
    """The classifier of an arm, its head drawn from torch's random state.

    weights: a file with those of the changed encoder; None for those that the model comes with.
    """
    encoder = copy.deepcopy(intact_encoder().model)
    operate(encoder, ARMS[arm], mean_positions())
    if weights is not None:
        encoder.load_state_dict(torch.load(weights, weights_only=True))
    return Classifier(encoder, labels)


class TaskResult(TypedDict):
    """The results of one task, as its file keeps them: its rows, and the seconds that it took."""

    began: str
    """The time in UTC at which the job began."""
    seconds: float
    rows: StoredRows


@dataclass(frozen=True, kw_only=True)
class FineTuningJob(ABC):
    """One arm of the encoder and one seed, on several tasks.

    weights: a file with those that the changed encoder starts from; None for those that the model comes with.
    """

    arm: str
    seed: int
    glue: Path
    out: Path
    threads: int = 1
    weights: Path | None = None

    needs = None
    device = "cpu"

    @property
    @abstractmethod
    def preset(self) -> str:
        """The name that its scores are stored under, beside the arm's."""

    @property
    @abstractmethod
    def command(self) -> str:
        """The command that runs it."""

    @property
    @abstractmethod
    def rules(self) -> Mapping[str, object]:
        """The part of its manifest that names the rules it is begun under."""

    @property
    @abstractmethod
    def tasks(self) -> Mapping[str, Mapping[str, Any]]:
        """Task -> the settings, for `FinetuneSettings`, with which it is fine-tuned."""

    @property
    def start(self) -> Mapping[str, object]:
        """The names of the encoder that it starts from, besides model, revision and arm."""
        return {}

    def task_data(self, task: str) -> TaskData:
        """The rows of a task."""
        from analysis.ablation.glue import read_task
        from analysis.ablation.glue.tasks import TASKS

        return read_task(TASKS[task], self.glue)

    @property
    def run_id(self) -> str:
        """The name that a run with these settings always has."""
        about = {"model": default_model.NAME, "revision": default_model.REVISION, "arm": self.arm, "seed": self.seed}
        return identify({**about, **self.start, "tasks": self.tasks})

    @property
    def key(self) -> str:
        """Its name among the tasks of a sweep."""
        return self.run_id

    @property
    def label(self) -> str:
        """Its name on screen."""
        return f"{self.arm}, seed {self.seed}"

    @property
    def name(self) -> str:
        """The name of its results files, without their ending."""
        return f"{self.preset}-{self.arm}-{self.seed}-{self.run_id}"

    @property
    def shared(self) -> dict[str, object]:
        """The columns that describe the model and the fine-tuning, the same in every row."""
        (learning_rate,) = {settings["learning_rate"] for settings in self.tasks.values()}
        return {
            "pretraining": f"{default_model.NAME}@{default_model.REVISION}",
            "variant": self.arm,
            "preset": self.preset,
            "seed": self.seed,
            "finetune_seed": self.seed,
            "learning_rate": learning_rate,
        }

    @property
    def finished(self) -> bool:
        """True if the scores are stored."""
        return (data_folder() / KINDS["scores"].folder / f"{self.name}.parquet").is_file()

    def run(self, report: Report = lambda what, done: None) -> None:
        """Runs what is not finished of it and stores the scores."""
        torch.set_num_threads(self.threads)
        began, items = now(), []
        for number, task in enumerate(self.tasks):
            share = number / len(self.tasks)
            items.append(self._task(task, lambda done, task=task, share=share: report(task, share + done), began))
        self._store(items)

    def _task(self, task: str, report: Callable[[float], None], began: str) -> TaskResult:
        from analysis.ablation.glue.finetune import FinetuneSettings, finetune
        from analysis.ablation.glue.tasks import TASKS

        file = self.out / self.run_id / f"{task}.json"
        if file.is_file() and "rows" in (kept := json.loads(file.read_text(encoding="utf-8"))):
            return kept
        file.parent.mkdir(parents=True, exist_ok=True)
        parts = len(self.tasks)
        outcome = finetune(
            lambda labels: build_classifier(self.arm, labels, self.weights),
            intact_encoder().tokenizer,
            TASKS[task],
            self.task_data(task),
            FinetuneSettings(**self.tasks[task]),
            self.seed,
            each_step=lambda step, steps, _: report(step / steps / parts) if step % 20 == 0 else None,
        )
        result: TaskResult = {"began": began, "seconds": outcome.seconds, "rows": outcome.rows(self.shared)}
        with atomic_write(file) as partial:
            partial.write_text(json.dumps(result), encoding="utf-8")
        return result

    def _store(self, records: list[TaskResult]) -> None:
        half = any(settings.get("half") for settings in self.tasks.values())
        about = {
            "command": self.command,
            "model": default_model.NAME,
            "revision": default_model.REVISION,
            "device": "cpu",
            "dtype": "bfloat16 autocast" if half else "float32",
            "seed": self.seed,
            "variant": self.arm,
            "preset": self.preset,
            "seconds": sum(task_result["seconds"] for task_result in records),
            "config": {
                **self.start,
                "tasks": self.tasks,
                "head": "linear, on the mean of the tokens",
                "embedding_tables": "not trained",
                "began": min(task_result["began"] for task_result in records),
                "rules": self.rules,
            },
        }
        # Scores last: they are what says that the job is finished.
        for kind, run_id in (("predictions", f"{self.run_id}p"), ("scores", self.run_id)):
            rows = [row for task_result in records for row in task_result["rows"][kind]]
            write_rows(rows, Run(kind=kind, run_id=run_id, **about), name=self.name)


@dataclass(frozen=True, kw_only=True)
class SurgeryJob(FineTuningJob):
    """One arm and seed on every task of `surgeries.toml`, from the weights that the model comes with."""

    @property
    def preset(self) -> str:
        """The name that its scores are stored under, beside the arm's."""
        return PRESET

    @property
    def command(self) -> str:
        """The command that runs it."""
        return f"python -m analysis finetune-surgery --glue DIR --arms {self.arm} --seeds {self.seed}"

    @property
    def rules(self) -> Mapping[str, object]:
        """The part of its manifest that names the rules it is begun under."""
        return surgery_rules().manifest()

    @property
    def tasks(self) -> Mapping[str, Mapping[str, Any]]:
        """Task -> the settings with which every arm is fine-tuned."""
        return {task: surgery_rules().task_settings(task) for task in surgery_rules().tasks}
