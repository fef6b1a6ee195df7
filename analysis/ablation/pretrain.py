"""Pre-trains one encoder: masked-language modelling (or next-token prediction), resumable to the same curve."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AttentionInterface

from analysis.ablation.corpus import IGNORED, Batch, Corpus, PackedWindows
from analysis.ablation.encoder import AddendConfig, AddendForCausalLM, AddendForMaskedLM, draw_weights
from analysis.ablation.encoder.attention import eager
from analysis.ablation.optimise import groups, keep_freed_memory, to_device, train_step
from analysis.ablation.presets import Pretraining
from analysis.ablation.variants import VARIANTS
from analysis.core.errors import AddendError
from analysis.core.provenance import now

SAVE_SECONDS = 60.0
"""Training is saved this often, so that a killed run loses no more."""
CHECKPOINT = "training.pt"
LENGTHS = (1, 2, 4)
"""Multiples of the training length at which the trained model is evaluated."""
EVALUATION_SEED = 12_345
"""Validation windows are masked alike in every run."""


class PretrainingDiverged(AddendError):
    """The error for a loss that is no longer a number. model, progress: their state at that step, with that loss."""

    def __init__(self, message: str, model: AddendForMaskedLM, progress: "Progress") -> None:
        super().__init__(message)
        self.model, self.progress = model, progress


Row = tuple[str, int, int, float, float]
"""metric, step, tokens, seconds, value"""


@dataclass
class Progress:
    """The state of a training so far: the step reached, seconds of training, and the curve."""

    step: int = 0
    seconds: float = 0.0
    rows: list[Row] = field(default_factory=list)
    began: str = field(default_factory=now)
    """The time in UTC of the first step, such as 2026-11-23T10:00:00Z."""


WORDS = "addend.embeddings.word_embeddings.weight"


def build(settings: Pretraining, inherited: Mapping[str, Tensor] | None = None) -> AddendForMaskedLM:
    """The untrained model of a run, with what its variant takes over from another run's model.

    inherited: the weights of that model by name. Raises AddendError where they are needed and missing, or of another
    shape.
    """
    config_fields: dict[str, Any] = dict(settings.config())  # of which the config checks each itself
    config = AddendConfig(**config_fields)
    model = AddendForCausalLM(config) if config.causal else AddendForMaskedLM(config)
    draw_weights(model, settings.seed)
    variant = VARIANTS[settings.variant]
    if variant.needs is None:
        return model
    if inherited is None:
        raise AddendError(
            f"The variant {settings.variant!r} starts from the model of {variant.needs!r}, and none was given. "
            "Run that variant first."
        )
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name in [WORDS] if variant.inherits == "words" else parameters:
            source = inherited.get(name)
            if source is None or source.shape != parameters[name].shape:
                problem = "no such weight" if source is None else f"the shape {tuple(source.shape)}"
                raise AddendError(f"{name} of {variant.needs!r}: {problem}; expected {tuple(parameters[name].shape)}.")
            parameters[name].copy_(source)
    return model


def optimiser(model: torch.nn.Module, settings: Pretraining, device: str) -> torch.optim.AdamW:
    """AdamW; biases, norms and what else is a vector are not decayed."""
    return torch.optim.AdamW(
        groups(model, settings.weight_decay),
        lr=settings.learning_rate,
        betas=(0.9, settings.beta2),
        eps=settings.epsilon,
        fused=device in ("cpu", "cuda"),
    )


def half_precision(settings: Pretraining, device: str) -> bool:
    """True if training multiplies matrices in bfloat16: always on a GPU, on a processor if the settings ask for it."""
    return device == "cuda" or settings.precision == "bfloat16"


def rate(settings: Pretraining, step: int) -> float:
    """The learning rate of a step, as a share of its peak."""
    warmup_steps, decay_steps = (max(1, round(share * settings.steps)) for share in (settings.warmup, settings.decay))
    return min(1.0, (step + 1) / warmup_steps, (settings.steps - step) / decay_steps)


def windows(tokens: np.ndarray, corpus: Corpus, length: int) -> PackedWindows:
    """Windows of a length over one of a corpus's token streams."""
    from tokenizers import Tokenizer

    stop = Tokenizer.from_file(str(corpus.folder / "tokenizer.json")).token_to_id(".")
    return PackedWindows(tokens=tokens, length=length, vocabulary=corpus.vocabulary, stop=-1 if stop is None else stop)


