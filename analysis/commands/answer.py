"""python -m analysis answer: why add and not concatenate, sentence by sentence, as the store has it now."""

import json
import textwrap
from dataclasses import asdict
from typing import Annotated

import typer


def answer(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of sentences.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Write it into the file that Home shows while the store is being built.")
    ] = False,
) -> None:
    """Prints the answer to the question of the title. Builds the store first when it is missing or older than files."""
    from analysis import store_build
    from analysis.narrative import front_page
    from analysis.narrative.answer import cards, stored_answer

    store_build.refresh()
    steps = stored_answer.answer()
    if keep:
        front_page.save(cards.front_page())
        typer.echo(f"{front_page.FILE} is renewed.")
        return
    if as_json:
        typer.echo(json.dumps([asdict(step) for step in steps], indent=1))
        return
    typer.echo("Why do transformers add position to words instead of concatenating them?\n")
    for step in steps:
        if not step.place:
            typer.echo(f"{textwrap.fill(step.sentence, 100, break_on_hyphens=False)}\n")
            continue
        claim = f" [{step.claim}]" if step.claim else ""
        words = f"{step.place}. {' '.join(filter(None, (step.sentence, step.further)))}{claim}"
        lines = textwrap.wrap(words, 100, subsequent_indent="   ", break_on_hyphens=False)
        typer.echo("\n".join(lines))
