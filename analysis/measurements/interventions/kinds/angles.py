"""What a table of cosines and sines says of its turns: which columns belong to one pair, and how fast it turns.

Shapes: T token, D columns. A pair's angle stands in two columns, half a table apart or side by side, or in one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


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
