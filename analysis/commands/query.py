"""python -m analysis query: asks the store in SQL, read-only."""

import sys
from typing import Annotated

import typer


def query(
    sql: Annotated[str, typer.Argument(help="One SELECT over the store's tables and views.")],
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """Runs SQL on the store, read-only. Builds the store first when it is missing or older than the files."""
    from analysis import store_build
    from analysis.core import csv_export
    from analysis.store import read

    store_build.refresh()
    rows = read.query(sql)
    if csv:
        sys.stdout.write(csv_export.to_csv(rows))
    else:
        typer.echo(rows.to_string(index=False, max_colwidth=60))
