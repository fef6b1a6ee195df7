"""Model families: where each architecture keeps its embeddings, norms and projections.

A family is one file that registers one object under the `model_type` of its config.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from torch import Tensor, nn

from analysis.errors import ModelError
from analysis.models.expand import Factors
from analysis.registry import Registry, import_all


class Family(Protocol):
    """What the rest of the code asks of an architecture."""

    title: str

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Why a checkpoint with this config.json cannot be decomposed; None when it can."""
        ...

    def attention(self, model: Any, layer: int) -> nn.Module:
        """The module that calls the attention function at a layer."""
        ...

    def attends(self, config: Any) -> str:
        """Which keys a query attends to: "all", "causal", or "window 8" for eight on each side."""
        ...

    def expand(self, model: Any, inputs: Mapping[str, Tensor]) -> Factors:
        """Queries and keys of every source at layer 0, for a batch of one."""
        ...


FAMILIES: Registry[Family] = Registry("model family")


def family_of(config: Mapping[str, Any], name: str) -> Family:
    """The family of a model with this config.json. Raises ModelError where there are no exact terms for it."""
    architecture = str(config["model_type"])
    if architecture not in FAMILIES:
        raise ModelError(
            f"{name} is of the architecture {architecture!r}; exact terms exist for: {', '.join(FAMILIES)}. "
            "Choose a model of one of these."
        )
    if why := FAMILIES[architecture].refusal(config):
        raise ModelError(f"{name} is refused: {why}.")
    return FAMILIES[architecture]


import_all(__name__)
