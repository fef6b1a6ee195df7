"""Comparison of the tensors in a checkpoint with those that its model has a place for.

A tensor that is missing would be random, one of another shape cannot be taken, and one that is left over means that
the model which is read is not the one that was trained: biases, adapters, or the scales of a quantisation. Left over
without harm are what no hidden state depends on: heads of other tasks, a pooler, and buffers that are computed anew.
"""

import re
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from transformers import CONFIG_MAPPING, MODEL_MAPPING, PreTrainedModel

from analysis.core.errors import ModelError

BUFFERS = re.compile(r"(^|\.)(position_ids|token_type_ids|(\w+_)?inv_freq|masked_bias|relative_position_index)$")
"""Buffers that older versions of transformers stored, and that every version computes from the config."""
POOLER = re.compile(r"(^|\.)pooler\.")
QUANTISED = re.compile(
    r"(^|[._])(scales?|scale_inv|weight_scale(_\w+)?|input_scale|zero_points?|qweight|qzeros|g_idx|absmax|quant_\w+|"
    r"nested_\w+|SCB|weight_format)$"
)
"""Names by which quantised weights store what their numbers are to be multiplied by, and the like."""
OTHER_HEADS = ("v_head", "embed_out")
"""Heads by names that no class of transformers has, by their first part: those that libraries for training add, and the
older name of GPT-NeoX's, under which transformers still stores it."""
NAMED = 3
"""Tensors that a sentence names, of those that it is about."""


def check_weights(
    model: PreTrainedModel, name: str, loading_info: Mapping[str, Collection[Any]], others: Collection[str] = ()
) -> None:
    """Refuses a checkpoint that is not the whole of its model, or more than that.

    loading_info: of transformers' `from_pretrained`: `missing_keys`, `mismatched_keys` and `unexpected_keys`.
    others: the first parts of the names of the tensors of other models in the same checkpoint, which are not read.
    Raises ModelError, which names tensors and, where they differ, both shapes.
    """
    _check_shapes(name, sorted(loading_info["mismatched_keys"]))
    _check_missing(model, name, sorted(key for key in loading_info["missing_keys"] if not POOLER.search(key)))
    over = left_over(model, [key for key in loading_info["unexpected_keys"] if key.split(".")[0] not in others])
    if not over:
        return
    scales = [key for key in over if QUANTISED.search(key)]
    cause = (
        f"Among them are scales of quantised weights ({scales[0]}), without which the others are not the model's. "
        "Save it dequantised"
        if scales
        else "Either config.json belongs to another model or it lacks a setting, such as one for biases. Save config "
        "and weights from one model"
    )
    raise ModelError(
        f"{name} holds {_counted(over)} that a {type(model).__name__} with its config.json has no place for; what is "
        f"read would not be the model that was trained. {cause}, or choose another."
    )


def other_parts(whole: str, part: str) -> set[str]:
    """The parts of the models of an architecture other than the one that is read, by the first part of their names."""
    config_class = CONFIG_MAPPING[whole]
    kind: Any = MODEL_MAPPING[config_class]
    with torch.device("meta"):
        model = kind(config_class())
    return {key.split(".")[0] for key in model.state_dict()} - {part}


def left_over(model: PreTrainedModel, unexpected: Collection[str]) -> list[str]:
    """The stored tensors that a model has no place for, less those that are known to be harmless; sorted."""
    suspects = [key for key in sorted(unexpected) if QUANTISED.search(key) or not _is_buffer_or_pooler(key)]
    if not suspects:
        return []
    heads, base = _head_tensors(model), {name for name, _ in model.base_model.named_children()}
    tops = {key.split(".")[0] for key in heads} - base | set(OTHER_HEADS)

    def harmless(key: str) -> bool:
        return not QUANTISED.search(key) and (key in heads or key.split(".")[0] in tops)

    return [key for key in suspects if not harmless(key)]


def _is_buffer_or_pooler(key: str) -> bool:
    return bool(BUFFERS.search(key) or POOLER.search(key))


def _head_tensors(model: PreTrainedModel) -> set[str]:
    """The names of the tensors that transformers' classes with a head have outside the model that they share."""
    module, base = sys.modules[type(model).__module__], type(model.base_model)
    result: set[str] = set()
    for kind in vars(module).values():
        if not (isinstance(kind, type) and issubclass(kind, PreTrainedModel)):
            continue
        if kind is base or kind.config_class is not type(model.config):
            continue
        try:
            with torch.device("meta"):
                headed = kind(model.config)
        except Exception:  # noqa: BLE001  an abstract class, or a task that this config is not for
            continue
        own = {id(part) for part in headed.base_model.modules()} if headed.base_model is not headed else set()
        for top, part in headed.named_children():
            if id(part) not in own:
                result.update(f"{top}.{key}" for key in part.state_dict())
        result.update(key for key, _ in headed.named_parameters(recurse=False))
    return result


def _check_shapes(name: str, mismatched: Sequence[tuple[str, Sequence[int], Sequence[int]]]) -> None:
    if not mismatched:
        return
    key, stored, expected = mismatched[0]
    others = f" ({len(mismatched) - 1} more tensors differ as well)" if len(mismatched) > 1 else ""
    raise ModelError(
        f"{name} stores {key} as {_size(stored)}, but by its config.json it is {_size(expected)}{others}; they do not "
        f"belong together. {_remedy(stored, expected)}"
    )


def _remedy(stored: Sequence[int], expected: Sequence[int]) -> str:
    if len(stored) == len(expected) == 2 and stored[1] == expected[1]:
        return (
            f"Set the number of its rows in config.json, such as max_position_embeddings or vocab_size, to what "
            f"gives {stored[0]:,}, if the weights are right, or choose another checkpoint."
        )
    return "Save config and weights from one model, or choose another checkpoint."


def _size(shape: Sequence[int]) -> str:
    return " by ".join(f"{length:,}" for length in shape) or "a single number"


def _check_missing(model: PreTrainedModel, name: str, missing: Sequence[str]) -> None:
    if not missing:
        return
    if model.config.is_encoder_decoder and all("decoder" in key.split(".") or "lm_head" in key for key in missing):
        raise encoder_only(name, model.config.model_type)
    raise ModelError(
        f"{name} lacks {len(missing)} of its weights ({missing[0]}, …); they would be random. "
        "Choose a complete checkpoint."
    )


def encoder_only(name: str, architecture: str) -> ModelError:
    """The sentence on a checkpoint of the encoder of an architecture that is read with its decoder alone."""
    return ModelError(
        f"{name} holds the encoder of an encoder-decoder model ({architecture}) without its decoder. Encoders alone "
        "are read of T5, mT5 and UMT5. Choose a model of one of these, or one of another architecture."
    )


def _counted(keys: Sequence[str]) -> str:
    """The number of tensors, with the names of the first few."""
    more = f" and {len(keys) - NAMED:,} more" if len(keys) > NAMED else ""
    return f"{len(keys):,} tensor{'s' * (len(keys) > 1)} ({', '.join(map(_shown, keys[:NAMED]))}{more})"


def _shown(key: str) -> str:
    """A tensor's name in a sentence: a stranger may call it anything, lines of a log included."""
    return key[:100] if key.isprintable() else repr(key[:100])
