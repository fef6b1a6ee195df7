"""python -m analysis probe: takes a text's attention apart."""

import json
from typing import Annotated

import typer


def probe(
    text: Annotated[str, typer.Option(help="The text, or the first of a pair.")],
    model: Annotated[
        str, typer.Option(help="A folder, a Hugging Face id, or the embedded model.")
    ] = "all-MiniLM-L6-v2",
    pair: Annotated[str | None, typer.Option(help="The second text of a pair.")] = None,
    revision: Annotated[str | None, typer.Option(help="A branch, tag or commit, on a hub.")] = None,
    layer: Annotated[int, typer.Option(help="Zero-based; layer 0 is exact.")] = 0,
    method: Annotated[str, typer.Option(help="frozen (exact at layer 0), or mean.")] = "frozen",
    truncate: Annotated[bool, typer.Option(help="Cut a text that is longer than the model's positions.")] = False,
    save: Annotated[bool, typer.Option(help="Keep it under data/probes, so that a link can show it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, all terms and heads.")] = False,
) -> None:
    """Splits the attention scores of a layer into the sixteen terms of word, position, segment and bias."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from analysis import probes

    made = probes.Request(
        model=model, text=text, pair=pair, layer=layer, method=method, revision=revision, truncate=truncate
    ).run()
    shares, effects, agreement = made.shares(), made.effects(), made.top1_agreement()
    probe_id = probes.save(made) if save else None
    about = made.provenance
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "model": about.model,
                    "revision": about.revision,
                    "layer": made.layer,
                    "method": made.method,
                    "device": about.device,
                    "dtype": about.dtype,
                    "seconds": about.seconds,
                    "truncated_from": about.truncated_from,
                    "probe": probe_id,
                    "tokens": made.tokens,
                    "max_error": made.max_error,
                    "relative_error": made.relative_error,
                    "pattern_error": made.pattern_error,
                    "terms": {
                        term: {
                            "share": _numbers(shares[term]),
                            "effect": _numbers(effects[term]),
                            "top1_agreement": _numbers(agreement[term]),
                        }
                        for term in made.names
                    },
                }
            )
        )
        return
    table = Table(
        "term",
        "share",
        "effect (nats)",
        title=f"{escape(about.model)}, layer {made.layer}, {made.method}, mean over heads",
    )
    for term in made.names:
        table.add_row(term, f"{shares[term].mean():.3f}", f"{effects[term].mean():.3f}")
    console = Console()
    console.print(table)
    if about.truncated_from:
        console.print(f"The text was cut from {about.truncated_from} to {len(made.tokens)} tokens.")
    if made.reference:
        gap = "" if made.frozen_gap != made.frozen_gap else f"; positions {made.frozen_gap:.0%} away from frozen's"
        console.print(f"Means of {made.reference}{gap}.")
    if probe_id:
        console.print(f"Saved as probe {probe_id}.")
    console.print(
        f"{len(made.tokens)} tokens, {made.heads} heads, {about.device}, {about.dtype}, {about.seconds:.2f} s. "
        f"Sum of terms against the model's own scores: {made.max_error:.1e} at most "
        f"({made.relative_error:.1e} of their range); patterns: {made.pattern_error:.1e}."
    )


def _numbers(values) -> list[float | None]:
    """One number a head; None where it is undefined, since JSON has no NaN."""
    return [None if value != value else float(value) for value in values]
