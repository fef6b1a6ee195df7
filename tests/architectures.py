"""Every architecture of transformers at a tiny size with random weights: what Addend does with it, and why not more.

    python -m tests.architectures            adds the rows that tests/architectures.csv lacks
    python -m tests.architectures --all      makes every row again
    python -m tests.architectures phi bert   runs these again, and leaves the other rows

No architecture is named here: configs are given small numbers for the sizes that their classes have, nested ones too.
Each runs in a process of its own, in turn, with a limit of time.
"""

import contextlib
import csv
import fcntl
import io
import json
import os
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "unit"))
os.environ.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from family_specimens import randomised  # noqa: E402  # pyright: ignore[reportMissingImports]
from rotary_architectures import ADJUSTMENTS, SIZES, model_class  # noqa: E402  # pyright: ignore[reportMissingImports]
from tiny_tokenizers import byte_level  # noqa: E402  # pyright: ignore[reportMissingImports]
from transformers import (  # noqa: E402
    CONFIG_MAPPING,
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING,
    MODEL_FOR_IMAGE_MAPPING,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
    MODEL_FOR_MASKED_LM_MAPPING,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    MODEL_FOR_TEXT_ENCODING_MAPPING,
    MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING,
    MODEL_MAPPING,
    ViTImageProcessor,
    __version__,
)

from analysis.commands import app  # noqa: E402
from analysis.core.errors import AddendError  # noqa: E402
from analysis.models.families import known_names  # noqa: E402
from analysis.models.foreign_errors import place  # noqa: E402

TABLE = Path(__file__).with_suffix(".csv")
ROOT = Path(__file__).parents[1]
SECONDS = 60
"""For one architecture."""
MAX_NUMBERS = 40_000_000
TEXT = "The cat sat on the mat, and the dog saw the cat."
MORE_SIZES: dict[str, Any] = {
    "n_embd": 32, "n_layer": 2, "n_head": 4, "n_layers": 2, "n_heads": 4, "dim": 32, "hidden_dim": 24, "n_inner": 24,
    "n_positions": 64, "ffn_dim": 24, "d_inner": 24, "d_head": 8, "d_kv": 8, "emb_dim": 32, "embedding_size": 32,
    "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "image_size": 32, "patch_size": 8, "num_channels": 3, "mlp_dim": 24,
    "projection_dim": 32, "num_hash_buckets": 64, "max_source_positions": 64, "max_target_positions": 64,
    "depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 24, 32], "num_hidden_layers": 2, "num_layers": 2, "embed_dim": 32,
    "rotary_dim": 4, "num_decoder_layers": 2, "num_encoder_layers": 2, "mlp_ratio": 1, "out_hidden_size": 32,
    "depth": 2, "n_ctx": 64, "block_sizes": [1, 1], "bottleneck_size": 8, "intra_bottleneck_size": 8,
    "word_embed_proj_dim": 32, "attention_hidden_size": 32, "state_size": 8, "time_step_rank": 4, "num_blocks": 2,
    "dim_ff": 24, "dim_model": 32, "dim_head": 8, "num_mem_blocks": 1, "max_seq_len": 64, "decoder_ffn_size": 24,
    "prediction_length": 4, "num_groups": 8, "encoder_hash_byte_group_vocab": 64, "width_coefficient": 0.25,
    "depth_coefficient": 0.1, "base_channels": 32,
    "axial_pos_shape": [8, 8], "axial_pos_embds_dim": [16, 16], "attn_layers": ["local", "local"],
    "entity_vocab_size": 64, "entity_emb_size": 8, "d_latents": 32, "num_latents": 8, "n_shared_experts": 1,
    "mamba_d_ssm": 64, "attention_types": [[["global", "local"], 1]],
}  # fmt: skip
"""Numbers for fields under names that rotary architectures do not use."""
OF_THE_OLD_SIZES: tuple[str, ...] = (
    "per_layer_config", "out_features", "out_indices", "_out_features", "_out_indices", "stage_names", "attribute_map",
)  # fmt: skip
"""Fields that name layers by their numbers."""
GIVEN: dict[str, Any] = {
    "vocabulary_map": {"<image>": 5}, "attention_types": [[["global", "local"], 1]], "mrope_section": [2, 1, 1],
}  # fmt: skip
"""Fields whose own values are of other sizes, or of none."""
MORE_ADJUSTMENTS: tuple[dict[str, Any], ...] = (
    {},
    {"image_size": 64, "hidden_size": 32, "num_heads": 2, "num_key_value_heads": 4},
    {"hidden_sizes": 32, "embed_dim": 32, "depths": 1, "num_heads": 4, "image_size": 64},
    {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}},
    {"num_key_value_heads": 4},
    {"num_key_value_heads": 4, "qk_rope_head_dim": 0, "rope_head_dim": 0},
    {"hidden_size": 128, "head_dim": 32},
)
"""What else is tried of a class's own config."""
BACKBONE: dict[str, Any] = {
    "use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None,
    "backbone_config": {"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 8, 16, 16],
                        "depths": [1, 1, 1, 1], "out_features": ["stage1", "stage2", "stage3", "stage4"]},
}  # fmt: skip
"""A small network of transformers' own in the place of one of another package."""
READERS: tuple[Any, ...] = (
    MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING, MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING, MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING, MODEL_FOR_TEXT_ENCODING_MAPPING, MODEL_FOR_IMAGE_MAPPING,
    MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING,
)  # fmt: skip
"""transformers' own lists of models of texts and images."""
COLUMNS: tuple[str, ...] = (
    "architecture", "reads", "terms", "images", "patterns", "interventions", "positions", "reason",
)  # fmt: skip
"""terms: of a text (`probe`); images: of an image (`probe-image`)."""


