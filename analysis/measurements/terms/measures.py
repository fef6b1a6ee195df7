"""Measures the importance of each term of the scores: shares before the softmax, effects after it.

Shapes: S source, H head, Q query, K key, D head dimension, A terms added to the scores, N term: the S * S pairs of
sources, query first, then the A terms that are added. All functions are pure and run on the device of their arguments.
`mask` marks the keys that a query attends to; None means every one. `bias` holds a map for each term that the model
adds to its scores; None means that it adds none.

Definitions: shares and effects as in the page Method and data; the algebra that spares the sixteen maps is in each
docstring.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.measurements.terms.result import MAX_CANCELLATION

# Below this fraction of the largest score, what is left after centring is rounding, not signal.
ROUNDING = 1e-6


def score_map(query: Float[Tensor, "H Q D"], key: Float[Tensor, "H K D"], scale: float) -> Float[Tensor, "H Q K"]:
    """Scores of one query source against one key source, in score units."""
    return (query * scale) @ key.transpose(-1, -2)


def key_centred(scores: Float[Tensor, "... Q K"], mask: Bool[Tensor, "Q K"] | None = None) -> Float[Tensor, "... Q K"]:
    """Scores less their mean over the keys each query attends to; 0 at the other keys.

    Softmax ignores whatever is constant along the keys of one query, so only this part matters.
    """
    if mask is None:
        return scores - scores.mean(-1, keepdim=True)
    keys = mask.sum(-1, keepdim=True).clamp(min=1)
    masked = torch.where(mask, scores, 0)
    return torch.where(mask, masked - masked.sum(-1, keepdim=True) / keys, 0)


def share_parts(
    query: Float[Tensor, "S H Q D"],
    key: Float[Tensor, "S H K D"],
    scale: float,
    mask: Bool[Tensor, "Q K"] | None = None,
    bias: Float[Tensor, "A H Q K"] | None = None,
    scores: Float[Tensor, "H Q K"] | None = None,
) -> tuple[Float[Tensor, "N H"], Float[Tensor, " H"]]:
    """Numerators `sum_ij c_ab t` and the common denominator `sum_ij t^2` of the shares of each head.

    c is the key-centred term of sources a (query) and b (key), t the key-centred total. Parts of
    several texts may be added before dividing, which pools their queries; a head whose total is
    constant adds 0 to both. Because `sum_j t_ij = 0`,
    `sum_j t_ij c_ij = scale * q_i . sum_j t_ij k_j`: one map serves all terms, and no term is centred.
    scores: the total, where the caller has it.
    """
    scores = total_map(query, key, scale, bias) if scores is None else scores
    total = key_centred(scores, mask)
    constant = _largest(total) <= ROUNDING * _largest(scores if mask is None else torch.where(mask, scores, 0))
    total[constant] = 0
    # What all keys share adds nothing, and beside it small differences would be rounded away. Sources stand side by
    # side, so that the map is read once.
    attended_keys = key if mask is None else key[..., mask.any(0), :]
    centred = key - attended_keys.mean(-2, keepdim=True)
    weighted = (total @ centred.permute(1, 2, 0, 3).flatten(2)).unflatten(-1, (len(key), -1))
    parts = scale * torch.einsum("ahqd,hqbd->abh", query, weighted).flatten(0, 1)
    if bias is not None:
        parts = torch.cat([parts, (total * bias).sum((-1, -2))])
    return parts, torch.linalg.vector_norm(total, dim=-1).square().sum(-1)


def _largest(scores: Float[Tensor, "H Q K"]) -> Float[Tensor, " H"]:
    """The largest magnitude of each head, without a copy of the map."""
    return torch.maximum(scores.amax((-1, -2)), -scores.amin((-1, -2)))


def total_map(query: Tensor, key: Tensor, scale: float, bias: Tensor | None) -> Float[Tensor, "H Q K"]:
    """The scores that all sources give together."""
    scores = score_map(query.sum(0), key.sum(0), scale)
    return scores if bias is None else scores + bias.sum(0)


def shares(
    query: Float[Tensor, "S H Q D"],
    key: Float[Tensor, "S H K D"],
    scale: float,
    mask: Bool[Tensor, "Q K"] | None = None,
    bias: Float[Tensor, "A H Q K"] | None = None,
) -> Float[Tensor, "N H"]:
    """Each term's part of the variance of the total along keys; sums to 1 over the terms of a head.

    May be negative. Not a number where a head's total is constant (there is nothing to share out), and where its terms
    cancel beyond `MAX_CANCELLATION`.
    """
    parts, power = share_parts(query, key, scale, mask, bias)
    return withhold_meaningless(parts, power, centred_squares(query, key, scale, mask, bias))


def withhold_meaningless(
    parts: Float[Tensor, "N H"], power: Float[Tensor, " H"], squares: Float[Tensor, "N H"]
) -> Float[Tensor, "N H"]:
    """Shares of their two parts, withheld where they say nothing. squares: as `centred_squares` gives them."""
    meaningful = (power > 0) & (cancellation(squares, power) <= MAX_CANCELLATION)
    return torch.where(meaningful, parts / power, torch.nan)


def cancellation(squares: Float[Tensor, "N H"], power: Float[Tensor, " H"]) -> Float[Tensor, " H"]:
    """The summed size of the terms of each head over the size of its scores: `sum_ab |c_ab| / |t|`, at least 1.

    |x| is the root of the sum of squares over queries and keys, of key-centred terms c and their sum t. No share of a
    head is larger than this. Not a number where a head's total is constant.
    """
    return torch.where(power > 0, squares.sqrt().sum(0) / power.sqrt(), torch.nan)


def centred_squares(
    query: Float[Tensor, "S H Q D"],
    key: Float[Tensor, "S H K D"],
    scale: float,
    mask: Bool[Tensor, "Q K"] | None = None,
    bias: Float[Tensor, "A H Q K"] | None = None,
) -> Float[Tensor, "N H"]:
    """The sum of squares of each key-centred term over queries and keys, in squared score units.

    Without a mask a term is centred by centring its keys, and no map is needed.
    """
    last = [] if bias is None else [key_centred(bias, mask).square().sum((-1, -2))]
    if mask is not None:
        maps = (key_centred(score_map(q, k, scale), mask) for q in query for k in key)
        return torch.cat([torch.stack([x.square().sum((-1, -2)) for x in maps]), *last])
    return torch.cat([_squares(query, key - key.mean(-2, keepdim=True), scale), *last])


def _squares(query: Float[Tensor, "S H Q D"], key: Float[Tensor, "S H K D"], scale: float) -> Float[Tensor, "SS H"]:
    """The sum of squares of each pair of sources' scores: `sum_ij (q_i . k_j)^2 = <Q'Q, K'K>` needs no map."""
    query_gram, key_gram = (torch.einsum("shtd,shte->shde", x, x) for x in (query, key))
    return scale**2 * torch.einsum("ahde,bhde->abh", query_gram, key_gram).clamp(min=0).flatten(0, 1)


