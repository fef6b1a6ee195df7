"""Reading word and position from their sum: made-up texts of words drawn at random, so that order says nothing."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from analysis.measurements.decoding.measure import TESTED, readings
from analysis.measurements.geometry.measure import Measured, Options, Row, measure
from analysis.measurements.geometry.model_vectors import ModelVectors

SLOTS = 64
"""Positions of a made-up text, spread evenly over those that a word can hold."""
WORDS = 300
"""Different words that the texts are made of, so that each is met often enough to be learnt."""


@measure("decoded", title="Word and position read from their sum", gives=("decoded",), needs=("sum",))
def decoded(vectors: ModelVectors, options: Options) -> Measured:
    """The decoders of `measurements/decoding` on the model's own tables; low and high by resampling held-out texts."""
    word, position = vectors.sums()
    return _read("decoded", word, position, options)


@measure(
    "decoded_random",
    title="Word and position read from sums of random tables",
    gives=("decoded_random",),
    needs=("sum",),
)
def decoded_random(vectors: ModelVectors, options: Options) -> Measured:
    """The same on tables of random directions, row by row as long as the model's: what many dimensions give alone."""
    rng = options.rng()
    word, position = vectors.sums()
    return _read("decoded_random", as_long(word, rng), as_long(position, rng), options)


def as_long(table: Float[ndarray, "row dim"], rng: np.random.Generator) -> Float[ndarray, "row dim"]:
    """Random directions, each row as long as that of a table."""
    drawn = rng.normal(size=table.shape)
    return drawn * (np.linalg.norm(table, axis=1) / np.linalg.norm(drawn, axis=1))[:, None]


def _read(
    name: str, word: Float[ndarray, "word dim"], position: Float[ndarray, "position dim"], options: Options
) -> Measured:
    """Every decoder on made-up texts of these tables, a third of the texts held out."""
    rng = options.rng()
    slots = np.linspace(0, len(position) - 1, min(SLOTS, len(position))).round().astype(int)
    chosen = rng.choice(len(word), min(WORDS, len(word)), replace=False)
    words = rng.choice(chosen, (options.texts, len(slots)))
    held_out = np.arange(options.texts) % TESTED == 0
    result = Measured()
    for reading in readings(word[words] + position[slots], words, held_out, word):
        low, high = reading.interval(options.seed)
        result.rows.append(
            Row(
                measure=name,
                subject=f"{reading.target}_{reading.decoder}_{reading.measure}",
                value=reading.value,
                low=low,
                high=high,
                baseline=reading.chance,
                samples=len(reading.part),
            )
        )
    return result
