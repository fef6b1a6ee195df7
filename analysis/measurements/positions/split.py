"""A rotary score, split band by band into what depends on content, on distance, and on both. Pure functions.

Of one pair of dimensions, query i and key j score `Re(q_i conj(k_j) e^{i f (i - j)})`, q and k being the pair before it
is turned, as one complex number, and f its frequency. What depends on content alone is the mean of this over the
distances of the text; on distance alone, its mean over the queries and keys of the text: the kernel of the band. What
is left depends on both. All three are then centred over the keys of each query, which softmax does by itself.

Shapes: H head, Q query, K key, P pair, B band, D distance (key less query, from -(Q - 1) to K - 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Complex, Float, Int
from torch import Tensor
from torch.nn import functional

from analysis.measurements.terms.measures import key_centred

JOINED_PAIRS = 3
"""Pairs of tokens that are kept of each head."""


class Joined(NamedTuple):
    """Pairs of a query and a key with the highest key-centred scores, the highest first; NaN where there are fewer."""

    places: Int[Tensor, "... rank 2"]
    scores: Float[Tensor, "... rank"]


def most_joined(centred: Float[Tensor, "... Q K"], mask: Bool[Tensor, "Q K"] | None = None) -> Joined:
    """The pairs of tokens that key-centred scores join most."""
    attended = centred if mask is None else centred.masked_fill(~mask, -torch.inf)
    count = min(JOINED_PAIRS, attended.shape[-2] * attended.shape[-1])
    scores, places = attended.flatten(-2).topk(count)
    scores = functional.pad(scores.masked_fill(scores.isinf(), torch.nan), (0, JOINED_PAIRS - count), value=torch.nan)
    places = functional.pad(places, (0, JOINED_PAIRS - count))
    return Joined(torch.stack([places // centred.shape[-1], places % centred.shape[-1]], -1), scores)


@dataclass(frozen=True)
class BandSplit:
    """numerators: `sum part * total` of each band and part; power: `sum total^2`. Shares are their ratio.

    kernel: each band's mean score at every distance, over the text's queries and keys. joined: the pairs of tokens that
    each band of each head joins most, where asked for. sum_error: the largest difference between the sum of all bands
    and the scores.
    """

    numerators: Float[Tensor, "B 3 H"]
    power: Float[Tensor, " H"]
    kernel: Float[Tensor, "B H D"]
    joined: Joined | None
    sum_error: float


def complex_pairs(x: Float[Tensor, "H T dim"], pairs: Int[Tensor, "P 2"]) -> Complex[Tensor, "H T P"]:
    """Pairs of dimensions as complex numbers."""
    return torch.complex(x[..., pairs[:, 0]], x[..., pairs[:, 1]])


def split_bands(
    query: Float[Tensor, "H Q dim"],
    key: Float[Tensor, "H K dim"],
    pairs: Int[Tensor, "P 2"],
    frequency: Float[Tensor, " P"],
    bands: Sequence[Sequence[int]],
    still: Sequence[int],
    scale: float,
    scores: Float[Tensor, "H Q K"],
    mask: Bool[Tensor, "Q K"] | None = None,
    against: Float[Tensor, "H Q K"] | None = None,
    joined: bool = False,
) -> BandSplit:
    """Splits the scores of one layer's heads. The last band is that of the dimensions that are not turned.

    query, key: before they are turned (with the factor by which the turn scales them). bands: numbers of pairs. scores:
    the model's own, less what it adds to them. against: the key-centred scores of which the parts are shares, with all
    that is added; those of `scores` where it is None, and then the shares of all bands and parts sum to 1. joined:
    whether the pairs of tokens that a band joins most are wanted, which takes a map for each band.

    No part is made as a map otherwise. Rows of the total sum to 0 over the keys that a query attends to, so that
    `sum total_ij q_i k_j` is that of the centred product, whatever is added to all keys: it is `sum q_i (total k)_i`.
    """
    length = scores.shape[-1]
    index = torch.arange(length, device=scores.device)
    attended = (
        torch.ones(length, length, dtype=scores.dtype, device=scores.device) if mask is None else mask.to(scores.dtype)
    )
    steps = torch.arange(-(length - 1), length, device=scores.device).to(scores.dtype)
    counts = _by_distance(attended[None])[0]
    total = key_centred(scores, mask) if against is None else against
    f = frequency.to(scores.dtype)
    q, k = complex_pairs(query, pairs), complex_pairs(key, pairs)
    rotated_q, rotated_k = (x * torch.exp(1j * index[:, None] * f) for x in (q, k))
    # Means over the text, by pairs: of the turn over its distances, of q_i conj(k_j) over its queries and keys.
    turn = torch.exp(-1j * steps[:, None] * f)  # of distance j - i: e^{i f (i - j)}
    mean_turn = ((counts / counts.sum())[:, None] * turn).sum(0)
    reached = torch.complex(*(attended @ torch.cat([k.real, k.imag], -1)).chunk(2, -1))
    product = (reached.conj() * q).sum(1) / counts.sum()
    still_q, still_k = (x[..., list(still)] for x in (query, key))
    content, whole, rest = (
        scale * product_part
        for product_part in _centred_products(
            total, (_parts(q * mean_turn), _parts(rotated_q), still_q), (_parts(k), _parts(rotated_k), still_k)
        )
    )
    content, whole = (x.unflatten(-1, (2, -1)).sum(1) for x in (content, whole))
    distances = _by_distance(total)
    numerators, kernels, maps = [], [], []
    for band in bands:
        chosen = torch.as_tensor(list(band), dtype=torch.long, device=scores.device)
        kernel = scale * (product[:, chosen] @ turn[:, chosen].T).real
        alone = ((kernel - kernel.mean(-1, keepdim=True)) * distances).sum(-1)
        words, everything = content[:, chosen].sum(-1), whole[:, chosen].sum(-1)
        numerators.append(torch.stack([words, alone, everything - words - alone]))
        kernels.append(kernel)
        if joined:
            score = scale * (rotated_q[..., chosen] @ rotated_k[..., chosen].conj().transpose(-1, -2)).real
            maps.append(most_joined(key_centred(score, mask), mask))
    zero = torch.zeros_like(total[:, 0, 0])
    numerators.append(torch.stack([rest.sum(-1), zero, zero]))
    kernels.append(torch.zeros(len(scores), 2 * length - 1, dtype=scores.dtype, device=scores.device))
    if joined:
        score = scale * still_q @ still_k.transpose(-1, -2)
        maps.append(most_joined(key_centred(score, mask), mask))
    left, right = (torch.cat([_parts(x), y], -1) for x, y in ((rotated_q, still_q), (rotated_k, still_k)))
    off = (scale * left @ right.transpose(-1, -2) - scores).abs_()
    return BandSplit(
        numerators=torch.stack(numerators),
        power=total.square().sum((-1, -2)),
        kernel=torch.stack(kernels),
        joined=Joined(*(torch.stack(product_part) for product_part in zip(*maps, strict=True))) if joined else None,
        sum_error=float((off if mask is None else off.mul_(attended)).max()),
    )


def _parts(x: Complex[Tensor, "H T P"]) -> Float[Tensor, "H T parts"]:
    """Real parts, then imaginary ones: `Re(q conj(k))` is the product of these."""
    return torch.cat([x.real, x.imag], -1)


def _centred_products(
    total: Float[Tensor, "H Q K"], queries: Sequence[Float[Tensor, "H Q _"]], keys: Sequence[Float[Tensor, "H K _"]]
) -> list[Float[Tensor, "H _"]]:
    """`sum_ij total_ij q_i k_j` of each dimension, keys less their mean, which rows of the total do not see."""
    both = torch.cat(list(keys), -1)
    summed = total @ (both - both.mean(1, keepdim=True))
    each = (torch.cat(list(queries), -1) * summed).sum(1)
    return list(each.split([key.shape[-1] for key in keys], -1))


def _by_distance(values: Float[Tensor, "H Q K"]) -> Float[Tensor, "H D"]:
    """Sums over the cells at each distance, key less query: rows upside down, each begun one place further right."""
    heads, rows, columns = values.shape
    wide = functional.pad(values.flip(1), (0, rows)).reshape(heads, -1)[:, :-rows]
    return wide.reshape(heads, rows, columns + rows - 1).sum(1)


def split_bias(
    bias: Float[Tensor, "H Q K"], total: Float[Tensor, "H Q K"], mask: Bool[Tensor, "Q K"] | None = None
) -> Float[Tensor, "3 H"]:
    """Numerators of what a model adds to its scores: what a function of distance gives, and the rest, which is both.

    That function is the nearest one by least squares, up to a constant for each query, which softmax ignores: BLOOM's
    ALiBi is written as a slope times the key's place, and is a function of distance all the same. total: the
    key-centred scores. A bias that knows distance alone (ALiBi, T5) has no rest.
    """
    length = bias.shape[-1]
    index = torch.arange(length, device=bias.device)
    distance = index[None, :] - index[:, None] + length - 1
    attended = (torch.ones(length, length, device=bias.device) if mask is None else mask).double()
    cells = bias.double() * attended
    # The normal equations of bias[i, j] = alone[j - i] + constant[i].
    steps = 2 * length - 1
    system = torch.zeros(steps + length, steps + length, dtype=torch.float64, device=bias.device)
    system.index_put_((distance, steps + index[:, None].expand_as(distance)), attended, accumulate=True)
    system = system + system.T
    by_distance = torch.zeros(steps, dtype=torch.float64, device=bias.device)
    by_distance.index_add_(0, distance.flatten(), attended.flatten())
    system += torch.diag(torch.cat([by_distance, attended.sum(1)]))
    sums = torch.zeros(len(bias), steps, dtype=torch.float64, device=bias.device)
    sums.index_add_(1, distance.flatten(), cells.flatten(1))
    count = torch.cat([sums, cells.sum(-1)], 1)
    fitted = count @ torch.linalg.pinv(system, hermitian=True)
    alone = fitted[:, :steps][:, distance].to(bias.dtype)
    parts = (torch.zeros_like(bias), alone, bias - alone)
    return torch.stack([(total * key_centred(part, mask)).sum((-1, -2)) for part in parts])