def pretrain(
    settings: Pretraining,
    corpus: Corpus,
    folder: Path,
    *,
    device: str = "cpu",
    inherited: Mapping[str, Tensor] | None = None,
    compiled: bool = False,
    on_step: Callable[[int, int, float], None] = lambda step, steps, loss: None,
) -> tuple[AddendForMaskedLM, Progress]:
    """Trains to the end, from where a run in `folder` was left; returns the model (on `device`) and its curve.

    compiled: by torch.compile, which takes a minute or more to begin with and then saves a sixth on a processor.
    on_step: called with (steps done, steps in all, last loss) after every step.
    Raises PretrainingDiverged where the loss is lost.
    """
    model: AddendForMaskedLM = to_device(build(settings, inherited), device)
    optimizer = optimiser(model, settings, device)
    progress = _resume(folder / CHECKPOINT, settings, model, optimizer)
    train = windows(corpus.train, corpus, settings.length)
    valid = windows(corpus.valid, corpus, settings.length)
    causal = model.config.causal
    forward: Any = torch.compile(model.losses) if compiled else model.losses
    half = half_precision(settings, device)
    if device == "cpu":
        keep_freed_memory()
    clock = time.process_time if device == "cpu" else time.perf_counter
    last_saved = time.monotonic()

    def note(metric: str, value: float) -> None:
        tokens = progress.step * settings.batch * settings.length
        progress.rows.append((metric, progress.step, tokens, progress.seconds, value))

    def evaluate() -> None:
        note("validation_loss", validation_loss(model, valid, settings.valid_windows, device))
        for layer, variance in enumerate(score_variance(model, valid, device)):
            note(f"score_variance_{layer}", variance)

    if not progress.rows:
        evaluate()
    recent: list[Tensor] = []
    while progress.step < settings.steps:
        started = clock()
        batch = train.step(
            progress.step,
            settings.batch,
            settings.seed,
            causal=causal,
            share=settings.masked_share,
            to_mask=settings.to_mask,
        )
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * rate(settings, progress.step)
        # Dropout, where there is any, depends on the step alone, so that a resumed run draws the same.
        torch.manual_seed(settings.seed * 1_000_003 + progress.step)
        model.train()
        recent.append(train_step(model, forward, tensors(batch, device), optimizer, settings.clip, device, half))
        if device == "cuda" and settings.evaluated_at(progress.step + 1):
            torch.cuda.synchronize()
        progress.seconds += clock() - started
        progress.step += 1
        if settings.evaluated_at(progress.step):
            mean = torch.stack(recent).mean().item()
            recent.clear()
            note("training_loss", mean)
            if not np.isfinite(mean):
                message = f"The loss of {settings.variant}, seed {settings.seed}, is {mean} at step {progress.step}; "
                message += f"lower the learning rate ({settings.learning_rate:g})."
                raise PretrainingDiverged(message, model, progress)
            evaluate()
            if time.monotonic() - last_saved > SAVE_SECONDS:
                _save(folder / CHECKPOINT, settings, model, optimizer, progress)
                last_saved = time.monotonic()
        on_step(progress.step, settings.steps, float(recent[-1]) if recent and device == "cpu" else float("nan"))
    for multiple in LENGTHS:
        longer = windows(corpus.valid, corpus, settings.length * multiple)
        note(f"final_loss_{multiple}x", validation_loss(model, longer, settings.final_windows // multiple, device))
    return model, progress


def tensors(batch: Batch, device: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A batch as `AddendForMaskedLM.losses` takes it, on a device."""
    indices = np.flatnonzero(batch.labels != IGNORED)
    parts = (torch.from_numpy(part) for part in (batch.ids, batch.segments, indices, batch.labels.ravel()[indices]))
    if device == "cuda":
        parts = (part.pin_memory().to(device, non_blocking=True) for part in parts)
    ids, segments, indices, labels = parts
    return ids, segments, indices, labels


@torch.no_grad()
def validation_loss(model: AddendForMaskedLM, valid: PackedWindows, count: int, device: str) -> float:
    """Mean cross-entropy in nats over the predicted tokens of evenly spread windows, the same in every run."""
    model.eval()
    indices = np.linspace(0, valid.count - 1, min(count, valid.count)).astype(np.int64)
    total, predicted = 0.0, 0
    size = 64 if device == "cpu" else 512
    for start in range(0, len(indices), size):
        batch_indices = indices[start : start + size]
        batch = (
            valid.causal(batch_indices)
            if model.config.causal
            else valid.masked(batch_indices, np.random.default_rng([EVALUATION_SEED, valid.length, start // 64]))
        )
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            losses = model.losses(*tensors(batch, device))
        total += losses.double().sum().item()
        predicted += len(losses)
    return total / predicted


def _save(
    path: Path, settings: Pretraining, model: AddendForMaskedLM, optimizer: torch.optim.AdamW, progress: Progress
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    state = {
        "settings": asdict(settings),
        "model": model.state_dict(),
        "optimiser": optimizer.state_dict(),
        **vars(progress),
    }
    with partial.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def _resume(path: Path, settings: Pretraining, model: AddendForMaskedLM, optimizer: torch.optim.AdamW) -> Progress:
    if not path.is_file():
        return Progress()
    state = torch.load(path, map_location="cpu", weights_only=True)
    if state["settings"] != asdict(settings):
        raise AddendError(f"{path.parent} holds a run with other settings; give this one its own folder.")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimiser"])
    return Progress(state["step"], state["seconds"], [tuple(row) for row in state["rows"]], state.get("began", ""))


MEASURED_ATTENTION = "addend_measured"
VARIANCE_WINDOWS = 32
_variances: list[float] = []


def _measured_attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> tuple[Tensor, Tensor | None]:
    scores = (query * options["scaling"]) @ key.transpose(2, 3)
    bias = options.get("position_bias")
    if isinstance(bias, Tensor):
        scores = scores + bias
    allowed = torch.ones_like(scores) if attention_mask is None else (attention_mask == 0).expand_as(scores).to(scores)
    key_count = allowed.sum(-1, keepdim=True)
    centered = (scores - (scores * allowed).sum(-1, keepdim=True) / key_count) * allowed
    _variances.append((centered.square().sum() / allowed.sum()).item())
    return eager(module, query, key, value, attention_mask, **options)


AttentionInterface.register(MEASURED_ATTENTION, _measured_attention)


@torch.no_grad()
def score_variance(model: AddendForMaskedLM, valid: PackedWindows, device: str) -> list[float]:
    """Variance of the scores along the attended keys of a query, mean over queries and heads; one number a layer."""
    model.eval()
    original = model.config._attn_implementation or "eager"
    ids, segments = valid.packed(np.linspace(0, valid.count - 1, min(VARIANCE_WINDOWS, valid.count)).astype(np.int64))
    _variances.clear()
    model.set_attn_implementation(MEASURED_ATTENTION)
    try:
        model.addend.hidden(torch.from_numpy(ids).to(device), None, torch.from_numpy(segments).to(device))
    finally:
        model.set_attn_implementation(original)
    return list(_variances)
