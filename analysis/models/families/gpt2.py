"""GPT-2: learned absolute positions added to the word, and every norm before what it serves."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class Gpt2(Family):
    """`transformers` GPT2Model and whatever wraps it (Radford et al. 2019)."""

    title = "GPT-2"

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The two tables that are summed."""
        return OutputSource("word", model.base_model.wte), OutputSource("position", model.base_model.wpe)

    def layers(self, model: Any) -> Sequence[Any]:
        """GPT2Block."""
        return list(model.base_model.h)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each block."""
        return [layer.attn for layer in model.base_model.h]


FAMILIES.add("gpt2", Gpt2())
