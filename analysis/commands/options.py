"""Options that several commands take, each defined once."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

EMBEDDED = "all-MiniLM-L6-v2"
PROBE_SET = "probe_set"

Model = Annotated[str, typer.Option(help="A folder, a Hugging Face id, or the embedded model.")]
Revision = Annotated[str | None, typer.Option(help="A branch, tag or commit, on a hub.")]
Called = Annotated[str | None, typer.Option(help="What to call the model in the results.")]
Corpus = Annotated[str, typer.Option(help="A corpus of the store.")]
Texts = Annotated[Path, typer.Option(help="UTF-8 text, with empty lines between articles. It is not stored.")]
CorpusName = Annotated[str | None, typer.Option(help="What to call the text in the results; by default its file name.")]
Length = Annotated[int, typer.Option(help="Tokens of a window, special ones included.")]
Windows = Annotated[int, typer.Option(help="How many windows; by default one per article, if there are enough.")]
ResultsName = Annotated[str | None, typer.Option(help="File name under data/results, without its ending.")]
Jobs = Annotated[int | None, typer.Option(help="Runs side by side; by default one per core.")]
Pair = Annotated[str | None, typer.Option(help="The second text of a pair.")]
Truncate = Annotated[bool, typer.Option(help="Cut a text that is longer than the model's positions.")]
Ray = Annotated[str | None, typer.Option(help="Spread the work over a Ray cluster: its address, or auto.")]


def split_names(text: str) -> list[str]:
    """The names in a text that separates them by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def split_seeds(text: str) -> list[int]:
    """The seeds in a text that separates them by commas. Raises AddendError where one is no whole number."""
    from analysis.core.errors import AddendError

    try:
        return [int(part) for part in split_names(text)]
    except ValueError:
        raise AddendError(
            f"The seeds {text!r} are not whole numbers separated by commas; write for example 0,1,2."
        ) from None


def split_arms(text: str) -> list[str]:
    """The arms of surgery in a text that separates them by commas. Raises AddendError for an unknown one."""
    from analysis.core.errors import AddendError
    from analysis.measurements.surgery.arms import ARMS

    names = split_names(text)
    if unknown := [name for name in names if name not in ARMS]:
        raise AddendError(f"There is no arm named {unknown[0]!r}. Known: {', '.join(ARMS)}.")
    return names


def check_purpose(purpose: str, known: Iterable[str]) -> None:
    """Raises AddendError for a purpose of runs that the rules do not name."""
    from analysis.core.errors import AddendError

    if purpose not in (names := list(known)):
        raise AddendError(f"There is no purpose named {purpose!r}; expected one of {', '.join(names)}.")


def announce(*paths: Path) -> None:
    """Takes results files that were just written into the store, and prints their names."""
    from analysis import store_build

    store_build.refresh()
    typer.echo(f"{' and '.join(map(str, paths))} written and in the store.")