def shape_of(config_class: Any, adjusted: dict[str, Any], vocabulary: int) -> dict[str, Any]:
    """Small numbers for the fields of a config class, and of the configs in it."""
    names = _names(config_class)
    numbers = {**SIZES, **MORE_SIZES, **adjusted, "vocab_size": vocabulary, "vocab_size_per_layer_input": vocabulary}
    for key in ("layer_types", "moe_layers"):
        if isinstance(numbers.get(key), list):
            numbers[key] = numbers[key][:2]
    shape = {key: value for key, value in numbers.items() if key in names}
    if shape.get("qk_nope_head_dim"):
        shape.pop("head_dim", None)
    for key, nested in (getattr(config_class, "sub_configs", None) or {}).items():
        if is_dataclass(nested):
            shape[key] = shape_of(nested, adjusted, vocabulary)
    return shape


def shrunk(values: dict[str, Any], numbers: dict[str, Any]) -> dict[str, Any]:
    """The fields of a config with small numbers of the same types, its nested configs too.

    Of what it lists for each layer, the first and the last layer's are kept.
    """
    small = {key: value for key, value in values.items() if key not in OF_THE_OLD_SIZES}
    layers = [values.get(key) for key in ("num_hidden_layers", "num_layers", "n_layers", "n_layer")]
    for key, value in small.items():
        number = numbers.get(key)
        if key in GIVEN:
            small[key] = GIVEN[key]
        elif isinstance(value, dict):
            small[key] = {**shrunk(value, numbers), **(number if isinstance(number, dict) else {})}
        elif isinstance(value, list | tuple):
            short = [*value[:1], *value[-1:]] if len(value) in layers and len(value) > 2 else list(value)
            small[key] = (
                [number] * len(short) if isinstance(number, int) and all(type(x) is int for x in short) else short
            )
        elif isinstance(value, float) and isinstance(number, int | float):
            small[key] = float(number)
        elif type(value) is type(number) or (value is None and key in ("head_dim", "num_key_value_heads")):
            small[key] = number
    return small


