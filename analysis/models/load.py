"""Loads a model for probing: safetensors only, never remote code, float32, on the best device there is."""

import math
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self

import torch
import transformers
from safetensors import safe_open
from torch.nn.modules.module import register_module_module_registration_hook
from transformers import (
    CONFIG_MAPPING,
    AutoImageProcessor,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES
from transformers.utils import logging

from analysis.core.errors import ModelError
from analysis.core.provenance import model_options
from analysis.models.checkpoint_weights import check_weights, encoder_only, other_parts
from analysis.models.families import FAMILIES
from analysis.models.foreign_errors import place
from analysis.models.source import PARTS, Progress, Source, whole_of
from analysis.models.submodules import last_states, move_model, run_model, word_table

MIN_TOKEN_SHARE = 0.9
"""The least number of tokens for every row of the word table, where tokenizer and model belong together."""
MAX_LAYERS = 1_000
MAX_LABELS = 100_000
"""Each becomes an object of the config, whatever is stored."""
MAX_MODULES = 100_000
"""The parts of a model, each of which becomes an object before its weights are counted."""
MAX_SIZE_RATIO = 3
"""The largest model, in multiples of the stored numbers: some are shared, a head or a pooler may be missing."""
SPARE_NUMBERS = 30_000_000
"""More than that, for masks and angles that some models keep as buffers."""
HALF_DTYPES = {"F16": torch.float16, "BF16": torch.bfloat16}
"""By safetensors' names."""

_loading = threading.Lock()
logging.disable_progress_bar()
logging.set_verbosity_error()
"""Its warnings would write into the log whatever a stranger calls a weight; what matters of them is checked here."""
CAUSAL_TOKENS = 8
"""Tokens of the sequences by which a causal model is known."""
FIRST_WORD = 5
"""Vocabularies begin with special tokens."""
NEGLIGIBLE = 1e-5
"""Of the change at the changed token itself: rounding."""


@dataclass(frozen=True)
class Loaded:
    """A model in evaluation mode with its tokenizer or, where it reads images, its image processor."""

    model: PreTrainedModel
    tokenizer: Any
    source: Source
    device: str
    dtype: torch.dtype = torch.float32
    """The type that the weights are stored in; they are read as float32."""

    headed: bool = False
    """True if it was loaded with its head; some checkpoints have none."""

    @classmethod
    def of(cls, model: PreTrainedModel, tokenizer: Any) -> Self:
        """A model that the caller opened, of no source that is known."""
        return cls(model, tokenizer, Source(name="", revision="", folder=Path(), config={}), str(model.device))

    def serves(self, head: bool) -> bool:
        """True if it serves a request that needs the head of the model, or one that does not."""
        return self.headed or not head

    def with_head(self, head: bool) -> "Loaded":
        """The same weights, without the head if `head` is false."""
        if head or not self.headed or self.model.get_output_embeddings() is None:
            return self
        return replace(self, model=self.model.base_model, headed=False)

    def facts(self, called: str | None = None) -> dict[str, Any]:
        """The fields of a run that describe its model; `called` is its name in the results instead of the source's."""
        return {
            "model": called or self.source.name,
            "revision": self.source.revision,
            "device": self.device,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "architecture": self.source.family,
            "causal": is_causal(self.model),
        }

    def command(self, verb: str, called: str | None = None) -> str:
        """The command that does something with this model again, without its other options."""
        return f"python -m analysis {verb} {model_options(self.source.name, self.source.revision, called)}"


def best_device() -> str:
    """cuda when there is one, then mps, then cpu."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _safe_config(config: Mapping[str, object]) -> PreTrainedConfig:
    """A config without implementation fields: config.json may name attention code to be downloaded from a hub."""
    values = {key: with_infinities(value) for key, value in config.items() if "implementation" not in key}
    return CONFIG_MAPPING[str(config["model_type"])].from_dict(values, attn_implementation="eager")


INFINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def with_infinities(value: Any) -> Any:
    """A value of a config.json with the numbers that JSON does not have, which transformers writes as
    `{"__float__": "Infinity"}`; those of Mamba 2 and its kin hold one."""
    if isinstance(value, Mapping):
        if set(value) == {"__float__"} and isinstance(value["__float__"], str):
            return INFINITE.get(value["__float__"], value)
        return {key: with_infinities(inner) for key, inner in value.items()}
    return [with_infinities(inner) for inner in value] if isinstance(value, list) else value


HEADS = {
    "ForMaskedLM": "AutoModelForMaskedLM",
    "ForCausalLM": "AutoModelForCausalLM",
    "LMHeadModel": "AutoModelForCausalLM",
}
"""Suffixes of classes whose heads predict tokens, and the class of transformers that loads them."""


ENCODER_ALONE = ("Encoder", "EncoderModel")
"""Suffixes of classes that are the encoder of an architecture whose AutoModel has a decoder, too."""


class Loader(Protocol):
    """A class of transformers that loads models, such as `AutoModel` or `T5EncoderModel`."""

    def from_pretrained(self, folder: Path, **options: object) -> tuple[PreTrainedModel, Mapping[str, Sequence[str]]]:
        """The model, and with `output_loading_info` the names of its weights that were not there, and others."""
        ...

    def __call__(self, config: PreTrainedConfig) -> PreTrainedModel:
        """A model of this config, with random weights. Classes whose name begins with Auto have `from_config`."""
        ...


def _loader(source: Source, head: bool) -> Loader:
    """The class of transformers that loads a checkpoint; if `head`, with the head that its config names."""
    saved = source.config.get("architectures")
    names = [str(name) for name in saved] if head and isinstance(saved, list) else []
    head_loaders = (loader for name in names for suffix, loader in HEADS.items() if name.endswith(suffix))
    default = FAMILIES[source.family].loader if source.family in FAMILIES else "AutoModel"
    alone = str(saved[0]) if isinstance(saved, list) and saved else ""
    if source.family not in FAMILIES and alone.endswith(ENCODER_ALONE) and alone not in _read_by_auto(source):
        if not alone.endswith("EncoderModel") or not hasattr(transformers, alone):
            raise encoder_only(source.name, source.family)
        default = alone
    return getattr(transformers, next(head_loaders, default))


def _read_by_auto(source: Source) -> Sequence[str]:
    """The names of the classes by which AutoModel reads a model of this architecture."""
    names = MODEL_MAPPING_NAMES.get(source.family, ())
    return (names,) if isinstance(names, str) else tuple(names)


def load(
    source: Source, device: str | None = None, progress: Progress = lambda _: None, *, head: bool = False
) -> Loaded:
    """Reads tokenizer (or image processor) and weights. Raises ModelError where they are incomplete or not finite.

    head: with the head that predicts tokens, where the checkpoint has one; its terms and states are the same.
    """
    progress(f"Loading {source.name}")
    device = device or best_device()
    images = source.family in FAMILIES and FAMILIES[source.family].reads == "image"
    # Of an image processor's two implementations the one on Pillow: the other needs torchvision.
    processor_class, options = (AutoImageProcessor, {"backend": "pil"}) if images else (AutoTokenizer, {})
    reading = "reading its config.json"
    with _loading:
        try:
            source.check_unchanged()
            _check_counts(source.config, source.name)
            config, loader = _safe_config(source.config), _loader(source, head)
            reading = "making a model of its config.json"
            _check_size(config, loader, source)
            reading = f"reading its {'image processor' if images else 'tokenizer'}"
            tokenizer: Any = processor_class.from_pretrained(
                source.folder, trust_remote_code=False, local_files_only=True, **options
            )
            reading = "reading its weights"
            model, loading_info = loader.from_pretrained(
                source.folder,
                config=config,
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                dtype=torch.float32,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # so that they are listed; `check_weights` refuses them
            )
        except ModelError:
            raise
        except Exception as error:
            source.check_unchanged()
            # Each library below raises kinds of its own for a damaged file, and tokenizers plain Exception.
            raise ModelError(
                f"{source.name} could not be loaded: {reading} failed ({place(error)}). "
                f"Save it again with save_pretrained, {'image processor' if images else 'tokenizer'} included, or "
                "choose another."
            ) from error
    source.check_unchanged()
    if not images and not tokenizer.is_fast:
        raise ModelError(
            f"{source.name} has a tokenizer in Python ({type(tokenizer).__name__}), which does not say what word a "
            "token belongs to. Choose a model with a tokenizer.json."
        )
    whole = whole_of(source.folder)
    others = other_parts(whole, PARTS[whole][2]) if whole else ()
    check_weights(model, source.name, loading_info, others)
    broken_weight = next((name for name, weight in model.named_parameters() if not weight.isfinite().all()), None)
    if broken_weight:
        raise ModelError(
            f"{source.name} has weights that are not finite ({broken_weight}); choose an intact checkpoint."
        )
    if not images:
        _check_vocabulary(tokenizer, model, source.name)
    dtype, _ = _stored_weights(source.folder)
    return Loaded(move_model(model.eval(), device), tokenizer, source, device, dtype, headed=head)


def _check_size(config: PreTrainedConfig, loader: Loader, source: Source) -> None:
    """Refuses a config that asks for far more weights than there are: they would be made up, in memory."""
    _check_counts(config.to_dict(), source.name)
    with torch.device("meta"), _limited_modules(source.name):
        empty = getattr(loader, "from_config", loader)(config)
    needed = sum(x.numel() for x in (*empty.parameters(), *empty.buffers()))
    stored = _stored_weights(source.folder)[1]
    if needed > MAX_SIZE_RATIO * stored + SPARE_NUMBERS:
        raise ModelError(
            f"{source.name} has a config.json for a model of {needed:,} numbers but weights files of {stored:,}; they "
            "do not belong together. Choose a complete checkpoint."
        )


def _check_counts(config: Mapping[str, object], name: str) -> None:
    """Refuses a config with so many layers, groups of layers or labels that reading it alone would take all memory."""
    for part, limit in (("layer", MAX_LAYERS), ("group", MAX_LAYERS), ("num_labels", MAX_LABELS)):
        count = max((value for key, value in _numbers(config) if part in key), default=0)
        if count > limit:
            raise ModelError(
                f"{name} says it has {count:,} {part.removeprefix('num_').rstrip('s')}s; at most {limit:,} allowed."
            )


@contextmanager
def _limited_modules(name: str) -> Iterator[None]:
    """Refuses a model of very many parts while it is being made by this thread."""
    thread, modules = threading.get_ident(), 0

    def count(_: object, __: str, ___: object) -> None:
        nonlocal modules
        modules += threading.get_ident() == thread
        if modules > MAX_MODULES:
            raise ModelError(f"{name} says it has more than {MAX_MODULES:,} parts; at most that many are accepted.")

    hook = register_module_module_registration_hook(count)
    try:
        yield
    finally:
        hook.remove()


def _numbers(config: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    """Every whole number of a config with its name, nested ones too."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _numbers(value)
        elif isinstance(value, int):
            yield str(key), value


def _check_vocabulary(tokenizer: PreTrainedTokenizerFast, model: PreTrainedModel, name: str) -> None:
    """Refuses a tokenizer of another model. Tables are often padded by a few rows, and tokens added that have none."""
    rows, tokens = word_table(model).num_embeddings, tokenizer.vocab_size
    if not MIN_TOKEN_SHARE * rows <= len(tokenizer) or tokens > rows:
        raise ModelError(
            f"{name} has a tokenizer of {len(tokenizer)} tokens but a model of {rows}; they do not belong together. "
            "Save both from one checkpoint into the folder."
        )


def _stored_weights(folder: Path) -> tuple[torch.dtype, int]:
    """The dtype of most of the weights in a folder, and the number of weights, by the headers of its files."""
    sizes: Counter[str] = Counter()
    for file in folder.glob("*.safetensors"):
        with safe_open(file, framework="pt") as weights:
            for key in weights.keys():  # noqa: SIM118  not a dictionary
                tensor = weights.get_slice(key)
                sizes[tensor.get_dtype()] += math.prod(tensor.get_shape())
    return HALF_DTYPES.get(sizes.most_common(1)[0][0], torch.float32), sizes.total()


def is_causal(model: PreTrainedModel) -> bool:
    """True where no token's state depends on a later token, as the model's config has it set.

    It is seen in a pass of two sequences that differ in their last token. A config names it in many ways, or not at
    all (`is_decoder`, `use_bidirectional_attention`, the class of its head); the pass follows whatever it says.
    """
    if model.main_input_name != "input_ids":
        return False
    vocabulary = int(model.config.get_text_config().vocab_size)
    ids = (torch.arange(CAUSAL_TOKENS) + FIRST_WORD).remainder(vocabulary).expand(2, -1).clone()
    ids[1, -1] = (FIRST_WORD - 1) % vocabulary
    ids = ids.to(model.device)
    base = model.base_model
    assert isinstance(base, PreTrainedModel)
    with torch.inference_mode():
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        states = last_states(base, run_model(base, inputs)).float()
    change = (states[0] - states[1]).abs().amax(-1)
    return bool(change[:-1].max() <= NEGLIGIBLE * change[-1])
