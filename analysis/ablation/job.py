"""One pre-training and its fine-tunings: run, resumed, and written as results files.

A run's folder holds what is needed to go on after a kill (the training state, the finished model, one
file a fine-tuning). Its results files appear whole, at the end, under names that depend on the settings
alone: run twice, it is stored once.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.ablation import corpus as corpora
from analysis.ablation.plan import Finetuning, scores_id, training
from analysis.ablation.presets import Pretraining, ablate, options
from analysis.ablation.variants import VARIANTS
from analysis.core.errors import AddendError
from analysis.engine import Report
from analysis.rules import manifest_of
from analysis.store import checkpoints
from analysis.store.files import Run, write_rows
from analysis.store.kinds import KINDS
from analysis.store.paths import data_folder

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor
    from transformers import PreTrainedModel

    from analysis.ablation.glue.examples import TaskData
    from analysis.ablation.glue.finetune import StoredRows
    from analysis.ablation.pretrain import Progress


@dataclass(frozen=True, kw_only=True)
class SweepSettings:
    """The folders that a sweep reads and writes, and the device it runs on; the same for all of its jobs."""

    corpus: Path
    out: Path
    valid_text: Path | None = None
    """The text from which the swapped-neighbours task is made."""
    glue: Path | None = None
    device: str = "cpu"
    threads: int = 1
    compiled: bool = False


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run of a sweep; no finetuning means that it ends with the checkpoint."""

    pretraining: Pretraining
    finetuning: Finetuning | None
    sweep: SweepSettings
    corpus_digest: str

    @property
    def run_id(self) -> str:
        """The pre-training's name."""
        return self.pretraining.run_id(self.corpus_digest)

    @property
    def command(self) -> str:
        """The command that runs it again."""
        p = self.pretraining
        return ablate(p.preset, [p.variant], [p.seed], **options(p.recorded_settings(), p.preset))

    @property
    def scores_id(self) -> str:
        """The fine-tunings' name."""
        assert self.finetuning is not None
        return scores_id(self.run_id, self.finetuning, self.corpus_digest)

    @property
    def key(self) -> str:
        """Its name among the tasks of a sweep."""
        return self.run_id

    @property
    def label(self) -> str:
        """Its name on screen."""
        return f"{self.pretraining.variant}, seed {self.pretraining.seed}"

    @property
    def needed(self) -> Job | None:
        """The job of the same seed whose model this one needs."""
        variant = VARIANTS[self.pretraining.variant]
        if variant.needs is None:
            return None
        recipe = replace(self.pretraining, steps=round(self.pretraining.steps / variant.share_of_steps))
        return replace(self, pretraining=training(recipe, variant.needs))

    @property
    def needs(self) -> str | None:
        """The key of that job."""
        return None if self.needed is None else self.needed.key

    @property
    def device(self) -> str:
        """The device it runs on."""
        return self.sweep.device

    @property
    def folder(self) -> Path:
        """The folder of its intermediate files, from which it resumes."""
        return self.sweep.out / self.run_id

    def file(self, run_id: str) -> str:
        """The name of a results file, without its ending."""
        p = self.pretraining
        return f"{p.preset}-{p.variant}-{p.seed}-{run_id}"

    def stored(self, kind: str, run_id: str) -> bool:
        """True if the job's results file of this kind and run exists."""
        return (data_folder() / KINDS[kind].folder / f"{self.file(run_id)}.parquet").is_file()

    @property
    def trained(self) -> bool:
        """True if the training curve is stored."""
        return self.stored("curves", self.run_id)

    @property
    def shipped_checkpoint(self) -> Path | None:
        """The folder of its checkpoint where that comes with Addend: it is not trained again."""
        return checkpoints.folder_of_run(self.run_id) if self.trained else None

    @property
    def finished(self) -> bool:
        """True if every results file that the job writes is stored, or if its training diverged."""
        return self.trained and (
            self.finetuning is None
            or all(self.stored(kind, self.scores_id) for kind in ("scores", "predictions"))
            or self.diverged
        )

    @property
    def diverged(self) -> bool:
        """True if a training loss of its stored curve is not finite: such a run has no model, and never will."""
        import pyarrow.parquet as pq

        stored = pq.read_table(data_folder() / KINDS["curves"].folder / f"{self.file(self.run_id)}.parquet")
        rows = zip(stored["metric"].to_pylist(), stored["value"].to_pylist(), strict=True)
        return any(metric == "training_loss" and not np.isfinite(value) for metric, value in rows)

    def run(self, report: Report = lambda what, done: None) -> None:
        """Runs the parts of it that are not finished."""
        run(self, report)


