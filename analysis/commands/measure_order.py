"""python -m analysis measure-order: attention against distance, and equivariance error by depth."""

from pathlib import Path
from typing import Annotated

import typer


def measure_order(
    texts: Annotated[Path, typer.Option(help="UTF-8 text, articles apart by empty lines. It is not stored.")],
    model: Annotated[
        str, typer.Option(help="A folder, a Hugging Face id, or the embedded model.")
    ] = "all-MiniLM-L6-v2",
    revision: Annotated[str | None, typer.Option(help="A branch, tag or commit, on a hub.")] = None,
    corpus: Annotated[str | None, typer.Option(help="What to call the text in the results; its file name.")] = None,
    length: Annotated[int, typer.Option(help="Tokens of a window, special ones included.")] = 128,
    windows: Annotated[int, typer.Option(help="How many windows; one an article while there are enough.")] = 96,
    called: Annotated[str | None, typer.Option(help="What to call the model in the results.")] = None,
    name: Annotated[str | None, typer.Option(help="File name under data/results, without its ending.")] = None,
) -> None:
    """Measures how far [CLS] and words attend, and what permuting the words does to the states of every layer."""
    from rich.progress import Progress

    from analysis import catalogue
    from analysis.means import windows as cutting
    from analysis.models.load import load
    from analysis.models.source import resolve
    from analysis.order.measure import measure_order

    loaded = load(resolve(model, revision))
    cut = cutting.windows_of(loaded, texts, length, windows)
    with Progress() as progress:
        paths = measure_order(
            loaded,
            cut,
            corpus or texts.stem,
            called=called,
            name=name,
            each=lambda what, starts: progress.track(starts, description=what.capitalize()),
        )
    catalogue.refresh()
    typer.echo(f"{' and '.join(str(path) for path in paths)} written and in the store.")
