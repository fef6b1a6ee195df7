"""python -m analysis report: the page of claims of the static site alone, as one HTML file that opens offline."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.core.errors import AddendError


def report(
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")] = Path("report.html"),
) -> None:
    """Writes the page of claims of the static site as one stand-alone file; the command `site` writes all pages."""
    from analysis import links, store_build
    from analysis.narrative.site import claims

    store_build.refresh()
    page = claims(links.link, alone=True)
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise AddendError(f"{output} could not be written ({error.strerror}); choose another file.") from None
    typer.echo(f"{output}, {len(page) / 1024:,.0f} KiB. It is the page claims.html of: python -m analysis site FOLDER")
