"""Sources of a model's files: the embedded one, a local folder, or a Hugging Face repository.

Everything that can be refused is refused before a weight is read, and on a hub before it is downloaded.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any, TypeVar

import psutil

from analysis.core import default_model, settings
from analysis.core.atomic_write import atomic_write
from analysis.core.errors import ModelError, ModelNotDownloaded, ModelNotFound, NoSuchRevision, NotEnoughMemory
from analysis.models import file_checks
from analysis.models.families import family_of, known_family
from analysis.store import checkpoints

HUB_SECONDS = 4.0
"""The time that a hub may take to describe a repository before we say that it cannot be reached."""
HUB_FILES: dict[str, Any] = {"allow_patterns": list(file_checks.FETCHED), "ignore_patterns": list(file_checks.SKIPPED)}
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model", "spm.model")
IMAGE_FILES = ("preprocessor_config.json", "processor_config.json")
PARTS = {"clip": ("vision_config", "clip_vision_model", "vision_model")}
"""Checkpoints of several models: of the one that is read, the key of its config, its `model_type`, and its name among
the parts of the whole."""
BYTES_PER_FLOAT32 = 4
POSITIVE_FIELDS = {
    *("hidden_size", "d_model", "n_embd", "dim", "num_hidden_layers", "num_layers", "n_layer", "n_layers"),
    *("num_attention_heads", "num_heads", "n_head", "n_heads", "num_key_value_heads", "head_dim", "intermediate_size"),
    *("d_ff", "d_kv", "ffn_dim", "hidden_dim", "vocab_size", "num_channels", "embedding_size"),
}
"""Numbers of a config that are at least 1 in every architecture."""
MAX_LABELS = 50_000
"""Names of classes: each is kept three times over."""
REVISION = re.compile(r"[\w][\w.-]*(/[\w][\w.-]*)*")
"""A branch, tag or commit; a part that begins with a dot would be a way out of the cache's folder."""
DEFAULT_REVISION = "main"
"""The hub's default."""
ITEM_BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}

_downloading = Lock()
POLL_SECONDS = 0.2
"""The interval at which a waiting download calls `progress`, which may raise."""
T = TypeVar("T")
Progress = Callable[[str], None]
"""Called with a sentence that says what is being waited for."""


Stamp = tuple[int, int]
"""A file's size in bytes and the time of its last change in nanoseconds."""
MODEL_SUFFIXES = (".json", ".safetensors", ".txt", ".model")
"""Suffixes of the files of a model and its tokenizer."""


def _stamp(path: Path) -> Stamp | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns


def _stamps(folder: Path) -> dict[str, Stamp]:
    paths = (path for path in folder.iterdir() if path.name.endswith(MODEL_SUFFIXES) and path.is_file())
    return {path.name: stamp for path in paths if (stamp := _stamp(path)) is not None}


@dataclass(frozen=True)
class Source:
    """A model whose files lie in a folder, and what to call it."""

    name: str
    revision: str
    folder: Path
    config: Mapping[str, object]
    from_hub: bool = False
    """True if it comes from a hub and is not trusted."""
    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    """The folder's files as they were when they were looked at, before the revision was computed from them."""

    def check_unchanged(self) -> None:
        """Raises ModelError where a file has gone or changed since: the revision would be that of other weights."""
        for name, before in self.stamps.items():
            current = _stamp(self.folder / name)
            if current != before:
                what = "is gone" if current is None else "was written again"
                raise ModelError(
                    f"{self.name} changed while it was being opened: {name} {what}. Open it again when its files are "
                    "complete."
                )

    @property
    def family(self) -> str:
        """The `model_type` of its config."""
        return str(self.config["model_type"])

    @property
    def bytes(self) -> int:
        """About how many its weights take in memory, as float32."""
        if not self.folder.name:  # built here, not read
            return 0
        stored = sum(file.stat().st_size for file in self.folder.iterdir() if file_checks.is_weights(file.name))
        return stored * BYTES_PER_FLOAT32 // _item_bytes(self.config)


