"""python -m analysis probe: takes a text's attention apart."""

import json
from typing import Annotated

import typer

from analysis.commands.options import EMBEDDED, Model, Pair, Revision, Truncate
from analysis.errors import AddendError, NoFamily


def probe(
    text: Annotated[str, typer.Option(help="The text, or the first of a pair.")],
    model: Model = EMBEDDED,
    pair: Pair = None,
    revision: Revision = None,
    layer: Annotated[int, typer.Option(help="Zero-based. Layer 0 is exact; deeper, what is not linear is held.")] = 0,
    every: Annotated[bool, typer.Option("--layers", help="Every layer, by layer and head, as JSON.")] = False,
    measure: Annotated[str, typer.Option(help="Of every layer: share or effect.")] = "share",
    method: Annotated[str, typer.Option(help="frozen (exact at layer 0), or mean.")] = "frozen",
    freeze: Annotated[
        str, typer.Option(help="What is held of gated units, deeper than layer 0: activation, other, or half of each.")
    ] = "activation",
    truncate: Truncate = False,
    save: Annotated[bool, typer.Option(help="Keep it under data/probes, so that a link can show it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, all terms and heads.")] = False,
) -> None:
    """Splits the attention scores of any layer into the terms of word, position, segment and bias."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from analysis import probes
    from analysis.figures.one_run import unknown
    from analysis.sources import SOURCES

    asked = {"model": model, "text": text, "pair": pair, "revision": revision, "truncate": truncate, "freeze": freeze}
    if every and (method != "frozen" or save):
        raise AddendError(
            "--layers follows every source by method frozen and saves nothing; leave out --method mean and --save."
        )
    if every:
        run = probes.LayersRequest(**asked, measure=measure).run()
        found = {term: [numbers(row) for row in run.values[:, number]] for number, term in enumerate(run.terms)}
        about = {"model": run.provenance.model, "revision": run.provenance.revision, "device": run.provenance.device}
        errors = {"max_error": float(run.errors[:, 0].max()), "relative_error": float(run.errors[:, 1].max())}
        carried = dict(zip(SOURCES, run.carried.T.tolist(), strict=True))
        typer.echo(json.dumps({**about, "tokens": run.tokens, **errors, measure: found, "hidden_states": carried}))
        return
    try:
        made = probes.Request(**asked, layer=layer, method=method).run()
    except NoFamily as none:
        raise NoFamily(
            f"{none} Its attention patterns, and what interventions on its positions do, can be had all the same: on "
            f"the pages Live probe and Interventions, or with python -m analysis intervene --model {model} --text ..."
        ) from None
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
                    "freeze": made.freeze or None,
                    "device": about.device,
                    "dtype": about.dtype,
                    "seconds": about.seconds,
                    "truncated_from": about.truncated_from,
                    "probe": probe_id,
                    "tokens": made.tokens,
                    "max_error": made.max_error,
                    "relative_error": made.relative_error,
                    "pattern_error": made.pattern_error,
                    "cancellation": numbers(made.cancellation),
                    "terms": {
                        term: {
                            "share": numbers(shares[term]),
                            "effect": numbers(effects[term]),
                            "top1_agreement": numbers(agreement[term]),
                        }
                        for term in made.names
                    },
                }
            )
        )
        return
    held = f", {made.freeze} held in gated units" if made.freeze and made.layer else ""
    title = f"{escape(about.model)}, layer {made.layer} ({made.method}{held}), mean over heads"
    table = Table("term", "share", "effect (nats)", title=title)
    for term in made.present:
        table.add_row(term, _number(shares[term].mean()), _number(effects[term].mean()))
    console = Console()
    console.print(table)
    if about.truncated_from:
        console.print(f"The text was cut from {about.truncated_from} to {len(made.tokens)} tokens.")
    if told := unknown(made):
        console.print(told, soft_wrap=True)
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


def _number(value) -> str:
    """Three decimals, or the word for what is not defined: no query attends to two keys, or all heads are constant."""
    return "undefined" if value != value else f"{value:.3f}"


def numbers(values) -> list[float | None]:
    """One number a head; None where it is undefined, since JSON has no NaN."""
    return [None if value != value else float(value) for value in values]
