"""How an attention turns its queries and keys: which pairs of dimensions, how fast, and by which layout.

Read from what the model does: its queries with and without the turn, and the cosine and sine that it was given.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from analysis.core.errors import ModelError

TOLERANCE = 1e-3
"""Of the size of the queries: how far a turn that is understood may be from what the model computed."""


@dataclass(frozen=True)
class Rotation:
    """pairs: the dimensions that turn together. columns: of the cosines and sines that a layer is given, those of each
    pair, which may stand there twice. frequency: radians a token, in [0, pi]. size: what the turn scales by.

    width: the dimensions of a head; those in no pair are not turned. error: the largest difference between these turns
    and the model's own, over the size of its queries.
    """

    pairs: Int[Tensor, "pair 2"]
    columns: Int[Tensor, "pair copy"]
    frequency: Float[Tensor, " pair"]
    size: Float[Tensor, " pair"]
    width: int
    error: float

    @property
    def still(self) -> list[int]:
        """The dimensions that are not turned."""
        turned = set(self.pairs.flatten().tolist())
        return [dim for dim in range(self.width) if dim not in turned]


def no_rotation(width: int) -> Rotation:
    """Of a layer that turns nothing."""
    none = torch.zeros(0, 2, dtype=torch.long)
    return Rotation(none, none, torch.zeros(0), torch.zeros(0), width, 0.0)


def read_rotation(
    turned: Float[Tensor, "head token dim"],
    still: Float[Tensor, "head token dim"],
    cos: Float[Tensor, "token turn"],
    sin: Float[Tensor, "token turn"],
) -> Rotation:
    """The rotation that makes the queries of a model from those without a turn.

    turned, still: a layer's queries, as the model makes them and with every angle at zero (of the same size). cos, sin:
    what the layer was given. Raises ModelError where no layout of pairs explains what the model did, or where angles do
    not grow evenly with the token's place.
    """
    width = turned.shape[-1]
    if torch.equal(turned, still):
        return no_rotation(width)
    angles = cos.shape[-1]
    half, first = angles // 2, torch.arange(angles // 2)
    twice = [torch.stack([first, first + half], -1), torch.stack([2 * first, 2 * first + 1], -1)]
    once = [torch.arange(angles)[:, None]]
    best: Rotation | None = None
    # The angles of the pairs are given twice (one half after the other, or each beside itself) or once.
    for places in (*(twice if angles % 2 == 0 and angles <= width else ()), *once):
        columns, count = places[:, 0], len(places)
        if 2 * count > width:
            continue
        frequency, size, uneven = _frequencies(cos[:, columns].double(), sin[:, columns].double())
        halves = torch.arange(count), torch.arange(count, 2 * count)
        neighbours = torch.arange(0, 2 * count, 2), torch.arange(1, 2 * count, 2)
        for a, b in (halves, neighbours):
            pairs = torch.stack([a, b], -1)
            error = max(uneven, _misfit(turned, still, cos[:, columns], sin[:, columns], pairs))
            if best is None or error < best.error:
                best = Rotation(pairs, places, frequency, size, width, error)
    if best is None or best.error > TOLERANCE:
        off = f"it is off by {best.error:.1e} of their size" if best else f"{angles} angles for {width} dimensions"
        raise ModelError(
            f"The queries of this model are rotated in a way that no layout of pairs explains ({off}), so its bands "
            "cannot be separated. Attention patterns and interventions are available, as for any model."
        )
    return best


def _frequencies(
    cos: Float[Tensor, "token pair"], sin: Float[Tensor, "token pair"]
) -> tuple[Float[Tensor, " pair"], Float[Tensor, " pair"], float]:
    """Radians a token, the factor on queries and keys, and how far the angles are from growing evenly."""
    size = (cos.square() + sin.square()).sqrt().mean(0)
    turn = torch.complex(cos, sin) / size
    if len(turn) < 2:
        return torch.zeros_like(size), size, 0.0
    frequency = (turn[1:] * turn[:-1].conj()).mean(0).angle()
    index = torch.arange(len(turn), dtype=cos.dtype, device=cos.device)
    even = turn[:1] * torch.exp(1j * index[:, None] * frequency)
    # Against neighbours alone a small error of the frequency would grow with the length of the text.
    return frequency, size, float((turn[1:] * turn[:-1].conj() - (even[1:] * even[:-1].conj())).abs().max())


def _misfit(turned: Tensor, still: Tensor, cos: Tensor, sin: Tensor, pairs: Tensor) -> float:
    """How far the queries are from those that turning these pairs gives, over the size of the queries."""
    expected = still.clone()
    a, b = still[..., pairs[:, 0]], still[..., pairs[:, 1]]
    size = (cos.square() + sin.square()).sqrt()
    expected[..., pairs[:, 0]] = (a * cos - b * sin) / size
    expected[..., pairs[:, 1]] = (b * cos + a * sin) / size
    return float((expected - turned).abs().max() / turned.abs().max())
