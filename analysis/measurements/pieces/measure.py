"""Measures what each token of a text loses when every position becomes the mean, and writes it to a results file.

Shapes: W window, T token.
"""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from analysis.measurements.interventions.run import kind_of_head
from analysis.measurements.means.states import hidden_states
from analysis.measurements.means.windows import BATCH, SEED, FramedWindows, command
from analysis.measurements.pieces.comparison import compared, token_classes
from analysis.measurements.surgery import tables
from analysis.measurements.surgery.masked_words import masked_places, token_losses
from analysis.models.families import family_of
from analysis.models.load import Loaded
from analysis.statistics.resampling import RESAMPLES
from analysis.store import files

LOSS, STATE = "loss", "state"


def measure_pieces(
    loaded: Loaded,
    cut: FramedWindows,
    corpus: str,
    *,
    called: str | None = None,
    name: str | None = None,
    each: Iterable[int] | None = None,
) -> Path:
    """The states of every token, and the loss on masked ones where the model predicts them; returns the file's path.

    each: the first window of every batch, for whoever shows progress.
    Raises InterventionError where the model adds no table of positions, TextError where words are not in pieces.
    """
    started = time.perf_counter()
    vocabulary = loaded.tokenizer.convert_ids_to_tokens(range(len(loaded.tokenizer)))
    classes = token_classes(cut.ids, cut.counted, vocabulary)
    costs = {STATE: state_changes(loaded, cut, each)}
    if kind_of_head(loaded.model, loaded.tokenizer) == "masked":
        costs[LOSS] = loss_rises(loaded, cut)
    rows: list[dict[str, Any]] = [
        {"measure": measure, **row} for measure, cost in costs.items() for row in compared(cost, classes, cut.ids, SEED)
    ]
    count, length = cut.ids.shape
    run = files.Run(
        kind="pieces",
        command=command("measure pieces", loaded, cut, corpus, called),
        **loaded.facts(called),
        seed=SEED,
        config={"corpus": corpus, "length": length, "windows": count, "resamples": RESAMPLES},
        seconds=time.perf_counter() - started,
    )
    return files.write_rows(rows, run, name=name, shared={"corpus": corpus, "windows": count})


@torch.inference_mode()
def state_changes(loaded: Loaded, cut: FramedWindows, each: Iterable[int] | None = None) -> Float[ndarray, "W T"]:
    """The squared distance of each token's last state from that without positions, over the states' mean square.

    The mean square is of the distance of the states of all counted tokens from their mean.
    """
    family = family_of(loaded.source.config, loaded.source.name)
    starts = list(range(0, len(cut.ids), BATCH) if each is None else each)

    def last(start: int) -> torch.Tensor:
        ids = torch.from_numpy(cut.ids[start : start + BATCH])
        return hidden_states(loaded.model, family, ids)[-1].double().cpu()

    distances, total, squares, number = [], 0.0, 0.0, 0
    counted = torch.from_numpy(cut.counted)
    for start in starts:
        trained = last(start)
        with tables.change_tables(loaded.model, tables.mean_position):
            distances.append((trained - last(start)).square().sum(-1))
        states = trained[:, counted].flatten(0, 1)
        total, squares, number = total + states.sum(0), squares + states.square().sum(), number + len(states)
    mean = torch.as_tensor(total) / number
    variation = float(squares / number - mean.square().sum())
    return torch.cat(distances).numpy() / variation


def loss_rises(loaded: Loaded, cut: FramedWindows) -> Float[ndarray, "W T"]:
    """The rise of the loss on each masked token, in nats; NaN for tokens that are not masked."""
    places = masked_places(cut)
    intact = token_losses(loaded, cut.ids, places)
    with tables.change_tables(loaded.model, tables.mean_position):
        without = token_losses(loaded, cut.ids, places)
    result = np.full(cut.ids.shape, np.nan)
    np.put_along_axis(result, places, without - intact, 1)
    return result
