"""python -m analysis measure encodings: every scalar measure of every encoding, into a results file."""

from typing import Annotated

import typer

from analysis.commands.options import announce

SIZES = ((128, 512), (512, 384))
"""Length and dim asked for; an encoding that does not take one is measured at the nearest that it takes."""


def encodings(
    name: Annotated[
        str | None,
        typer.Option(help="File name under data/results/encodings, without its ending; by default today's date."),
    ] = None,
) -> None:
    """Measures every registered encoding at two sizes and writes one results file."""
    from time import perf_counter

    from rich.progress import Progress

    from analysis.core import default_model
    from analysis.core.provenance import now
    from analysis.encodings import ENCODINGS
    from analysis.encodings.measures import summary
    from analysis.store import files

    start = perf_counter()
    rows = []
    with Progress() as progress:
        bar = progress.add_task("Encodings", total=len(ENCODINGS) * len(SIZES))
        for encoding in ENCODINGS:
            for size in SIZES:
                progress.update(bar, description=encoding)
                length, dim = ENCODINGS[encoding].nearest(*size)
                rows += [
                    {"encoding": encoding, "length": length, "dim": dim, "measure": measure, "value": value}
                    for measure, value in summary(encoding, length=length, dim=dim).items()
                ]
                progress.advance(bar)
    run = files.Run(
        kind="encoding_measures",
        command="python -m analysis measure encodings",
        seed=0,
        config={"sizes": SIZES, "learned": {"model": default_model.NAME, "revision": default_model.REVISION}},
        seconds=perf_counter() - start,
    )
    announce(files.write_rows(rows, run, name=name or f"{now()[:10]}-encodings"))
