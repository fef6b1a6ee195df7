"""Model families: where each architecture's sources enter and where its layers are.

A family is one file that registers one object under the `model_type` of its config. Everything between
the places it names is followed by the rules of analysis/streams, through the model's own code.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

from analysis.errors import ModelError
from analysis.models.seeds import Seed
from analysis.registry import Registry, import_all
from analysis.sources import SCORE_BIAS


class Family:
    """What the rest of the code asks of an architecture. Subclasses say at least `title`, `seeds`, `layers`."""

    title: str
    positions: str = "added"
    """How positions enter: added, rotated, score_bias, disentangled or none."""
    reads: str = "text"
    """What it is given: text, or an image."""

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Why a checkpoint with this config.json cannot be decomposed; None when it can."""
        return None

    def seeds(self, model: Any) -> Sequence[Seed]:
        """Where the sources enter."""
        raise NotImplementedError

    def layers(self, model: Any) -> Sequence[nn.Module]:
        """The modules whose outputs are the hidden states, in the order of the forward pass; shared ones repeat."""
        raise NotImplementedError

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The modules that call the attention function, one per layer, in the order of the forward pass."""
        raise NotImplementedError

    def rotations(self, model: Any) -> Sequence[nn.Module]:
        """The modules that give the (cosine, sine) by which queries and keys are turned; none where they are not."""
        return ()

    def gated(self, config: Any) -> bool:
        """Whether its feed-forward is a gated unit, of which one factor has to be held."""
        return False

    def bias_term(self, config: Any) -> str:
        """The term that whatever the model adds to its scores is: score_bias, or one of the sixteen."""
        return SCORE_BIAS


FAMILIES: Registry[Family] = Registry("model family")


def family_of(config: Mapping[str, Any], name: str) -> Family:
    """The family of a model with this config.json. Raises ModelError where there are no terms for it."""
    architecture = str(config["model_type"])
    if architecture not in FAMILIES:
        raise ModelError(
            f"{name} is of the architecture {architecture!r}; terms exist for: {', '.join(FAMILIES)}. "
            "Choose a model of one of these."
        )
    if why := FAMILIES[architecture].refusal(config):
        raise ModelError(f"{name} is refused: {why}.")
    return FAMILIES[architecture]


import_all(__name__)
