"""python -m analysis site: the answer, the tour and the ledger as a static site."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.core.errors import AddendError


def site(
    folder: Annotated[Path, typer.Argument(help="The folder to write; it is made if it does not exist.")],
    url: Annotated[
        str, typer.Option(help="The address of a hosted dashboard, which links lead to; without it there are none.")
    ] = "",
) -> None:
    """Writes pages and JSON that any web server shows as they are; files of the same names are replaced."""
    from analysis import links, store_build
    from analysis.core import settings
    from analysis.core.atomic_write import atomic_write
    from analysis.figures import export, fonts
    from analysis.moved_links import moved
    from analysis.narrative.site import files

    store_build.refresh()
    address = url or settings.text("ADDEND_PUBLIC_URL")
    pages = files(
        draw=lambda figure, link: export.svg(figure, export.manifest(figure, link)),
        link=lambda page, values: links.link(*moved(page, values), address) if address else "",
        faces=fonts.faces,
    )
    try:
        for name, text in pages.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as temporary:
                temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AddendError(f"{folder} could not be written ({error.strerror}); choose another folder.") from None
    typer.echo(f"{folder / 'index.html'}, {len(pages)} files, {sum(map(len, pages.values())) / 2**20:,.1f} MiB")
