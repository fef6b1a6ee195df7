"""python -m analysis measure baselines: what needs no encoder on GLUE, into a results file."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.options import announce, split_names

TASKS = "cola,sst2,mrpc,stsb,qqp,mnli,qnli,rte,wnli"


def baselines(
    glue_dir: Annotated[Path, typer.Option(help="The folder that holds the tasks' folders.")],
    preset: Annotated[str, typer.Option(help="The preset whose scores they are shown with.")] = "cpu",
    tasks: Annotated[str, typer.Option(help="Names separated by commas.")] = TASKS,
    max_train: Annotated[int, typer.Option(help="Training rows, as many as the preset's fine-tunings used.")] = 4_000,
    max_dev: Annotated[int, typer.Option(help="Dev rows, as many as the preset's fine-tunings used.")] = 2_000,
    words: Annotated[str, typer.Option(help="The checkpoint whose word vectors are averaged.")] = "cpu-bert_a-0",
) -> None:
    """Scores word overlap, TF-IDF and a bag of word vectors on the rows that fine-tunings are scored on."""
    import time

    from rich.progress import track

    from analysis.ablation.glue.examples import subsample
    from analysis.ablation.glue.read import read_task
    from analysis.ablation.glue.tasks import TASKS as GLUE_TASKS
    from analysis.ablation.without_encoder import baselines, mean_word_vectors
    from analysis.models.load import load
    from analysis.models.source import resolve
    from analysis.models.submodules import word_table
    from analysis.store.files import Run, write_rows

    loaded = load(resolve(words))
    embed = mean_word_vectors(loaded.tokenizer, word_table(loaded.model).weight.detach().float().numpy())
    started = time.perf_counter()
    rows = []
    for name in track(split_names(tasks), description="tasks"):
        data = subsample(read_task(GLUE_TASKS[name], glue_dir), max_train=max_train, max_dev=max_dev)
        for baseline, dev_scores in baselines(data, embed).items():
            rows += [
                {
                    **{"variant": baseline, "preset": preset, "task": dev_set, "metric": metric, "value": value},
                    **{"data": data.data, "train_examples": len(data.train), "dev_examples": len(data.dev[dev_set])},
                    "seconds": 0.0,
                }
                for dev_set, metrics in dev_scores.items()
                for metric, value in metrics.items()
            ]
    run = Run(
        kind="scores",
        command=f"python -m analysis measure baselines --glue-dir GLUE --preset {preset} --max-train {max_train} "
        f"--max-dev {max_dev} --words {words}",
        variant="baselines",
        preset=preset,
        config={"max_train": max_train, "max_dev": max_dev, "words": f"{words} ({loaded.source.revision})"},
        seconds=time.perf_counter() - started,
    )
    announce(write_rows(rows, run))
