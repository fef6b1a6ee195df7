"""Checks the files of a model's folder: nothing may lead out of it or fetch code, and sizes are limited.

transformers refuses some of this itself. An untrusted folder is checked before anything in it is opened, and a
repository of a hub before it is downloaded.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from analysis.core import settings
from analysis.core.errors import ModelError

FETCHED = ("*.json", "*.safetensors", "*.txt", "*.model")
"""The files that are fetched from a hub."""
SKIPPED = ("*/*", "consolidated*", "trainer_state.json")
"""Other checkpoints and exports lie in subfolders; consolidated files hold the same weights again; a trainer's state is
read by trainers alone."""
ADAPTER = "adapter_config.json"
MAX_TOKENIZER_BYTES = 100_000_000
"""Bytes of a tokenizer.json, which holds a vocabulary of hundreds of thousands of tokens."""
MAX_TEXT_FILE_BYTES = 20_000_000
"""Bytes of any other vocabulary, config or index. JSON can take 25 times as much memory as it is read."""
MAX_HEADER_BYTES = 10_000_000
"""Bytes in which all weights files say what they hold, of 100,000 tensors. Read, they take 15 times as much memory."""
MAX_ADDED_TOKENS = 20_000
"""Tokens that are added to a vocabulary one by one, each kept as an object of its own."""
TOKENIZER_CONFIG, SPECIAL_TOKENS = "tokenizer_config.json", "special_tokens_map.json"
TOKENIZER, ADDED_TOKENS = "tokenizer.json", "added_tokens.json"
ADDED_TOKEN_KEY = b'"special"'
"""Each added token in a tokenizer.json has this key. Reading it as JSON would take much longer."""
FILE_KEYS = ("vocab", "merges", "merges_file", "init_inputs", "gguf_file", "fast_tokenizer_files", "tokenizer_object")
"""Entries of a tokenizer's config that are handed to its class, which would open a file of that name wherever it lies
and show its lines as tokens. save_pretrained writes none of them; transformers itself sees to other names of files."""
PROCESSORS = ("preprocessor_config.json", "processor_config.json")
PROCESSOR = re.compile(r"(ViT|DeiT|Bit|CLIP)(ImageProcessor(Fast|Pil)?|FeatureExtractor)")
"""Image processors of the families there are; another one opens a file that its config names."""
MAX_IMAGE_SIDE = 1_024
"""Pixels of a side to which an image processor may bring an image."""
SPARE_DISK_BYTES = 1_000_000_000
"""A download leaves that much free."""


def is_fetched(file: str) -> bool:
    """True if a file of a hub's repository is fetched."""
    return any(fnmatch(file, p) for p in FETCHED) and not any(fnmatch(file, p) for p in SKIPPED)


def is_weights(file: str) -> bool:
    """True if a file holds weights that transformers reads: Mistral's folders hold them twice."""
    return file.endswith(".safetensors") and not file.startswith("consolidated")


def check(folder: Path, name: str) -> None:
    """Refuses a folder whose files lead elsewhere: links, shards outside of it, adapters.

    Raises ModelError, naming the file.
    """
    # The hub's cache keeps files beside its snapshots, under ../../blobs, and links to them.
    cached = folder.parent.name == "snapshots"
    root = (folder.parent.parent if cached else folder).resolve()
    files = [path for path in folder.iterdir() if is_fetched(path.name)]
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
    _check_headers([path for path in files if path.suffix == ".safetensors" and path.is_file()], name)
    for path in files:
        if path.name.endswith(".index.json"):
            _check_shards(path, name)
        elif path.name in (TOKENIZER_CONFIG, SPECIAL_TOKENS):
            _check_tokenizer(path, name)
        elif path.name == ADDED_TOKENS:
            _check_added(len(_read(path, name)), path, name)
        elif path.name == TOKENIZER and path.is_file():
            _check_added(path.read_bytes().count(ADDED_TOKEN_KEY), path, name)
        elif path.name in PROCESSORS:
            _check_processor(path, name)


def _read(path: Path, name: str) -> dict[str, object]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise ModelError(f"The {path.name} of {name} is not valid JSON; save the model again.") from None
    if not isinstance(content, dict):
        raise ModelError(f"The {path.name} of {name} holds no JSON object; save the model again.")
    return content


def _check_headers(weights: Sequence[Path], name: str) -> None:
    header_bytes = 0
    for path in weights:
        with path.open("rb") as file:
            # A header longer than its file is refused when the file is opened.
            header_bytes += min(int.from_bytes(file.read(8), "little"), path.stat().st_size)
    if header_bytes > MAX_HEADER_BYTES:
        raise ModelError(
            f"The weights files of {name} have headers of {header_bytes / 1e6:,.0f} MB; at most "
            f"{MAX_HEADER_BYTES / 1e6:.0f} MB are accepted. Choose another model, or an intact copy of it."
        )


