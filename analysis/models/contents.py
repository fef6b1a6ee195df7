"""What may lie in a model's folder: nothing that leads out of it, and nothing that would run or fetch code.

transformers refuses some of this itself; a folder of a stranger's is checked before anything in it is opened.
"""

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from analysis.errors import ModelError

WANTED = ("*.json", "*.safetensors", "*.txt", "*.model")
"""The files that are fetched from a hub."""
UNWANTED = ("*/*", "consolidated*")
"""Other checkpoints and exports lie in subfolders; consolidated files hold the same weights again."""
ADAPTER = "adapter_config.json"


def fetched(file: str) -> bool:
    """Whether a file of a hub's repository is fetched."""
    return any(fnmatch(file, p) for p in WANTED) and not any(fnmatch(file, p) for p in UNWANTED)


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