def configs(config_class: Any, vocabulary: int) -> Iterator[Callable[[], Any]]:
    """Ways to a small config of a class: by the fields that it declares, then by what its own config holds."""
    for adjusted in ADJUSTMENTS:
        yield lambda adjusted=adjusted: config_class(**shape_of(config_class, adjusted, vocabulary))
    for adjusted in MORE_ADJUSTMENTS:

        def of_its_own(adjusted: dict[str, Any] = adjusted) -> Any:
            numbers = {**SIZES, **MORE_SIZES, **adjusted, "vocab_size": vocabulary}
            own = config_class(**{key: value for key, value in BACKBONE.items() if key in _names(config_class)})
            return config_class.from_dict(shrunk(own.to_dict(), numbers))

        yield of_its_own


def _names(config_class: Any) -> set[str]:
    return {field.name for field in fields(config_class)} if is_dataclass(config_class) else set()


def built(name: str, vocabulary: int) -> Any:
    """A model of an architecture; raises the first complaint of its class."""
    config_class = CONFIG_MAPPING[name]
    kind: Any = model_class(config_class)
    complaint: Exception | None = None
    failing: Any = None
    for config_of in configs(config_class, vocabulary):
        try:
            config = config_of()
            with torch.device("meta"):
                empty = kind._from_config(config)
            numbers = sum(weight.numel() for weight in empty.parameters())
            if numbers > MAX_NUMBERS:
                raise OverflowError(f"{numbers:,} weights at these sizes")
            model = randomised(kind._from_config(config, attn_implementation="eager"))
            failing = failing or model
            if model.main_input_name == "input_ids" and not config.is_encoder_decoder:
                with torch.inference_mode():
                    model(input_ids=torch.arange(3, 20)[None])
            return model
        except Exception as error:  # noqa: BLE001  each class has complaints of its own
            complaint = complaint or error
    if failing is not None:  # sizes that its own code fails with, which is to be said as well
        return failing
    assert complaint is not None
    raise complaint


