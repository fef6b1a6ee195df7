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
    from analysis.store.paths import CHECKSUMS, data_folder

    data = data_folder()
    if not check:
        count, rewritten = checksums.renew(data)
        typer.echo(f"{count} files listed in {data / CHECKSUMS}; {rewritten} results files were given page checksums.")
        return
    listed, computed = checksums.listed_sums(data), checksums.computed_sums(data)
    mismatched = [path for path in listed if computed.get(path) != listed[path]]
    for path in mismatched:
        typer.echo(f"{path} {'is missing' if path not in computed else 'is not what was committed'}.")
    typer.echo(f"{len(listed) - len(mismatched)} of {len(listed)} files are as listed.")
    raise typer.Exit(bool(mismatched))
