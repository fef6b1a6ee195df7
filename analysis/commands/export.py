"""python -m analysis export: draws the figure that a link shows, without a browser."""

import json
from pathlib import Path
from typing import Annotated

import typer

from analysis.core.errors import AddendError

FORMAT_HELP = "svg, png, pdf, json, html, csv, md or tex; for a paper 1-column.pdf, 2-columns.pdf, or the same as svg."


def export(
    link: Annotated[str, typer.Argument(help="A link copied from the dashboard.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    form: Annotated[str | None, typer.Option("--format", help=FORMAT_HELP)] = None,
    figure: Annotated[str | None, typer.Option(help="Which figure of the page; by default its first.")] = None,
) -> None:
    """Writes a figure and, next to it, a manifest of where its numbers come from."""
    from analysis import links, store_build
    from analysis.figures import FIGURES, export

    form = form or next((form for form in export.FORMATS if "." in form and output.name.endswith(form)), "")
    form = form or output.suffix.removeprefix(".")
    if form not in export.FORMATS:
        raise AddendError(
            f"The format {form!r} is not one of {', '.join(export.FORMATS)}; give for example --format svg."
        )
    view, values = links.parse(link)
    name = figure or next(iter(view.figures), None)
    if name not in view.figures:
        raise AddendError(
            f"The page {view.title!r} has no figure {name!r}; it has: {', '.join(view.figures) or 'none'}."
        )
    store_build.refresh()
    result = FIGURES[name].make(values)
    try:
        output.write_bytes(export.render(result, form, link))
        manifest_path = output.with_name(f"{output.name}.manifest.json")
        manifest_path.write_text(json.dumps(export.manifest(result, link), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise AddendError(f"{output} could not be written ({error.strerror}); choose another file.") from None
    typer.echo(f"{output} and {manifest_path.name}")
    if figure is None and len(view.figures) > 1:
        others = ", ".join(other for other in view.figures if other != name)
        typer.echo(f"This is {name}, the first figure of the page; --figure names another: {others}.", err=True)
