"""python -m analysis measure KIND: everything that is measured into results files. One file per kind of measurement.

A kind's file exposes one function of its name.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

KINDS = (
    "terms",
    "images",
    "image_scores",
    "means",
    "decoding",
    "order",
    "pieces",
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

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments with their kind."""
        has_kind = args and (args[0] == "--help" or not args[0].startswith("-"))
        return super().parse_args(ctx, args if has_kind else ["terms", *args])


def measure_function(kind: str) -> Callable[..., None]:
    """The function that measures a kind."""
    return getattr(import_module(f"analysis.commands.measure.{kind}"), kind)


app = typer.Typer(cls=MeasureGroup, help="Measures one kind of thing, and writes it as a results file.")
for name in KINDS:
    app.command(name.replace("_", "-"))(measure_function(name))
