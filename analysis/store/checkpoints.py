"""The small checkpoints of our own encoders that come with Addend, under `checkpoints/` in the data folder."""

from pathlib import Path

from analysis.store.paths import data_folder

FOLDER = "checkpoints"


def names() -> list[str]:
    """Their names, such as cpu-bert_a-0: preset, variant, seed."""
    return sorted(path.parent.name for path in (data_folder() / FOLDER).glob("*/config.json"))


def folder(name: str) -> Path | None:
    """The folder of a checkpoint; None if there is none of this name."""
    return data_folder() / FOLDER / name if name in names() else None


def folder_of_run(run_id: str) -> Path | None:
    """The folder of the checkpoint that a pre-training run produced; None if it was not kept."""
    cards = (data_folder() / FOLDER).glob("*/README.md")
    return next((card.parent for card in cards if f"- Run {run_id}," in card.read_text(encoding="utf-8")), None)
