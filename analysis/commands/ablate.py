"""python -m analysis ablate: pre-trains and fine-tunes every way of combining word and position."""

import os
from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.options import Ray, split_names, split_seeds

DEFAULT = "bert_a,no_position,tupe_a,concat_20"
DIGESTS = "SELECT DISTINCT config ->> '$.corpus.digest' AS digest FROM pretrainings WHERE preset = ?"


def ablate(
    preset: Annotated[
        str, typer.Option(help="debug (seconds), cpu or cpu2 (minutes of one core per run), or gpu.")
    ] = "debug",
    variants: Annotated[str, typer.Option(help="Names separated by commas, or all.")] = DEFAULT,
    seeds: Annotated[str, typer.Option(help="Numbers separated by commas.")] = "0,1,2",
    corpus: Annotated[
        Path | None, typer.Option(help="Training text: UTF-8, with an empty line between articles.")
    ] = None,
    valid: Annotated[Path | None, typer.Option(help="Validation text, of other articles.")] = None,
    tokenizer: Annotated[
        Path | None, typer.Option(help="A checkpoint's tokenizer.json; without it one is trained.")
    ] = None,
    glue_dir: Annotated[
        Path | None, typer.Option(help="The folder of GLUE's files; without it they come from the hub.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where corpora, checkpoints and unfinished runs are kept.")] = Path("runs"),
    jobs: Annotated[int | None, typer.Option(help="Runs side by side; by default one per core or GPU.")] = None,
    glue: Annotated[bool, typer.Option(help="Also fine-tune every checkpoint on GLUE.")] = True,
    compile: Annotated[bool | None, typer.Option(help="Use torch.compile; by default only on a GPU.")] = None,
    ray: Ray = None,
    learning_rate: Annotated[float | None, typer.Option(help="A peak learning rate other than the preset's.")] = None,
    norm: Annotated[
        str | None, typer.Option(help="post or pre: where layers are normalised, if not as in the preset.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="A number of steps other than the preset's.")] = None,
    masked_share: Annotated[float | None, typer.Option(help="Another share of tokens to predict.")] = None,
    to_mask: Annotated[
        float | None, typer.Option(help="Another share of those tokens that are shown as [MASK].")
    ] = None,
    initializer_range: Annotated[
        float | None, typer.Option(help="Another standard deviation of the first weights.")
    ] = None,
) -> None:
    """Trains each variant with each seed, scores it on GLUE, and writes results files. Finished runs are skipped."""
    import torch
    from rich.console import Console

    from analysis import store_build
    from analysis.ablation import corpus as corpora
    from analysis.ablation.job import SweepSettings, sweep_jobs
    from analysis.ablation.majority import store_majority
    from analysis.ablation.plan import FINETUNING, jobs as plan_jobs
    from analysis.core.errors import AddendError
    from analysis.engine import run_all

    changes = {
        "learning_rate": learning_rate,
        "norm": norm,
        "steps": steps,
        "masked_share": masked_share,
        "to_mask": to_mask,
        "initializer_range": initializer_range,
    }
    runs = plan_jobs(
        preset, split_names(variants), split_seeds(seeds), **{k: v for k, v in changes.items() if v is not None}
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    use_compile = device == "cuda" if compile is None else compile
    folder = out / f"corpus-{runs[0].vocabulary}"
    console = Console()
    if not (folder / "corpus.json").is_file():
        if corpus is None or valid is None:
            raise AddendError(f"{folder} holds no prepared corpus; name a text with --corpus and one with --valid.")
        with console.status("Preparing the corpus"):
            corpora.prepare(corpus, valid, folder, vocabulary=runs[0].vocabulary, tokenizer=tokenizer)
    stored_corpus = corpora.load(folder)
    for other in stored_digests(preset) - {stored_corpus.digest}:
        typer.echo(
            f"The store holds runs of preset {preset} on corpus {other}, and {folder} is corpus "
            f"{stored_corpus.digest}: with another text or tokenizer, equal seeds cannot be compared. To add to those "
            "runs, remove the folder and name the tokenizer.json of one of their checkpoints with --tokenizer.",
            err=True,
        )
    settings = SweepSettings(
        corpus=folder, out=out, valid_text=valid, glue=glue_dir, device=device, compiled=use_compile
    )
    tasks = sweep_jobs(runs, FINETUNING[preset] if glue else None, sweep=settings, corpus_digest=stored_corpus.digest)
    if glue:
        store_majority(preset, FINETUNING[preset], settings)
    workers = jobs or (torch.cuda.device_count() if device == "cuda" else os.cpu_count() or 1)
    failed = run_all(tasks, workers=workers, ray=ray, console=console)
    store_build.refresh()
    for job, reason in failed:
        typer.echo(f"{job.label} failed: {reason}", err=True)
    if failed:
        raise typer.Exit(1)


def stored_digests(preset: str) -> set[str]:
    """The digests of the corpora that the stored runs of a preset read; none where there is no store."""
    from analysis.store import read

    return set(read.query_if_stored(DIGESTS, [preset], ["digest"]).digest.dropna())
