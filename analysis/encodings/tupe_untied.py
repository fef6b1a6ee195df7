"""TUPE's positions: compared with projections of their own, with [CLS] set apart."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from analysis.core.errors import AddendError
from analysis.encodings.encoding import Encoding, Option, Scores, Table, register, seed_option

SD = 0.02  # BERT's initialisation
HEADS = 12  # BERT-base's


class Weights(NamedTuple):
    """The position weights that TUPE learns; p_0 stands for [CLS] as a query, token i (from 0) uses p_{i+1}."""

    positions: Float64[np.ndarray, "length+1 dim"]
    query: Float64[np.ndarray, "dim dim"]
    query_bias: Float64[np.ndarray, " dim"]
    key: Float64[np.ndarray, "dim dim"]
    key_bias: Float64[np.ndarray, " dim"]


def weights(length: int, dim: int, seed: int) -> Weights:
    """Random stand-ins, normal with BERT's deviation; the same first rows whatever the length.

    The biases are drawn too, though a model starts them at zero: otherwise they would not show.
    """
    shapes = [(length + 1, dim), (dim, dim), (dim,), (dim, dim), (dim,)]
    return Weights(*(np.random.default_rng([seed, part]).normal(0, SD, shape) for part, shape in enumerate(shapes)))


def layer_norm(x: np.ndarray) -> np.ndarray:
    """LayerNorm over the last axis with gain 1, bias 0 and the customary epsilon 1e-5."""
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def table(length: int, dim: int, *, seed: int) -> Table:
    """The layer-normalised row p_{i+1} of each token i; p_0, which no token uses as its own, is left out."""
    return layer_norm(weights(length, dim, seed).positions)[1:]


def similarity(length: int, dim: int, *, seed: int, heads: int, head: int, untie_cls: bool) -> Scores:
    """(p_i U_Q)(p_j U_K)^T / sqrt(2 d_head) of one head, then theta_1 over the [CLS] row and theta_2 over its column.

    Ke et al. 2021, equations 7 and 10, as the official code has them: theta_1 comes from p_0 and also
    fills the corner, theta_2 from p_1.
    """
    if dim % heads:
        raise AddendError(f"The dim {dim} cannot be shared among {heads} heads; choose a multiple of {heads}.")
    if head >= heads:
        raise AddendError(f"The option head={head} is not one of {heads} heads; choose 0 to {heads - 1}.")
    d_head = dim // heads
    content = slice(head * d_head, (head + 1) * d_head)
    w = weights(length, dim, seed)
    p = layer_norm(w.positions)
    queries = p @ w.query[:, content] + w.query_bias[content]
    keys = p @ w.key[:, content] + w.key_bias[content]
    scores = queries @ keys.T / np.sqrt(2 * d_head)
    theta_1, theta_2 = scores[0, 0], scores[1, 1]
    scores = scores[1:, 1:].copy()
    if untie_cls:
        scores[:, 0] = theta_2
        scores[0, :] = theta_1  # last: the row wins the corner
    return scores


def nearest(length: int, dim: int) -> tuple[int, int]:
    """A dim that the usual number of heads can share."""
    return length, max(1, round(dim / HEADS)) * HEADS


register(
    Encoding(
        name="tupe_untied",
        title="Apart, own matrix (TUPE-A)",
        summary="Positions are compared with positions through separate projections; [CLS] is blind to position.",
        enters="untied",
        paper="Ke et al. 2021, Rethinking Positional Encoding in Language Pre-training, ICLR",
        key="ke2021tupe",
        learned=True,
        rows="position",
        columns="the model's hidden dimensions, in no order",
        note="Random at initialisation, seed 0: shows the structure ([CLS] treated separately, no words), not "
        "trained weights.",
        make_table=table,
        make_similarity=similarity,
        make_nearest=nearest,
        options={
            "seed": seed_option(),
            "heads": Option(default=HEADS, meaning="number of heads, which share the dim", least=1),
            "head": Option(default=0, meaning="the head that the similarity shows"),
            "untie_cls": Option(default=True, meaning="treat the first token, [CLS], separately"),
        },
    )
)