def sweep_jobs(trainings: Sequence[Pretraining], finetuning: Finetuning | None, **shared: Any) -> list[Job]:
    """Jobs of a sweep. Next-token models are not fine-tuned: GLUE here asks what an encoder understands."""
    return [
        Job(pretraining=p, finetuning=None if p.config().get("causal") else finetuning, **shared) for p in trainings
    ]


def run(job: Job, report: Report = lambda what, done: None) -> None:
    """Runs the parts of a job that are not finished. A second process with the same job waits for the first.

    A pre-training whose checkpoint comes with Addend is not repeated: fine-tuning starts from that.
    """
    from filelock import FileLock

    job.folder.mkdir(parents=True, exist_ok=True)
    with FileLock(job.folder / "lock"):
        if job.finished:
            return
        import torch

        torch.set_num_threads(job.sweep.threads)
        shipped = job.shipped_checkpoint
        model = shipped or _pretrain(job, report)
        if job.finetuning is not None:
            weights = "float32" if shipped is None else "float16, as kept in data/checkpoints"
            _store_scores(job, job.finetuning, model, weights, report)


def _pretrain(job: Job, report: Report) -> Path:
    """The folder of the finished model; its curve is stored."""
    from analysis.ablation.pretrain import PretrainingDiverged, pretrain

    folder = job.folder / "model"
    if job.trained and (folder / "model.safetensors").is_file():
        return folder
    corpus = corpora.load(job.sweep.corpus)
    settings = job.pretraining
    try:
        model, progress = pretrain(
            settings,
            corpus,
            job.folder,
            device=job.sweep.device,
            inherited=_load_inherited(job),
            compiled=job.sweep.compiled,
            on_step=lambda step, steps, loss: report("pre-training", step / steps),
        )
    except PretrainingDiverged as divergence:
        _store_curve(job, corpus, divergence.model, divergence.progress)
        raise AddendError(f"{divergence} The curve is stored up to there: that it diverged is a result.") from None
    save(model, corpus.folder, folder)
    _store_curve(job, corpus, model, progress)
    return folder


def _store_curve(job: Job, corpus: corpora.Corpus, model: PreTrainedModel, progress: Progress) -> None:
    from analysis.ablation.pretrain import CHECKPOINT, half_precision

    settings = job.pretraining
    rules = manifest_of(settings.preset, settings.variant, settings.seed)
    names = ["metric", "step", "tokens", "seconds", "value"]
    points = [dict(zip(names, row, strict=True)) for row in progress.rows]
    trained = [p for p in model.parameters() if p.requires_grad]
    config = {
        **settings.recorded_settings(),
        "corpus": corpora.describe(corpus),
        "model": settings.config(),
        "parameters": sum(p.numel() for p in model.parameters()),
        "trained_parameters": sum(p.numel() for p in trained),
        "compiled": job.sweep.compiled,
        "began": progress.began,
        **({"rules": rules} if rules is not None else {}),
        "seconds_are": "processor time of one thread" if job.sweep.device == "cpu" else "elapsed time",
    }
    identity = {"variant": settings.variant, "preset": settings.preset, "seed": settings.seed}
    run = Run(
        kind="curves",
        command=job.command,
        run_id=job.run_id,
        device=device_name(job.sweep.device),
        dtype="bfloat16 autocast" if half_precision(settings, job.sweep.device) else "float32",
        config=config,
        seconds=progress.seconds,
        **identity,
    )
    write_rows(points, run, name=job.file(job.run_id), shared=identity)
    (job.folder / CHECKPOINT).unlink(missing_ok=True)


def save(model: PreTrainedModel, corpus: Path, folder: Path) -> None:
    """A checkpoint that opens with from_pretrained, tokenizer included; appears whole."""
    from transformers import PreTrainedTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    partial = folder.with_name(folder.name + ".partial")
    model.save_pretrained(partial)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), corpora.SPECIALS, strict=True))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_tokenizer(corpus), model_max_length=model.config.max_position_embeddings, **names
    )
    tokenizer.save_pretrained(partial)
    if folder.is_dir():
        shutil.rmtree(folder)
    os.replace(partial, folder)


