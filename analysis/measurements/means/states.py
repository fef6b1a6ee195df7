"""Hidden states of a model at every depth: entering layer 0, 1, ... and leaving the last layer."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from transformers import PreTrainedModel

from analysis.models.families import Family
from analysis.models.submodules import run_model
from analysis.models.trace_sources import trace_sources
from analysis.streams.tensor import decomposed


def hidden_states(
    model: PreTrainedModel,
    family: Family,
    ids: Int64[Tensor, "batch token"],
    run: Callable[[Mapping[str, Tensor]], object] | None = None,
) -> list[Float[Tensor, "batch token dim"]]:
    """One tensor more than there are layers. The last is what the last layer gives, before any final norm.

    run: what makes the pass, if not the model alone.
    """
    entering: list[Tensor] = []
    leaving: list[Tensor] = []

    def before(_module: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Tensor]) -> None:
        entering.append(args[0] if args else kwargs["hidden_states"])

    def after(_module: nn.Module, _args: object, output: Tensor | tuple[Tensor, ...]) -> None:
        leaving[:] = [output[0] if isinstance(output, tuple) else output]

    with ExitStack() as undo, torch.inference_mode():
        for module in dict.fromkeys(family.layers(model)):
            undo.callback(module.register_forward_pre_hook(before, with_kwargs=True).remove)
            undo.callback(module.register_forward_hook(after).remove)
        inputs = {"input_ids": ids.to(model.device)}
        run(inputs) if run else run_model(model, inputs)
    return [*entering, *leaving]


@contextmanager
def _entering(
    model: PreTrainedModel, family: Family, layer: int, change: Callable[[Tensor], Tensor | None]
) -> Iterator[None]:
    """A context in which `change` gets the hidden states that enter a layer, and may return others in their place."""
    layers = family.layers(model)
    # A module shared by several layers is called once for each.
    calls = iter(index for index, module in enumerate(layers) if module is layers[layer])

    def before(
        _module: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Tensor]
    ) -> tuple[tuple[Tensor, ...], dict[str, Tensor]] | None:
        if next(calls) != layer:
            return None
        changed = change(args[0] if args else kwargs["hidden_states"])
        if changed is None:
            return None
        return ((changed, *args[1:]), kwargs) if args else (args, kwargs | {"hidden_states": changed})

    hook = layers[layer].register_forward_pre_hook(before, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()


def parts_entering(model: PreTrainedModel, family: Family, inputs: Mapping[str, Tensor], layer: int) -> Tensor:
    """The hidden states that enter a layer, with the sources of method `frozen`."""
    items: list[Tensor] = []
    with _entering(model, family, layer, items.append):
        trace_sources(model, family, inputs, last=layer)
    return items[0]


@contextmanager
def split_entering(
    model: PreTrainedModel,
    family: Family,
    layer: int,
    split: Callable[[Tensor], Float[Tensor, "source batch token dim"]],
) -> Iterator[None]:
    """A context in which the hidden states that enter a layer are the sum of parts that `split` makes of them.

    The parts are followed through the layer.
    """
    with _entering(model, family, layer, lambda hidden: decomposed(hidden, list(split(hidden)))):
        yield
