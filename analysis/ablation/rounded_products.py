"""Matrix products in bfloat16 on processors that have no instructions for it.

PyTorch computes such products with a slow loop of its own there (`tests/benchmarks/rounded_products.py`). Here the
factors, which are rounded to bfloat16 already, are multiplied in float32 and the result is rounded: the same number as
from the instructions, which add up in float32, too, but for the order of the sum.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = frozenset(
    (
        torch.ops.aten.mm.default,
        torch.ops.aten.addmm.default,
        torch.ops.aten.bmm.default,
        torch.ops.aten.baddbmm.default,
    )
)
"""The products of matrices that forward and backward passes consist of."""
COMPOSED = frozenset((torch.ops.aten.linear.default, torch.ops.aten.matmul.default))
"""Operations that consist of these. In inference mode PyTorch takes them apart only after they were seen here."""
WITHOUT_BFLOAT16 = frozenset(("DEFAULT", "NO AVX", "AVX2"))
"""The names that PyTorch gives to processors for which it has no fast products in bfloat16."""


class RoundedProducts(TorchDispatchMode):
    """Computes products of bfloat16 matrices in float32 and rounds them, in forward and backward passes inside it."""

    def __torch_dispatch__(
        self, func: Any, types: Sequence[Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """The result of one operation. func: the operation; args: its tensors, all of one type, and its numbers."""
        options = kwargs or {}
        if func in COMPOSED and args[0].dtype == torch.bfloat16:
            with self:
                return func.decompose(*args, **options)
        if func not in PRODUCTS or args[0].dtype != torch.bfloat16:
            return func(*args, **options)
        return func(*(one.float() if isinstance(one, Tensor) else one for one in args), **options).bfloat16()


def fast_bfloat16(device: str, *, enabled: bool = True) -> AbstractContextManager[object]:
    """A context in which products in bfloat16 are fast: nothing is changed where the device has them by itself."""
    slow = enabled and device == "cpu" and torch.backends.cpu.get_cpu_capability() in WITHOUT_BFLOAT16
    return RoundedProducts() if slow else nullcontext()
