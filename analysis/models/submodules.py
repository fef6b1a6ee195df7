"""Parts of a model by their paths: names joined by dots, as `torch.nn.Module.get_submodule` takes them."""

from collections.abc import Mapping
from typing import Any, TypeVar

import torch
from torch import nn
from transformers import PreTrainedModel

from analysis.core.errors import ModelError
from analysis.models.foreign_errors import as_model_errors

Model = TypeVar("Model", bound=nn.Module)


def move_model(model: Model, device: str | None = None, dtype: torch.dtype | None = None) -> Model:
    """The same model, moved to a device or a precision: transformers wraps `to` so that its type is lost."""
    model.to(device=device, dtype=dtype)
    return model


def run_model(model: PreTrainedModel, inputs: Mapping[str, object]) -> Any:
    """The output of a model as it is, of its own class. Raises ModelError where the model's own code fails."""
    with as_model_errors(type(model).__name__):
        return model(**inputs)


def last_states(model: PreTrainedModel, output: object) -> torch.Tensor:
    """The final hidden states of a model's output, (batch, token, width). Raises ModelError where it has none."""
    states = getattr(output, "last_hidden_state", None)
    if not isinstance(states, torch.Tensor):
        raise ModelError(
            f"{type(model).__name__} gives no final hidden states for a text alone, so nothing can be compared. "
            "Choose a model of text."
        )
    return states


def word_table(model: PreTrainedModel) -> nn.Embedding:
    """The table of a model's words, (word, width). Raises ModelError where it has none."""
    with as_model_errors(type(model).__name__, "at giving its table of words"):
        table = model.get_input_embeddings()
    if not isinstance(table, nn.Embedding):
        raise ModelError(f"{type(model).__name__} has no table of words, and reads no text. Choose a model of text.")
    return table


def submodule_list(root: nn.Module, path: str) -> list[nn.Module]:
    """The modules of the list at a path. Raises ModelError where there is none."""
    modules = root.get_submodule(path)
    if not isinstance(modules, nn.ModuleList):
        raise ModelError(
            f"{type(root).__name__} has a {type(modules).__name__} at {path!r}, where its family expects a list of "
            "modules. Choose a model of a supported architecture."
        )
    return list(modules)


def attribute_number(module: nn.Module, name: str) -> float:
    """A number stored as an attribute of a module. Raises ModelError where there is none."""
    value = getattr(module, name, None)
    if not isinstance(value, int | float):
        raise ModelError(
            f"{type(module).__name__} keeps no number as {name!r}, so its own scores cannot be read. Choose a model "
            "of a supported architecture."
        )
    return value
