"""Measures the loss when one layer does not rotate a band of wavelengths, on predictions or on hidden states.

The bands of a rotary layer give the share of its scores that depends on position; this measures its effect on the
layers after it.
"""

import time
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.utils.generic import ModelOutput

from analysis.core.errors import ModelError
from analysis.core.wavelengths import BANDS
from analysis.measurements.interventions.measures import cosines
from analysis.measurements.positions.measure import bands_of
from analysis.measurements.positions.result import Unturned
from analysis.measurements.positions.rotation import Rotation
from analysis.measurements.positions.without_rotation import (
    at_angle_zero,
    rotations,
    unrotated_calls,
)
from analysis.measurements.terms.run import encode, provenance
from analysis.models.load import Loaded
from analysis.models.rotary_tables import ROTATION_ARGUMENT
from analysis.models.submodules import run_model

MAX_PASSES = 400
"""Layers times bands, above which a reader would wait too long."""


def remove_rotation(loaded: Loaded, text: str, *, truncate: bool = False) -> Unturned:
    """Every band of every layer unturned alone, and every layer's bands at once; one pass each.

    With a head that predicts tokens the outcome is the mean KL divergence of its predictions, in nats a token; without
    one, 1 less the mean cosine of the final hidden states. Of a causal model the loss on the text, too.
    Raises ModelError where the model turns nothing that is understood, or where there would be too many passes.
    """
    model = loaded.model
    if getattr(model.config.get_text_config(), "num_kv_shared_layers", 0):
        raise ModelError(
            f"Layers of {loaded.source.name or type(model).__name__} use the keys of earlier layers, so the rotation "
            "cannot be removed from one layer alone. Choose a model whose layers compute their own keys."
        )
    inputs, tokens, cut_from = encode(loaded.tokenizer, text, None, model, truncate)
    started = time.perf_counter()
    with torch.inference_mode():
        calls = unrotated_calls(model, inputs)
        turns = rotations(calls)
        bands = [[] if rotation is None else bands_of(rotation) for rotation in turns]
        passes = sum(bool(band) for layer in bands for band in layer) + len(bands)
        if passes > MAX_PASSES:
            raise ModelError(
                f"Removing the rotation from every band of {len(bands)} layers takes {passes} passes, more than the "
                f"{MAX_PASSES} that are done here. Choose a smaller model."
            )
        baseline = _output(run_model(model, inputs))
        width = baseline.shape[-1]
        headed = width == getattr(model.config, "vocab_size", 0) and width != model.config.hidden_size
        outcome = _divergence if headed else _cosine_distance
        causal = headed and "CausalLM" in type(model).__name__
        ids = inputs["input_ids"][0]
        values = np.full((len(calls), len(BANDS) + 1), np.nan)
        losses = np.full_like(values, np.nan)
        before = _loss(baseline, ids) if causal else np.nan
        for layer, (attention_call, rotation) in enumerate(zip(calls, turns, strict=True)):
            if attention_call is None or rotation is None:
                continue
            for number, pairs in enumerate([*bands[layer], list(range(len(rotation.pairs)))]):
                if not pairs:
                    continue
                output = _output(_forward_without_rotation(model, inputs, attention_call.call.module, rotation, pairs))
                values[layer, number] = outcome(baseline, output)
                if causal:
                    losses[layer, number] = _loss(output, ids) - before
    about = provenance(loaded, text, started, truncated_from=cut_from)
    measure = (
        "KL divergence of the predictions (nats per token)" if headed else "1 minus the cosine of final hidden states"
    )
    return Unturned(
        values=values, losses=losses, loss=float(before), measure=measure, tokens=len(tokens), provenance=about
    )


def _forward_without_rotation(
    model: PreTrainedModel, inputs: Mapping[str, Tensor], module: nn.Module, rotation: Rotation, pairs: list[int]
) -> ModelOutput:
    """A pass in which one attention leaves these pairs unturned."""
    columns = rotation.columns[pairs].flatten().unique()

    def before(
        _module: nn.Module, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        rotation_input = kwargs[ROTATION_ARGUMENT]
        assert isinstance(rotation_input, Tensor | tuple)
        return args, {**kwargs, ROTATION_ARGUMENT: at_angle_zero(rotation_input, columns)[0]}

    hook = module.register_forward_pre_hook(before, with_kwargs=True)
    try:
        return run_model(model, inputs)
    finally:
        hook.remove()


def _output(output: ModelOutput) -> Tensor:
    """Logits, or the final hidden states, of the text: (token, width)."""
    return output[0][0].float()


def _divergence(baseline: Tensor, changed: Tensor) -> float:
    return float(
        functional.kl_div(changed.log_softmax(-1), baseline.log_softmax(-1), log_target=True, reduction="batchmean")
    )


def _cosine_distance(baseline: Tensor, changed: Tensor) -> float:
    return float(1 - cosines(baseline, changed).mean())


def _loss(logits: Tensor, ids: Tensor) -> float:
    return float(functional.cross_entropy(logits[:-1], ids[1:]))
