"""How wide a variant's feed-forward layers must be for it to have as many parameters as another."""

import json
from collections.abc import Mapping
from functools import lru_cache

from analysis.ablation.variants import Setting


def parameters(config: Mapping[str, Setting]) -> int:
    """The number of parameters of a model with these fields of AddendConfig; no memory is taken for them."""
    return _parameters(json.dumps(dict(config), sort_keys=True))


@lru_cache(maxsize=256)
def _parameters(config: str) -> int:
    import torch

    from analysis.ablation.encoder import AddendConfig, AddendForMaskedLM

    with torch.device("meta"):
        model = AddendForMaskedLM(AddendConfig(**json.loads(config)))
    return sum(parameter.numel() for parameter in model.parameters())


def matched_width(config: Mapping[str, Setting], reference: Mapping[str, Setting]) -> int:
    """The intermediate_size with which `config` comes near to the number of parameters of `reference`.

    A multiple of 8, in which processors compute fastest.
    """
    width = int(config["intermediate_size"])
    # One dimension more is a row, a column and a bias in each layer.
    per_dimension = int(config["num_hidden_layers"]) * (2 * int(config["hidden_size"]) + 1)
    exact = width + (parameters(reference) - parameters(config)) / per_dimension
    return max(8, 8 * round(exact / 8))