def effects(
    query: Float[Tensor, "S H Q D"],
    key: Float[Tensor, "S H K D"],
    scale: float,
    mask: Bool[Tensor, "Q K"] | None = None,
    bias: Float[Tensor, "A H Q K"] | None = None,
) -> tuple[Float[Tensor, "N H"], Float[Tensor, "N H"]]:
    """The effect of removing each term on the pattern: mean KL in nats, and top-1 agreement in [0, 1].

    `KL(softmax(S) || softmax(S - T)) = E_P[T] + log sum exp(S - T) - log sum exp(S)`, averaged over the
    queries that attend to at least two keys; not a number where there is none. A term whose keys are all
    alike shifts every key of a query equally and so has no effect, exactly; its map is not computed.
    """
    scores = total_map(query, key, scale, bias)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    pattern = scores.softmax(-1)
    log_sum, top = scores.logsumexp(-1), scores.argmax(-1, keepdim=True)
    has_choice = torch.full_like(top[0, :, 0], key.shape[2] > 1, dtype=torch.bool) if mask is None else mask.sum(-1) > 1
    sources, heads = query.shape[:2]
    kl = query.new_zeros(sources * sources + (0 if bias is None else len(bias)), heads)
    agreement = torch.ones_like(kl)
    if not has_choice.any():
        return kl + torch.nan, agreement + torch.nan
    without = torch.empty_like(scores)

    def removed(term: int, mean: Float[Tensor, "H Q"]) -> None:
        """Given `without`, the scores less the term, and the mean of the term under the pattern."""
        # One map for all terms, changed in place, and one maximum for both measures: half the time.
        largest = without.amax(-1, keepdim=True)
        stays = (without.gather(-1, top) == largest)[..., 0]
        log_sum_without = without.sub_(largest).exp_().sum(-1).log() + largest[..., 0]
        kl[term] = (mean + log_sum_without - log_sum)[:, has_choice].mean(-1).clamp(min=0)
        agreement[term] = stays[:, has_choice].to(kl.dtype).mean(-1)

    for b in range(sources):
        if torch.equal(key[b], key[b, :, :1].expand_as(key[b])):
            continue
        attended = pattern @ key[b]
        keys_across = key[b].transpose(-1, -2)
        for a in range(sources):
            torch.baddbmm(scores, query[a], keys_across, alpha=-scale, out=without)
            removed(a * sources + b, scale * (query[a] * attended).sum(-1))
    for number, added in enumerate(() if bias is None else bias):
        torch.sub(scores, added, out=without)
        removed(sources * sources + number, (pattern * added).sum(-1))
    return kl, agreement


def raw_rms(
    query: Float[Tensor, "S H Q D"],
    key: Float[Tensor, "S H K D"],
    scale: float,
    mask: Bool[Tensor, "Q K"] | None = None,
    bias: Float[Tensor, "A H Q K"] | None = None,
) -> Float[Tensor, "N H"]:
    """Root mean square of each term's scores as they stand, before any centring, in score units.

    Misleading on its own: a term that is constant along keys may be large and change nothing.
    """
    none = query.new_zeros(0, query.shape[1])
    extra = none if bias is None else (bias.flatten(2) if mask is None else bias[:, :, mask]).square().mean(-1)
    if mask is not None:
        rows = [score_map(q, k, scale)[:, mask].square().mean(-1) for q in query for k in key]
        return torch.cat([torch.stack(rows), extra]).sqrt()
    return torch.cat([_squares(query, key, scale) / (query.shape[2] * key.shape[2]), extra]).sqrt()