def resolve(
    model: str = default_model.NAME,
    revision: str | None = None,
    progress: Progress = lambda _: None,
    *,
    terms: bool = True,
    fetch: bool = True,
) -> Source:
    """Finds a model by name (embedded, or of our own), folder or Hugging Face id; checks that it can be decomposed.

    terms: False asks for attention patterns alone, which architectures of no family may have too.
    fetch: False takes a hub's model only as it lies on this machine, and raises ModelNotDownloaded where it does not.
    Raises ModelError: no such model, no network, no safetensors, not enough memory, unsupported architecture.
    """
    model, revision = model.strip(), (revision or "").strip(" ") or None
    if model in ("", default_model.NAME):
        check_revision(default_model.NAME, "comes with Addend", revision, default_model.REVISION)
        folder = default_model.folder()
        return Source(default_model.NAME, default_model.REVISION, folder, read_config(folder, default_model.NAME))
    if checkpoint := checkpoints.folder(model):
        own = _from_folder(checkpoint, model, terms)
        check_revision(model, "comes with Addend", revision, own.revision)
        return replace(own, name=model)
    is_path = model.startswith(("/", ".", "~"))
    if not settings.hosted():
        path = os.path.expanduser(model)
        if is_path or os.path.exists(path):
            folder_source = _from_folder(Path(path), model, terms)
            check_revision(model, "is a folder", revision, folder_source.revision)
            return folder_source
    elif is_path:  # does not reveal whether there is such a folder
        raise ModelError(
            f"This server opens no folders; give a Hugging Face id such as owner/name, or {default_model.NAME}."
        )
    if revision and not (REVISION.fullmatch(revision) and len(revision) <= 100 and ".." not in revision):
        raise ModelError(f"{revision[:100]!r} is not a revision; expected a branch, a tag or a commit, or none.")
    _check_allowed(model, revision)
    return _from_hub(model, revision, progress, terms, fetch)


def check_revision(name: str, kind: str, revision: str | None, own: str) -> None:
    """Raises NoSuchRevision where a revision is asked for of a model that is on no hub, and it is not its own."""
    if revision and revision != own:
        raise NoSuchRevision(
            f"There is no revision {revision[:100]!r} of {name[:100]}: it {kind} and has only one, {own}. Leave the "
            "revision empty, or give a Hugging Face id."
        )


def _check_allowed(model: str, revision: str | None) -> None:
    """Refuses what ADDEND_MODELS does not name.

    Who is trusted with a name is trusted with its default revision alone: anybody can open a pull request, and its
    commits and refs/pr are revisions of the same name.
    """
    allowed = settings.names("ADDEND_MODELS")
    if "*" in allowed or (revision and f"{model}@{revision}" in allowed):
        return
    remedy = f"it opens {', '.join((default_model.NAME, *allowed))} (ADDEND_MODELS). Run Addend yourself for any other."
    if not any(model == pattern or (pattern.endswith("/*") and model.startswith(pattern[:-1])) for pattern in allowed):
        raise ModelError(f"This server does not open {model[:100]!r}; {remedy}")
    if revision not in (None, DEFAULT_REVISION):
        raise ModelError(
            f"This server opens {model[:100]!r} at its default revision only, not at {revision!r}; leave the revision "
            f"empty. Of what ADDEND_MODELS allows, {remedy}"
        )


def read_config(folder: Path, name: str) -> dict[str, object]:
    """config.json of a model folder. Raises ModelError where there is none, or where it is not one of a model."""
    try:
        config = json.loads(
            (folder / "config.json").read_text(encoding="utf-8"), parse_constant=partial(_refuse_constant, name)
        )
    except FileNotFoundError:
        raise _missing_config(name) from None
    except OSError as error:
        raise ModelError(f"The config.json of {name} cannot be read ({error.strerror}); make it readable.") from None
    except (ValueError, RecursionError):
        raise ModelError(f"The config.json of {name} is not valid JSON; save the model again.") from None
    architecture = config.get("model_type") if isinstance(config, dict) else None
    if not isinstance(architecture, str):
        raise ModelError(
            f"The config.json of {name} names no model_type, so nobody knows which model it is. Save the model again "
            "with transformers' save_pretrained, or name the folder that holds the transformer itself: of a sentence "
            "encoder, one of its subfolders."
        )
    _check_sizes(config, name)
    if architecture in PARTS:
        part, architecture, _ = PARTS[architecture]
        dtypes = {key: config[key] for key in ("dtype", "torch_dtype") if key in config}
        part_config = config.get(part, {})
        return {**dtypes, **(part_config if isinstance(part_config, dict) else {}), "model_type": architecture}
    return config


