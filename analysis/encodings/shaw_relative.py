"""Relative position vectors, added to the keys, with distances clipped."""

import numpy as np

from analysis.encodings.encoding import Encoding, Option, Scores, Table, register, relative_positions, seed_option


def vectors(dim: int, seed: int, clip: int) -> np.ndarray:
    """Random stand-ins for the learned vectors from w_-clip to w_clip, of about unit length: (2 clip + 1, dim)."""
    return np.random.default_rng([seed, 0]).normal(0, dim**-0.5, (2 * clip + 1, dim))


def table(length: int, dim: int, *, seed: int, clip: int, after: bool) -> Table:
    """Row r: the vector of a key r tokens before the query (after it, with `after`), r clipped."""
    distances = np.minimum(np.arange(length), clip) * (1 if after else -1)
    return vectors(dim, seed, clip)[distances + clip]


def similarity(length: int, dim: int, *, seed: int, clip: int) -> Scores:
    """q . a_ij / sqrt(dim) with one and the same query q (standard normal) everywhere (Shaw et al. 2018, eq. 5).

    In a model the query is the word's, so position alone adds nothing; a query common to all words
    shows what the vectors make of the distance.
    """
    query = np.random.default_rng([seed, 1]).standard_normal(dim)
    by_distance = vectors(dim, seed, clip) @ query / np.sqrt(dim)
    return by_distance[np.clip(relative_positions(length), -clip, clip) + clip]


register(
    Encoding(
        name="shaw_relative",
        title="Relative vectors (Shaw)",
        summary="Each distance, up to a limit on either side, has a vector that joins the key in the comparison.",
        enters="biases scores",
        paper="Shaw et al. 2018, Self-Attention with Relative Position Representations, NAACL",
        key="shaw2018relative",
        learned=True,
        rows="distance",
        columns="the dimensions of one head",
        note="Random at initialisation, seed 0: shows the structure (the clipping), not trained vectors. The "
        "similarity is that of one random query with every key; the paper's vectors for the values are left out.",
        make_table=table,
        make_similarity=similarity,
        options={
            "seed": seed_option(),
            "clip": Option(default=16, meaning="distances beyond this one share its vector", least=1, most=1023),
            "after": Option(default=False, meaning="table rows are distances after the query, not before it"),
        },
    )
)
