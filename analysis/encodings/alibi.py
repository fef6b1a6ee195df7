"""ALiBi: a penalty on the score, linear in the distance, with a fixed slope per head."""

from math import floor, log2

import numpy as np

from analysis.core.errors import AddendError
from analysis.encodings.encoding import Encoding, Option, Scores, Table, register, relative_positions

HEADS = 8  # shown at most: a model has far fewer heads than dimensions


def slopes(heads: int) -> np.ndarray:
    """2^(-8/heads), its square, and so on: (heads,).

    For a number that is no power of two, the official code takes the power of two below it and fills up
    with every other slope of twice that power (Press et al. 2022).
    """
    below = 2 ** floor(log2(heads))
    main = 2.0 ** (-8 / below * np.arange(1, below + 1))
    between = 2.0 ** (-4 / below * np.arange(1, 2 * (heads - below) + 1, 2))
    return np.concatenate([main, between])


def table(length: int, dim: int) -> Table:
    """Row r: what every head adds to the score of a key r tokens away."""
    return -np.arange(length)[:, None] * slopes(dim)


def similarity(length: int, dim: int, *, symmetric: bool, head: int) -> Scores:
    """-slope |i - j| of one head; NaN for keys after the query unless symmetric."""
    if head >= dim:
        raise AddendError(f"The option head={head} is not one of {dim} heads; choose 0 to {dim - 1}.")
    relative = relative_positions(length)
    scores = -slopes(dim)[head] * np.abs(relative)
    return scores if symmetric else np.where(relative > 0, np.nan, scores)


register(
    Encoding(
        name="alibi",
        title="ALiBi",
        summary="Each head subtracts from every score the distance times a fixed slope, which differs between heads.",
        enters="biases scores",
        paper="Press et al. 2022, Train Short, Test Long: Attention with Linear Biases, ICLR",
        key="press2022alibi",
        learned=False,
        rows="distance",
        columns="heads",
        note="The paper's models are causal: keys after the query are blank unless symmetric is set.",
        make_table=table,
        make_similarity=similarity,
        make_nearest=lambda length, dim: (length, min(dim, HEADS)),
        options={
            "symmetric": Option(default=False, meaning="also keys after the query, as encoders use it"),
            "head": Option(default=0, meaning="the head whose biases the similarity shows"),
        },
    )
)
