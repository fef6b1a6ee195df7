"""Finds the width of a variant's feed-forward layers that gives it as many parameters as another variant."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from analysis.ablation.variants import Setting


def parameters(config: Mapping[str, Setting]) -> int:
    """The number of parameters of a model with these fields of AddendConfig; no memory is taken for them."""
    return _parameters(json.dumps(dict(config), sort_keys=True))


def reached_parameters(config: Mapping[str, Setting], length: int) -> int:
    """The number of parameters that training on windows of `length` tokens reaches.

    Rows of positions beyond that length, and tables of positions that are fixed, are left out.
    """
    from analysis.ablation.encoder import AddendConfig

    reached: dict[str, Any] = {**config, "max_position_embeddings": length}
    fixed = config.get("combine", "none") != "none" and config.get("position") != "learned"
    return parameters(reached) - (length * AddendConfig(**reached).position_width if fixed else 0)


@lru_cache(maxsize=256)
def _parameters(config: str) -> int:
    import torch

    from analysis.ablation.encoder import AddendConfig, AddendForMaskedLM

    with torch.device("meta"):
        model = AddendForMaskedLM(AddendConfig(**json.loads(config)))
    return sum(parameter.numel() for parameter in model.parameters())


def matched_width(
    config: Mapping[str, Setting], reference: Mapping[str, Setting], reached_length: int | None = None
) -> int:
    """The intermediate_size with which `config` comes near to the number of parameters of `reference`.

    A multiple of 8, in which processors compute fastest. reached_length: the length in tokens of the windows that both
    are trained on, if only the parameters that training reaches are to be counted.
    """

    def count(fields: Mapping[str, Setting]) -> int:
        return parameters(fields) if reached_length is None else reached_parameters(fields, reached_length)

    width = int(config["intermediate_size"])
    # One dimension more is a row, a column and a bias in each layer.
    per_dimension = int(config["num_hidden_layers"]) * (2 * int(config["hidden_size"]) + 1)
    exact = width + (count(reference) - count(config)) / per_dimension
    return max(8, 8 * round(exact / 8))
