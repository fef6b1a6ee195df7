"""A fixed random vector per position: distinct codes that say nothing about distance."""

import numpy as np

from analysis.encodings.encoding import Encoding, Table, register, seed_option


def table(length: int, dim: int, *, seed: int) -> Table:
    """Independent normal values with variance 1/2, so that rows are about as long as sinusoidal ones, sqrt(dim/2)."""
    return np.random.default_rng(seed).normal(0, 0.5**0.5, (length, dim))


register(
    Encoding(
        name="random_fixed",
        title="Fixed random",
        summary="Every position has a random vector that is never trained: distinct codes without order.",
        enters="added",
        paper="A control of this project; no paper",
        key="",
        learned=False,
        rows="position",
        columns="independent random values, in no order",
        note="Random, seed 0; as long as the sinusoidal rows on average.",
        make_table=table,
        options={"seed": seed_option()},
    )
)