def _tokenizer(corpus: Path) -> Tokenizer:
    """The corpus's tokenizer with [CLS] and [SEP] set around one text or two."""
    from tokenizers import Tokenizer, processors

    tokenizer = Tokenizer.from_file(str(corpus / "tokenizer.json"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", corpora.CLS), ("[SEP]", corpora.SEP)],
    )
    return tokenizer


def _load_inherited(job: Job) -> dict[str, Tensor] | None:
    """The weights of the run that this variant builds on, by name; None where it builds on none."""
    if (parent := job.needed) is None:
        return None
    from safetensors.torch import load_file

    file = (parent.shipped_checkpoint or parent.folder / "model") / "model.safetensors"
    if not file.is_file():
        raise AddendError(
            f"{job.pretraining.variant} needs the model of {parent.label}, which is not in {job.sweep.out}. "
            f"Run {parent.pretraining.variant} first, with the same --out."
        )
    return {name: weight.float() for name, weight in load_file(file).items()}


def _store_scores(job: Job, plan: Finetuning, model: Path, weights: str, report: Report) -> None:
    """Fine-tunes on every task at every rate and stores the scores; each finished one has a file.

    One that diverges has no score: which did is stored among the settings.
    """
    combinations = [(task, rate, seed) for task in plan.tasks for rate in plan.learning_rates for seed in plan.seeds]
    scores: list[dict[str, Any]] = []
    predictions: list[dict[str, Any]] = []
    diverged: list[str] = []
    started = time.monotonic()
    for done, (task, rate, seed) in enumerate(combinations):
        file = job.folder / f"{job.scores_id}-{task}-{rate:g}-{seed}.json"
        if not file.is_file():
            report(f"{task} at {rate:g}", done / len(combinations))
            result = _finetune(job, plan, model, task, rate, seed)
            partial = file.with_suffix(".partial")
            partial.write_text(json.dumps(result), encoding="utf-8")
            os.replace(partial, file)
        rows = json.loads(file.read_text(encoding="utf-8"))
        scores += rows["scores"]
        predictions += rows["predictions"]
        diverged += rows.get("diverged", [])
    settings = job.pretraining
    shared = {
        "command": job.command,
        "device": device_name(job.sweep.device),
        "dtype": "float32" if job.sweep.device == "cpu" else "bfloat16 autocast",
        "seed": settings.seed,
        "variant": settings.variant,
        "preset": settings.preset,
        "seconds": time.monotonic() - started,
        "config": {
            "pretraining": job.run_id,
            "weights": weights,
            **asdict(plan),
            "learning_rate_chosen": "by the reader of the table",
            "diverged": diverged,
        },
    }
    name = job.file(job.scores_id)
    # Scores last: they are what says that the job is finished.
    for kind, rows, run_id in (("predictions", predictions, f"{job.scores_id}p"), ("scores", scores, job.scores_id)):
        write_rows(rows, Run(kind=kind, run_id=run_id, **shared), name=name)


def _finetune(job: Job, plan: Finetuning, model: Path, task: str, rate: float, seed: int) -> StoredRows:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    import analysis.ablation.encoder  # noqa: F401  registers the architecture
    from analysis.ablation.glue.finetune import FinetuneSettings, FineTuningDiverged, finetune
    from analysis.ablation.glue.tasks import TASKS
    from analysis.ablation.optimise import to_device

    logging.set_verbosity_error()
    logging.disable_progress_bar()

    def make_model(labels: int) -> PreTrainedModel:
        classifier = AutoModelForSequenceClassification.from_pretrained(model, num_labels=labels, dtype="float32")
        return to_device(classifier, job.sweep.device)

    try:
        outcome = finetune(
            make_model,
            AutoTokenizer.from_pretrained(model),
            TASKS[task],
            task_data(task, plan, job.sweep),
            FinetuneSettings(learning_rate=rate, **plan.settings),
            seed,
            job.sweep.device,
        )
    except FineTuningDiverged:
        return {"scores": [], "predictions": [], "diverged": [f"{task} at {rate:g}, seed {seed}"]}
    settings = job.pretraining
    shared = {
        "pretraining": job.run_id,
        "variant": settings.variant,
        "preset": settings.preset,
        "seed": settings.seed,
        "finetune_seed": seed,
        "learning_rate": rate,
    }
    return outcome.rows(shared)


_data: dict[tuple[str, Path | None, Path | None], TaskData] = {}


def task_data(task: str, plan: Finetuning, sweep: SweepSettings) -> TaskData:
    """A task's examples, read once a process."""
    from analysis.ablation.glue import read_task, swapped_neighbours
    from analysis.ablation.glue.tasks import TASKS

    key = (task, sweep.glue, sweep.valid_text)
    if key not in _data:
        if TASKS[task].glue:
            _data[key] = read_task(TASKS[task], sweep.glue)
        elif sweep.valid_text is None:
            raise AddendError(f"{task} is made from text; name the validation text with --valid.")
        else:
            _data[key] = swapped_neighbours.make(sweep.valid_text, train=4 * plan.predicted, dev=plan.predicted)
    return _data[key]


def device_name(device: str) -> str:
    """The name of the accelerator, or cpu."""
    if device != "cuda":
        return device
    import torch

    return torch.cuda.get_device_name()
