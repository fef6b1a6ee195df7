"""python -m analysis finetune-refitted: refitted encoders fine-tuned on tasks of GLUE, arm by arm and seed by seed."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.options import Jobs, check_purpose, split_arms, split_seeds


def finetune_refitted(
    glue: Annotated[Path, typer.Option(help="The folder of GLUE's files.")],
    refits: Annotated[Path, typer.Option(help="Where refit kept the weights: its --out.")] = Path("runs/refit"),
    purpose: Annotated[
        str, typer.Option(help="judged, or pilot (chooses the rate of each arm, needed first).")
    ] = "judged",
    arms: Annotated[str, typer.Option(help="Names separated by commas; by default those of the rules.")] = "",
    seeds: Annotated[str, typer.Option(help="Numbers separated by commas; by default those of the rules.")] = "",
    out: Annotated[Path, typer.Option(help="Where unfinished runs are kept.")] = Path("runs/refitted-glue"),
    jobs: Jobs = None,
) -> None:
    """Fine-tunes the refitted encoders on GLUE, into results files. Finished runs are skipped."""
    from analysis import store_build
    from analysis.commands.into_store import check_glue, run_into_store
    from analysis.measurements.refit import glue as refitted_glue
    from analysis.rules.refitted_glue_rules import refitted_glue_rules

    rules = refitted_glue_rules()
    check_purpose(purpose, rules.purposes)
    check_glue(glue)
    store_build.refresh()  # refits and pilots are read from it
    tasks = refitted_glue.jobs(
        purpose,
        split_arms(arms) or rules.arms,
        split_seeds(seeds) or rules.purposes[purpose].seeds,
        glue=glue.resolve(),
        refits=refits.resolve(),
        out=out.resolve(),
    )
    run_into_store(tasks, jobs)
