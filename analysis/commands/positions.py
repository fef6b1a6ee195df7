"""python -m analysis positions: where position is in a model, and whether it turns what its config says."""

import json
from typing import Annotated

import typer

from analysis.commands.options import Revision, Truncate

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
    """What every layer's attention owes to position; exit code 1 where a model turns other than its config says."""
    from analysis.core.errors import ModelError
    from analysis.measurements.positions.conformance import differences, expected_turns, measured_turns
    from analysis.measurements.terms.run import encode
    from analysis.probes.position_probe import PositionRequest

    request = PositionRequest(model=model, text=text, revision=revision, truncate=truncate)
    loaded = request.load()
    result = request.run(loaded)
    mismatches, checked_against = [], ""
    if result.kind == "rotated" and result.rotations:
        inputs, tokens, _ = encode(loaded.tokenizer, text, None, loaded.model, truncate)
        rotations = measured_turns(loaded.model, inputs)
        if against is None:
            try:
                expected = expected_turns(loaded.model.config, [rotation.width for rotation in rotations], len(tokens))
                mismatches = differences(rotations, expected, "the model", "its config")
                checked_against = "its config"
            except ModelError as error:
                checked_against = f"nothing: {error}"
        else:
            other = PositionRequest(model=against, text=text, truncate=truncate).load()
            inputs, _, _ = encode(other.tokenizer, text, None, other.model, truncate)
            mismatches = differences(rotations, measured_turns(other.model, inputs), model, against)
            checked_against = against
    elif against is not None:
        raise ModelError(
            f"{model} does not rotate queries and keys, so there are no rotations to compare with {against}."
        )
    if as_json:
        shares = result.shares()
        fields = {
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
            "checked_against": checked_against or None,
            "differences": [vars(mismatch) for mismatch in mismatches],
        }
        typer.echo(json.dumps(fields))
    else:
        _print(result)
        for mismatch in mismatches:
            location = f"layer {mismatch.layer}" + (f", wavelengths {mismatch.band} tokens" if mismatch.band else "")
            typer.echo(f"DIFFERENT at {location}: {mismatch.what}.")
        if checked_against and not mismatches:
            typer.echo(
                f"Compared with {checked_against}."
                if checked_against.startswith("nothing")
                else f"It rotates as {checked_against} says."
            )
    if mismatches:
        raise typer.Exit(1)


def _print(result) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    by_source = result.position_share()
    used = by_source.any(axis=0).nonzero()[0]  # the other sources have content alone
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
