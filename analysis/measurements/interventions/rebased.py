"""Frequencies of a model's tables for another base, where its config scales them in a way that depends on the base.

YaRN and Llama 3 scale some pairs and leave others, by their wavelengths, which the base gives. transformers' own
formulas say what its tables would be with another base.
"""

import copy
from collections.abc import Iterator, Mapping

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from analysis.models.rotary_tables import columns_of, frequencies, turning

BY_BASE = ("yarn", "llama3")
"""Kinds of scaling that depend on the base."""
CLOSE = 1e-4
"""Relative difference below which a table is that of a formula."""


def rebased(
    config: PreTrainedConfig, by: float, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]] | None:
    """A table as it would be with a base so many times as large; None where no formula that depends on it made it."""
    groups = columns_of(cos, sin)
    own = frequencies(cos, sin)
    for before, after in _formulas(config.get_text_config(), by):
        first = own[[columns[0] for columns in groups]].cpu()
        if len(before) == len(first) and torch.allclose(first, before, rtol=CLOSE, atol=1e-7):
            new = own.clone()
            for columns, frequency in zip(groups, after.tolist(), strict=True):
                new[columns] = frequency
            return turning(new, cos, sin)
    return None


def _formulas(config: PreTrainedConfig, by: float) -> Iterator[tuple[Tensor, Tensor]]:
    """The frequencies of every kind of layers whose scaling depends on the base, as they are and with another base."""
    parameters = getattr(config, "rope_parameters", None) or {}
    nested = [key for key, value in parameters.items() if isinstance(value, Mapping) and "rope_type" in value]
    for kind in nested or [None]:
        mine = parameters[kind] if kind else parameters
        if mine.get("rope_type") not in BY_BASE:
            continue
        other = copy.deepcopy(config)
        others = other.rope_parameters[kind] if kind else other.rope_parameters
        others["rope_theta"] = others["rope_theta"] * by
        made = [
            ROPE_INIT_FUNCTIONS[mine["rope_type"]](each, torch.device("cpu"), **({"layer_type": kind} if kind else {}))[
                0
            ].double()
            for each in (config, other)
        ]
        yield made[0], made[1]
