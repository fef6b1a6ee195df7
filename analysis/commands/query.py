"""python -m analysis query: asks the store in SQL, read-only."""

import sys
from typing import Annotated

import typer


def query(
    sql: Annotated[str, typer.Argument(help="One SELECT over the store's tables and views.")],
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV rather than a table.")] = False,
) -> None:
    """Runs SQL on the store, read-only. Builds the store first when it is missing or older than the files."""
    from analysis import catalogue, spreadsheet
    from analysis.store import read

    catalogue.refresh()
    found = read.query(sql)
    if csv:
        sys.stdout.write(spreadsheet.csv(found))
    else:
        typer.echo(found.to_string(index=False, max_colwidth=60))
