"""Fine-tuning: a fresh model with a head, trained on a task, and what it says of the dev sets.

The same model, data, settings and seed give the same predictions, bit for bit on a CPU with as many threads.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NotRequired, TypedDict

import numpy as np
import torch

from analysis.ablation.glue import metrics
from analysis.ablation.glue.examples import TaskData, subsample
from analysis.ablation.glue.tasks import ROC_AUC, TASKS, GlueTask
from analysis.ablation.glue.tokens import ExampleBatch, Tokens, tokenise
from analysis.ablation.optimise import groups, warm_up_and_decay
from analysis.ablation.rounded_products import fast_bfloat16
from analysis.core.errors import AddendError

EachStep = Callable[[int, int, torch.Tensor], None]
"""Called after each step with its number, from 1, the number of all, and its loss (a tensor where the model is)."""
CHECK_EVERY = 50
"""Steps between two looks at the loss: each look waits for the accelerator."""


class FineTuningDiverged(AddendError):
    """The loss is no longer a number."""


@dataclass(frozen=True, kw_only=True)
class FinetuneSettings:
    """Settings of a fine-tuning: those of BERT (Devlin et al. 2019), with a higher rate, since the models are small."""

    learning_rate: float = 1e-4
    epochs: int = 3
    batch_size: int = 32
    max_length: int = 128
    """Tokens of an example, special tokens included."""
    warmup_share: float = 0.1
    """The part of all steps in which the learning rate rises from 0; then it falls to 0, both linearly."""
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    max_train: int | None = None
    max_dev: int | None = None
    """The largest number of rows of train and each dev set: the same rows for every model and seed. None for all."""
    half: bool = False
    """True if matrix products run in bfloat16 on a processor, too; weights and optimiser stay in float32."""

    def __post_init__(self) -> None:
        for name, minimum in (("epochs", 1), ("batch_size", 1), ("max_length", 8)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < minimum:
                raise AddendError(
                    f"The {name} {value!r} is not a whole number from {minimum} up; leave it out for the default."
                )
        for name in ("learning_rate", "clip_norm"):
            if not getattr(self, name) > 0:
                raise AddendError(f"The {name} {getattr(self, name)!r} is not above 0; leave it out for the default.")
        if not 0 <= self.warmup_share < 1:
            raise AddendError(
                f"The warmup_share {self.warmup_share!r} is not from 0 to below 1; choose for example 0.1."
            )
        if not self.weight_decay >= 0:
            raise AddendError(f"The weight_decay {self.weight_decay!r} is below 0; choose for example 0.01.")

    @classmethod
    def debug(cls) -> "FinetuneSettings":
        """A few steps on a few short texts: seconds on a CPU, and no score worth reading."""
        return cls(epochs=1, batch_size=16, max_length=32, max_train=64, max_dev=32)


class StoredRows(TypedDict):
    """Rows of one fine-tuning, of two kinds of results files; JSON can hold them."""

    scores: list[dict[str, object]]
    predictions: list[dict[str, object]]
    diverged: NotRequired[list[str]]
    """The fine-tunings without scores because they diverged, in words such as "rte at 0.001, seed 0"."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The results of a fine-tuning. Mappings are by dev set, which bears the name of the task it is scored as."""

    task: str
    predictions: Mapping[str, np.ndarray]
    """Class numbers (int64), or values (float64), in the order of the dev set as `examples.subsample` leaves it."""
    metrics: Mapping[str, Mapping[str, float]]
    """Values of the task's metrics, and of `roc_auc` where it has two classes, as fractions."""
    replicates: Mapping[str, np.ndarray]
    """The main metric on bootstrap resamples that are the same for every run (`metrics.replicates`)."""
    seconds: float
    """Training alone, without tokenising and evaluation."""
    steps: int
    train_examples: int
    dev_examples: Mapping[str, int]
    truncated: Mapping[str, int]
    """Examples cut to `max_length`, in "train" and in each dev set."""
    data: str
    """The label of its data: "official", or the difference from it."""
    settings: Mapping[str, Any]
    seed: int

    def rows(self, shared: Mapping[str, object]) -> StoredRows:
        """Its rows for results files. shared: columns that are the same in every row and describe the fine-tuning."""
        return {
            "scores": [
                {
                    **shared,
                    "task": name,
                    "metric": metric,
                    "data": self.data,
                    "train_examples": self.train_examples,
                    "dev_examples": self.dev_examples[name],
                    "seconds": self.seconds,
                    "value": float(value),
                }
                for name, values in self.metrics.items()
                for metric, value in values.items()
            ],
            "predictions": [
                {
                    **shared,
                    "task": name,
                    "metric": TASKS[name].metrics[0],
                    "prediction": np.asarray(self.predictions[name], np.float32).tolist(),
                    "replicates": np.asarray(self.replicates[name], np.float32).tolist(),
                }
                for name in self.predictions
            ],
        }


