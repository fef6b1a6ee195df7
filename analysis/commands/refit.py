"""python -m analysis refit: a finished sentence encoder is told positions in another way, and trained on."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.options import Jobs, Ray, check_purpose, split_arms, split_seeds


def refit(
    texts: Annotated[Path, typer.Option(help="Training text: UTF-8, with an empty line between articles.")],
    held_out: Annotated[Path, typer.Option(help="Text of other articles, on which the loss is looked at.")],
    stsb: Annotated[Path, typer.Option(help="The dev set of STS-B, a TSV file.")],
    purpose: Annotated[
        str, typer.Option(help="judged, pilot (chooses the rate of each arm, needed first) or dose (more tokens).")
    ] = "judged",
    arms: Annotated[str, typer.Option(help="Names separated by commas; by default those of the rules.")] = "",
    seeds: Annotated[str, typer.Option(help="Numbers separated by commas; by default those of the rules.")] = "",
    out: Annotated[Path, typer.Option(help="Where targets, weights and unfinished runs are kept.")] = Path(
        "runs/refit"
    ),
    weights: Annotated[
        bool,
        typer.Option(
            "--weights",
            help="Also runs what is stored where its weights, from which finetune-refitted starts, are not in --out; "
            "stored results stay as they are.",
        ),
    ] = False,
    jobs: Jobs = None,
    ray: Ray = None,
) -> None:
    """Trains each arm of the embedded sentence encoder on, into results files. Finished runs are skipped."""
    from rich.console import Console

    from analysis import store_build
    from analysis.commands.into_store import run_into_store
    from analysis.core.errors import AddendError
    from analysis.measurements.refit import job
    from analysis.measurements.refit.rates import chosen_rates, rates_of
    from analysis.rules.refit_rules import refit_rules

    rules = refit_rules()
    check_purpose(purpose, rules.purposes)
    names = split_arms(arms) or list(rules.purposes[purpose].arms)
    numbers = split_seeds(seeds) or list(rules.purposes[purpose].seeds)
    for path, option in ((texts, "--texts"), (held_out, "--held-out"), (stsb, "--stsb")):
        if not path.is_file():
            raise AddendError(f"There is no file {path}; name one with {option}.")
    store_build.refresh()  # the chosen rates and the mean positions are read from it
    rates = rates_of(purpose, names, rules.rates, chosen_rates)
    data = job.RefitFiles(texts=texts.resolve(), held_out=held_out.resolve(), stsb=stsb.resolve(), out=out.resolve())
    with Console().status("Computing what the intact encoder gives"):
        tasks = job.jobs(purpose, names, numbers, rates, data, with_weights=weights)
    run_into_store(tasks, jobs, ray)
