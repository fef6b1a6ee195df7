"""python -m analysis probe: takes a text's attention apart."""

import json
from typing import Annotated

import typer

from analysis.commands.options import EMBEDDED, Model, Pair, Revision, Truncate
from analysis.core.errors import AddendError, NoFamily


def probe(
    text: Annotated[str, typer.Option(help="The text, or the first of a pair.")],
    model: Model = EMBEDDED,
    pair: Pair = None,
    revision: Revision = None,
    layer: Annotated[int, typer.Option(help="Zero-based. Layer 0 is exact; see --freeze for deeper ones.")] = 0,
    all_layers: Annotated[
        bool, typer.Option("--layers", help="Print every layer, by layer and head, as JSON.")
    ] = False,
    distances: Annotated[
        bool, typer.Option("--distances", help="Print every head's mean score at each distance, as JSON.")
    ] = False,
    measure: Annotated[str, typer.Option(help="What to print of every layer: share or effect.")] = "share",
    method: Annotated[str, typer.Option(help="frozen (exact at layer 0), or mean.")] = "frozen",
    freeze: Annotated[
        str,
        typer.Option(help="What is held fixed in gated units deeper than layer 0: activation, other, or half of each."),
    ] = "activation",
    truncate: Truncate = False,
    save: Annotated[bool, typer.Option(help="Save it under data/probes, so that a link can show it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all terms and heads as JSON.")] = False,
) -> None:
    """Splits the attention scores of any layer into the terms of word, position, segment and bias."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from analysis.core.term_names import SOURCES
    from analysis.figures.one_run import unknown_tokens_note
    from analysis.probes import text_probe
    from analysis.probes.without_terms import remaining

    options = {"model": model, "text": text, "pair": pair, "revision": revision, "truncate": truncate, "freeze": freeze}
    if (all_layers or distances) and (method != "frozen" or save):
        raise AddendError(
            "--layers and --distances follow every source by method frozen and save nothing; leave out --method mean "
            "and --save."
        )
    if distances:
        heads = text_probe.CurvesRequest(**options).run()
        source = {name: getattr(heads.provenance, name) for name in ("model", "revision", "device")}
        curves = {
            name: [[finite_or_none(head) for head in layer] for layer in getattr(heads, name)]
            for name in ("position", "total")
        }
        errors = {"max_error": float(heads.errors[:, 0].max()), "relative_error": float(heads.errors[:, 1].max())}
        about = {"distances": heads.distances.tolist(), "pairs": heads.pairs.tolist(), "terms": heads.terms}
        shares = [finite_or_none(layer) for layer in heads.shares]
        typer.echo(json.dumps({**source, "tokens": heads.tokens, **errors, **about, "shares": shares, **curves}))
        return
    if all_layers:
        run = text_probe.LayersRequest(**options, measure=measure).run()
        values = {term: [finite_or_none(row) for row in run.values[:, index]] for index, term in enumerate(run.terms)}
        source = {name: getattr(run.provenance, name) for name in ("model", "revision", "device")}
        errors = {"max_error": float(run.errors[:, 0].max()), "relative_error": float(run.errors[:, 1].max())}
        carried = dict(zip(SOURCES, run.carried.T.tolist(), strict=True))
        typer.echo(json.dumps({**source, "tokens": run.tokens, **errors, measure: values, "hidden_states": carried}))
        return
    request = text_probe.TermsRequest(**options, layer=layer, method=method)
    try:
        result = request.run()
    except NoFamily as error:
        raise NoFamily(f"{error} {remaining(request)}") from None
    shares, effects, agreement = result.shares(), result.effects(), result.top1_agreement()
    probe_id = text_probe.save(result) if save else None
    provenance = result.provenance
    if as_json:
        fields = {
            "model": provenance.model,
            "revision": provenance.revision,
            "layer": result.layer,
            "method": result.method,
            "freeze": result.freeze or None,
            "device": provenance.device,
            "dtype": provenance.dtype,
            "seconds": provenance.seconds,
            "truncated_from": provenance.truncated_from,
            "probe": probe_id,
            "tokens": result.tokens,
            "max_error": result.max_error,
            "relative_error": result.relative_error,
            "pattern_error": result.pattern_error,
            "cancellation": finite_or_none(result.cancellation),
            "terms": {
                term: {
                    "share": finite_or_none(shares[term]),
                    "effect": finite_or_none(effects[term]),
                    "top1_agreement": finite_or_none(agreement[term]),
                }
                for term in result.names
            },
        }
        typer.echo(json.dumps(fields))
        return
    gating = f", {result.freeze} held in gated units" if result.freeze and result.layer else ""
    title = f"{escape(provenance.model)}, layer {result.layer} ({result.method}{gating}), mean over heads"
    table = Table("term", "share", "effect (nats)", title=title)
    for term in result.present:
        table.add_row(term, _format_number(shares[term].mean()), _format_number(effects[term].mean()))
    console = Console()
    console.print(table)
    if provenance.truncated_from:
        console.print(f"The text was cut from {provenance.truncated_from} to {len(result.tokens)} tokens.")
    if sentence := unknown_tokens_note(result):
        console.print(sentence, soft_wrap=True)
    if result.reference:
        defined = result.frozen_gap == result.frozen_gap
        gap = f"; positions {result.frozen_gap:.0%} away from frozen's" if defined else ""
        console.print(f"Means of {result.reference}{gap}.")
    if probe_id:
        console.print(f"Saved as probe {probe_id}.")
    console.print(
        f"{len(result.tokens)} tokens, {result.heads} heads, {provenance.device}, {provenance.dtype}, "
        f"{provenance.seconds:.2f} s. "
        f"Sum of terms against the model's own scores: {result.max_error:.1e} at most "
        f"({result.relative_error:.1e} of their range); patterns: {result.pattern_error:.1e}."
    )


def _format_number(value) -> str:
    """A number with three decimals, or "undefined", as when no query attends to two keys, or all heads are constant."""
    return "undefined" if value != value else f"{value:.3f}"


def finite_or_none(values) -> list[float | None]:
    """One number a head; None where it is undefined, since JSON has no NaN."""
    return [None if value != value else float(value) for value in values]