def finetune(
    make_model: Callable[[int], torch.nn.Module],
    tokenizer: object,
    task: GlueTask,
    data: TaskData,
    settings: FinetuneSettings,
    seed: int,
    device: str = "cpu",
    each_step: EachStep | None = None,
) -> Outcome:
    """Trains a model on the task's train set and scores it on its dev sets.

    make_model: from the number of outputs to a model whose call takes input_ids, attention_mask and
    token_type_ids, (example, token) each, and returns something with `.logits`, (example, output). It is called
    once, with torch seeded, so that a head drawn at random depends on `seed`. Cross-entropy, or squared error for
    a regression; AdamW. torch's random state is left as it was.
    Raises AddendError for data of another task or a tokenizer that will not do, FineTuningDiverged when the loss is
    lost.
    """
    if data.task != task.name:
        raise AddendError(f"The data is of {data.task}, the task is {task.name}; read the data of {task.name}.")
    torch_device = torch.device(device)
    data = subsample(data, max_train=settings.max_train, max_dev=settings.max_dev)
    train = tokenise(tokenizer, data.train, settings.max_length)
    dev = {name: tokenise(tokenizer, split, settings.max_length) for name, split in data.dev.items()}
    labels = torch.from_numpy(data.train.labels).to(torch_device)
    with torch.random.fork_rng(devices=[torch_device] if torch_device.type == "cuda" else []):
        torch.manual_seed(seed)
        model = make_model(task.num_labels).to(torch_device)
        started = time.perf_counter()
        steps = _train(model, train, labels, task, settings, seed, torch_device, each_step)
        if torch_device.type == "cuda":
            torch.cuda.synchronize(torch_device)
        seconds = time.perf_counter() - started
    outputs = {name: _outputs(model, tokens, task, settings, torch_device) for name, tokens in dev.items()}
    predictions = {name: out[:, 0] if task.regression else out.argmax(axis=1) for name, out in outputs.items()}
    evaluations = {name: (TASKS[name], data.dev[name].labels, predicted) for name, predicted in predictions.items()}
    scores = {name: metrics.score(*evaluation) for name, evaluation in evaluations.items()}
    if task.num_labels == 2:
        for name, out in outputs.items():
            scores[name][ROC_AUC] = metrics.area_under_curve(data.dev[name].labels, out[:, 1] - out[:, 0])
    return Outcome(
        task=task.name,
        predictions=predictions,
        metrics=scores,
        replicates={name: metrics.replicates(*evaluation) for name, evaluation in evaluations.items()},
        seconds=seconds,
        steps=steps,
        train_examples=len(data.train),
        dev_examples={name: len(split) for name, split in data.dev.items()},
        truncated={"train": train.truncated} | {name: tokens.truncated for name, tokens in dev.items()},
        data=data.data,
        settings=asdict(settings),
        seed=seed,
    )


def _train(
    model: torch.nn.Module,
    train: Tokens,
    labels: torch.Tensor,
    task: GlueTask,
    settings: FinetuneSettings,
    seed: int,
    device: torch.device,
    each_step: EachStep | None,
) -> int:
    """All epochs; returns the number of steps."""
    random = np.random.RandomState(seed)
    batches = [rows for _ in range(settings.epochs) for rows in train.shuffled(settings.batch_size, random)]
    optimizer = torch.optim.AdamW(
        groups(model, settings.weight_decay), lr=settings.learning_rate, fused=device.type in ("cpu", "cuda")
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warm_up_and_decay(len(batches), settings.warmup_share))
    model.train()
    for step, rows in enumerate(batches, start=1):
        batch = train.batch(rows, device)
        with fast_bfloat16(device.type, enabled=settings.half):
            logits = _logits(model, batch, task, device, settings.half)
            loss = _loss(logits, labels[torch.from_numpy(rows).to(device)], task)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip_norm)
        optimizer.step()
        schedule.step()
        if (step % CHECK_EVERY == 0 or step == len(batches)) and not torch.isfinite(loss):
            raise FineTuningDiverged(
                f"The loss of {task.name} is {loss.item()} at step {step} of {len(batches)}; lower the learning rate, "
                f"which is {settings.learning_rate:g}."
            )
        if each_step is not None:
            each_step(step, len(batches), loss.detach())
    return len(batches)


def _logits(
    model: torch.nn.Module, batch: ExampleBatch, task: GlueTask, device: torch.device, half: bool
) -> torch.Tensor:
    """float32 (example, output)."""
    with torch.autocast(device.type, torch.bfloat16, enabled=half or device.type == "cuda"):
        inputs = {name: getattr(batch, name) for name in ("input_ids", "attention_mask", "token_type_ids")}
        logits = model(**inputs).logits
    if logits.shape != (len(batch.rows), task.num_labels):
        raise ValueError(f"the logits are {tuple(logits.shape)}, expected {(len(batch.rows), task.num_labels)}")
    return logits.float()


def _loss(logits: torch.Tensor, labels: torch.Tensor, task: GlueTask) -> torch.Tensor:
    if task.regression:
        return torch.nn.functional.mse_loss(logits[:, 0], labels.float())
    return torch.nn.functional.cross_entropy(logits, labels)


def _outputs(
    model: torch.nn.Module, tokens: Tokens, task: GlueTask, settings: FinetuneSettings, device: torch.device
) -> np.ndarray:
    """float64 (example, output), in the order of the split."""
    model.eval()
    outputs = np.empty((len(tokens), task.num_labels))
    with torch.inference_mode(), fast_bfloat16(device.type, enabled=settings.half):
        for rows in tokens.sorted(4 * settings.batch_size):
            outputs[rows] = _logits(model, tokens.batch(rows, device), task, device, settings.half).cpu().numpy()
    return outputs
