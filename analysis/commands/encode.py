"""python -m analysis encode: prints the table of a position encoding."""

import sys
from typing import Annotated

import typer


def encode(
    name: Annotated[str, typer.Argument(help="sinusoidal, tensor2tensor, learned, …")],
    length: Annotated[int, typer.Option(help="Rows: positions, or distances.")] = 128,
    dim: Annotated[int, typer.Option(help="Columns: dimensions, or heads.")] = 512,
    csv: Annotated[bool, typer.Option("--csv", help="Print the whole table as CSV.")] = False,
) -> None:
    """Prints an encoding's table: a summary of it, or all of it as CSV."""
    import pandas as pd

    from analysis.core import csv_export
    from analysis.encodings import ENCODINGS, encode as encoding_table

    table = encoding_table(name, length=length, dim=dim)
    if csv:
        frame = pd.DataFrame(table, columns=[f"d{column}" for column in range(dim)])
        frame.index.name = ENCODINGS[name].rows
        sys.stdout.write(csv_export.to_csv(frame, index=True))
    else:
        typer.echo(pd.DataFrame(table).to_string(max_rows=8, max_cols=8, float_format="{:.4f}".format))