def whole_of(folder: Path) -> str:
    """The `model_type` of the whole checkpoint in a folder where a part of it is read; empty for any other."""
    architecture = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    return architecture if architecture in PARTS else ""


def _refuse_constant(name: str, constant: str) -> float:
    raise ModelError(
        f"The config.json of {name} holds {constant}, which is no number that a model can have. Save the model again, "
        "or correct the number."
    )


def _check_sizes(config: Mapping[str, object], name: str) -> None:
    """Refuses sizes that are none, of the model and of the parts that it is made of."""
    for key, value in config.items():
        if isinstance(value, Mapping) and key.endswith("config"):
            _check_sizes(value, name)
        if key in POSITIVE_FIELDS and isinstance(value, int | float) and not isinstance(value, bool) and not value >= 1:
            raise ModelError(
                f"The config.json of {name} says {key}: {value}; expected a whole number from 1 on. Save the model "
                "again, or correct the number."
            )
    if isinstance(labels := config.get("id2label"), Mapping) and len(labels) > MAX_LABELS:
        raise ModelError(
            f"The config.json of {name} names {len(labels):,} labels; at most {MAX_LABELS:,} are accepted. Remove "
            "id2label and label2id, which terms do not need."
        )


def _missing_config(name: str) -> ModelError:
    return ModelError(
        f"{name} holds no config.json; expected a model folder as transformers' save_pretrained writes it."
    )


def check(config: Mapping[str, object], files: Mapping[str, int], name: str, terms: bool = True) -> None:
    """Refuses what cannot be decomposed, or opened at all. `files` maps names in the folder to sizes in bytes.

    Raises ModelError, and NotEnoughMemory for a model that has no room.
    """
    family = family_of(config, name) if terms else known_family(config, name)
    reads = family.reads if family else "text"
    if family is None:
        _check_known_to_transformers(str(config["model_type"]), name)
    weights = sum(size for file, size in files.items() if file_checks.is_weights(file))
    if not weights:
        pickled = sorted(file for file in files if file.endswith((".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")))
        content = f"only {', '.join(pickled)}" if pickled else "no weights"
        raise ModelError(
            f"{name} holds {content}; Addend reads only safetensors, since other formats can run code when opened. "
            "Load it in transformers if you trust it, and save it with save_pretrained."
        )
    if reads == "image" and not any(file in files for file in IMAGE_FILES):
        raise ModelError(
            f"{name} holds no {IMAGE_FILES[0]}, which says to what size and range its images are converted. Save the "
            "image processor into the same folder with save_pretrained."
        )
    if reads == "text" and not any(file in files for file in TOKENIZER_FILES):
        raise ModelError(
            f"{name} holds no tokenizer (none of {', '.join(TOKENIZER_FILES)}), without which every word would be "
            "unknown. Save the tokenizer into the same folder with save_pretrained."
        )
    stored = _item_bytes(config)
    needed = weights * BYTES_PER_FLOAT32 / stored * 1.3
    if stored < BYTES_PER_FLOAT32:  # a probe also runs the model as it is stored
        needed += weights
    free = psutil.virtual_memory().available
    if needed > free:
        raise NotEnoughMemory(
            f"{name} needs about {needed / 2**30:.1f} GiB of memory in float32 and {free / 2**30:.1f} GiB are free. "
            "Choose a smaller model, or free memory."
        )


