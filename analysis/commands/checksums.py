"""python -m analysis checksums: the checksums of the committed results, renewed or checked."""

from typing import Annotated

import typer


def checksums(
    check: Annotated[
        bool, typer.Option("--check", help="Only list what differs, and end with exit code 1 if something does.")
    ] = False,
) -> None:
    """Writes data/SHA256SUMS anew, after results were added; or checks the files against it."""
    from analysis.store import checksums
    from analysis.store.paths import data_folder

    data = data_folder()
    if not check:
        count, rewritten = checksums.renew(data)
        typer.echo(
            f"{count} files listed in {data / checksums.NAME}; {rewritten} results files were given page checksums."
        )
        return
    stated, entries = checksums.listed_sums(data), checksums.computed_sums(data)
    differ = [path for path in stated if entries.get(path) != stated[path]]
    for path in differ:
        typer.echo(f"{path} {'is missing' if path not in entries else 'is not what was committed'}.")
    typer.echo(f"{len(stated) - len(differ)} of {len(stated)} files are as listed.")
    raise typer.Exit(bool(differ))
