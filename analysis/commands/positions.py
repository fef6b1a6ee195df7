"""python -m analysis positions: where position is in a model, and whether it turns what its config says."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.commands.options import Revision, Truncate

if TYPE_CHECKING:
    from analysis.measurements.positions.check import PositionCheck
    from analysis.measurements.positions.result import PositionMap

TEXT = (
    "The keys to the old cabinet are on the table, but the cabinet itself was sold last spring to a man who collects "
    "keys. He wrote to ask whether the keys on the table belong to the cabinet that he bought, or to another."
)


def positions(
    model: Annotated[str, typer.Argument(help="A folder, a Hugging Face id, or the embedded model.")],
    text: Annotated[str, typer.Option(help="The text to measure on.")] = TEXT,
    revision: Revision = None,
    against: Annotated[
        str | None, typer.Option(help="Another model to compare with, such as another export of the same one.")
    ] = None,
    truncate: Truncate = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Shows what every layer owes to position; exit code 1 where a model turns other than its config says."""
    from analysis.core.errors import ModelError
    from analysis.measurements.positions.check import check
    from analysis.probes.position_probe import PositionRequest

    request = PositionRequest(model=model, text=text, revision=revision, truncate=truncate)
    loaded = request.load()
    refused, result = "", None
    try:
        result = request.run(loaded)
    except ModelError as error:  # the rotations may be read, and be wrong, where their bands cannot be separated
        refused = str(error)
    made = None
    if result is None or (result.kind == "rotated" and result.rotations):
        other = None
        if against is not None:
            other = PositionRequest(model=against, text=text, truncate=truncate).load()
        try:
            made = check(loaded, text, other, truncate=truncate)
        except ModelError:
            if refused:
                raise ModelError(refused) from None
            raise
    elif against is not None:
        raise ModelError(
            f"{model} does not rotate queries and keys, so there are no rotations to compare with {against}."
        )
    if as_json:
        typer.echo(json.dumps(_fields(model, result, refused, made)))
    else:
        if result is not None:
            _print(result)
        else:
            typer.echo(refused)
        if made is not None:
            _print_check(made)
    if made is not None and made.differences:
        raise typer.Exit(1)


def _fields(model: str, result: "PositionMap | None", refused: str, made: "PositionCheck | None") -> dict[str, object]:
    """The fields that are printed as JSON."""
    checked = {
        "checked_against": made.against or None if made else None,
        "not_checked": made.not_checked if made else [],
        "differences": [vars(difference) for difference in made.differences] if made else [],
        "unread_keys": [key.sentence for key in made.unread] if made else [],
    }
    if result is None:
        turned = [[turn.dims, turn.width] for turn in made.turns] if made else []
        return {"model": model, "kind": "rotated", "refused": refused, "turned": turned, **checked}
    shares = result.shares()
    return {
        "model": result.provenance.model,
        "revision": result.provenance.revision,
        "kind": result.kind,
        "tokens": result.tokens,
        "sources": result.sources,
        "shares": {
            part: [[None if x != x else float(x) for x in row] for row in shares[..., index]]
            for index, part in enumerate(("content", "position", "both"))
        },
        "turned": [[rotation.turned, rotation.width] for rotation in result.rotations],
        "relative_error": float(result.errors.max()),
        **checked,
    }


def _print_check(made: "PositionCheck") -> None:
    for difference in made.differences:
        where = "" if difference.layer is None else f" at layer {difference.layer}"
        where += f", {difference.side}" if difference.side else ""
        where += f", dimensions {difference.pair[0]} and {difference.pair[1]}" if difference.pair else ""
        where += f", wavelengths {difference.band} tokens" if difference.band else ""
        cause = (
            f" ({difference.cause})"
            if difference.layer is not None and difference.cause and difference.cause not in difference.what
            else ""
        )
        typer.echo(f"DIFFERENT{where}: {difference.what}{cause}.")
    for key in made.unread:
        if not key.contradiction:
            typer.echo(f"Not read: {key.sentence}.")
    for reason in made.not_checked:
        typer.echo(f"Not checked: {reason}.")
    if not made.differences:
        typer.echo(
            f"It rotates as {made.against} says." if made.against else f"Compared with nothing: {made.nothing_because}"
        )


def _print(result: "PositionMap") -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    by_source = result.position_share()
    used = [index for index, column in enumerate(by_source.T) if column.any()]  # the others have content alone
    names = [result.sources[index] for index in used]
    table = Table("layer", "turned", *names, "position in all", title=escape(result.provenance.model))
    for layer, row in enumerate(by_source):
        rotated = f"{result.rotations[layer].turned} of {result.rotations[layer].width}" if result.rotations else "none"
        table.add_row(str(layer), rotated, *(_percent(row[index]) for index in used), _percent(row.sum()))
    console = Console()
    console.print(table)
    console.print(
        f"Share of the variation of the key-centred scores that depends on position, alone or with content; "
        f"{result.tokens} tokens, pooled over heads. Columns of wavelengths are in tokens. The parts add up to the "
        f"model's own scores to {result.errors.max():.1e} of their range.",
        soft_wrap=True,
    )


def _percent(value: float) -> str:
    return "undefined" if value != value else f"{100 * value:.1f} %"