def _item_bytes(config: Mapping[str, object]) -> int:
    """Bytes of a number in the weights files, as config.json has it."""
    return ITEM_BYTES.get(str(config.get("dtype") or config.get("torch_dtype") or "float32"), BYTES_PER_FLOAT32)


def _check_known_to_transformers(architecture: str, name: str) -> None:
    from transformers import CONFIG_MAPPING, __version__

    if architecture not in CONFIG_MAPPING:
        raise ModelError(
            f"{name} is of the architecture {architecture!r}, which transformers {__version__} does not know, and code "
            "that comes with a model is never run. Choose another model."
        )


def _from_folder(path: Path, name: str, terms: bool) -> Source:
    if os.path.isfile(path):
        advice = (
            "Addend reads safetensors. transformers reads many GGUF files: convert it once with "
            "from_pretrained(folder, gguf_file=..., quantization_config=GgufConfig(dequantize=True)) and "
            "save_pretrained, as analysis/models/README.md says under GGUF files; the weights stay as coarse as the "
            "file's"
            if path.suffix.lower() == ".gguf"
            else "Name the folder that holds it, with its config.json and tokenizer"
        )
        raise ModelError(f"{name[:100]!r} is a file, and a model is a folder. {advice}.")
    if not os.path.isdir(path):
        raise ModelError(
            f"There is no folder {name[:100]!r}; give a model folder, or a Hugging Face id such as owner/name."
        )
    stamps = _stamps(path)
    file_checks.check(path, name)
    config = read_config(path, name)
    check(config, {file.name: file.stat().st_size for file in path.iterdir() if file.is_file()}, name, terms)
    digest = hashlib.sha256()
    for file in sorted(path.glob("*.safetensors")):
        digest.update(default_model.file_sha256(file).encode())
    return Source(str(path.resolve()), f"sha256:{digest.hexdigest()[:12]}", path, config, stamps=stamps)


