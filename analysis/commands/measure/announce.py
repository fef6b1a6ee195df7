"""The end of every measurement: its results files are taken into the store, and named."""

from pathlib import Path

import typer


def announce(*paths: Path) -> None:
    """Takes results files that were just written into the store, and prints their names."""
    from analysis import store_build

    store_build.refresh()
    typer.echo(f"{' and '.join(map(str, paths))} written and in the store.")
