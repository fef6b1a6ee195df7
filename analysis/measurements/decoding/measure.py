"""Position, order and word, read from the hidden states at every depth of a model, into a results file."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from analysis.measurements.decoding.linear import HELD_BACK, DecoderAccuracy
from analysis.measurements.decoding.position import PAIRS, read_order, read_position
from analysis.measurements.decoding.word import OFTEN, read_word
from analysis.measurements.means.states import hidden_states
from analysis.measurements.means.windows import BATCH, SEED, FramedWindows, batches, command
from analysis.models.families import family_of
from analysis.models.load import Loaded
from analysis.models.submodules import word_table
from analysis.statistics.resampling import RESAMPLES
from analysis.store import files

TESTED = 3
"""One window in so many is held out."""


def states_of(
    loaded: Loaded, cut: FramedWindows, each: Iterable[int] | None = None
) -> list[Float[ndarray, "window slot dim"]]:
    """Hidden states at every depth, the slots that count only, in float32."""
    family = family_of(loaded.source.config, loaded.source.name)
    items: list[list[ndarray]] = []
    for start in each if each is not None else batches(cut):
        states = hidden_states(loaded.model, family, torch.from_numpy(cut.ids[start : start + BATCH]))
        items.append([hidden[:, cut.counted].float().cpu().numpy() for hidden in states])
    return [np.concatenate(layer) for layer in zip(*items, strict=True)]


def decode(
    loaded: Loaded,
    cut: FramedWindows,
    corpus: str,
    states: list[Float[ndarray, "window slot dim"]],
    *,
    called: str | None = None,
    name: str | None = None,
    each: Iterable[int] | None = None,
) -> Path:
    """Trains and tests every decoder at every depth and writes one results file; returns its path.

    Windows of one article are either all trained on or all held out. each: the depths, for whoever shows progress.
    """
    started = time.perf_counter()
    held_out = held_out_windows(cut)
    embeddings = word_table(loaded.model).weight.detach().float().cpu().numpy()
    words = cut.ids[:, cut.counted]
    rows = [
        _row(layer, reading)
        for layer in (each if each is not None else range(len(states)))
        for reading in readings(states[layer], words, held_out, embeddings)
    ]
    count, length = cut.ids.shape
    run = files.Run(
        kind="decoding",
        command=command("measure decoding", loaded, cut, corpus, called),
        **loaded.facts(called),
        seed=SEED,
        config={
            "corpus": corpus,
            "length": length,
            "windows": count,
            "held_out_windows": int(held_out.sum()),
            "candidate_words_occur": OFTEN,
            "pairs_a_window": PAIRS,
            "penalty_chosen_on": f"1/{HELD_BACK} of the training windows",
            "resamples": RESAMPLES,
        },
        seconds=time.perf_counter() - started,
    )
    return files.write_rows(rows, run, name=name, shared={"corpus": corpus})


def held_out_windows(cut: FramedWindows) -> ndarray:
    """True for each window that is held out: the windows of one article in `TESTED`."""
    articles = np.unique(cut.article)
    return np.isin(cut.article, np.random.default_rng(SEED).permutation(articles)[: len(articles) // TESTED])


def readings(
    states: Float[ndarray, "window slot dim"], words: ndarray, held_out: ndarray, embeddings: ndarray
) -> Iterator[DecoderAccuracy]:
    """Every decoder on the hidden states of one depth."""
    train, test = states[~held_out], states[held_out]
    yield from read_position(train, test)
    yield from read_order(train, test, SEED)
    yield from read_word(train, words[~held_out], test, words[held_out], embeddings)


def _row(layer: int, reading: DecoderAccuracy) -> dict[str, object]:
    low, high = reading.interval(SEED)
    return {
        "layer": layer,
        "target": reading.target,
        "decoder": reading.decoder,
        "measure": reading.measure,
        "value": reading.value,
        "low": low,
        "high": high,
        "chance": reading.chance,
        "windows": int(reading.window.max()) + 1,
        "tokens": len(reading.part),
    }
