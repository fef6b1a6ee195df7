"""Our own encoders that come with Addend: small checkpoints under `checkpoints/` in the data folder, by name."""

from pathlib import Path

from analysis.store.paths import data_folder

FOLDER = "checkpoints"


def names() -> list[str]:
    """What they are called, such as cpu-bert_a-0: preset, variant, seed."""
    return sorted(path.parent.name for path in (data_folder() / FOLDER).glob("*/config.json"))


def folder(name: str) -> Path | None:
    """Where one lies; None where there is none of this name."""
    return data_folder() / FOLDER / name if name in names() else None


def folder_of_run(run_id: str) -> Path | None:
    """The folder of the checkpoint that this pre-training gave; None where it is not kept."""
    cards = (data_folder() / FOLDER).glob("*/README.md")
    return next((card.parent for card in cards if f"- Run {run_id}," in card.read_text(encoding="utf-8")), None)
