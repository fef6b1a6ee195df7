"""python -m analysis sync: builds the store from the files under data/."""

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def sync(
    rebuild: Annotated[bool, typer.Option(help="Build the store again even if it is current or unreadable.")] = False,
) -> None:
    """Builds or refreshes the DuckDB store from the files under data/. Does nothing when it is current."""
    from analysis import store_build

    console = Console()
    with console.status("Reading the results files"):
        report = store_build.refresh(rebuild=rebuild)
    if not report.rebuilt:
        console.print(f"{escape(str(report.path))} is current.", soft_wrap=True)
    else:
        console.print(f"{escape(str(report.path))} built.", soft_wrap=True)
        table = Table("table", "rows")
        for name, rows in report.counts().items():
            table.add_row(name, f"{rows:,}")
        console.print(table)
    for file, problem in report.problems:
        console.print(f"[yellow]Left out:[/yellow] {escape(f'{file}: {problem}')}", soft_wrap=True)
