"""A tensor that is a sum over sources, and stays one through whatever linear thing is done to it.

Attention patterns, normalisation statistics and activation gates are held at the values of the real
forward pass; what is left of a transformer is linear, so each source can be followed on its own (as in
GlobEnc and DecompX: Modarressi et al. 2022, 2023). The model's own code runs untouched: every torch
function it calls on such a tensor is computed on the whole, as ever, and by a rule on the parts. What no
source owns (biases, a norm's beta, constants that are added) goes to the last part. The parts therefore add
up to the whole because the rules are right, not by construction, and the difference can be measured.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Concatenate, TypeVar, overload

import torch
from torch import Tensor

from analysis.core.errors import ModelError

T = TypeVar("T")
Part = Tensor | None
"""The part of one source, of any shape that broadcasts to the whole's; None where the source gives nothing."""
TorchFunction = Callable[..., Any]
"""Whatever torch calls on a tensor: what it takes and gives is as varied as torch."""
Rule = Callable[Concatenate[TorchFunction, ...], object]
"""A function from a torch function and its arguments to the result, whole and parts."""
RULES: dict[str, Rule] = {}
"""The rules by the name of the torch function; `analysis.streams.rules` fills it."""
FROZEN: set[str] = set()
"""Functions that give what is held at the value of the whole, or what does not concern values."""


class DecomposedTensor(Tensor):
    """The whole, as the model computes it, with its parts. The last part is the bias."""

    parts: tuple[Part, ...]
    activated: bool
    """True if the tensor is the output of an activation: of a gated unit's two factors, this is the gate."""

    @classmethod
    def __torch_function__(
        cls,
        func: TorchFunction,
        types: Iterable[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Computes the whole as the model would, and the parts by the rule for `func`."""
        name = func.__name__
        if name == "__get__":
            name = getattr(func, "__self__", func).__name__  # a tensor's attribute
        with torch._C.DisableTorchFunctionSubclass():
            if rule := RULES.get(name):
                return rule(func, *args, **(kwargs or {}))
            if name in FROZEN:
                return func(*args, **(kwargs or {}))
        raise ModelError(
            f"The model applies {name} to its hidden states, and no rule says how word and position pass through it. "
            "Choose a model of a supported architecture, or add a rule to analysis/streams/rules.py."
        )


def decomposed(whole: Tensor, parts: Sequence[Part], *, activated: bool = False) -> DecomposedTensor:
    """The whole with its parts."""
    result = total(whole).as_subclass(DecomposedTensor)
    assert isinstance(result, DecomposedTensor)
    result.parts, result.activated = tuple(parts), activated
    return result


def from_source(whole: Tensor, source: int, sources: int) -> DecomposedTensor:
    """A tensor that one source gives alone."""
    return decomposed(whole, [total(whole) if index == source else None for index in range(sources)])


@overload
def total(tensor: Tensor) -> Tensor: ...
@overload
def total(tensor: T) -> T: ...
def total(tensor: object) -> object:
    """The whole alone; what is no DecomposedTensor is given back as it is."""
    return tensor.as_subclass(Tensor) if isinstance(tensor, DecomposedTensor) else tensor


def materialize(part: Part, whole: Tensor) -> Tensor:
    """A part in the whole's shape: zeros where the source gives nothing."""
    if part is None:
        return torch.zeros_like(whole)
    return part if part.shape == whole.shape else part.expand(whole.shape)


def stacked(tensor: Tensor, sources: int) -> Tensor:
    """All parts, (source, *shape). A tensor without parts is all bias."""
    whole = total(tensor)
    parts = tensor.parts if isinstance(tensor, DecomposedTensor) else (None,) * (sources - 1) + (whole,)
    return torch.stack([materialize(part, whole) for part in parts])
