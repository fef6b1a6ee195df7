"""The subspaces that words and positions span most of: angles between them, and each one's energy in the other's."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from analysis.measurements.geometry.measure import Measured, Options, Row, measure, spread
from analysis.measurements.geometry.model_vectors import ModelVectors, axes, centred
from analysis.measurements.geometry.random import subspace

RANKS = (1, 2, 5, 10, 20, 50, 100)
GIVES = ("principal_angle", "smallest_angle", "subspace_overlap", "word_energy_in_position", "position_energy_in_word")
SHOWN = 20
"""The rank whose every angle is kept; where a table has fewer directions, the largest of `RANKS` below that."""


def cosines(a: Float[ndarray, "dim rank"], b: Float[ndarray, "dim other"]) -> Float[ndarray, " angle"]:
    """Cosines of the principal angles of two subspaces given by orthonormal bases, the smallest angle's first."""
    return np.clip(np.linalg.svd(a.T @ b, compute_uv=False), 0, 1)


def energy_inside(table: Float[ndarray, "row dim"], basis: Float[ndarray, "dim rank"]) -> float:
    """Share of the table's sum of squares that lies in the span of an orthonormal basis."""
    return float(((table @ basis) ** 2).sum() / (table**2).sum())


@measure("subspaces", title="Angles and energy between words and positions", gives=GIVES, needs=("sum",))
def subspaces(vectors: ModelVectors, options: Options) -> Measured:
    """Compares the subspaces of the tables, raw and centred, with every position that a word can hold."""
    word, position = vectors.sums()
    result = Measured()
    for subject, a, b in (("raw", word, position), ("centred", centred(word), centred(position))):
        result.rows.extend(_rows(subject, None, a, b, options))
    return result


@measure(
    "state_subspaces",
    title="The same between the layers' hidden states and their positions",
    gives=GIVES,
    needs=("states",),
)
def state_subspaces(vectors: ModelVectors, options: Options) -> Measured:
    """Compares, at every depth, the position basis of method `mean` with the rest of the hidden states."""
    result = Measured()
    for state in vectors.states:
        result.rows.extend(_rows("states", state.layer, centred(state.rest), centred(state.position), options))
    return result


def _rows(subject: str, layer: int | None, word: ndarray, position: ndarray, options: Options) -> Iterator[Row]:
    if not word.any() or not position.any():
        return
    dim = word.shape[1]
    words, positions = axes(word)[1], axes(position)[1]
    # A table of few rows spans few directions, whatever rank the other one has.
    spanned = {"words": min(dim, len(word)) - 1, "positions": min(dim, len(position)) - 1}
    ranks = [rank for rank in RANKS if rank <= max(spanned.values())]
    shared = [rank for rank in ranks if rank <= min(spanned.values())]

    def row(name: str, along: int, value: float, bases: ndarray, samples: int = len(word)) -> Row:
        return Row(
            measure=name, subject=subject, layer=layer, along=along, value=value, samples=samples, **spread(bases)
        )

    for rank in ranks:
        rng = options.rng()
        # Of two subspaces one may stay where it is: only their relation is random.
        bases = [subspace(dim, rank, rng) for _ in range(options.draws)]
        for name, table, basis, limit in (
            ("word_energy_in_position", word, positions, spanned["positions"]),
            ("position_energy_in_word", position, words, spanned["words"]),
        ):
            if rank <= limit:
                yield row(name, rank, energy_inside(table, basis[:, :rank]), _energies(table, bases), len(table))
        if rank not in shared:
            continue
        overlaps = cosines(words[:, :rank], positions[:, :rank])
        random = np.stack([cosines(words[:, :rank], basis) for basis in bases])
        angles = np.degrees(np.arccos(random))
        yield row("smallest_angle", rank, _degrees(overlaps[0]), angles[:, 0])
        yield row("subspace_overlap", rank, float((overlaps**2).mean()), (random**2).mean(1))
        if rank == max((r for r in shared if r <= SHOWN), default=0):
            for number in range(rank):
                yield row("principal_angle", number + 1, _degrees(overlaps[number]), angles[:, number])


def _energies(table: ndarray, bases: list[ndarray]) -> Float[ndarray, " draw"]:
    """Shares of the table's energy in subspaces, by its Gram matrix: one product with the table serves all draws."""
    gram = table.T @ table
    return np.asarray([np.einsum("dr,de,er->", basis, gram, basis, optimize=True) for basis in bases]) / gram.trace()


def _degrees(cosine: float) -> float:
    return float(np.degrees(np.arccos(cosine)))
