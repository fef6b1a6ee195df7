"""Singular values of the word and position tables, what they say of rank, and the same of single dimensions."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from analysis.measurements.geometry.measure import Measured, Options, Row, measure, spread
from analysis.measurements.geometry.model_vectors import ModelVectors, axes
from analysis.measurements.geometry.random import gaussian_energies

Energies = Float[ndarray, "... axis"]


def effective_rank(energies: Energies) -> Float[ndarray, "..."]:
    """exp of the entropy of the squared singular values over their sum."""
    shares = energies / energies.sum(-1, keepdims=True)
    return np.exp(-(shares * np.log(np.where(shares > 0, shares, 1))).sum(-1))


def stable_rank(energies: Energies) -> Float[ndarray, "..."]:
    """Sum of the squared singular values over the largest one."""
    return energies.sum(-1) / energies.max(-1)


def participation_ratio(energies: Energies) -> Float[ndarray, "..."]:
    """(sum of the squares)^2 over the sum of their squares: n for n equal ones."""
    return energies.sum(-1) ** 2 / (energies**2).sum(-1)


RANKS = {"effective_rank": effective_rank, "stable_rank": stable_rank, "participation_ratio": participation_ratio}


@measure(
    "spectra",
    title="Spectra and ranks of the tables",
    gives=("singular_value", "energy_in_top", *RANKS, "dimension_participation", "dimension_energy"),
    needs=(),
)
def spectra(vectors: ModelVectors, options: Options) -> Measured:
    """Measures spectra of all tables, beside Gaussian tables of the same shape and norm; none without a table."""
    return Measured([row for subject, table in vectors.tables().items() for row in _table(subject, table, options)])


def _table(subject: str, table: Float[ndarray, "row dim"], options: Options) -> Iterator[Row]:
    rows, dim = table.shape
    energy = float((table**2).sum())
    if not energy:
        return
    rng = options.rng()
    eigenvalues = axes(table)[0][: min(table.shape)]
    random = gaussian_energies(rows, dim, energy, options.draws, rng)
    yield from _along("singular_value", subject, np.sqrt(eigenvalues), np.sqrt(random), rows)
    yield from _along(
        "energy_in_top",
        subject,
        eigenvalues.cumsum() / eigenvalues.sum(),
        random.cumsum(1) / random.sum(1, keepdims=True),
        rows,
    )
    for name, rank in RANKS.items():
        yield Row(measure=name, subject=subject, value=float(rank(eigenvalues)), samples=rows, **spread(rank(random)))
    # The energy of one dimension of a Gaussian table is chi-squared with as many degrees as there are rows.
    dims, random_dims = (table**2).sum(0) / energy, rng.chisquare(rows, (options.draws, dim))
    random_dims /= random_dims.sum(1, keepdims=True)
    yield Row(
        measure="dimension_participation",
        subject=subject,
        value=float(participation_ratio(dims)),
        samples=rows,
        **spread(participation_ratio(random_dims)),
    )
    base = spread(random_dims.ravel())
    for number, value in enumerate(dims):
        yield Row(measure="dimension_energy", subject=subject, along=number, value=float(value), samples=rows, **base)


def _along(
    name: str, subject: str, values: Float[ndarray, " axis"], random: Float[ndarray, "draw axis"], samples: int
) -> Iterator[Row]:
    for number, value in enumerate(values):
        yield Row(
            measure=name,
            subject=subject,
            along=number + 1,
            value=float(value),
            samples=samples,
            **spread(random[:, number]),
        )
