"""python -m analysis measure KIND: everything that is measured into results files. One file a kind of measurement.

A kind's file exposes one function of its name.
"""

from importlib import import_module

import typer
from click import Context
from typer.core import TyperGroup

KINDS = (
    "terms",
    "images",
    "means",
    "decoding",
    "order",
    "positions",
    "geometry",
    "encodings",
    "surgery",
    "models",
    "costs",
    "baselines",
)


class MeasureGroup(TyperGroup):
    """The kinds of measurement. Where none is named, terms are measured: `measure --model FOLDER` did that first."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """The arguments with their kind."""
        named = args and (args[0] == "--help" or not args[0].startswith("-"))
        return super().parse_args(ctx, args if named else ["terms", *args])


app = typer.Typer(cls=MeasureGroup, help="Measures one kind of thing, and writes it as a results file.")
for kind in KINDS:
    app.command(kind)(getattr(import_module(f"analysis.commands.measure.{kind}"), kind))
