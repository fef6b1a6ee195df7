"""Carries out an arm of surgery on a BERT-like model: changes its tables and the attention of its layers."""

from collections.abc import Callable, Sequence

from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from analysis.measurements.surgery import tables
from analysis.measurements.surgery.arms import FEWER, RANK, READ, Arm
from analysis.measurements.surgery.attention import (
    IMPLEMENTATION,
    EveryLayer,
    NoCross,
    RelativeBias,
    Rotary,
    Untied,
)
from analysis.measurements.surgery.tables import Tables
from analysis.models.submodules import attribute_number, submodule_list

Positions = Sequence[Float[Tensor, "slot hidden"]]
"""Mean positions of what enters each layer, as `analysis.measurements.means` measures them."""

TABLES: dict[str, Callable[[Tables], Tables]] = {
    "mean_position": tables.mean_position,
    "separated": lambda of: tables.separated(of, tables.directions(of.positions, RANK)),
    "separated_read": lambda of: tables.separated(of, tables.directions(of.positions[:READ], RANK)),
    "separated_read_fewer": lambda of: tables.separated(of, tables.directions(of.positions[:READ], FEWER)),
    "permuted": lambda of: tables.permuted(of, seed=0),
    "sinusoidal": tables.sinusoidal,
    "separated_at_random": lambda of: tables.separated(of, tables.random_directions(of.words.shape[1], RANK, seed=0)),
}
ATTENTION: dict[str, Callable[[nn.Module, Tensor], nn.Module]] = {
    "no_cross": lambda module, positions: NoCross(positions),
    "rotary": lambda module, positions: Rotary(len(positions), int(attribute_number(module, "attention_head_size"))),
    "untied": lambda module, positions: Untied(positions, module),
    "every_layer": lambda module, positions: EveryLayer(positions, module, own=False),
    "two_matrices": lambda module, positions: EveryLayer(positions, module, own=True),
    "relative_bias": lambda module, positions: RelativeBias(
        len(positions), int(attribute_number(module, "num_attention_heads"))
    ),
}
"""Makes an arm's attention from an attention module and the mean positions of its layer's input."""


def operate(model: PreTrainedModel, arm: Arm, positions: Positions) -> None:
    """Changes a BERT-like model for good, and stops the training of its embedding tables."""
    words, places = tables.weights(model)
    if arm.tables:
        new = TABLES[arm.tables](tables.tables(model))
        words.data = new.words.to(words.dtype)
        places.data = new.positions.to(places.dtype)
    for table in (words, places, model.base_model.get_parameter("embeddings.token_type_embeddings.weight")):
        table.requires_grad_(False)
    encoder = model.base_model
    assert isinstance(encoder, PreTrainedModel)
    encoder.set_attn_implementation(IMPLEMENTATION)
    if arm.attention:
        for layer, at in zip(submodule_list(encoder, "encoder.layer"), positions, strict=False):
            module = layer.get_submodule("attention.self")
            module.surgery = ATTENTION[arm.attention](module, at)
