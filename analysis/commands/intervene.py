"""python -m analysis intervene: changes a model's positions, segments or terms, and says what it then does."""

import json
from typing import Annotated, Any

import typer

from analysis.commands.options import EMBEDDED, PROBE_SET, Corpus, Model, Pair, Revision, Truncate


def intervene(
    model: Model = EMBEDDED,
    revision: Revision = None,
    do: Annotated[
        list[str] | None,
        typer.Option(
            help="An intervention, such as shift_positions:8; on a text several apply together, in the given order."
        ),
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="A text, or the first of a pair; without one, a corpus is measured.")
    ] = None,
    pair: Pair = None,
    truncate: Truncate = False,
    image: Annotated[str | None, typer.Option(help="A drawn image's name or a file, instead of a text.")] = None,
    masked: Annotated[bool, typer.Option(help="Hide patches, as in ViT-MAE's training.")] = False,
    permute: Annotated[int | None, typer.Option(help="Run the permutation test on the text, with this seed.")] = None,
    corpus: Corpus = PROBE_SET,
    name: Annotated[
        str | None, typer.Option(help="File name under data/results/interventions, without its ending.")
    ] = None,
) -> None:
    """Changes positions, segments or terms: of a text, prints outcomes as JSON; of a corpus, writes a results file."""
    from analysis.measurements.interventions.run import intervene as run, permutation_test
    from analysis.models.load import load
    from analysis.models.source import resolve

    if image is not None:
        _image(model, revision, image, masked, do or ["zero_positions"])
        return
    loaded = load(resolve(model, revision, terms=False), head=True)
    if text is None:
        _corpus(loaded, corpus, do, name)
        return
    if permute is not None:
        test = permutation_test(loaded, text, pair, permute, truncate=truncate)
        errors = {"error_positions_off": float(test.off.max()), "error_positions_on": float(test.on.max())}
        facts = {"largest_output": test.reach, "causal": test.causal, "holds": test.holds, "order": test.order.tolist()}
        _print(test, errors | facts)
    else:
        _print_outcome(run(loaded, text, pair, do or ["zero_positions"], truncate=truncate))


def _image(model: str, revision: str | None, image: str, masked: bool, do: list[str]) -> None:
    from analysis.probes.image_probe import local_image_file
    from analysis.probes.intervention_probe import ImageInterventionRequest

    name, uploaded = local_image_file(image) or (image, None)
    request = ImageInterventionRequest(
        model=model, image=name, revision=revision, masked=masked, uploaded=uploaded, interventions=tuple(do)
    )
    _print_outcome(request.run())


def _print_outcome(outcome: Any) -> None:
    values = {
        "interventions": outcome.interventions,
        "cosine": outcome.cosine.tolist(),
        "attention_kl": outcome.kl.tolist(),
    }
    if predictions := outcome.predictions:
        before, after = predictions.losses
        values |= {"predicts": predictions.kind, "loss_before": before, "loss_after": after}
    _print(outcome, values)


def _print(result: Any, values: dict[str, Any]) -> None:
    source = {name: getattr(result.provenance, name) for name in ("model", "revision", "device", "dtype")}
    typer.echo(json.dumps({**source, "tokens": [token.text for token in result.token_info], **values}))


def _corpus(loaded: Any, corpus: str, do: list[str] | None, name: str | None) -> None:
    from rich.progress import Progress

    from analysis import store_build
    from analysis.measurements.interventions.corpus import intervene_corpus, standard
    from analysis.store.read import corpus_texts

    store_build.refresh()
    pairs = corpus_texts(corpus)
    with Progress() as progress:
        path = intervene_corpus(
            loaded,
            pairs,
            corpus,
            specs=do or standard(loaded),
            name=name,
            each=progress.track(range(len(pairs)), description=corpus),
        )
    store_build.refresh()
    typer.echo(f"{path} written and in the store.")
