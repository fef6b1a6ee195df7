"""python -m analysis keep-checkpoint: a finished run's checkpoint, in half precision, into the data folder."""

from pathlib import Path
from typing import Annotated, Any

import typer

CARD = """---
license: cc-by-sa-3.0
language: en
library_name: transformers
---

# {name}

A small encoder trained by Addend to ask what the way of combining word and position does: variant `{variant}`
({title}), preset `{preset}`, seed {seed}. It is an instrument, not a language model to be used.

- Trained on {tokens:,} tokens of {corpus} (sha256 {sha256}), licence of the text and so of these weights: {licence}.
- {objective}, {steps:,} steps of {batch} windows of {length} tokens, vocabulary {vocabulary:,}, {parameters:,}
  parameters; loss on the validation text {loss:.3f} nats per predicted token, with the float32 weights.
- Run {run_id}, {created}, code {git_sha}; {versions}.
- Stored here in float16; Addend's stored results were measured on the float32 weights.
- Trained again by: `{command}`, with the texts as `--corpus` and `--valid`, and this folder's
  `tokenizer.json` as `--tokenizer` (one trained anew breaks its ties another way).

It opens in Addend's live probe by its name, and from Python after `import analysis.ablation.encoder` with
`transformers.AutoModelForMaskedLM.from_pretrained(FOLDER)` (`AutoModelForCausalLM` where it is causal).
"""


def keep_checkpoint(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run, as ablate writes it under --out.")],
    corpus: Annotated[str, typer.Option(help="What the training text is, for the card.")] = ("English Wikipedia, 2015"),
    licence: Annotated[str, typer.Option(help="The licence of the training text.")] = "CC BY-SA 3.0",
) -> None:
    """Copies a checkpoint with its tokenizer, and writes its model card from what the store knows of the run."""
    import shutil

    import torch
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    import analysis.ablation.encoder  # noqa: F401  its classes are registered with transformers
    from analysis import store_build
    from analysis.core.errors import AddendError
    from analysis.store import checkpoints
    from analysis.store.paths import data_folder

    store_build.refresh()
    facts = _run_facts(run.name)
    target = data_folder() / checkpoints.FOLDER / str(facts["name"])
    if target.exists() and checkpoints.folder_of_run(run.name) != target:
        raise AddendError(
            f"{target} holds the checkpoint of another run of the same preset, variant and seed, such as one at other "
            f"settings. Remove it first, if run {run.name} is to take its place."
        )
    causal = bool(facts.pop("causal"))
    loader: Any = AutoModelForCausalLM if causal else AutoModelForMaskedLM
    model = loader.from_pretrained(run / "model", dtype=torch.float16)
    model.save_pretrained(target)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy2(run / "model" / file, target / file)
    (target / "model.safetensors").chmod(0o644)
    objective = "Next-token prediction" if causal else "Masked-language modelling"
    card = CARD.format(**facts, objective=objective, corpus=corpus, licence=licence)
    (target / "README.md").write_text(card, encoding="utf-8")
    typer.echo(f"{target} written.")


def _run_facts(run_id: str) -> dict[str, Any]:
    """The stored facts about a pre-training. Raises NoResults for a run that the store does not hold."""
    import json

    from analysis.core.errors import NoResults
    from analysis.store import read

    rows = read.query(
        "SELECT r.*, v.title, c.value AS loss, c.tokens FROM runs r JOIN variants v USING (variant) "
        "JOIN curves c ON c.run_id = r.run_id AND c.metric = 'final_loss_1x' WHERE r.run_id = ?",
        [run_id],
    )
    if rows.empty:
        raise NoResults(
            f"The store holds no pre-training {run_id!r}; expected the folder of a finished run, named by its id, "
            "whose results lie under data/results/curves."
        )
    row = dict(rows.iloc[0])
    config = json.loads(row["config"])
    return {
        **row,
        **{key: config[key] for key in ("steps", "batch", "length", "vocabulary", "parameters")},
        "name": f"{row['preset']}-{row['variant']}-{row['seed']}",
        "sha256": config["corpus"]["train_sha256"][:12],
        "causal": config["model"].get("causal", False),
    }