def said(*arguments: str) -> str:
    """Empty where a command succeeds, or DIFFERENT where it finds a fault; else the sentence, or the traceback."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            app(list(arguments), standalone_mode=False)
    except AddendError as refused:
        return str(refused)
    except SystemExit:
        return ""
    except Exception as error:  # noqa: BLE001  what this script is to find
        if type(error).__name__ == "Exit":
            return "DIFFERENT" if "DIFFERENT" in out.getvalue() else f"EXIT: {out.getvalue()[-200:]}"
        frames = traceback.extract_tb(error.__traceback__)
        return f"TRACEBACK: {type(error).__name__}: {error} at {frames[-1].filename}:{frames[-1].lineno}"[:400]
    return ""


def not_built(error: Exception) -> str:
    """The reason why there is no model of an architecture to try, in a clause."""
    missing = re.search(r"requires the (\w+) library", str(error))
    if missing:
        return f"not built: transformers takes it from the package {missing[1]}, which is not installed"
    if isinstance(error, OverflowError):
        return f"not built at a tiny size: it has {error}"
    return f"not built at a tiny size: its code in transformers failed ({place(error)})"


def row_of(name: str) -> dict[str, str]:
    """What Addend does with an architecture."""
    tokenizer = byte_level()
    try:
        model = built(name, len(tokenizer))
    except Exception as error:  # noqa: BLE001
        return {"architecture": name, "reads": "", "reason": not_built(error)}
    main = str(model.main_input_name)
    reads = {"input_ids": "text", "pixel_values": "image"}.get(main, main)
    if main == "input_ids" and getattr(model.config, "vision_config", None) is not None:
        reads = "text and image"
    if reads not in ("text", "image", "text and image"):
        return {"architecture": name, "reads": reads, "reason": "reads neither text nor images"}
    with tempfile.TemporaryDirectory(prefix="addend-architecture-") as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        outcomes = outcomes_of(folder, reads)
    row, reasons = {"architecture": name, "reads": reads}, list[str]()
    others = f"terms exist for: {known_names()}"
    for column, outcome in outcomes.items():
        row[column] = "DIFFERENT" if outcome == "DIFFERENT" else "no" if outcome else "yes"
        sentence = outcome.replace(folder, name).replace(str(ROOT), "").replace(others, "terms exist for others")
        if sentence not in ("", "DIFFERENT", *reasons):
            reasons.append(sentence)
    row["reason"] = " | ".join(reasons)
    return row


def outcomes_of(folder: str, reads: str) -> dict[str, str]:
    """What the commands say of a model, by column; see `said`."""
    images = {}
    if reads != "text":
        ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
        given = ("--model", folder, "--image", "checkerboard")
        images = {"images": said("probe-image", *given)}
        if reads == "image":
            return {**images, "interventions": said("intervene", *given)}
    return {
        **images,
        "terms": said("probe", "--model", folder, "--text", TEXT),
        "patterns": patterns(folder),
        "interventions": said("intervene", "--model", folder, "--text", TEXT),
        "positions": said("positions", folder, "--text", TEXT),
    }


def patterns(folder: str) -> str:
    """Empty where attention patterns can be had; else the sentence, or the traceback."""
    from analysis.probes.text_probe import PatternsRequest

    try:
        PatternsRequest(model=folder, text=TEXT).run()
    except AddendError as refused:
        return str(refused)
    except Exception as error:  # noqa: BLE001  what this script is to find
        frames = traceback.extract_tb(error.__traceback__)
        return f"TRACEBACK: {type(error).__name__}: {error} at {frames[-1].filename}:{frames[-1].lineno}"[:400]
    return ""


def alone(name: str) -> dict[str, str]:
    """A row, made in a process of its own that is ended after `SECONDS`."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        row = {"architecture": name, "reason": "TRACEBACK: the process ended"}
        try:
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
            row = row_of(name)
        finally:
            os.write(write, json.dumps(row).encode()[:60_000])
            os._exit(0)  # without what the parent registered for its own end
    os.close(write)
    deadline, ended = time.monotonic() + SECONDS, 0
    while not ended and time.monotonic() < deadline:
        ended, _ = os.waitpid(child, os.WNOHANG)
        time.sleep(0.02)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return {"architecture": name, "reason": f"took more than {SECONDS} s"}
    with os.fdopen(read, "rb") as pipe:
        content = pipe.read()
    return json.loads(content) if content else {"architecture": name, "reason": "TRACEBACK: the process was killed"}


def main() -> None:
    """Runs architectures in turn, and writes the table after each: one that stops the script loses no other."""
    torch.set_num_threads(1)
    every = sorted(name for name, config_class in CONFIG_MAPPING.items() if config_class in MODEL_MAPPING)
    table = {} if sys.argv[1:] == ["--all"] else {row["architecture"]: row for row in _stored()}
    named = [name for name in sys.argv[1:] if name != "--all"]
    chosen = named or [name for name in every if name not in table]
    if sys.argv[1:] == ["--all"]:
        TABLE.unlink(missing_ok=True)
    for name in sorted(chosen, key=_reads_neither):
        row = alone(name)
        print(*(row.get(column, "") for column in COLUMNS), sep="; ", flush=True)
        table = _keep(row, every)
    print(f"{len(table)} of {len(every)} architectures of transformers {__version__}: {TABLE}")


def _reads_neither(name: str) -> bool:
    """True of those that come last: models of sound, of video or of numbers, as far as transformers' lists tell."""
    config_class = CONFIG_MAPPING[name]
    return not any(config_class in mapping for mapping in READERS)


def _keep(row: dict[str, str], every: list[str]) -> dict[str, dict[str, str]]:
    """Writes a row into the table on disk, to which another process may be adding as well; returns the table."""
    with (Path(tempfile.gettempdir()) / "addend-architectures.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        table = {kept["architecture"]: kept for kept in _stored()}
        table[row["architecture"]] = row
        partial = TABLE.with_suffix(".part")
        with partial.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(table[name] for name in every if name in table)
        partial.replace(TABLE)
    return table


def _stored() -> list[dict[str, str]]:
    if not TABLE.exists():
        return []
    with TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
