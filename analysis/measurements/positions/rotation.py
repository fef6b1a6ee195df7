"""The detector of rotations: the pairs of dimensions that an attention turns, which way, how fast, from where.

Read from what the attention does, not from a list of layouts: it is asked what it makes of angles that we choose, on
states that we choose. Two dimensions that exchange energy, and with no third, are a pair.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from analysis.models.rotary_tables import columns_of

TOLERANCE = 1e-3
"""The largest difference of a rotation from the one that the model computed, as a share of the size of the queries."""
EXCHANGE = 1e-3
"""The largest distance from -1 of the correlation of what two dimensions of a pair gain and lose."""
MOVED = 1e-3
"""The change, as a share of its own size, below which a dimension is left as it is."""
ANGLES = 0.35, 2.75
"""Radians between which the angles are with which an attention is asked: each pair has one of its own."""
SAME_ANGLE = 2e-3
"""Radians within which an angle that is measured is one that was asked with."""
FARTHEST = 8
"""Tokens by which queries or keys are tried to be turned further than they are told."""


@dataclass(frozen=True)
class Rotation:
    """pairs: the two dimensions that turn together, the lower first. columns: of the cosines and sines that a layer is
    given, those of each pair, which may stand there twice. frequency: radians a token, in [-pi, pi]; from the first
    dimension to the second is the positive direction. start: the angle of the first token. size: what the turn scales
    by. stretch: by how much the second dimension is longer than the first, as where a norm with a weight for each
    dimension follows the turn; 1 elsewhere.

    width: the dimensions of a head; those in no pair are not turned. offset: tokens by which everything is turned
    further than the layer was told. error: the largest difference between these turns and the model's own, over the
    size of its queries. problem: in a clause, what is not understood; empty where all is. origin: as of `Layout`.
    """

    pairs: Int[Tensor, "pair 2"]
    columns: Int[Tensor, "pair copy"]
    frequency: Float[Tensor, " pair"]
    size: Float[Tensor, " pair"]
    width: int
    error: float
    start: Float[Tensor, " pair"] | None = None
    stretch: Float[Tensor, " pair"] | None = None
    offset: int = 0
    problem: str = ""
    origin: str = ""

    @property
    def still(self) -> list[int]:
        """The dimensions that are not turned."""
        turned = set(self.pairs.flatten().tolist())
        return [dim for dim in range(self.width) if dim not in turned]

    @property
    def layout(self) -> str:
        """The name of how pairs lie in a head."""
        if not len(self.pairs):
            return "none"
        steps, count = set((self.pairs[:, 1] - self.pairs[:, 0]).tolist()), len(self.pairs)
        if steps == {1} and count > 1:
            return "neighbours"
        return "halves" if steps == {count} else "other pairs"

    @property
    def stretched(self) -> bool:
        """True where dimensions of a pair are of different length, so that scores depend on more than distances."""
        return self.stretch is not None and bool(((self.stretch - 1).abs() > TOLERANCE).any())


def no_rotation(width: int, problem: str = "") -> Rotation:
    """The rotation of a layer that rotates nothing."""
    none = torch.zeros(0, 2, dtype=torch.long)
    return Rotation(none, none, torch.zeros(0), torch.zeros(0), width, 0.0, problem=problem)


def asked_angles(count: int) -> Float[Tensor, " pair"]:
    """The angles with which an attention of so many pairs is asked, all different."""
    low, high = ANGLES
    return low + (high - low) * torch.arange(count, dtype=torch.float64) / max(count, 1)


@dataclass(frozen=True)
class RotatedVectors:
    """Queries, or keys, that an attention makes of many states, at angle zero and at `asked_angles`.

    projected: what its projections gave for the same states; their first head is the first of the samples.
    """

    still: Float[Tensor, "sample dim"]
    turned: Float[Tensor, "sample dim"]
    projected: Float[Tensor, "sample column"] | None = None


@dataclass(frozen=True)
class Layout:
    """The dimensions that turn together, and the angles that they turn by. pairs, stretch: as of
    `Rotation`. numbers: of the angle that turns each pair, counted along the table. direction: 1 from the first
    dimension to the second, or -1."""

    pairs: Int[Tensor, "pair 2"]
    numbers: Int[Tensor, " pair"]
    direction: Float[Tensor, " pair"]
    stretch: Float[Tensor, " pair"]
    width: int
    problem: str = ""
    origin: str = ""
    """The layout in what the projections give, which some models deal out anew; empty where that is not seen."""


def no_layout(width: int = 0, problem: str = "") -> Layout:
    """The layout of an attention that rotates nothing."""
    none = torch.zeros(0)
    return Layout(torch.zeros(0, 2, dtype=torch.long), none.long(), none, none, width, problem)


def read_layout(answer: RotatedVectors, count: int) -> Layout:
    """The layout of an attention that is given so many angles, from what it makes of those that we choose."""
    pairs, stretch, problem = find_pairs(answer)
    width = answer.still.shape[-1]
    nothing = no_layout(width, problem)
    if problem or not len(pairs):
        return nothing
    angle, coherence = _angles(_complex(answer.turned, pairs, stretch), _complex(answer.still, pairs, stretch))
    nearest = (angle.abs()[:, None] - asked_angles(count).to(angle)[None]).abs().min(-1)
    if float(coherence.min()) < 1 - TOLERANCE or float(nearest.values.max()) > SAME_ANGLE:
        return replace(nothing, problem="their pairs of dimensions are changed by something other than a turn")
    order = pairs[:, 0].argsort()
    pairs = pairs[order]
    return Layout(
        pairs, nearest.indices[order], angle.sign()[order], stretch[order], width, origin=_origin(answer, pairs)
    )


def _origin(answer: RotatedVectors, pairs: Int[Tensor, "pair 2"]) -> str:
    """The layout of the pairs of a head among the columns of the projections that they come from."""
    if answer.projected is None or len(pairs) < 2:
        return ""
    columns = answer.projected.double()
    dims = answer.still[: len(columns), pairs.flatten()].double()
    cosine = (dims / dims.norm(dim=0)).T @ (columns / columns.norm(dim=0).clamp(min=1e-30))
    best = cosine.max(-1)
    if float(best.values.min()) < 1 - 1e-6:  # a norm, or another step, stands between
        return ""
    from_columns = best.indices.reshape(-1, 2)
    steps = set((from_columns[:, 1] - from_columns[:, 0]).tolist())
    return "neighbours" if steps == {1} else "halves" if steps == {len(pairs)} else "other pairs"


def read_rotation(
    turned: Float[Tensor, "head token dim"],
    still: Float[Tensor, "head token dim"],
    cos: Float[Tensor, "token turn"],
    sin: Float[Tensor, "token turn"],
    answer: RotatedVectors,
) -> Rotation:
    """The rotation that makes the queries (or keys) of a model from those without a turn.

    turned, still: as the model makes them of the text and with every angle at zero (of the same size). cos, sin: what
    the layer was given. answer: what it makes of angles that we choose.
    """
    width, groups = turned.shape[-1], columns_of(cos, sin)
    layout = read_layout(answer, len(groups))
    if layout.problem or not len(layout.pairs):
        changed = (turned - still).abs().max() > TOLERANCE * still.abs().max()
        other = "they are turned by other angles than the layer is given" if changed else ""
        return no_rotation(width, layout.problem or other)
    columns = torch.tensor([groups[number] for number in layout.numbers.tolist()])
    c, s = cos[:, columns[:, 0]].double(), sin[:, columns[:, 0]].double() * layout.direction
    frequency, size, uneven = _frequencies(c, s)
    told = torch.complex(c, s) / size
    own = Rotation(
        layout.pairs, columns, frequency, size, width, 0.0, told[0].angle(), layout.stretch, origin=layout.origin
    )
    if max(uneven, float((told.abs() - 1).abs().max())) > TOLERANCE:
        return replace(own, error=uneven, problem="the angles that it is given do not grow evenly with the position")
    return _with_offset(own, turned, still, told)


def find_pairs(answer: RotatedVectors) -> tuple[Int[Tensor, "pair 2"], Float[Tensor, " pair"], str]:
    """Pairs of dimensions of which one gains what the other loses, the stretch of each, and what is not understood."""
    still, turned = answer.still.double(), answer.turned.double()
    gain = (turned.square() - still.square()) / still.square().sum(-1, keepdim=True).clamp(min=1e-30)
    length = gain.norm(dim=0)
    none = torch.zeros(0, 2, dtype=torch.long), torch.zeros(0, dtype=torch.float64)
    if float((turned - still).abs().max()) <= TOLERANCE * float(still.abs().max()):
        return *none, ""
    moved = ((turned - still).norm(dim=0) > MOVED * still.norm(dim=0)).nonzero().flatten()
    unit = gain[:, moved] / length[moved]
    exchange = unit.T @ unit
    partner = exchange.argmin(-1)
    index = torch.arange(len(moved), device=partner.device)
    exact = exchange[index, partner] < -1 + EXCHANGE
    if not bool((exact & (partner[partner] == index)).all()):
        alone = int((~(exact & (partner[partner] == index))).sum())
        return *none, f"{alone} of their {len(length)} dimensions turn with no other one alone"
    first = index < partner
    a, b = moved[index[first]], moved[partner[first]]
    return torch.stack([a, b], -1), (length[b] / length[a]).sqrt(), ""


def _complex(x: Float[Tensor, "*rows dim"], pairs: Tensor, stretch: Tensor) -> Tensor:
    """Pairs as complex numbers, their second dimension as long as the first."""
    return torch.complex(x[..., pairs[:, 0]].double(), x[..., pairs[:, 1]].double() / stretch)


def _angles(turned: Tensor, still: Tensor) -> tuple[Float[Tensor, "... pair"], Float[Tensor, "... pair"]]:
    """The turn of each pair over the first axis, and how well one turn explains all: 1 where it does."""
    product = (turned * still.conj()).sum(0)
    energy = (turned.abs().square().sum(0) * still.abs().square().sum(0)).sqrt()
    return product.angle(), product.abs() / energy.clamp(min=1e-30)


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


def _with_offset(rotation: Rotation, turned: Tensor, still: Tensor, told: Tensor) -> Rotation:
    """The rotation with the tokens by which the model turns further than it is told, and the error that is left."""
    assert rotation.stretch is not None
    after, before = (_complex(x, rotation.pairs, rotation.stretch) for x in (turned, still))
    largest = float(turned.abs().max())
    left = float((turned[..., rotation.still] - still[..., rotation.still]).abs().max()) if rotation.still else 0.0
    best = None
    for offset in sorted(range(-FARTHEST, FARTHEST + 1), key=abs):
        inside = slice(max(0, -offset), len(told) - max(0, offset))  # whose other token the text has
        expected = before * told * torch.exp(1j * offset * rotation.frequency)
        # At the ends a table that was moved holds anything.
        off = (expected - after)[:, inside].abs()
        error = max(float(off.max()) if off.numel() else 0.0, left) / max(largest, 1e-30)
        if error <= TOLERANCE:
            return replace(
                rotation,
                offset=offset,
                error=error,
                start=(told[0] * torch.exp(1j * offset * rotation.frequency)).angle(),
            )
        best = error if best is None else min(best, error)
        if len(told) <= 2 * FARTHEST and abs(offset) > len(told) // 2:
            break
    measured, coherence = _angles(after, before)
    if float(coherence.min()) > 1 - TOLERANCE and not left > TOLERANCE * largest:
        turn = torch.polar(torch.ones_like(measured), measured)
        if len(turn) > 1:
            frequency, _, uneven = _frequencies(turn.real, turn.imag)
            rotation = replace(rotation, frequency=frequency, start=measured[0])
            if uneven <= TOLERANCE:
                return replace(rotation, error=0.0, offset=0, problem="")
        return replace(rotation, error=best or 0.0, problem="they are turned by other angles than the layer is given")
    return replace(rotation, error=best or 0.0, problem="heads, or tokens, are turned in different ways")
