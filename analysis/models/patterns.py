"""Scores and patterns of a text model of any architecture, known or not, without sources: every layer in one pass.

transformers' models call an attention function by name, so ours is told of every layer. Some ignore the name they
are given (BLOOM, MPNet, GPT-Neo, XLNet), and some do more to their scores than attention does (GPT-OSS has a sink):
calls are counted and the output is compared with the model's own, and where either differs nothing is offered.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.utils.generic import ModelOutput

from analysis.core.errors import ModelError
from analysis.models.capture import attention_implementation, no_cache, run_with_listener
from analysis.models.families import known_names
from analysis.models.submodules import run_model
from analysis.models.trace_sources import Layer, LayerListener

PREFIX = 8
"""Tokens of the text on which the model's own output is compared with ours."""
TOLERANCE = 1e-3
"""Of the range of the output: half precision rounds otherwise in another order of operations."""


def patterns(
    model: PreTrainedModel,
    inputs: Mapping[str, Tensor],
    on_layer: Callable[[Layer], None],
    *,
    edit: Callable[[Layer], Tensor] | None = None,
) -> ModelOutput | None:
    """Runs the model and calls `on_layer` for every layer's attention, in order; returns the model's output.

    inputs: `input_ids` (batch, token) and whatever else the model takes. edit: gives the scores, (batch, head,
    query, key), with which a layer continues, to intervene. The layers have no sources.
    Raises ModelError, before `on_layer` is called, where the model's attention cannot be seen.
    """
    check(model, inputs["input_ids"])
    return run_with_listener(model, inputs, LayerListener(on_layer, edit))


def attention_layers(config: PreTrainedConfig) -> list[bool]:
    """The layers of a model that have attention: all, but in hybrids with linear attention, convolutions or states."""
    config = config.get_text_config()
    kinds = getattr(config, "layer_types", None)
    if kinds is None:
        return [True] * config.num_hidden_layers
    return [kind.startswith("hybrid") or (kind.endswith("attention") and kind != "linear_attention") for kind in kinds]


def check(model: PreTrainedModel, ids: Tensor, *, hybrid: bool = False) -> None:
    """Refuses a model whose attention is not what the interface shows, tried on the first tokens of a text.

    hybrid: whether a model will do of which some layers have no attention. Raises ModelError for such a model.
    """
    name, families = type(model).__name__, known_names()
    if model.training:
        raise ModelError("The model is in training mode, where dropout changes its scores; call model.eval() first.")
    config = model.config.get_text_config()
    layers = getattr(config, "num_hidden_layers", None)
    if model.config.is_encoder_decoder or not isinstance(layers, int):
        what = "an encoder and a decoder" if model.config.is_encoder_decoder else "no count of its layers"
        raise ModelError(
            f"{name} has {what}, and attention can be shown for one stack of layers only. Choose a model of another "
            f"architecture, or of one that terms exist for: {families}."
        )
    counter, inputs = LayerListener(lambda _: None), {"input_ids": ids[:1, :PREFIX]}
    captured = _first_output(run_with_listener(model, inputs, counter))
    attending = sum(attention_layers(config))
    if not hybrid and counter.count == attending < layers:
        raise ModelError(
            f"{name} has attention in {attending} of its {layers} layers; patterns and interventions are offered of "
            "models that have it in every layer. Choose a model of another architecture, or of one that terms exist "
            f"for: {families}."
        )
    if counter.count != (attending if hybrid else layers):
        raise ModelError(
            f"{name} has {layers} layers and calls transformers' attention interface {counter.count} times, so that "
            "its attention cannot be read. Choose a model of another architecture, or of one that terms exist for: "
            f"{families}."
        )
    reference = _reference_output(model, inputs)
    if not float((captured - reference).abs().max()) <= TOLERANCE * max(
        float(reference.max() - reference.min()), TOLERANCE
    ):
        raise ModelError(
            f"{name} does more to its scores than scale, mask and softmax, so the attention that would be read is not "
            f"its own. Choose a model of another architecture, or of one that terms exist for: {families}."
        )


def _reference_output(model: PreTrainedModel, inputs: Mapping[str, Tensor]) -> Tensor:
    """The output of the model with transformers' own attention, written out."""
    with attention_implementation(model, "eager"), no_cache(model), torch.inference_mode():
        return _first_output(run_model(model, inputs))


def _first_output(output: ModelOutput | None) -> Tensor:
    assert output is not None  # no listener ended the pass
    return output[0].float()
