"""Tables of turns as models make them: told from other tensors, taken apart, put together, and read.

A table gives each token a cosine and a sine for each pair of dimensions: as two tensors, in which a pair's angle stands
in two columns, half a table apart or side by side, or in one; or as one tensor of complex numbers. Whatever reads
rotations reads them here. Shapes: T token, D columns. Imports no torch, which pages need not.
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor
    from torch.nn import Module

    Turns = Tensor | tuple[Tensor, Tensor]

ROTATION_ARGUMENT = "position_embeddings"
"""The argument by which transformers' models give an attention its table."""
UNIT_TOLERANCE = 1e-3
"""Relative difference of the sizes of turns, below which they are one; some models scale both parts."""


def takes_table(module: Module) -> bool:
    """Tells whether an attention, or a class that it is derived from, is given its table by `ROTATION_ARGUMENT`."""
    forwards = (vars(kind)["forward"] for kind in type(module).__mro__ if "forward" in vars(kind))
    return any(ROTATION_ARGUMENT in signature(forward).parameters for forward in forwards)


def is_table(output: object, length: int) -> bool:
    """Tells whether the output of a module is the turn of every token of a text of so many."""
    from torch import Tensor

    if isinstance(output, Tensor):
        return output.is_complex() and output.ndim > 1 and output.shape[-2] == length and _even(output.abs())
    if not (isinstance(output, tuple) and len(output) == 2 and all(isinstance(x, Tensor) for x in output)):
        return False
    cos, sin = output
    if cos.shape != sin.shape or cos.ndim < 2 or cos.shape[-2] != length or not cos.is_floating_point():
        return False
    return _even(cos.float() ** 2 + sin.float() ** 2)


def _even(size: Tensor) -> bool:
    return bool(size.max() > 0) and float(size.max() - size.min()) <= UNIT_TOLERANCE * float(size.max())


def parts(table: Turns) -> tuple[Tensor, Tensor]:
    """The cosines and sines, (..., T, D) each, of a table of either form."""
    if isinstance(table, tuple):
        cos, sin = table
        return cos, sin
    return table.real, table.imag


def in_form_of(table: Turns, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]) -> Turns:
    """Cosines and sines as a table of the same form and precision as another one."""
    if isinstance(table, tuple):
        return cos.to(table[0].dtype), sin.to(table[1].dtype)
    return (cos + 1j * sin).to(table.dtype)


def columns_of(cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]) -> list[list[int]]:
    """The columns of each pair, in the order of the pairs."""
    width = cos.shape[-1]
    half = width // 2
    halves = [[pair, pair + half] for pair in range(half)]
    adjacent = [[2 * pair, 2 * pair + 1] for pair in range(half)]
    for layout in (halves, adjacent) if width % 2 == 0 else ():
        left, right = zip(*layout, strict=True)
        if all(bool((x[..., list(left)] == x[..., list(right)]).all()) for x in (cos, sin)):
            return layout
    return [[column] for column in range(width)]


def frequencies(cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]) -> Float[Tensor, " D"]:
    """Radians from one token to the next, by column, in float64; 0 for a text of one token."""
    c, s = (x.reshape(-1, *x.shape[-2:])[0].double() for x in (cos, sin))
    if len(c) < 2:
        return c[0] * 0
    along = (c[1:] * c[:-1] + s[1:] * s[:-1]).mean(0)
    across = (s[1:] * c[:-1] - c[1:] * s[:-1]).mean(0)
    return across.atan2(along)


def turning(
    frequency: Float[Tensor, " D"], cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]]:
    """A table like this one, with the same factors, that turns at these frequencies from angle 0 on."""
    size = (cos.square() + sin.square()).sqrt()
    angles = frequency.new_tensor(range(cos.shape[-2]))[:, None] * frequency
    return size * angles.cos().to(cos.dtype), size * angles.sin().to(sin.dtype)
