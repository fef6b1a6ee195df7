"""python -m analysis report: all claims with their charts as one HTML file that opens offline."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.core.errors import AddendError


def report(
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path("report.html"),
) -> None:
    """Writes every claim with its verdict, rule, evidence, caveats, charts and citations as one stand-alone file."""
    from analysis import links, store_build
    from analysis.figures import export, fonts
    from analysis.narrative.report import html

    store_build.refresh()
    page = html(
        draw=lambda figure, link: export.svg(figure, export.manifest(figure, link)), link=links.link, faces=fonts.faces
    )
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise AddendError(f"{output} could not be written ({error.strerror}); choose another file.") from None
    typer.echo(f"{output}, {len(page) / 1024:,.0f} KiB")
