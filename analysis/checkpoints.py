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
