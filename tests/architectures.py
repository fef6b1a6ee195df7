"""Every architecture of transformers at a tiny size with random weights: what Addend does with it, and why not more.

    python -m tests.architectures            adds the rows that tests/architectures.csv lacks
    python -m tests.architectures --all      makes every row again
    python -m tests.architectures phi bert   runs these again, and leaves the other rows

No architecture is named here: configs are given small numbers for the sizes that their classes have, nested ones too.
Each runs in a process of its own, in turn, with a limit of time.
"""

import contextlib
import csv
import io
import json
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "unit"))
os.environ.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from family_specimens import randomised  # noqa: E402  # pyright: ignore[reportMissingImports]
from rotary_architectures import ADJUSTMENTS, SIZES  # noqa: E402  # pyright: ignore[reportMissingImports]
from tiny_tokenizers import byte_level  # noqa: E402  # pyright: ignore[reportMissingImports]
from transformers import CONFIG_MAPPING, MODEL_MAPPING, ViTImageProcessor, __version__  # noqa: E402

from analysis.commands import app  # noqa: E402
from analysis.core.errors import AddendError  # noqa: E402
from analysis.models.families import known_names  # noqa: E402

TABLE = Path(__file__).with_suffix(".csv")
ROOT = Path(__file__).parents[1]
SECONDS = 60
"""For one architecture."""
MAX_NUMBERS = 5_000_000
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
}  # fmt: skip
"""Numbers for fields under names that rotary architectures do not use."""
COLUMNS: tuple[str, ...] = ("architecture", "reads", "terms", "patterns", "interventions", "positions", "reason")


def shape_of(config_class: Any, adjusted: dict[str, Any], vocabulary: int) -> dict[str, Any]:
    """Small numbers for the fields of a config class, and of the configs in it."""
    names = {field.name for field in fields(config_class)} if is_dataclass(config_class) else set()
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


def built(name: str, vocabulary: int) -> Any:
    """A model of an architecture; raises the first complaint of its class."""
    config_class = CONFIG_MAPPING[name]
    kind: Any = MODEL_MAPPING[config_class]
    kind = kind[0] if isinstance(kind, tuple) else kind
    complaint: Exception | None = None
    failing: Any = None
    for adjusted in ADJUSTMENTS:
        try:
            config = config_class(**shape_of(config_class, adjusted, vocabulary))
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


def row_of(name: str) -> dict[str, str]:
    """What Addend does with an architecture."""
    tokenizer = byte_level()
    try:
        model = built(name, len(tokenizer))
    except Exception as error:  # noqa: BLE001
        return {"architecture": name, "reads": "", "reason": f"not built at a tiny size ({type(error).__name__})"}
    main = str(model.main_input_name)
    reads = {"input_ids": "text", "pixel_values": "image"}.get(main, main)
    if reads not in ("text", "image"):
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
    if reads == "image":
        ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
        given = ("--model", folder, "--image", "checkerboard")
        return {"terms": said("probe-image", *given), "interventions": said("intervene", *given)}
    return {
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
    for name in chosen:
        table[name] = alone(name)
        print(*(table[name].get(column, "") for column in COLUMNS), sep="; ", flush=True)
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(table[name] for name in every if name in table)
    print(f"{len(table)} of {len(every)} architectures of transformers {__version__}: {TABLE}")


def _stored() -> list[dict[str, str]]:
    if not TABLE.exists():
        return []
    with TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