def _from_hub(model: str, revision: str | None, progress: Progress, terms: bool, fetch: bool) -> Source:
    import httpx2
    from huggingface_hub import HfApi, constants, errors as hub, hf_hub_download, snapshot_download
    from huggingface_hub.utils import validate_repo_id

    from analysis.models import hub_client  # which puts its checks into the library's client

    try:
        validate_repo_id(model)
    except hub.HFValidationError:
        raise ModelError(
            f"{model[:100]!r} is neither a folder nor a Hugging Face id; expected owner/name, an existing folder, "
            f"or {default_model.NAME}."
        ) from None

    def from_cache() -> Source:
        folder = snapshot_download(model, revision=revision, local_files_only=True, **HUB_FILES)
        return _from_cache(Path(folder), model, terms)

    if not fetch:
        try:
            return from_cache()
        except (OSError, ValueError):
            raise ModelNotDownloaded(
                f"{model} is not on this server yet. It is downloaded when you press Download."
            ) from None
    endpoint = os.environ.get("HF_ENDPOINT", constants.ENDPOINT)
    # What the owner of a hosted server may read, strangers may not.
    token = False if settings.hosted() else None
    revision_text = f" at revision {revision!r}" if revision else ""
    gated = ModelError(
        f"{model} is gated: its owner asks readers to accept terms first. Accept them on its page, set HF_TOKEN, "
        "and try again."
    )
    progress(f"Asking {endpoint} about {model}")
    try:
        api = HfApi(endpoint=endpoint, token=token)
        info = _with_timeout(
            HUB_SECONDS, lambda: api.model_info(model, revision=revision, files_metadata=True, timeout=HUB_SECONDS)
        )
    except hub.GatedRepoError:
        raise gated from None
    except hub.RevisionNotFoundError:
        raise ModelError(f"{model} has no revision {revision!r}; give a branch, a tag or a commit, or none.") from None
    except hub.RepositoryNotFoundError:
        raise ModelNotFound(
            f"There is no model {model!r} at {endpoint}, or it is private. Check the spelling: owner/name."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        # No network, a time-out, offline mode, an error of the hub's, or something that is no hub.
        try:
            return from_cache()
        except (OSError, ValueError):
            status = getattr(getattr(error, "response", None), "status_code", None)
            raise ModelNotFound(
                f"The model hub ({endpoint}) {f'answers with HTTP {status}' if status else 'cannot be reached'}, and "
                f"{model}{revision_text} is not on this machine. Check the network (and HF_TOKEN, if it is set), or "
                f"use a local folder or {default_model.NAME}."
            ) from None

    commit = hub_client.commit(info.sha, model)
    files = {file.rfilename: file.size or 0 for file in info.siblings or [] if "/" not in file.rfilename}
    if "config.json" not in files:
        raise _missing_config(model)
    file_checks.check_text_files(files, model)
    try:
        config = hf_hub_download(model, "config.json", revision=commit, endpoint=endpoint, token=token)
        check(read_config(Path(config).parent, model), files, model, terms)
        # One after the other, so that what is free on disk is what the next one finds.
        with _download_turn(progress):
            file_checks.check_download(files, model, Path(constants.HF_HUB_CACHE))
            megabytes = sum(size for name, size in files.items() if file_checks.is_weights(name)) / 1e6
            check_time = _deadline(model, megabytes, progress)
            check_time()
            # The commit that was checked: its owner may have pushed another since. The ref
            # that a download by name would write in the cache is written below, for days without a network.
            with hub_client.checked_downloads(check_time):
                folder = Path(snapshot_download(model, revision=commit, endpoint=endpoint, token=token, **HUB_FILES))
            if revision != folder.name:
                with atomic_write(folder.parents[1] / "refs" / (revision or DEFAULT_REVISION)) as ref:
                    ref.write_text(folder.name)
        return _from_cache(folder, model, terms)
    except hub.GatedRepoError:
        raise gated from None
    except (OSError, httpx2.HTTPError, hub.XetDownloadError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ModelError(
            f"The download of {model} from {endpoint} broke off ({reason}). Check the network and the space on disk, "
            "and try again."
        ) from None


@contextmanager
def _download_turn(progress: Progress) -> Iterator[None]:
    """One download at a time; while it waits, `progress` is called, which may raise."""
    while not _downloading.acquire(timeout=POLL_SECONDS):
        progress("Waiting for another download to end")
    try:
        yield
    finally:
        _downloading.release()


def _deadline(model: str, megabytes: float, progress: Progress) -> Callable[[], None]:
    """Called at every piece that arrives: tells `progress`, which may raise; raises ModelError when time is over."""
    seconds, start = settings.number("ADDEND_DOWNLOAD_SECONDS"), time.monotonic()

    def check() -> None:
        if time.monotonic() - start > seconds:
            raise ModelError(
                f"The download of {model} took more than {seconds:,} s, which is the limit (ADDEND_DOWNLOAD_SECONDS). "
                "Choose a smaller model, or try again later."
            )
        progress(f"Downloading {model}, {megabytes:,.0f} MB")

    return check


def _from_cache(folder: Path, model: str, terms: bool) -> Source:
    """A snapshot in the hub's cache, checked as it lies there. FileNotFoundError: its weights never arrived."""
    files = {file.name: file.stat().st_size for file in folder.iterdir() if file.is_file()}
    if not any(name.endswith(".safetensors") for name in files):
        raise FileNotFoundError(folder)
    file_checks.check(folder, model)
    config = read_config(folder, model)
    check(config, files, model, terms)
    file_checks.check_megabytes(files, model)
    return Source(model, folder.name, folder, config, from_hub=True, stamps=_stamps(folder))


def _with_timeout(seconds: float, ask: Callable[[], T]) -> T:
    """The return value of `ask`, or its error; TimeoutError after so many seconds.

    A look-up of a host name can outlast any timeout of the client. The thread is a daemon, since one that is
    stuck must not keep the process from ending.
    """
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except Exception as error:  # noqa: BLE001 raised again by the waiting thread
            answer.set_exception(error)

    Thread(target=run, daemon=True).start()
    return answer.result(timeout=seconds)
