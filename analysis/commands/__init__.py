"""The command line. One file per command, which exposes one function of its name; `options` is what several take,
and `into_store` what those share that run trainings.

`measure` is a folder with one file for each kind of measurement.

A command's file is imported when the command is run: `--help` and `query` need not wait for torch.
"""

import sys
from importlib import import_module

import typer
from rich.console import Console
from rich.markup import escape

from analysis.commands import measure
from analysis.core.errors import AddendError
from analysis.core.optional_dependencies import FOR_MODELS, models_can_run

ALIASES = {
    "measure-images": "images",
    "measure-means": "means",
    "decode": "decoding",
    "measure-order": "order",
    "measure-positions": "positions",
    "measure-geometry": "geometry",
    "measure-encodings": "encodings",
    "measure-models": "models",
    "measure-costs": "costs",
    "measure-baselines": "baselines",
    "surgery": "surgery",
}
"""Names that kinds of measurement had as commands of their own. Stored results name them, so that they stay."""


app = typer.Typer(name="python -m analysis", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

COMMANDS = (
    "sync",
    "query",
    "answer",
    "encode",
    "probe",
    "positions",
    "similarity",
    "probe_image",
    "intervene",
    "export",
    "report",
    "site",
    "measure",
    "ablate",
    "refit",
    "finetune_surgery",
    "finetune_refitted",
    "checksums",
    "keep_checkpoint",
    "keep_opening_results",
    "import_",
)


def command_name(command: str) -> str:
    """A command as it is typed: `import` is a word of Python's, so its file and function end in an underscore."""
    return command.rstrip("_").replace("_", "-")


for command in COMMANDS:
    if command == "measure":
        app.add_typer(measure.app, name="measure")
    else:
        app.command(command_name(command))(getattr(import_module(f"analysis.commands.{command}"), command))


for alias, kind in ALIASES.items():
    app.command(alias, hidden=True)(measure.measure_function(kind))


@app.callback()
def start() -> None:
    """Addend: evidence on why position embeddings are added to words."""


def main() -> None:
    """Runs a command. An error that its user can put right ends in a sentence and exit code 1."""
    try:
        _run()
    except AddendError as error:
        Console(stderr=True, highlight=False).print(f"[red]Error:[/red] {escape(str(error))}", soft_wrap=True)
        sys.exit(1)


def _run() -> None:
    try:
        app()
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in FOR_MODELS:
            models_can_run()
        raise
