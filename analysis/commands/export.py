"""python -m analysis export: draws the figure that a link shows, without a browser."""

import json
from pathlib import Path
from typing import Annotated

import typer

from analysis.errors import AddendError


def export(
    link: Annotated[str, typer.Argument(help="A link copied from the dashboard.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    form: Annotated[str | None, typer.Option("--format", help="svg, png, pdf, json or csv.")] = None,
    figure: Annotated[str | None, typer.Option(help="Which figure of the page; its first if not said.")] = None,
) -> None:
    """Writes a figure and, beside it, a manifest of where its numbers come from."""
    from analysis import catalogue
    from analysis.figures import FIGURES
    from dashboard import links
    from dashboard.charts import render

    form = form or output.suffix.removeprefix(".")
    if form not in render.FORMATS:
        raise AddendError(f"The format {form!r} is not one of {', '.join(render.FORMATS)}; say --format svg.")
    view, values = links.parse(link)
    name = figure or next(iter(view.figures), None)
    if name not in view.figures:
        raise AddendError(
            f"The page {view.title!r} has no figure {name!r}; it has: {', '.join(view.figures) or 'none'}."
        )
    catalogue.refresh()
    made = FIGURES[name].make(values)
    try:
        output.write_bytes(render.render(made, form, link))
        beside = output.with_name(f"{output.name}.manifest.json")
        beside.write_text(json.dumps(render.manifest(made, link), indent=2) + "\n", encoding="utf-8")
    except OSError as refused:
        raise AddendError(f"{output} could not be written ({refused.strerror}); choose another file.") from None
    typer.echo(f"{output} and {beside.name}")
