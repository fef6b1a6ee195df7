"""T5's bias: one learned number per head for each bucket of distances, added to the score."""

import numpy as np

from analysis.core.errors import AddendError
from analysis.encodings.encoding import Encoding, Option, Scores, Table, register, relative_positions, seed_option

HEADS = 8  # T5-small's, and the most that are shown
T5_SMALL_WIDTH = 512  # T5 draws its biases with a standard deviation of width^-0.5


def bucket(relative: np.ndarray, *, bidirectional: bool, buckets: int, max_distance: int) -> np.ndarray:
    """T5's bucket of key position minus query position (Raffel et al. 2020, section 2.1; mesh's code).

    Half of a side's buckets hold one distance each, the rest grow logarithmically up to `max_distance`.
    """
    if bidirectional:
        buckets //= 2
        offset = np.where(relative > 0, buckets, 0)
        distance = np.abs(relative)
    else:
        offset = 0
        distance = np.maximum(-relative, 0)
    exact = buckets // 2
    if exact < 1 or max_distance <= exact:
        raise AddendError(
            f"The option max_distance={max_distance} leaves nothing to {buckets} buckets on each side, of which "
            f"{exact} hold one distance each; choose more than that, and at least 4 buckets."
        )
    # float32, as in the models: at the edges of buckets the rounding decides
    ratio = np.maximum(distance, 1).astype(np.float32) / np.float32(exact)
    steps = np.log(ratio) / np.float32(np.log(max_distance / exact)) * np.float32(buckets - exact)
    large = np.minimum(exact + steps.astype(np.int64), buckets - 1)
    return offset + np.where(distance < exact, distance, large)


def biases(heads: int, seed: int, buckets: int) -> np.ndarray:
    """Random stand-ins for the learned biases: (buckets, heads), drawn as T5-small is initialised."""
    return np.random.default_rng(seed).normal(0, T5_SMALL_WIDTH**-0.5, (buckets, heads))


def table(
    length: int, dim: int, *, seed: int, bidirectional: bool, buckets: int, max_distance: int, after: bool
) -> Table:
    """Row r: the bias of every head for a key r tokens before the query (after it, with `after`)."""
    if after and not bidirectional:
        raise AddendError("The option after=True asks for keys after the query, which bidirectional=False never sees.")
    relative = np.arange(length) * (1 if after else -1)
    chosen = bucket(relative, bidirectional=bidirectional, buckets=buckets, max_distance=max_distance)
    return biases(dim, seed, buckets)[chosen]


def similarity(
    length: int, dim: int, *, seed: int, bidirectional: bool, buckets: int, max_distance: int, head: int
) -> Scores:
    """The bias matrix of one head; NaN where a causal model does not attend."""
    if head >= dim:
        raise AddendError(f"The option head={head} is not one of {dim} heads; choose 0 to {dim - 1}.")
    relative = relative_positions(length)
    chosen = bucket(relative, bidirectional=bidirectional, buckets=buckets, max_distance=max_distance)
    scores = biases(dim, seed, buckets)[chosen, head]
    return scores if bidirectional else np.where(relative > 0, np.nan, scores)


register(
    Encoding(
        name="t5_bias",
        title="T5 relative bias",
        summary="Each head adds one learned number to a score, chosen by the bucket that the distance falls in.",
        enters="biases scores",
        paper="Raffel et al. 2020, Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, "
        "JMLR",
        key="raffel2020t5",
        learned=True,
        rows="distance",
        columns="heads",
        note="Random at initialisation, seed 0: shows the structure (the buckets), not a trained table.",
        make_table=table,
        make_similarity=similarity,
        make_nearest=lambda length, dim: (length, min(dim, HEADS)),
        options={
            "seed": seed_option(),
            "bidirectional": Option(default=True, meaning="an encoder's buckets, which tell before from after"),
            "buckets": Option(default=32, meaning="number of buckets", least=2),
            "max_distance": Option(default=128, meaning="from here on all distances share a bucket", most=2**20),
            "after": Option(default=False, meaning="table rows are distances after the query, not before it"),
            "head": Option(default=0, meaning="the head whose biases the similarity shows"),
        },
    )
)
