"""Reading word and position from their sum: made-up texts of words drawn at random, so that order says nothing."""

import numpy as np

from analysis.measurements.decoding.measure import TESTED, readings
from analysis.measurements.geometry.base import Measured, Options, Row, measure
from analysis.measurements.geometry.model_vectors import ModelVectors

SLOTS = 64
"""Positions of a made-up text, spread evenly over those that a word can hold."""
WORDS = 300
"""Different words that the texts are made of, so that each is met often enough to be learnt."""


@measure("decoded", title="Word and position read from their sum", gives=("decoded",), needs=("sum",))
def decoded(vectors: ModelVectors, options: Options) -> Measured:
    """The decoders of analysis/measurements/decoding, a third of the texts held out; low and high by resampling "
    "held-out texts."""
    word, position = vectors.sums()
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
                measure="decoded",
                subject=f"{reading.target}_{reading.decoder}_{reading.measure}",
                value=reading.value,
                low=low,
                high=high,
                baseline=reading.chance,
                samples=len(reading.part),
            )
        )
    return result
