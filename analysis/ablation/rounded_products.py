"""Matrix products in bfloat16 on processors that have no instructions for it.

PyTorch computes such products with a slow loop of its own there (`tests/benchmarks/rounded_products.py`). Here the
factors are rounded to bfloat16, multiplied in float32, and the result is rounded: the same numbers as from the
instructions, which add up in float32, too, but for the order of the sum. Gradients are rounded where autocast rounds
them; those of a weight that is read twice in a step are added up in float32, and not in bfloat16. A recurrent layer
multiplies inside PyTorch, where nothing here sees it, and stays slow.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

PRODUCTS = frozenset(
    (
        functional.linear,
        torch.matmul,
        torch.Tensor.matmul,
        torch.Tensor.__matmul__,
        torch.mm,
        torch.Tensor.mm,
        torch.bmm,
        torch.Tensor.bmm,
        torch.addmm,
        torch.Tensor.addmm,
        torch.baddbmm,
        torch.Tensor.baddbmm,
    )
)
"""The functions by which models multiply matrices."""
WITHOUT_BFLOAT16 = frozenset(("DEFAULT", "NO AVX", "AVX2"))
"""The names that PyTorch gives to processors for which it has no fast products in bfloat16."""


class RoundedProducts(TorchFunctionMode):
    """Computes in float32, and rounds, each product that is in bfloat16 by its factors' type or by autocast.

    Backward passes need not run inside it: they follow the operations of the forward pass.
    """

    def __torch_function__(
        self, func: Any, types: Sequence[Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """The result of one function. func: any of PyTorch's; args, kwargs: its tensors and its numbers."""
        options = kwargs or {}
        if func not in PRODUCTS or not any(map(_in_bfloat16, (*args, *options.values()))):
            return func(*args, **options)
        with torch.autocast("cpu", enabled=False):
            named = {name: _rounded(one) for name, one in options.items()}
            return func(*map(_rounded, args), **named).bfloat16()


def _in_bfloat16(argument: object) -> bool:
    """True for a tensor of this type, or one that autocast would give it; products of other types are left alone."""
    if not isinstance(argument, Tensor):
        return False
    autocast = torch.is_autocast_enabled("cpu") and argument.dtype == torch.float32
    return autocast or argument.dtype == torch.bfloat16


def _rounded(argument: Any) -> Any:
    return argument.bfloat16().float() if isinstance(argument, Tensor) else argument


def fast_bfloat16(device: str, *, enabled: bool = True) -> AbstractContextManager[object]:
    """A context in which products in bfloat16 are fast: nothing is changed where the device has them by itself."""
    slow = enabled and device == "cpu" and torch.backends.cpu.get_cpu_capability() in WITHOUT_BFLOAT16
    return RoundedProducts() if slow else nullcontext()
