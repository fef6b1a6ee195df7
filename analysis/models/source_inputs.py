"""The places where sources enter a model, and a context in which the model's pass follows each of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from analysis.core.errors import ModelError
from analysis.core.term_names import SOURCES
from analysis.streams import gates
from analysis.streams.rules import activation
from analysis.streams.tensor import DecomposedTensor, from_source, total


@dataclass(frozen=True)
class OutputSource:
    """The whole output of a module belongs to the source: a table of embeddings."""

    source: str
    module: nn.Module


@dataclass(frozen=True)
class WeightSource:
    """A parameter or buffer of a module belongs to the source: a table that is added unchanged."""

    source: str
    module: nn.Module
    name: str


@dataclass(frozen=True)
class InputSource:
    """An input of the model belongs to the source: pixels."""

    source: str
    name: str


SourceInput = OutputSource | WeightSource | InputSource


@contextmanager
def follow_sources(
    model: nn.Module, seeds: Sequence[SourceInput], inputs: Mapping[str, object]
) -> Iterator[dict[str, object]]:
    """Within, the model's forward pass on what is yielded follows every source from where it enters.

    Raises ModelError for an activation without a gate.
    """
    arguments = dict(inputs)
    with ExitStack() as stack:
        for seed in seeds:
            index = SOURCES.index(seed.source)
            if isinstance(seed, InputSource):
                entering = arguments[seed.name]
                assert isinstance(entering, Tensor)
                arguments[seed.name] = from_source(entering, index, len(SOURCES))
            elif isinstance(seed, WeightSource):
                stack.enter_context(
                    replaced_weight(seed.module, seed.name, partial(from_source, source=index, sources=len(SOURCES)))
                )
            else:
                hook = seed.module.register_forward_hook(_to_source(index))
                stack.callback(hook.remove)
        for module in model.modules():
            kind = type(module)
            if gate := gates.MODULES.get(kind.__name__):
                stack.enter_context(_fixed_gate(module, gate))
            elif kind.__name__ in gates.PIECEWISE and kind.__module__ in gates.HOMES:
                stack.enter_context(_fixed_gate(module, None))
            elif kind.__module__ in gates.HOMES and kind.__name__ not in gates.NO_GATE:
                raise ModelError(
                    f"The model's activation {kind.__name__} has no gate here, so everything that passes it would be "
                    "credited to the bias. Choose a model with another activation, or add its gate to "
                    "analysis/streams/gates.py."
                )
        yield arguments


def _to_source(index: int) -> Callable[[nn.Module, object, Tensor], DecomposedTensor]:
    return lambda _module, _args, output: from_source(output, index, len(SOURCES))


@contextmanager
def replaced_weight(module: nn.Module, name: str, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within, a parameter or buffer of a module is replaced by `change` of it."""
    # Not by setattr, which takes nothing but a Parameter where one was.
    container = vars(module)["_parameters" if name in module._parameters else "_buffers"]
    original = container[name]
    container[name] = change(original.detach())
    try:
        yield
    finally:
        container[name] = original


@contextmanager
def _fixed_gate(module: nn.Module, gate: gates.Gate | None) -> Iterator[None]:
    """The activation computes the total by its own code; the parts get its gate, or the ratio of output to input."""
    pending: list[DecomposedTensor] = []

    def before(_module: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        if isinstance(args[0], DecomposedTensor):
            pending.append(args[0])
        return (total(args[0]), *args[1:])

    def after(_module: nn.Module, _args: tuple[object, ...], output: Tensor) -> Tensor:
        applied_gate = gate or (lambda states: torch.where(states == 0, 0, output / states))
        return activation(pending.pop(), output, applied_gate) if pending else output

    hooks = [module.register_forward_pre_hook(before), module.register_forward_hook(after)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
