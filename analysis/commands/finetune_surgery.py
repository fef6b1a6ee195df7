"""python -m analysis finetune-surgery: a sentence encoder fine-tuned after surgery, arm by arm and seed by seed."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.options import Jobs, split_arms, split_seeds


def finetune_surgery(
    glue: Annotated[Path, typer.Option(help="The folder of GLUE's files.")],
    arms: Annotated[str, typer.Option(help="Names separated by commas; by default those of the rules.")] = "",
    seeds: Annotated[str, typer.Option(help="Numbers separated by commas; by default those of the rules.")] = "",
    out: Annotated[Path, typer.Option(help="Where unfinished runs are kept.")] = Path("runs/surgery"),
    jobs: Jobs = None,
) -> None:
    """Fine-tunes the embedded sentence encoder after each surgery, into results files. Finished runs are skipped."""
    from analysis.commands.into_store import check_glue, run_into_store
    from analysis.measurements.surgery.finetuned import SurgeryJob
    from analysis.rules import surgery_rules

    names = split_arms(arms) or list(surgery_rules().arms)
    seed_list = split_seeds(seeds) or list(surgery_rules().seeds)
    check_glue(glue)
    tasks = [
        SurgeryJob(arm=arm, seed=seed, glue=glue.resolve(), out=out.resolve()) for seed in seed_list for arm in names
    ]
    run_into_store(tasks, jobs)
