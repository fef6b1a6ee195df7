"""Loads a model for probing: safetensors only, never remote code, float32, on the best device there is."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from transformers import CONFIG_MAPPING, AutoImageProcessor, AutoModel, AutoTokenizer, PreTrainedModel
from transformers.utils import logging

from analysis.errors import ModelError
from analysis.models.families import FAMILIES
from analysis.models.source import Progress, Source

_loading = threading.Lock()
logging.disable_progress_bar()


@dataclass(frozen=True)
class Loaded:
    """A model in evaluation mode with its tokenizer or, where it reads images, its image processor."""

    model: PreTrainedModel
    tokenizer: Any
    source: Source
    device: str


def best_device() -> str:
    """cuda when there is one, then mps, then cpu."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _plain(config: Mapping[str, Any]) -> Any:
    """A config without what says how to compute: config.json may name attention code to be fetched from a hub."""
    kept = {key: value for key, value in config.items() if "implementation" not in key}
    return CONFIG_MAPPING[config["model_type"]].from_dict(kept, attn_implementation="eager")


def load(source: Source, device: str | None = None, progress: Progress = lambda _: None) -> Loaded:
    """Reads tokenizer (or image processor) and weights. Raises ModelError where they are incomplete or not finite."""
    progress(f"Loading {source.name}")
    device = device or best_device()
    images = FAMILIES[source.family].reads == "image"
    # Of an image processor's two implementations the one on Pillow: the other needs torchvision.
    kind, more = (AutoImageProcessor, {"backend": "pil"}) if images else (AutoTokenizer, {})
    with _loading:
        try:
            tokenizer: Any = kind.from_pretrained(source.folder, trust_remote_code=False, local_files_only=True, **more)
            model, told = AutoModel.from_pretrained(
                source.folder,
                config=_plain(source.config),
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                dtype=torch.float32,
                output_loading_info=True,
            )
        except Exception as broken:
            # Each library below raises kinds of its own for a damaged file, and tokenizers plain Exception.
            reason = str(broken).strip().split("\n")[0][:300].rstrip(".")
            raise ModelError(
                f"{source.name} could not be loaded ({type(broken).__name__}: {reason}). "
                f"Save it again with save_pretrained, {'image processor' if images else 'tokenizer'} included, or "
                "choose another."
            ) from broken
    if not images and not tokenizer.is_fast:
        raise ModelError(
            f"{source.name} has a tokenizer in Python ({type(tokenizer).__name__}), which does not say what word a "
            "token belongs to. Choose a model with a tokenizer.json."
        )
    missing = sorted(key for key in told["missing_keys"] if not key.startswith("pooler."))
    if missing:
        raise ModelError(
            f"{source.name} lacks {len(missing)} of its weights ({missing[0]}, …); they would be random. "
            "Choose a complete checkpoint."
        )
    broken_weight = next((name for name, weight in model.named_parameters() if not weight.isfinite().all()), None)
    if broken_weight:
        raise ModelError(
            f"{source.name} has weights that are not finite ({broken_weight}); choose an intact checkpoint."
        )
    return Loaded(model.eval().to(device), tokenizer, source, device)