def _check_shards(path: Path, name: str) -> None:
    shards = _read(path, name).get("weight_map")
    names = set(map(str, shards.values())) if isinstance(shards, dict) else set()
    if outside := sorted(shard for shard in names if Path(shard).name != shard or "\\" in shard):
        raise ModelError(
            f"The {path.name} of {name} names {outside[0][:100]!r}, which does not lie in its folder. Choose a model "
            "whose weights are next to its config.json."
        )


def _check_tokenizer(path: Path, name: str) -> None:
    config = _read(path, name)
    lists = [value for key, value in config.items() if "token" in key and isinstance(value, dict | list)]
    _check_added(max(map(len, lists), default=0), path, name)
    unexpected = [key for key in FILE_KEYS if config.get(key)]
    if path.name == SPECIAL_TOKENS:
        unexpected = [key for key in config if not key.endswith(("token", "tokens"))]
    if unexpected:
        raise ModelError(
            f"The {path.name} of {name} says {unexpected[0][:100]!r}, which could have another file opened in place of "
            "the tokenizer's own. Save the tokenizer again with save_pretrained."
        )


def _check_added(count: int, path: Path, name: str) -> None:
    """Refuses so many tokens beside a vocabulary that adding them would take minutes."""
    if count > MAX_ADDED_TOKENS:
        raise ModelError(
            f"The {path.name} of {name} adds {count:,} tokens to its vocabulary; at most {MAX_ADDED_TOKENS:,} are "
            "taken. Put them into the vocabulary itself, or choose another model."
        )


def _check_processor(path: Path, name: str) -> None:
    for key, value, is_size in _json_values(_read(path, name)):
        if key in ("image_processor_type", "feature_extractor_type") and not PROCESSOR.fullmatch(str(value)):
            raise ModelError(
                f"The {path.name} of {name} names the image processor {str(value)[:100]!r}; expected that of ViT, "
                "DeiT, CLIP or Bit (DINOv2). Choose another model."
            )
        if is_size and isinstance(value, int | float) and value > MAX_IMAGE_SIDE:
            raise ModelError(
                f"The {path.name} of {name} resizes images to {value:,} pixels on a side; at most {MAX_IMAGE_SIDE:,} "
                "are accepted. Choose another model."
            )


def _json_values(content: object) -> Iterator[tuple[str, object, bool]]:
    """Every value in JSON, however deep, with its name and whether it is, or is part of, a size."""
    stack: list[tuple[str, object, bool]] = [("", content, False)]
    while stack:
        label, value, is_size = stack.pop()
        yield label, value, is_size
        if isinstance(value, dict):
            stack += [(key, member, is_size or "size" in key) for key, member in value.items()]
        elif isinstance(value, list):
            stack += [(label, member, is_size) for member in value]


def check_text_files(files: Mapping[str, int], name: str) -> None:
    """Refuses a config, an index or a tokenizer that nobody would write. files: name -> bytes.

    Raises ModelError for such a file.
    """
    for file, size in files.items():
        if not is_fetched(file) or is_weights(file):
            continue
        limit = MAX_TOKENIZER_BYTES if file == "tokenizer.json" else MAX_TEXT_FILE_BYTES
        if size > limit:
            raise ModelError(
                f"{name} holds a {file} of {size / 1e6:,.0f} MB; at most {limit / 1e6:.0f} MB are accepted for it. "
                "Choose another model."
            )


def check_megabytes(files: Mapping[str, int], name: str) -> None:
    """Raises ModelError for a model of more than ADDEND_MODEL_MB."""
    limit = settings.number("ADDEND_MODEL_MB")
    megabytes = sum(size for file, size in files.items() if is_fetched(file)) / 1e6
    if limit and megabytes > limit:
        raise ModelError(
            f"{name} has {megabytes:,.0f} MB of files; this server takes models of up to {limit} MB (ADDEND_MODEL_MB). "
            "Choose a smaller one, or run Addend yourself."
        )


def check_download(files: Mapping[str, int], name: str, cache: Path) -> None:
    """Refuses what is larger than this server takes, or than the disk under the hub's cache.

    Raises ModelError for such a download.
    """
    check_megabytes(files, name)
    needed = sum(size for file, size in files.items() if is_fetched(file))
    free = shutil.disk_usage(next(folder for folder in (cache, *cache.parents) if folder.is_dir())).free
    if needed + SPARE_DISK_BYTES > free:
        raise ModelError(
            f"{name} has {needed / 1e9:.1f} GB of files and {free / 1e9:.1f} GB of disk are free. "
            "Choose a smaller model, or free space."
        )
