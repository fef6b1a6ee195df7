"""Where positions enter a text model that no family knows, found by watching one pass of it.

An embedding whose output is consecutive rows of its own table gives positions, whatever the words are; one whose
output is the rows that the segments name gives segments; a module that gives a cosine and a sine of every token
turns queries and keys. It is enough for interventions; what else the model does with its words is not asked, so there
are no terms.
"""

from collections.abc import Mapping, Sequence
from inspect import signature

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from analysis.models.capture import listen
from analysis.models.families import Family
from analysis.models.patterns import Counter, check
from analysis.models.source_inputs import OutputSource, SourceInput

UNIT = 1e-3
"""How far cosine squared and sine squared may be from a constant; some models scale both."""


class InferredFamily(Family):
    """What was seen of a model. Its positions, where none were seen, may still enter in a way that cannot be."""

    known = False

    def __init__(
        self, title: str, seeds: Sequence[SourceInput], turns: Sequence[nn.Module], calls: Sequence[nn.Module]
    ) -> None:
        self.title = title
        self._seeds, self._turns, self._calls = tuple(seeds), tuple(turns), tuple(calls)

    def source_inputs(self, model: PreTrainedModel) -> Sequence[SourceInput]:
        """Tables of positions and of segments."""
        return self._seeds

    def attentions(self, model: PreTrainedModel) -> Sequence[nn.Module]:
        """The modules that called the attention function, in order."""
        return self._calls

    def rotations(self, model: PreTrainedModel) -> Sequence[nn.Module]:
        """The modules that gave cosines and sines."""
        return self._turns


def infer_family(model: PreTrainedModel, inputs: Mapping[str, Tensor]) -> InferredFamily:
    """Watches the model on a text, `input_ids` (1, token).

    Raises ModelError where its attention cannot be seen, as `analysis.models.patterns.check` does.
    """
    ids = inputs["input_ids"]
    check(model, ids)
    given = dict(inputs)
    length = ids.shape[1]
    kinds = getattr(model.config.get_text_config(), "type_vocab_size", 0)
    if kinds > 1 and "token_type_ids" in signature(model.base_model.forward).parameters:
        given["token_type_ids"] = (torch.arange(length, device=ids.device) % 2)[None]  # no text looks like this
    segments = given.get("token_type_ids")
    seeds: dict[nn.Module, SourceInput] = {}
    turns: dict[nn.Module, None] = {}

    def watch(module: nn.Module, _args: object, output: object) -> None:
        if (
            isinstance(module, nn.Embedding)
            and isinstance(output, Tensor)
            and output.shape[-2:] == (length, module.weight.shape[1])
        ):
            rows = output.reshape(-1, *output.shape[-2:])[0]
            if _named(module.weight, rows, ids[0]):
                return  # words, though their numbers may follow one another
            if length > 1 and _consecutive(module.weight, rows):
                seeds[module] = OutputSource("position", module)
            elif segments is not None and _named(module.weight, rows, segments[0]):
                seeds[module] = OutputSource("segment", module)
        elif _is_turn(output, length):
            turns[module] = None

    hooks = [module.register_forward_hook(watch) for module in model.modules()]
    calls: list[nn.Module] = []
    try:
        listen(model, given, Counter(lambda layer: calls.append(layer.call.module)))
    finally:
        for hook in hooks:
            hook.remove()
    return InferredFamily(type(model).__name__, list(seeds.values()), list(turns), calls)


def _consecutive(table: Tensor, rows: Tensor) -> bool:
    starts = (table[: len(table) - len(rows) + 1] == rows[0]).all(-1).nonzero().flatten().tolist()
    return any(torch.equal(table[start : start + len(rows)], rows) for start in starts)


def _named(table: Tensor, rows: Tensor, segments: Tensor) -> bool:
    return int(segments.max()) < len(table) and torch.equal(table[segments], rows)


def _is_turn(output: object, length: int) -> bool:
    """Whether this is a cosine and a sine of every token."""
    if not (isinstance(output, tuple) and len(output) == 2 and all(isinstance(x, Tensor) for x in output)):
        return False
    cos, sin = output
    if cos.shape != sin.shape or cos.ndim < 2 or cos.shape[-2] != length or not cos.is_floating_point():
        return False
    size = cos.float() ** 2 + sin.float() ** 2
    return bool(size.max() > 0) and float(size.max() - size.min()) <= UNIT * float(size.max())
