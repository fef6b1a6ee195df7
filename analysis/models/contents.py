"""What may lie in a model's folder: nothing that leads out of it or would fetch code, and no more than is taken.

transformers refuses some of this itself; a folder of a stranger's is checked before anything in it is opened, and a
repository of a hub before it is fetched.
"""

import json
import shutil
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from analysis import settings
from analysis.errors import ModelError

WANTED = ("*.json", "*.safetensors", "*.txt", "*.model")
"""The files that are fetched from a hub."""
UNWANTED = ("*/*", "consolidated*")
"""Other checkpoints and exports lie in subfolders; consolidated files hold the same weights again."""
ADAPTER = "adapter_config.json"
LARGEST_TEXT_FILE = 100_000_000
"""Bytes of a tokenizer, a config or an index."""
SPARE_DISK_BYTES = 1_000_000_000
"""A download leaves that much free."""


def fetched(file: str) -> bool:
    """Whether a file of a hub's repository is fetched."""
    return any(fnmatch(file, p) for p in WANTED) and not any(fnmatch(file, p) for p in UNWANTED)


def is_weights(file: str) -> bool:
    """Whether a file holds weights that transformers reads: Mistral's folders hold them twice."""
    return file.endswith(".safetensors") and not file.startswith("consolidated")


def check(folder: Path, name: str) -> None:
    """Refuses a folder whose files lead elsewhere: links, shards outside of it, adapters.

    Raises ModelError, naming the file.
    """
    # The hub's cache keeps files beside its snapshots, under ../../blobs, and links to them.
    cached = folder.parent.name == "snapshots"
    root = (folder.parent.parent if cached else folder).resolve()
    files = [path for path in folder.iterdir() if fetched(path.name)]
    for path in files:
        if not path.resolve().is_relative_to(root):
            raise ModelError(
                f"{path.name} of {name} is a link that leads out of its folder, so it is not followed. "
                "Put the file itself into the folder."
            )
    if (folder / ADAPTER).exists():
        raise ModelError(
            f"{name} is an adapter ({ADAPTER}), which names another model to be loaded. "
            "Merge the two and save the result with save_pretrained."
        )
    for path in files:
        if path.name.endswith(".index.json"):
            _check_shards(path, name)


def _read(path: Path, name: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise ModelError(f"The {path.name} of {name} is not valid JSON; save the model again.") from None
    if not isinstance(found, dict):
        raise ModelError(f"The {path.name} of {name} holds no JSON object; save the model again.")
    return found


def _check_shards(path: Path, name: str) -> None:
    shards = _read(path, name).get("weight_map")
    named = set(map(str, shards.values())) if isinstance(shards, dict) else set()
    if outside := sorted(shard for shard in named if Path(shard).name != shard or "\\" in shard):
        raise ModelError(
            f"The {path.name} of {name} names {outside[0][:100]!r}, which does not lie in its folder. "
            "Choose a model whose weights lie beside its config.json."
        )


def check_text_files(files: Mapping[str, int], name: str) -> None:
    """Refuses a config, an index or a tokenizer that nobody would write. files: name -> bytes."""
    texts = {file: size for file, size in files.items() if fetched(file) and not is_weights(file)}
    if large := next((file for file, size in texts.items() if size > LARGEST_TEXT_FILE), None):
        raise ModelError(
            f"{name} holds a {large} of {texts[large] / 1e6:,.0f} MB; at most {LARGEST_TEXT_FILE / 1e6:.0f} MB are "
            "taken of a file that holds no weights. Choose another model."
        )


def check_megabytes(files: Mapping[str, int], name: str) -> None:
    """Refuses a model of more than ADDEND_MODEL_MB."""
    most = settings.number("ADDEND_MODEL_MB")
    megabytes = sum(size for file, size in files.items() if fetched(file)) / 1e6
    if most and megabytes > most:
        raise ModelError(
            f"{name} has {megabytes:,.0f} MB of files; this server takes models of up to {most} MB (ADDEND_MODEL_MB). "
            "Choose a smaller one, or run Addend yourself."
        )


def check_download(files: Mapping[str, int], name: str, cache: Path) -> None:
    """Refuses what is larger than this server takes, or than the disk under the hub's cache."""
    check_megabytes(files, name)
    wanted = sum(size for file, size in files.items() if fetched(file))
    free = shutil.disk_usage(next(folder for folder in (cache, *cache.parents) if folder.is_dir())).free
    if wanted + SPARE_DISK_BYTES > free:
        raise ModelError(
            f"{name} has {wanted / 1e9:.1f} GB of files and {free / 1e9:.1f} GB of disk are free. "
            "Choose a smaller model, or free space."
        )
