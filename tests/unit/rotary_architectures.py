"""A tiny model of every text architecture of transformers that rotates queries and keys, found by its config class.

No architecture is named: a config class whose fields hold `rope_parameters` is given small numbers for its sizes.
"""

import copy
import json
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from inspect import Parameter, signature
from typing import Any

import torch
from family_specimens import randomised
from transformers import CONFIG_MAPPING, MODEL_MAPPING, PreTrainedConfig

SIZES: dict[str, Any] = {
    "vocab_size": 25, "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "num_hidden_layers": 4, "intermediate_size": 24, "max_position_embeddings": 64, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2, "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4,
    "num_experts_per_tok": 2, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 8, "n_group": 1,
    "topk_group": 1, "moe_num_experts": 4, "moe_k": 2, "moe_topk": 2, "q_lora_rank": 12, "kv_lora_rank": 12,
    "qk_rope_head_dim": 8, "qk_nope_head_dim": 6, "qk_head_dim": 14, "v_head_dim": 8, "hidden_size_per_layer_input": 8,
    "vocab_size_per_layer_input": 25, "num_kv_shared_layers": 0, "intermediate_size_mlp": 24,
    "expert_ffn_hidden_size": 8,
    "ffn_hidden_size": 24, "global_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "linear_key_head_dim": 8, "linear_value_head_dim": 8, "index_topk": 64, "index_n_heads": 2, "index_head_dim": 8,
    "ngram_vocab_size_ratio": 2, "emb_split_num": 2, "emb_neighbor_num": 2,
    "shared_intermediate_size": 24, "num_key_value_groups": 2, "d_model": 32, "num_heads": 4, "num_layers": 4,
    "d_ff": 24, "laurel_rank": 4, "vocab_size_lm": 25, "mamba_d_state": 8, "mamba_n_heads": 4, "mamba_d_head": 16,
    "mamba_expand": 2, "lru_width": 32, "attention_window_size": 64, "sliding_window": 6, "moe_layers": [],
}  # fmt: skip
"""Numbers for the fields of configs, by their names; a class takes those that it has."""
ADJUSTMENTS: tuple[dict[str, Any], ...] = (
    {},
    {"num_key_value_heads": 4},
    {"num_key_value_heads": 4, "num_key_value_groups": 1},
    {"num_experts_per_tok": 1},
    {"moe_intermediate_size": [8, 8]},
    {"layer_types": ["full_attention"] * 4},
    {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}},
    {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}, "head_dim": 8,
     "partial_rotary_factor": 1.0},
    {"num_key_value_heads": 4, "layer_types": ["full_attention"] * 4},
    {"head_dim": 16},
    {"head_dim": 16, "num_key_value_heads": 4},
)  # fmt: skip
"""What else classes want that the numbers do not suit, tried one after the other."""
MAX_NUMBERS = 3_000_000
"""Weights of a model: a class that takes more has sizes under other names."""


def model_class(config_class: type[PreTrainedConfig]) -> Any:
    """The class of models of a config, without a head."""
    found: Any = MODEL_MAPPING[config_class]
    return found[0] if isinstance(found, tuple) else found


def rotary_configs() -> Iterator[tuple[str, type[PreTrainedConfig]]]:
    """Every config class of a model that reads token ids and has parameters of rotations, by its model_type."""
    for name, config_class in CONFIG_MAPPING.items():
        if "rope_parameters" not in {field.name for field in fields(config_class)} or config_class not in MODEL_MAPPING:
            continue
        try:
            taken = signature(model_class(config_class).forward).parameters
        except ValueError:  # transformers names a class that it does not have
            continue
        # Models that take more at once, such as images, are not read here.
        if "input_ids" in taken and all(taken[key].default is not Parameter.empty for key in list(taken)[2:3]):
            yield name, config_class


def built(config_class: type[PreTrainedConfig], **changes: Any) -> Any:
    """A model of a class at a tiny size, random weights. Raises the last of its class's own complaints."""
    names = {field.name for field in fields(config_class)}
    last: Exception = ValueError(f"{config_class.__name__} is too large")
    for adjusted in ADJUSTMENTS:
        shape = {key: value for key, value in {**SIZES, **adjusted}.items() if key in names} | changes
        try:
            config = config_class(**copy.deepcopy(shape))
            with torch.device("meta"):
                empty = model_class(config_class)._from_config(config)
            if sum(weight.numel() for weight in empty.parameters()) > MAX_NUMBERS:
                break  # no adjustment makes it smaller
            model = randomised(model_class(config_class)._from_config(config, attn_implementation="eager"))
            with torch.inference_mode():
                model(input_ids=torch.arange(3, 20)[None])
        except Exception as error:  # noqa: BLE001  each class has complaints of its own
            last = error
            continue
        return model
    raise last


@cache
def architectures() -> dict[str, Any]:
    """The text architectures that can be built at a tiny size, by model_type. They are shared: change a copy."""
    found: dict[str, Any] = {}
    for name, config_class in rotary_configs():
        try:
            found[name] = built(config_class)
        except Exception:  # noqa: BLE001  the tests say how many there are
            continue
    return found


SCALED: tuple[dict[str, Any], ...] = (
    {"rope_theta": 5e5},
    {"rope_type": "linear", "factor": 4.0},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
     "original_max_position_embeddings": 32},
    {"rope_type": "dynamic", "factor": 2.0},
)  # fmt: skip
"""Parameters of rotations other than a class's own."""


def with_parameters(model: Any, number: int) -> Any:
    """A model of the same class whose layers all turn by one of `SCALED`; None where its class takes no such thing."""
    values = json.loads(model.config.to_json_string(use_diff=False))
    parameters = values["rope_parameters"]
    nested = [value for value in parameters.values() if isinstance(value, dict)]
    for each in nested or [parameters]:
        kept = {
            key: value for key, value in each.items() if key in ("rope_theta", "partial_rotary_factor", "mrope_section")
        }
        if each.get("rope_type") == "proportional":
            continue
        each.clear()
        each.update({"rope_type": "default", **kept, **SCALED[number]})
    values.pop("layer_rope_theta", None)
    try:
        other = type(model)._from_config(type(model.config).from_dict(values), attn_implementation="eager")
        with torch.inference_mode():
            other.eval()(input_ids=torch.arange(3, 20)[None])
    except Exception:  # noqa: BLE001  a class that knows fewer kinds complains in its own way
        return None
    return randomised(other)
