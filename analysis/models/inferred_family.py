"""Infers from one forward pass where positions enter a text model that no family describes.

An embedding whose output is consecutive rows of its own table gives positions, whatever the words are; one whose
output is the rows that the segments name gives segments; a module that gives a cosine and a sine of every token, or
both as a complex number, rotates queries and keys. That suffices for interventions, but not for terms.
"""

from collections.abc import Mapping, Sequence
from inspect import signature

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from analysis.models.capture import run_with_listener
from analysis.models.families import Family
from analysis.models.patterns import check
from analysis.models.rotary_tables import is_table
from analysis.models.source_inputs import OutputSource, SourceInput
from analysis.models.trace_sources import LayerListener


class InferredFamily(Family):
    """Observations of a model. Positions that were not observed may still enter in another way."""

    known = False

    def __init__(
        self, title: str, seeds: Sequence[SourceInput], rotations: Sequence[nn.Module], attentions: Sequence[nn.Module]
    ) -> None:
        super().__init__(title)
        self._seeds, self._rotations, self._attentions = tuple(seeds), tuple(rotations), tuple(attentions)

    def source_inputs(self, model: PreTrainedModel) -> Sequence[SourceInput]:
        """Tables of positions and of segments."""
        return self._seeds

    def attentions(self, model: PreTrainedModel) -> Sequence[nn.Module]:
        """The modules that called the attention function, in order."""
        return self._attentions

    def rotations(self, model: PreTrainedModel) -> Sequence[nn.Module]:
        """The modules that gave cosines and sines."""
        return self._rotations


def infer_family(model: PreTrainedModel, inputs: Mapping[str, Tensor]) -> InferredFamily:
    """Watches the model on a text, `input_ids` (1, token).

    Raises ModelError where its attention cannot be seen, as `analysis.models.patterns.check` does.
    """
    ids = inputs["input_ids"]
    check(model, ids)
    arguments = dict(inputs)
    length = ids.shape[1]
    segments_known = getattr(model.config.get_text_config(), "type_vocab_size", 0)
    if segments_known > 1 and "token_type_ids" in signature(model.base_model.forward).parameters:
        arguments["token_type_ids"] = (torch.arange(length, device=ids.device) % 2)[None]  # no text looks like this
    segments = arguments.get("token_type_ids")
    seeds: dict[nn.Module, SourceInput] = {}
    rotations: dict[nn.Module, None] = {}

    def watch(module: nn.Module, _args: object, output: object) -> None:
        if (
            isinstance(module, nn.Embedding)
            and isinstance(output, Tensor)
            and output.shape[-2:] == (length, module.weight.shape[1])
        ):
            rows = output.reshape(-1, *output.shape[-2:])[0]
            if _are_rows_at(module.weight, rows, ids[0]):
                return  # words, though their numbers may follow one another
            if length > 1 and _are_consecutive_rows(module.weight, rows):
                seeds[module] = OutputSource("position", module)
            elif segments is not None and _are_rows_at(module.weight, rows, segments[0]):
                seeds[module] = OutputSource("segment", module)
        elif is_table(output, length):
            rotations[module] = None

    hooks = [module.register_forward_hook(watch) for module in model.modules()]
    attentions: list[nn.Module] = []
    try:
        run_with_listener(model, arguments, LayerListener(lambda layer: attentions.append(layer.call.module)))
    finally:
        for hook in hooks:
            hook.remove()
    return InferredFamily(type(model).__name__, list(seeds.values()), list(rotations), attentions)


def _are_consecutive_rows(table: Tensor, rows: Tensor) -> bool:
    starts = (table[: len(table) - len(rows) + 1] == rows[0]).all(-1).nonzero().flatten().tolist()
    return any(torch.equal(table[start : start + len(rows)], rows) for start in starts)


def _are_rows_at(table: Tensor, rows: Tensor, indices: Tensor) -> bool:
    return int(indices.max()) < len(table) and torch.equal(table[indices], rows)
