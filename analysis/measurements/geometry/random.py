"""Random vectors: what every measure is compared with."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import special


def gaussian_energies(
    rows: int, dim: int, energy: float, draws: int, rng: np.random.Generator
) -> Float[ndarray, "draw axis"]:
    """Squared singular values, descending, of Gaussian (rows, dim) tables scaled to a sum of squares.

    By Bartlett's decomposition of the Wishart distribution (Bartlett 1933), so no tall table is ever drawn.
    """
    many, few = max(rows, dim), min(rows, dim)
    result = np.empty((draws, few))
    for draw in range(draws):
        lower = np.tril(rng.standard_normal((few, few)), -1)
        lower[np.diag_indices(few)] = np.sqrt(rng.chisquare(many - np.arange(few)))
        values = np.linalg.svd(lower, compute_uv=False) ** 2
        result[draw] = values * energy / values.sum()
    return result


def subspace(dim: int, rank: int, rng: np.random.Generator) -> Float[ndarray, "dim rank"]:
    """An orthonormal basis, uniform over the subspaces of this rank."""
    return np.linalg.qr(rng.standard_normal((dim, rank)))[0]


def rotation(dim: int, rng: np.random.Generator) -> Float[ndarray, "dim dim"]:
    """Uniform (Haar) over orthogonal matrices (Mezzadri 2007)."""
    q, r = np.linalg.qr(rng.standard_normal((dim, dim)))
    return q * np.sign(np.diag(r))


def directions(lengths: Float[ndarray, " row"], dim: int, rng: np.random.Generator) -> Float[ndarray, "row dim"]:
    """Vectors of given lengths and random directions."""
    vectors = rng.standard_normal((len(lengths), dim))
    return vectors * (lengths / np.linalg.norm(vectors, axis=1))[:, None]


def expected_abs_cosine(dim: float) -> float:
    """E abs(cos) of two random vectors in d dimensions: Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2))."""
    return float(np.exp(special.gammaln(dim / 2) - special.gammaln((dim + 1) / 2)) / np.sqrt(np.pi))


def cosine_shares(edges: Float[ndarray, " edge"], dim: int) -> Float[ndarray, " bin"]:
    """Share of random pairs whose cosine lies between each two edges: (cos + 1) / 2 is Beta((d-1)/2, (d-1)/2)."""
    if dim < 2:
        raise ValueError(f"The dimension {dim} has no angles but 0 and 180 degrees; give at least 2")
    half = (dim - 1) / 2
    return np.diff(special.betainc(half, half, (np.asarray(edges) + 1) / 2))
