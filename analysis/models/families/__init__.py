"""Model families: where each architecture's sources enter and where its layers are.

A family is one file that registers one object under the `model_type` of its config. Everything between
the places it names is followed by the rules of analysis/streams, through the model's own code.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from analysis.core.errors import ModelError, NoFamily
from analysis.core.registry import Registry, import_all
from analysis.core.term_names import SCORE_BIAS
from analysis.models.source_inputs import SourceInput


class Family:
    """What the rest of the code asks of an architecture. Subclasses say at least `title`, `seeds`, `layers`."""

    title: str
    positions: str = "added"
    """How positions enter: added, rotated, score_bias, disentangled or none."""
    loader: str = "AutoModel"
    """The class of transformers that loads the part of a checkpoint which is wanted."""
    own_attention: bool = False
    """Whether its attention is code of its own that ignores transformers' interface; `scale` and `added` are for it."""
    known: bool = True
    """Whether a file here describes it, so that there are terms."""
    reads: str = "text"
    """What it is given: text, or an image."""

    distances: str = ""
    """Of `own_attention`: the argument of its attention modules that says how far apart query and key are, where
    `added` depends on what is compared as well as on that."""

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Why a checkpoint with this config.json cannot be decomposed; None when it can."""
        return None

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """Where the sources enter."""
        raise NotImplementedError

    def layers(self, model: Any) -> Sequence[Any]:
        """The modules whose outputs are the hidden states, in the order of the forward pass; shared ones repeat."""
        raise NotImplementedError

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The modules that call the attention function, one per layer, in the order of the forward pass."""
        raise NotImplementedError

    def position_kind(self, config: Any) -> str:
        """How positions enter a model with this config: `positions`, where the family is of one kind."""
        return self.positions

    def rotations(self, model: Any) -> Sequence[nn.Module]:
        """The modules that give the (cosine, sine) by which queries and keys are turned; none where they are not.

        A module may be called more than once a pass, and give another turn each time.
        """
        return ()

    def turns_of(self, given: Any) -> tuple[Tensor, Tensor]:
        """The cosine and sine, (..., token, dim), in what such a module gives."""
        return given

    def turns_as_given(self, cos: Tensor, sin: Tensor) -> Any:
        """The same in the form in which the module gives it."""
        return cos, sin

    def longest(self, config: Any) -> int | None:
        """The number of tokens that it has positions for; None where there is no end."""
        if self.positions in ("score_bias", "none"):
            return None
        rows = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or 0
        turns = getattr(config, "rope_parameters", None) or {}
        if turns.get("rope_type") == "dynamic":  # which begins where training ended
            rows = int(rows * turns["factor"])
        return rows if rows > 0 else None

    def scale(self, module: Any) -> float:
        """Of `own_attention`: what the product of the two factors that its code multiplies is multiplied by."""
        raise NotImplementedError

    def added(self, module: Any, given: Mapping[str, Any], query: Tensor, key: Tensor) -> Sequence[Tensor]:
        """Of `own_attention`: what is added to its scores, from what the module was given or its own methods.

        query, key: the factors that were multiplied, (batch head token dim), wholes. One tensor for each of
        `bias_terms`, or none where nothing is added.
        """
        return ()

    def gated(self, config: Any) -> bool:
        """Whether its feed-forward is a gated unit, of which one factor has to be held."""
        return False

    def bias_terms(self, config: Any) -> tuple[str, ...]:
        """The terms that whatever the model adds to its scores is: of `ADDED_TERMS`, or one of the sixteen."""
        return (SCORE_BIAS,)


FAMILIES: Registry[Family] = Registry("model family")


def family_of(config: Mapping[str, Any], name: str) -> Family:
    """The family of a model with this config.json. Raises NoFamily where there are no terms for it."""
    result = known_family(config, name)
    if result is None:
        raise NoFamily(
            f"{name} is of the architecture {str(config['model_type'])!r}; terms exist for: {', '.join(FAMILIES)}. "
            "Choose a model of one of these."
        )
    return result


def known_family(config: Mapping[str, Any], name: str) -> Family | None:
    """The family, or None where there is none; raises ModelError for a checkpoint that its family refuses."""
    architecture = str(config["model_type"])
    if architecture not in FAMILIES:
        return None
    if why := FAMILIES[architecture].refusal(config):
        raise ModelError(f"{name} is refused: {why}.")
    return FAMILIES[architecture]


def longest(config: Any) -> int | None:
    """The number of tokens that a model, of a family or of none, has positions for."""
    family = FAMILIES[config.model_type] if config.model_type in FAMILIES else Family()
    return family.longest(config)


import_all(__name__)
