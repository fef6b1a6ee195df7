"""Where a model's files are: the embedded one, a local folder, or a Hugging Face repository.

Everything that can be refused is refused before a weight is read, and on a hub before it is downloaded.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from analysis.errors import ModelError
from analysis.models import embedded
from analysis.models.families import FAMILIES

HUB_SECONDS = 4.0
"""How long a hub may take to describe a repository before we say that it cannot be reached."""
HUB_FILES = ("*.json", "*.safetensors", "*.txt", "*.model")
BYTES_PER_FLOAT32 = 4
ITEM_BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}

Progress = Callable[[str], None]
"""Told, in words, what is being waited for."""


@dataclass(frozen=True)
class Source:
    """A model whose files lie in a folder, and what to call it."""

    name: str
    revision: str
    folder: Path
    config: Mapping[str, Any]

    @property
    def family(self) -> str:
        """The `model_type` of its config."""
        return str(self.config["model_type"])


def resolve(model: str = embedded.NAME, revision: str | None = None, progress: Progress = lambda _: None) -> Source:
    """Finds a model by name, folder or Hugging Face id, and checks that it can be decomposed.

    Raises ModelError: no such model, no network, no safetensors, not enough memory, unsupported architecture.
    """
    model = model.strip()
    if model in ("", embedded.NAME):
        folder = embedded.folder()
        return Source(embedded.NAME, embedded.REVISION, folder, read_config(folder, embedded.NAME))
    path = Path(model).expanduser()
    if path.is_dir() or model.startswith(("/", ".", "~")):
        return _from_folder(path, model)
    return _from_hub(model, revision or None, progress)


def read_config(folder: Path, name: str) -> dict[str, Any]:
    """config.json of a model folder."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(
            f"{name} holds no config.json; expected a model folder as transformers' save_pretrained writes it."
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ModelError(f"The config.json of {name} is not valid JSON; save the model again.") from None
    if not isinstance(config, dict) or "model_type" not in config:
        raise ModelError(f"The config.json of {name} names no model_type; expected one of {', '.join(FAMILIES)}.")
    return config


def check(config: Mapping[str, Any], files: Mapping[str, int], name: str) -> None:
    """Refuses what cannot be decomposed. `files` maps names in the folder to sizes in bytes."""
    family = str(config["model_type"])
    if family not in FAMILIES:
        raise ModelError(
            f"{name} is of the architecture {family!r}; exact terms exist for: {', '.join(FAMILIES)}. "
            "Choose a model of one of these."
        )
    if why := FAMILIES[family].refusal(config):
        raise ModelError(f"{name} is refused: {why}.")
    weights = sum(size for file, size in files.items() if file.endswith(".safetensors"))
    if not weights:
        pickled = sorted(file for file in files if file.endswith((".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")))
        held = f"only {', '.join(pickled)}" if pickled else "no weights"
        raise ModelError(
            f"{name} holds {held}; Addend reads safetensors alone, since other formats can run code when opened. "
            "Load it in transformers where you trust it and save it with save_pretrained."
        )
    stored = ITEM_BYTES.get(str(config.get("dtype") or config.get("torch_dtype") or "float32"), BYTES_PER_FLOAT32)
    needed = weights * BYTES_PER_FLOAT32 / stored * 1.3
    free = psutil.virtual_memory().available
    if needed > free:
        raise ModelError(
            f"{name} needs about {needed / 2**30:.1f} GiB of memory in float32 and {free / 2**30:.1f} GiB are free. "
            "Choose a smaller model, or free memory."
        )


def _from_folder(path: Path, given: str) -> Source:
    if not path.is_dir():
        raise ModelError(f"There is no folder {given!r}; give a model folder, or a Hugging Face id such as owner/name.")
    config = read_config(path, given)
    check(config, {file.name: file.stat().st_size for file in path.iterdir() if file.is_file()}, given)
    digest = hashlib.sha256()
    for file in sorted(path.glob("*.safetensors")):
        digest.update(embedded.file_sha256(file).encode())
    return Source(str(path.resolve()), f"sha256:{digest.hexdigest()[:12]}", path, config)


def _from_hub(model: str, revision: str | None, progress: Progress) -> Source:
    if not re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", model):
        raise ModelError(
            f"{model!r} is neither a folder nor a Hugging Face id; expected owner/name, an existing folder, "
            f"or {embedded.NAME}."
        )
    import httpx2
    from huggingface_hub import HfApi, constants, hf_hub_download, snapshot_download
    from huggingface_hub import errors as hub

    endpoint = os.environ.get("HF_ENDPOINT", constants.ENDPOINT)
    at = f" at revision {revision!r}" if revision else ""
    unreachable = ModelError(
        f"The model hub ({endpoint}) cannot be reached, and {model}{at} is not on this machine. "
        f"Check the network, or use a local folder or {embedded.NAME}."
    )
    progress(f"Asking {endpoint} about {model}")
    try:
        # A look-up of a host name can outlast any timeout of the client: the deadline is ours.
        asking = ThreadPoolExecutor(1)
        api = HfApi(endpoint=endpoint)
        answer = asking.submit(
            lambda: api.model_info(model, revision=revision, files_metadata=True, timeout=HUB_SECONDS)
        )
        asking.shutdown(wait=False)
        info = answer.result(timeout=HUB_SECONDS + 0.5)
    except hub.GatedRepoError:
        raise ModelError(
            f"{model} is gated: its owner asks readers to accept terms first. Accept them on its page, set HF_TOKEN, "
            "and try again."
        ) from None
    except hub.RevisionNotFoundError:
        raise ModelError(f"{model} has no revision {revision!r}; give a branch, a tag or a commit, or none.") from None
    except hub.RepositoryNotFoundError:
        raise ModelError(
            f"There is no model {model!r} at {endpoint}, or it is private. Check the spelling: owner/name."
        ) from None
    except (TimeoutError, httpx2.HTTPError, hub.OfflineModeIsEnabled, hub.HfHubHTTPError, OSError):
        try:
            folder = Path(snapshot_download(model, revision=revision, local_files_only=True))
        except (hub.LocalEntryNotFoundError, OSError, ValueError):
            raise unreachable from None
        config = read_config(folder, model)
        check(config, {file.name: file.stat().st_size for file in folder.iterdir()}, model)
        return Source(model, folder.name, folder, config)

    sha = str(info.sha)
    files = {file.rfilename: file.size or 0 for file in info.siblings or [] if "/" not in file.rfilename}
    try:
        if "config.json" in files:
            config_path = hf_hub_download(model, "config.json", revision=sha, endpoint=endpoint)
            check(read_config(Path(config_path).parent, model), files, model)
        megabytes = sum(size for name, size in files.items() if name.endswith(".safetensors")) / 1e6
        progress(f"Downloading {model}, {megabytes:,.0f} MB")
        folder = Path(snapshot_download(model, revision=sha, allow_patterns=list(HUB_FILES), endpoint=endpoint))
    except (httpx2.HTTPError, hub.HfHubHTTPError, hub.LocalEntryNotFoundError) as broken:
        raise ModelError(
            f"The download of {model} from {endpoint} broke off ({type(broken).__name__}). Try again."
        ) from None
    return Source(model, sha[:12], folder, read_config(folder, model))
