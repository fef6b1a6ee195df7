"""Model families: where each architecture's sources enter and where its layers are.

A family that the names of its tables and modules describe is an entry of `named_tables.py`; one with code of its own
is a file that registers one object under the `model_type` of its config. Everything between the places it names is
followed by the rules of analysis/streams, through the model's own code.
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack

from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from analysis.core.errors import ModelError, NoFamily
from analysis.core.registry import Registry, import_all
from analysis.core.term_names import SCORE_BIAS
from analysis.models.rotary_tables import in_form_of, parts
from analysis.models.source_inputs import OutputSource, SourceInput
from analysis.models.submodules import attribute_number, submodule_list

Turns = Tensor | tuple[Tensor, Tensor]
"""The output of a module that rotates queries and keys: cosine and sine, or both in one tensor."""


class Description(TypedDict, total=False):
    """The attributes of a family that an entry of `named_tables.py` may give, as `Family` explains them."""

    tables: Sequence[tuple[str, str]]
    layer_list: str
    attention: str
    rotation: str
    positions: str
    loader: str
    always_gated: bool


class Family:
    """The description of an architecture.

    An entry or a subclass gives at least `title`, `tables`, `layer_list` and `attention`; where a path does not
    suffice, a subclass overrides `source_inputs`, `layers` or `attentions`. Paths are names joined by dots, as
    `torch.nn.Module.get_submodule` takes them.
    """

    title: str
    tables: Sequence[tuple[str, str]] = ()
    """Of every source that is a module's whole output, such as a table of embeddings: its name, and the module's path
    from the base model."""
    layer_list: str
    """The path from the base model of the list of layers, whose outputs are the hidden states."""
    attention: str
    """The path from a layer of the module that calls the attention function."""
    rotation: str | None = None
    """The path from the base model of the module that rotates queries and keys; None where they are not rotated."""
    positions: str = "added"
    """The way in which positions enter: added, rotated, score_bias, disentangled or none."""
    loader: str = "AutoModel"
    """The class of transformers that loads the required part of a checkpoint."""
    custom_attention: bool = False
    """True if its attention code ignores transformers' interface; `scale` and `added` describe such code."""
    known: bool = True
    """True if it has terms, since a file here describes it."""
    reads: str = "text"
    """The kind of its input: text or image."""

    distances: str = ""
    """Of `custom_attention`: the argument of its attention modules that says how far apart query and key are, where
    `added` depends on what is compared as well as on that."""

    always_gated: bool = False
    """True if its feed-forward is a gated unit, whatever its config says."""

    def __init__(self, title: str | None = None, *, kin: bool = False, **description: Unpack[Description]) -> None:
        """kin: of an architecture that differs from another one in its name alone."""
        if title is not None:
            self.title = title
        self.kin = kin
        vars(self).update(description)

    def refusal(self, config: Mapping[str, object]) -> str | None:
        """The reason why a checkpoint with this config.json cannot be decomposed; None when it can."""
        return None

    def source_inputs(self, model: PreTrainedModel) -> Sequence[SourceInput]:
        """The places where the sources enter."""
        return [OutputSource(source, model.base_model.get_submodule(path)) for source, path in self.tables]

    def layers(self, model: PreTrainedModel) -> Sequence[nn.Module]:
        """The modules whose outputs are the hidden states, in the order of the forward pass; shared ones repeat."""
        return submodule_list(model.base_model, self.layer_list)

    def attentions(self, model: PreTrainedModel) -> Sequence[nn.Module]:
        """The modules that call the attention function, one per layer, in the order of the forward pass."""
        return [layer.get_submodule(self.attention) for layer in self.layers(model)]

    def position_kind(self, config: PreTrainedConfig) -> str:
        """The way in which positions enter a model with this config: `positions`, where the family is of one kind."""
        return self.positions

    def rotations(self, model: PreTrainedModel) -> Sequence[nn.Module]:
        """The modules that give the (cosine, sine) by which queries and keys are rotated; none where they are not.

        A module may be called more than once a pass, with a different rotation each time.
        """
        return () if self.rotation is None else (model.base_model.get_submodule(self.rotation),)

    def split_rotation(self, output: Turns) -> tuple[Tensor, Tensor]:
        """The cosine and sine, (..., token, dim), in the output of such a module."""
        return parts(output)

    def join_rotation(self, cos: Tensor, sin: Tensor, like: Turns) -> Turns:
        """Cosine and sine in the form of the module's output, `like`."""
        return in_form_of(like, cos, sin)

    def longest(self, config: PreTrainedConfig) -> int | None:
        """The number of tokens that it has positions for; None where there is no end."""
        if self.positions in ("score_bias", "none"):
            return None
        rows = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or 0
        rope = getattr(config, "rope_parameters", None) or {}
        if rope.get("rope_type") == "dynamic":  # which begins where training ended
            rows = int(rows * rope["factor"])
        return rows if rows > 0 else None

    def scale(self, module: nn.Module) -> float:
        """Of `custom_attention`: the factor by which the product of queries and keys is multiplied.

        1 / sqrt(head dim), as in Vaswani et al. 2017, unless a subclass says otherwise.
        """
        return attribute_number(module, "attention_head_size") ** -0.5

    def added(self, module: nn.Module, arguments: Mapping[str, object], query: Tensor, key: Tensor) -> Sequence[Tensor]:
        """Of `custom_attention`: what is added to its scores, from the module's arguments or its own methods.

        query, key: the factors of the product, (batch head token dim), without parts. One tensor for each of
        `bias_terms`, or none where nothing is added.
        """
        return ()

    def gated(self, config: PreTrainedConfig) -> bool:
        """True if its feed-forward is a gated unit, of which one factor has to be held."""
        return self.always_gated

    def bias_terms(self, config: PreTrainedConfig) -> tuple[str, ...]:
        """The terms to which the model's score bias belongs: of `ADDED_TERMS`, or one of the sixteen."""
        return (SCORE_BIAS,)


FAMILIES: Registry[Family] = Registry("model family")


def family_of(config: Mapping[str, object], name: str) -> Family:
    """The family of a model with this config.json. Raises NoFamily where there are no terms for it."""
    result = known_family(config, name)
    if result is None:
        raise NoFamily(
            f"{name} is of the architecture {str(config['model_type'])!r}; terms exist for: {known_names()}. "
            "Choose a model of one of these."
        )
    return result


def known_names() -> str:
    """The architectures that are described here; the others differ from one of these in their names."""
    names = sorted(architecture for architecture, family in FAMILIES.items() if not family.kin)
    return f"{', '.join(names)}, and their kin that analysis/models/README.md lists"


def known_family(config: Mapping[str, object], name: str) -> Family | None:
    """The family, or None where there is none; raises ModelError for a checkpoint that its family refuses."""
    architecture = str(config["model_type"])
    if architecture not in FAMILIES:
        return None
    if reason := FAMILIES[architecture].refusal(config):
        raise ModelError(f"{name} is refused: {reason}.")
    return FAMILIES[architecture]


def longest(config: PreTrainedConfig) -> int | None:
    """The number of tokens that a model, of a family or of none, has positions for."""
    family = FAMILIES[config.model_type] if config.model_type in FAMILIES else Family()
    return family.longest(config)


import_all(__name__)
