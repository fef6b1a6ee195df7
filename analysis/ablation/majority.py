"""Stores the scores of always answering the most frequent class: the level that every other score is compared with."""

from analysis.ablation.glue.examples import subsample
from analysis.ablation.glue.metrics import majority
from analysis.ablation.glue.tasks import TASKS
from analysis.ablation.job import SweepSettings, task_data
from analysis.ablation.plan import Finetuning
from analysis.ablation.presets import identify
from analysis.store.files import Run, write_rows
from analysis.store.kinds import KINDS
from analysis.store.paths import data_folder

VARIANT = "majority"


def store_majority(preset: str, plan: Finetuning, sweep: SweepSettings) -> None:
    """Writes the majority scores of a plan's tasks, on the same rows that its models are scored on, once."""
    limits = {name: plan.settings.get(name) for name in ("max_train", "max_dev")}
    run_id = identify({"majority": plan.tasks, "preset": preset, "predicted": plan.predicted, **limits})
    name = f"{preset}-{VARIANT}-{run_id}"
    if (data_folder() / KINDS["scores"].folder / f"{name}.parquet").is_file():
        return
    rows = []
    for task in plan.tasks:
        data = subsample(task_data(task, plan, sweep), **limits)
        for dev_task, split in data.dev.items():
            for metric, value in majority(TASKS[dev_task], data.train.labels, split.labels).items():
                rows.append(
                    {
                        "pretraining": None,
                        "variant": VARIANT,
                        "preset": preset,
                        "task": dev_task,
                        "metric": metric,
                        "data": data.data,
                        "train_examples": len(data.train),
                        "dev_examples": len(split),
                        "seconds": 0.0,
                        "value": value,
                    }
                )
    command = f"python -m analysis ablate --preset {preset}"
    run = Run(kind="scores", command=command, run_id=run_id, variant=VARIANT, preset=preset, config=limits)
    write_rows(rows, run, name=name)
