"""Where sources enter a model, and the model run with each source followed from there."""

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
    """What a module gives is this source's, whole: a table of embeddings."""

    source: str
    module: nn.Module


@dataclass(frozen=True)
class WeightSource:
    """A parameter or buffer of a module is this source's: a table that is added as it stands."""

    source: str
    module: nn.Module
    name: str


@dataclass(frozen=True)
class InputSource:
    """An input of the model is this source's: pixels."""

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
    given = dict(inputs)
    with ExitStack() as undo:
        for start in seeds:
            number = SOURCES.index(start.source)
            if isinstance(start, InputSource):
                entering = given[start.name]
                assert isinstance(entering, Tensor)
                given[start.name] = from_source(entering, number, len(SOURCES))
            elif isinstance(start, WeightSource):
                undo.enter_context(
                    replaced_weight(start.module, start.name, partial(from_source, source=number, sources=len(SOURCES)))
                )
            else:
                hook = start.module.register_forward_hook(_seeded(number))
                undo.callback(hook.remove)
        for module in model.modules():
            kind = type(module)
            if gate := gates.MODULES.get(kind.__name__):
                undo.enter_context(_gate_held(module, gate))
            elif kind.__name__ in gates.PIECEWISE and kind.__module__ in gates.HOMES:
                undo.enter_context(_gate_held(module, None))
            elif kind.__module__ in gates.HOMES and kind.__name__ not in gates.NO_GATE:
                raise ModelError(
                    f"The model's activation {kind.__name__} has no gate here, so everything that passes it would be "
                    "credited to the bias. Choose a model with another activation, or add its gate to "
                    "analysis/streams/gates.py."
                )
        yield given


def _seeded(number: int) -> Callable[[nn.Module, object, Tensor], DecomposedTensor]:
    return lambda _module, _args, output: from_source(output, number, len(SOURCES))


@contextmanager
def replaced_weight(module: nn.Module, name: str, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within, a parameter or buffer of a module is what `change` makes of it."""
    # Not by setattr, which takes nothing but a Parameter where one was.
    home = vars(module)["_parameters" if name in module._parameters else "_buffers"]
    own = home[name]
    home[name] = change(own.detach())
    try:
        yield
    finally:
        home[name] = own


@contextmanager
def _gate_held(module: nn.Module, gate: gates.Gate | None) -> Iterator[None]:
    """The activation computes the whole by its own code; the parts get its gate, or what it made of the whole."""
    waiting: list[DecomposedTensor] = []

    def before(_module: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        if isinstance(args[0], DecomposedTensor):
            waiting.append(args[0])
        return (total(args[0]), *args[1:])

    def after(_module: nn.Module, _args: tuple[object, ...], output: Tensor) -> Tensor:
        result = gate or (lambda whole: torch.where(whole == 0, 0, output / whole))
        return activation(waiting.pop(), output, result) if waiting else output

    hooks = [module.register_forward_pre_hook(before), module.register_forward_hook(after)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
