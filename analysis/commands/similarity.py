"""python -m analysis similarity: the cosine of two texts as a sum."""

import json
from typing import Annotated

import typer

from analysis.commands.options import Revision, Truncate


def similarity(
    model: Annotated[str, typer.Argument(help="A folder, a Hugging Face id, or the embedded model.")],
    first: Annotated[str, typer.Argument(help="The first text.")],
    second: Annotated[str, typer.Argument(help="The second text.")],
    revision: Revision = None,
    pooling: Annotated[str, typer.Option(help="mean (over all tokens), first, or last.")] = "mean",
    freeze: Annotated[
        str, typer.Option(help="What is held fixed in gated units: activation, other, or half of each.")
    ] = "activation",
    truncate: Truncate = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all parts as JSON.")] = False,
) -> None:
    """Splits the cosine of two texts, each read by itself, over word, position, segment and bias, and over tokens."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from analysis.core.term_names import SOURCES
    from analysis.measurements.similarity.result import GROUPS
    from analysis.probes.similarity_probe import SimilarityRequest

    result = SimilarityRequest(
        model=model, revision=revision, text=first, pair=second, pooling=pooling, freeze=freeze, truncate=truncate
    ).run()
    about = result.provenance
    if as_json:
        by_source = {
            f"{one}_with_{other}": float(result.by_source[i, j])
            for i, one in enumerate(SOURCES)
            for j, other in enumerate(SOURCES)
        }
        fields = {
            "model": about.model,
            "revision": about.revision,
            "pooling": result.pooling,
            "cosine": result.cosine,
            "error": result.error,
            "by_source": by_source,
            "by_group": result.by_group(),
            "without_parts": result.without_parts,
            "without_positions": _finite(result.without_positions),
            "tokens": [[token.text for token in tokens] for tokens in (result.first, result.second)],
            "by_pair": result.pairs().tolist(),
            "by_pair_and_group": dict(zip(GROUPS, result.by_pair.tolist(), strict=True)),
        }
        typer.echo(json.dumps(fields))
        return
    table = Table("part", "of the cosine", title=escape(about.model))
    for name, value in result.by_group().items():
        table.add_row(name, f"{value:+.4f}")
    table.add_row("sum: the cosine", f"{result.cosine:.4f}", style="bold")
    table.add_row("less what positions contribute", f"{result.without_parts:.4f}")
    if _finite(result.without_positions) is not None:
        table.add_row("run without positions", f"{result.without_positions:.4f}")
    console = Console()
    console.print(table)
    if result.why_not:
        console.print(f"Not run without positions: {result.why_not}", soft_wrap=True, markup=False)
    console.print(
        f"{len(result.first)} and {len(result.second)} tokens, {result.pooling} of the final states. The parts add up "
        f"to the model's own cosine within {result.error:.1e} ({about.dtype}, {about.device}, {about.seconds:.2f} s).",
        soft_wrap=True,
    )


def _finite(value: float) -> float | None:
    """The number; None where it is undefined, since JSON has no NaN."""
    return value if value == value else None
