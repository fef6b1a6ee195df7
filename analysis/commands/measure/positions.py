"""python -m analysis measure positions: the position map of a model on a text of a corpus, into a results file."""

from typing import Annotated

import typer

from analysis.commands.options import EMBEDDED, PROBE_SET, Called, Corpus, Model, Revision, announce
from analysis.measurements.positions.stored_maps import TEXT_ID


def positions(
    model: Model = EMBEDDED,
    revision: Revision = None,
    corpus: Corpus = PROBE_SET,
    text_id: Annotated[str, typer.Option(help="Which text of the corpus.")] = TEXT_ID,
    called: Called = None,
    name: Annotated[
        str | None, typer.Option(help="File name under data/results/positions, without its ending.")
    ] = None,
) -> None:
    """Measures where position is in a model, layer by layer and band by band, and writes it as a results file."""
    from dataclasses import replace

    from analysis import store_build
    from analysis.core.errors import TextError
    from analysis.measurements.positions import stored_maps
    from analysis.probes.position_probe import PositionRequest
    from analysis.store import read

    store_build.refresh()
    texts = read.query("SELECT text FROM corpora WHERE corpus = ? AND text_id = ?", [corpus, text_id])
    if texts.empty:
        raise TextError(
            f"The corpus {corpus!r} has no text {text_id!r}; expected one that the store's table corpora lists: "
            f"python -m analysis query \"SELECT text_id, text FROM corpora WHERE corpus = '{PROBE_SET}'\""
        )
    request = PositionRequest(model=model, text=texts.text[0], revision=revision)
    result = request.run(request.load())
    if called:
        result = replace(result, provenance=replace(result.provenance, model=called))
    path = stored_maps.write(result, corpus, text_id, opened=model, name=name)
    announce(path)
