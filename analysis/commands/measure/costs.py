"""python -m analysis measure costs: parameters, FLOPs, speed and memory of every variant, into a results file."""

from typing import Annotated

import typer

from analysis.commands.options import announce, split_names


def costs(
    preset: Annotated[str, typer.Option(help="The preset whose shape and batch are measured.")] = "cpu",
    variants: Annotated[str, typer.Option(help="Names separated by commas, or all.")] = "all",
    memory: Annotated[bool, typer.Option(help="Measure the peak memory, too: a process a variant.")] = True,
    count_only: Annotated[
        bool, typer.Option("--count-only", help="Count parameters and FLOPs; measure neither time nor memory.")
    ] = False,
) -> None:
    """Measures what a training step of every variant costs, in turns with bert_a's."""
    import time

    import torch

    from analysis.ablation.costs import ROUNDS, clock_of, measure
    from analysis.ablation.job import device_name
    from analysis.ablation.plan import jobs
    from analysis.store.files import Run, write_rows

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    planned = jobs(preset, split_names(variants), [0])
    started = time.perf_counter()
    rows = measure(
        planned[0], [p.variant for p in planned], device, memory=memory and not count_only, timed=not count_only
    )
    timing = {} if count_only else {"rounds": ROUNDS, "clock": clock_of(device).__name__, "threads": 1}
    run = Run(
        kind="costs",
        command=f"python -m analysis measure costs --preset {preset} --variants {variants}"
        + (" --count-only" if count_only else "" if memory else " --no-memory"),
        device=device_name(device),
        dtype="bfloat16 autocast" if device == "cuda" else "float32",
        preset=preset,
        config={**timing, "batch": planned[0].batch, "length": planned[0].length},
        seconds=time.perf_counter() - started,
    )
    announce(write_rows(rows, run))
